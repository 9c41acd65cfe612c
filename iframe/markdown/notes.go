package markdown

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Footnotes as on GitHub: [^label] in the text, [^label]: at the start of a line. They are
// numbered by their first reference and shown at the end. goldmark's extension stores its state
// under a private key, so it cannot parse a text in parts.

type notes struct {
	all      []*note // in order of definition
	byLabel  map[string]*note
	mentions []*part // parts that mention a label, in no order
	changed  bool
	fresh    bool // the section may have changed
}

type note struct {
	part   *part
	label  string // "" if another note has it
	number int
	uses   int // references to it
}

// noteNumber is the content of a reference: the number of its note, and the position among the
// references to that note.
type noteNumber struct{ number, use int }

// define adds the definition in a part.
func (ns *notes) define(d *doc, p *part) {
	if len(ns.all) >= d.r.opts.Limits.References {
		p.limit = "References"
		return
	}
	n := &note{part: p, label: p.label}
	if ns.byLabel[n.label] != nil {
		n.label = ""
	} else {
		ns.byLabel[n.label] = n
		d.wake("^" + n.label)
	}
	ns.all = append(ns.all, n)
	ns.changed = true
}

func (ns *notes) mentioned(p *part) {
	ns.changed = true
	if !p.mentioning {
		p.mentioning = true
		ns.mentions = append(ns.mentions, p)
	}
}

// number numbers the notes by first reference. References in the text come before those in
// notes, and notes without a reference come last. Parts whose numbers changed are marked for
// rendering.
func (ns *notes) number(d *doc) {
	if !ns.changed {
		return
	}
	ns.changed = false
	if len(ns.all) == 0 {
		return
	}
	ns.fresh = true
	// They are nearly in order: only parts that were rendered again are out of place.
	for i := 1; i < len(ns.mentions); i++ {
		for k := i; k > 0 && ns.mentions[k].index < ns.mentions[k-1].index; k-- {
			ns.mentions[k], ns.mentions[k-1] = ns.mentions[k-1], ns.mentions[k]
		}
	}
	var order []*note
	for _, n := range ns.all {
		n.number, n.uses = 0, 0
	}
	use := func(p *part) {
		var numbers []noteNumber
		for _, label := range p.mentions {
			n := ns.byLabel[label]
			if n == nil {
				numbers = append(numbers, noteNumber{})
				continue
			}
			if n.number == 0 {
				order = append(order, n)
				n.number = len(order)
			}
			n.uses++
			numbers = append(numbers, noteNumber{n.number, n.uses})
		}
		if !slices.Equal(numbers, p.numbers) {
			p.numbers = numbers
			d.soil(p)
		}
	}
	for _, p := range ns.mentions {
		if p.kind != noteSegment {
			use(p)
		}
	}
	rest := ns.all
	for i := 0; i < len(ns.all); i++ {
		for i == len(order) { // a note without references
			if n := rest[0]; n.number == 0 {
				order = append(order, n)
				n.number = len(order)
			}
			rest = rest[1:]
		}
		use(order[i].part)
	}
}

// section returns the HTML of the notes, or "" if there are none.
func (ns *notes) section(d *doc) (string, Report) {
	var report Report
	if len(ns.all) == 0 {
		return "", report
	}
	order := make([]*note, len(ns.all))
	for _, n := range ns.all {
		if n.number == 0 {
			return "", report // not numbered yet
		}
		order[n.number-1] = n
	}
	w := &sink{}
	w.WriteString("<section class=\"bailey-footnotes\">\n<ol>\n")
	for _, n := range order {
		w.WriteString(`<li id="` + d.r.opts.IDPrefix + "fn-" + strconv.Itoa(n.number) + "\">\n")
		body, limit := n.part.stream, ""
		if n.part.raw {
			body, limit = balance(d.r, [][]byte{body}, nil, &report)
			body = plainCode(body, &report)
		}
		if limit == "" {
			limit = verify(d.r, body)
		}
		if limit != "" {
			plain := &sink{}
			plain.plain(d.in.text[n.part.start:n.part.end], limit, &d.r.opts.Limits)
			capStacksFrom(d.r, plain, 0)
			report.merge(plain.report)
			body = plain.Bytes()
		}
		report.merge(n.part.report)
		back := ns.back(d, n)
		if rest, ok := bytes.CutSuffix(body, []byte("</p>\n")); ok && back != "" {
			w.Write(rest)
			w.WriteString(" " + back + "</p>\n")
		} else {
			w.Write(body)
			if back != "" {
				w.WriteString("<p>" + back + "</p>\n")
			}
		}
		w.WriteString("</li>\n")
	}
	w.WriteString("</ol>\n</section>\n")
	return w.String(), report
}

// maxBacks is the maximum number of links from a note back to its references.
const maxBacks = 20

func (ns *notes) back(d *doc, n *note) string {
	var b []byte
	for use := 1; use <= min(n.uses, maxBacks); use++ {
		if use > 1 {
			b = append(b, ' ')
		}
		b = append(b, `<a data-fragment="`+noteRef(d.r, noteNumber{n.number, use})+
			`" role="link" tabindex="0" class="bailey-backlink" aria-label="Back to reference `+strconv.Itoa(n.number)+`">↩</a>`...)
	}
	return string(b)
}

// noteRef returns the id of a reference.
func noteRef(r *Renderer, n noteNumber) string {
	id := r.opts.IDPrefix + "fnref-" + strconv.Itoa(n.number)
	if n.use > 1 {
		id += "-" + strconv.Itoa(n.use)
	}
	return id
}

// dedent removes four columns of indentation from each line of a note's content except the
// first.
func dedent(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for i := 0; len(body) > 0; i++ {
		line := body
		if n := bytes.IndexByte(body, '\n'); n >= 0 {
			line = body[:n+1]
		}
		body = body[len(line):]
		if i > 0 {
			c := cursor{line: line}
			c.skip(min(4, c.indent()))
			out = append(out, "    "[:c.left]...)
			line = line[c.i:]
		}
		out = append(out, line...)
	}
	return out
}

// noteParser parses references to footnotes.
type noteParser struct{}

func (noteParser) Trigger() []byte { return []byte{'['} }

func (noteParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if len(line) < 4 || line[1] != '^' {
		return nil
	}
	ctx, ok := pc.(*blockContext)
	if !ok {
		return nil
	}
	end := bytes.IndexByte(line, ']')
	if end < 3 || end > maxLabel+2 || bytes.ContainsAny(line[2:end], " \t[\n") {
		return nil
	}
	label := noteLabel(line[2:end])
	if ctx.p != nil && !ctx.rough {
		ctx.p.mentions = append(ctx.p.mentions, label)
	}
	if ctx.d.notes.byLabel[label] == nil {
		if !ctx.rough {
			ctx.p.miss("^" + label)
		}
		return nil
	}
	block.Advance(end + 1)
	n := &gfmInline{what: gfmNote, label: label}
	if !ctx.rough {
		n.which = len(ctx.p.mentions) - 1
	}
	return n
}

func linkLabel(b []byte) string { return util.ToLinkReference(b) }
