package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"golang.org/x/net/html"
)

// rawHTML filters HTML of the text, or of an extension, and writes the allowed part of it. Each
// tag has a mark before it. rawHTML does not match tags with one another, which the balancer
// does later.
func (nw *nodeWriter) rawHTML(chunk []byte) {
	w := nw.w
	chunk, ok := nw.instruction(chunk)
	if !ok {
		return
	}
	z := html.NewTokenizer(bytes.NewReader(chunk))
	read := 0
	skip, depth := "", 0 // inside an element whose content is dropped with it
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := z.Raw()
		read += len(raw)
		switch kind {
		case html.TextToken:
			if skip == "" {
				w.escape(z.Text())
			}
		case html.CommentToken, html.DoctypeToken:
			if skip != "" {
				continue
			}
			if kind == html.DoctypeToken {
				w.report.add(Element, "!doctype", 1)
			}
			// A comment without an end would hide the text after it.
			whole := bytes.HasSuffix(raw, []byte(">"))
			if bytes.HasPrefix(raw, []byte("<!--")) {
				whole = len(raw) > 4 && (bytes.HasSuffix(raw, []byte("-->")) || bytes.HasSuffix(raw, []byte("--!>")))
			}
			if !whole && !nw.rough {
				w.escape(raw)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := string(name)
			if skip != "" {
				if tag == skip && kind == html.StartTagToken {
					depth++
				}
				continue
			}
			if dropped(tag) {
				w.report.add(Element, tag, 1)
				if kind == html.StartTagToken && (nw.rough || closes(chunk[read:], tag)) {
					skip, depth = tag, 1
				}
				continue
			}
			el, ok := elementOf(tag)
			if !ok || tag == "input" {
				w.report.add(Element, tag, 1)
				continue
			}
			nw.raw = true
			nw.startTag(z, tag, el, more)
		case html.EndTagToken:
			name, _ := z.TagName()
			tag := string(name)
			if skip != "" {
				if tag == skip {
					if depth--; depth == 0 {
						skip = ""
					}
				}
				continue
			}
			if el, ok := elementOf(tag); ok && !el.void {
				nw.raw = true
				w.WriteByte(mark)
				w.WriteString("</" + tag + ">")
			}
		}
	}
	if read < len(chunk) && !nw.rough { // an incomplete tag
		w.escape(chunk[read:])
	}
}

// instruction removes a processing instruction or CDATA section from the start of a chunk and
// returns the rest. An HTML tokeniser would end it at the first >.
func (nw *nodeWriter) instruction(chunk []byte) ([]byte, bool) {
	s := bytes.TrimLeft(chunk, " ")
	end := ""
	switch {
	case bytes.HasPrefix(s, []byte("<?")):
		end = "?>"
	case bytes.HasPrefix(s, []byte("<![CDATA[")):
		end = "]]>"
	default:
		return chunk, true
	}
	_, rest, ok := bytes.Cut(s, []byte(end))
	if !ok && !nw.rough {
		nw.w.escape(chunk)
	}
	return rest, ok
}

// closes reports whether the end tag of name is in s.
func closes(s []byte, name string) bool {
	return strings.Contains(strings.ToLower(string(s)), "</"+name)
}

func (nw *nodeWriter) startTag(z *html.Tokenizer, tag string, el element, more bool) {
	w := nw.w
	w.WriteByte(mark)
	w.WriteString("<" + tag)
	var seen []string
	var href, source string
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		name, val := string(k), string(v)
		if hasWord(" "+strings.Join(seen, " ")+" ", name) {
			continue
		}
		seen = append(seen, name)
		switch {
		case tag == "a" && name == "href":
			href = val
			continue
		case tag == "img" && name == "src":
			source = val
			continue
		case name == "name" && tag == "a":
			name = "id"
			if hasWord(" "+strings.Join(seen, " ")+" ", "id") {
				continue
			}
			seen = append(seen, "id")
		}
		if val, ok := nw.attribute(tag, el, name, val); ok {
			w.attr(name, val)
		} else {
			w.report.add(Attribute, name, 1)
		}
	}
	if tag == "a" && href != "" {
		t := nw.r.resolve(href)
		switch {
		case t.fragment != "":
			w.attr("data-fragment", t.fragment)
		case t.path != "":
			w.attr("data-path", t.path)
		case t.url != "":
			w.attr("data-href", t.url)
			if t.warning != "" {
				w.attr("data-warning", t.warning)
			}
		case t.why != "":
			w.report.add(Scheme, t.why, 1)
		}
		if t.fragment != "" || t.url != "" || t.path != "" {
			w.attr("role", "link")
			w.attr("tabindex", "0")
		}
	}
	if tag == "img" {
		w.imageSource(resolveImage(source, &nw.r.opts.Limits))
	}
	w.WriteByte('>')
}

