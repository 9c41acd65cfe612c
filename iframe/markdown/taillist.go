package markdown

import "bytes"

// listTail renders an open list item by item, because an answer is often one long list. All
// items except the last are final, apart from the space between items, which depends on a blank
// line anywhere in the list.
type listTail struct {
	start int
	loose bool
	items int    // number of items in html
	head  []byte // <ul> or <ol>
	html  []byte
	raw   bool
}

// minList is the size in bytes from which a list is rendered item by item.
const minList = 512

// render renders p, whose text is src and whose items begin at items. It returns false if p is
// not a list that can be rendered item by item.
func (l *listTail) render(d *doc, p *part, items []int, src []byte) bool {
	if len(items) < 2 || len(src) < minList || p.limit != "" || items[0] != p.start {
		return false
	}
	text := d.in.text
	if l.start != p.start || l.items > len(items)-1 || l.items == 0 {
		*l = listTail{start: p.start}
	}
	for _, at := range items[max(l.items, 1):] {
		line := bytes.TrimRight(text[:at], "\n")
		if at-len(line) > 1 && !l.loose {
			*l = listTail{start: p.start, loose: true}
		}
	}
	last := items[len(items)-1] - p.start
	if last > len(src) {
		return false // the text that was cut off reaches into the item before
	}
	for k := l.items; k < len(items)-1; k++ {
		head, item, ok := l.item(d, p, text[items[k]:items[k+1]])
		if !ok {
			return false
		}
		if k == 0 {
			l.head = bytes.Clone(head)
		}
		l.html = append(l.html, item...)
		l.raw = l.raw || p.raw
		l.items = k + 1
	}
	_, item, ok := l.item(d, p, src[last:])
	if !ok {
		return false
	}
	stream := make([]byte, 0, len(l.head)+len(l.html)+len(item)+8)
	stream = append(stream, l.head...)
	stream = append(stream, l.html...)
	stream = append(stream, item...)
	if bytes.HasPrefix(l.head, []byte("<o")) {
		stream = append(stream, "</ol>\n"...)
	} else {
		stream = append(stream, "</ul>\n"...)
	}
	p.raw = p.raw || l.raw
	if !d.roughCheck(p, stream) && d.r.gallery != nil && !p.undrawn {
		p.undrawn = true
		*l = listTail{}
		return l.render(d, p, items, src)
	}
	return true
}

// item renders one item and returns the tag of its list and the item's HTML. The slices are
// valid until the next call.
func (l *listTail) item(d *doc, p *part, src []byte) (head, item []byte, ok bool) {
	end := "</ul>\n"
	mark := bytes.TrimLeft(src, " ")
	if len(mark) == 0 {
		return nil, nil, false
	}
	next := string(mark[:1]) + "\n"
	if isDigit(mark[0]) {
		end = "</ol>\n"
		rest := bytes.TrimLeft(mark, "0123456789")
		if len(rest) == 0 {
			return nil, nil, false
		}
		next = "1" + string(rest[:1]) + "\n"
	}
	if l.loose { // an empty item after a blank line makes the list loose
		src = append(bytes.Clone(bytes.TrimRight(src, "\n")), "\n\n"+next...)
		end = "<li></li>\n" + end
	}
	w := &d.scratch
	w.Reset()
	d.write(w, p, src, true)
	out := w.Bytes()
	n := bytes.IndexByte(out, '\n') + 1
	if !bytes.HasPrefix(out, []byte("<ul")) && !bytes.HasPrefix(out, []byte("<ol")) || !bytes.HasSuffix(out, []byte(end)) || n > len(out)-len(end) {
		return nil, nil, false
	}
	return out[:n], out[n : len(out)-len(end)], true
}
