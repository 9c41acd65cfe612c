package markdown

import "bytes"

// listTail renders an open list item by item: an answer is often one long list,
// and each of its items but the last is as it will be, but for the room between
// items, which a blank line anywhere changes.
type listTail struct {
	start int
	loose bool
	items int    // that are in html
	head  []byte // <ul> or <ol>
	html  []byte
	raw   bool
}

// minList is the size of a list for which it is worth it.
const minList = 512

// render renders p, whose text is src and whose items begin at items, and reports
// false if it is not a list that can be taken apart.
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
		return false // what was cut off reaches into the item before
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
	d.roughCheck(p, stream)
	return true
}

// item renders one item and returns the tag of its list and what stands in it.
// The slices are good until the next call.
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
	if l.loose { // an empty item behind a blank line makes it so
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