// attribute returns the value that an attribute of the text may have, and false if the
// attribute is not allowed.
func (nw *nodeWriter) attribute(tag string, el element, name, val string) (string, bool) {
	switch name {
	case "role", "tabindex", "aria-label", "data-href", "data-fragment", "data-path", "data-image", "data-warning", "src":
		return "", false // only this package writes them
	case "id":
		id := cleanID(strings.TrimPrefix(val, nw.r.opts.IDPrefix))
		if id == "" {
			return "", false
		}
		return cutID(nw.r.opts.IDPrefix + id), true
	case "class":
		var keep []string
		for c := range strings.FieldsSeq(val) {
			if strings.HasPrefix(c, "language-") && goodClasses(c) {
				keep = append(keep, c)
			}
		}
		val = strings.Join(keep, " ")
	case "align", "valign", "dir", "scope":
		val = strings.ToLower(strings.TrimSpace(val))
	case "open", "reversed":
		val = ""
	case "start", "value", "colspan", "rowspan", "span", "width", "height":
		val = strings.TrimSpace(val)
	}
	if !attrAllowed(el, name) || !goodValue(nw.r.opts.IDPrefix, tag, name, val) {
		return "", false
	}
	return val, true
}

// cleanID replaces the characters of an id that are not allowed in one.
func cleanID(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || strings.ContainsRune("\"'<>`&=", r) || directional(r) || silent(r) {
			return '-'
		}
		return r
	}, strings.TrimSpace(s))
}

func cutID(s string) string {
	if len(s) > maxID {
		s = strings.ToValidUTF8(s[:maxID], "")
	}
	return s
}

// plainCode makes code in HTML copy exactly as it is seen. It removes the direction of elements
// in the code and shows invisible characters. html must be balanced.
func plainCode(html []byte, report *Report) []byte {
	w := sink{code: true}
	pre, code, from := 0, 0, 0
	text := func(s []byte) {
		if code == 0 {
			w.Write(s)
			return
		}
		w.escape(plainReferences(string(s)))
	}
	for t := range tags(html) {
		text(html[from:t.at])
		from = t.to
		tag := html[t.at:t.to]
		if pre > 0 && !t.end {
			if value := tagValue(tag, "dir"); value != "" {
				tag = withoutDir(tag)
				report.add(Attribute, "dir", 1)
			}
		}
		w.Write(tag)
		by := 1
		if t.end {
			by = -1
		}
		switch string(t.name) {
		case "pre":
			pre += by
			code += by
		case "code":
			code += by
		}
	}
	text(html[from:])
	report.merge(w.report)
	return w.Bytes()
}

// withoutDir returns a tag written by this package without its dir attribute.
func withoutDir(tag []byte) []byte {
	var out []byte
	for {
		before, rest, _ := bytes.Cut(tag, []byte(" "))
		out = append(out, before...)
		name, rest, ok := bytes.Cut(rest, []byte(`="`))
		if !ok {
			return out
		}
		value, rest, _ := bytes.Cut(rest, []byte(`"`))
		if string(name) != "dir" {
			out = append(out, " "+string(name)+`="`+string(value)+`"`...)
		}
		tag = rest
	}
}

// foreign lets an extension write a node. The output is filtered like raw HTML of the text.
func (nw *nodeWriter) foreign(f renderer.NodeRendererFunc, n ast.Node, inlineDepth int) {
	var b foreignBuffer
	status, err := f(&b, nw.src, n, true)
	nw.rawHTML(bytes.ToValidUTF8(b.Bytes(), []byte(replacement)))
	if err != nil || status == ast.WalkStop {
		return
	}
	if status != ast.WalkSkipChildren {
		nw.children(n, inlineDepth+1)
	}
	b.Reset()
	f(&b, nw.src, n, false)
	nw.rawHTML(bytes.ToValidUTF8(b.Bytes(), []byte(replacement)))
}

// foreignBuffer is a util.BufWriter.
type foreignBuffer struct{ sink }

func (b *foreignBuffer) Buffered() int { return b.Len() }

func (b *foreignBuffer) Flush() error { return nil }
