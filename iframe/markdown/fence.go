package markdown

import "bytes"

// fence writes a top-level code fence. A fence needs no parser, and a long open one can be
// written line by line.
func (d *doc) fence(w *sink, p *part, rough bool) {
	lang := d.fenceLang(&p.fence)
	code := fenceText(nil, d.in.text[p.fence.body:p.fence.bodyTo], p.fence.indent)
	if !rough && len(code) > 0 && code[len(code)-1] != '\n' {
		code = append(code, '\n')
	}
	nw := &nodeWriter{r: d.r, w: w, d: d, p: p, rough: rough}
	w.Grow(len(code) + len(code)/4 + 64)
	nw.block(lang, code)
}

func (d *doc) fenceLang(f *fence) string {
	info := d.in.text[f.info[0]:f.info[1]]
	if i := bytes.IndexAny(info, " \t"); i >= 0 {
		info = info[:i]
	}
	return string(plainProse(nil, info))
}

// fenceText appends the lines of code, without the columns by which the fence itself is
// indented.
func fenceText(dst, body []byte, indent int) []byte {
	if indent == 0 {
		return append(dst, body...)
	}
	for len(body) > 0 {
		line := body
		if n := bytes.IndexByte(body, '\n'); n >= 0 {
			line = body[:n+1]
		}
		body = body[len(line):]
		c := cursor{line: line}
		c.skip(min(indent, c.indent()))
		dst = append(dst, "    "[:c.left]...)
		dst = append(dst, line[c.i:]...)
	}
	return dst
}
