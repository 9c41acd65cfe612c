package markdown

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
)

// doc is a growing text. Its parts are rendered segments. Its blocks are the units of patches:
// a part, or several parts that an HTML element spans.
type doc struct {
	r      *Renderer
	in     intake
	sc     scanner
	closed bool
	parts  []*part
	blocks []*block
	groups grouping

	refs    map[string]parser.Reference
	waiting map[string][]*part // by label: parts that refer to a label not yet defined
	dirty   []*part            // to be rendered again
	redone  []*block           // rendered again since they were shown
	ids     map[string]int     // of headings
	notes   notes
	scratch sink
	list    listTail
	drawn   drawn
	plainTo int // end of the text after Limits.Bytes that has been cut into parts
}

// part is a segment and its rendering.
type part struct {
	segment
	index   int
	stream  []byte // HTML, sanitised, with marks. Nil once its block is made
	raw     bool   // it has tags of the text, or of an extension
	checked bool   // the last check accepted the stream unchanged
	tags    []tagEvent
	report  Report

	missed   []string // labels that it refers to and that are not defined
	mentions []string // labels of footnotes, in order
	numbers  []noteNumber
	headings []string // ids given to its headings
	undrawn  bool     // its drawings were too much, so it has none
	over     string   // the limit of the whole text that it has hit
	dirty    bool
	block    *block

	mentioning bool // it is in doc.notes.mentions
}

// block is the unit of patches, with a key.
type block struct {
	index       int // in doc.blocks
	first, last int // indices of its parts
	html        string
	shown       string // the HTML of its last patch
	report      Report
}

func newDoc(r *Renderer) *doc {
	d := &doc{r: r, refs: map[string]parser.Reference{}, waiting: map[string][]*part{}, ids: map[string]int{}}
	d.sc = scanner{lim: &r.opts.Limits, noMath: r.opts.NoMath, underlined: func(paragraph []byte) bool { return underlined(r, paragraph) }}
	d.notes.byLabel = map[string]*note{}
	return d
}

// markdown returns the text to render as Markdown, without the text after Limits.Bytes. whole
// reports that it will not grow.
func (d *doc) markdown() (text []byte, whole bool) {
	if limit := d.r.opts.Limits.Bytes; len(d.in.text) > limit {
		for limit > 0 && d.in.text[limit]&0xc0 == 0x80 {
			limit--
		}
		return d.in.text[:limit], true
	}
	return d.in.text, d.closed
}

// advance makes parts and blocks from the complete segments.
func (d *doc) advance() {
	text, whole := d.markdown()
	d.sc.scan(text, whole)
	d.add(d.sc.done...)
	d.sc.done = d.sc.done[:0]
	if whole {
		d.advancePlain(len(text))
		if d.closed {
			d.groups.end(d)
		}
	}
}

// plainChunk is the size of the blocks of plain text after Limits.Bytes.
const plainChunk = 64 << 10

func (d *doc) advancePlain(from int) {
	d.plainTo = max(d.plainTo, from)
	for d.plainTo < len(d.in.text) {
		end := d.plainTo + plainChunk
		if end+4 > len(d.in.text) {
			if !d.closed {
				return
			}
			end = min(end, len(d.in.text))
		}
		for end < len(d.in.text) && d.in.text[end]&0xc0 == 0x80 {
			end--
		}
		d.add(segment{kind: plainSegment, start: d.plainTo, end: end, limit: "Bytes"})
		d.plainTo = end
	}
}

func (d *doc) add(segs ...segment) {
	from := len(d.parts)
	parts := make([]part, len(segs))
	for i, seg := range segs {
		p := &parts[i]
		p.segment, p.index = seg, len(d.parts)
		d.parts = append(d.parts, p)
		if seg.kind == noteSegment {
			d.notes.define(d, p)
		}
	}
	d.render(d.parts[from:]...)
	for _, p := range d.parts[from:] {
		d.groups.take(d, p)
	}
}

// define adds a link reference definition.
func (d *doc) define(p *part, ref parser.Reference) {
	label := linkLabel(ref.Label())
	if _, ok := d.refs[label]; ok {
		return // the first definition counts
	}
	if len(d.refs) >= d.r.opts.Limits.References {
		p.over = "References"
		return
	}
	d.refs[label] = parser.NewReference([]byte(label), slices.Clone(ref.Destination()), slices.Clone(ref.Title()))
	d.wake(label)
}

// wake marks the parts that refer to a newly defined label for rendering.
func (d *doc) wake(label string) {
	for _, p := range d.waiting[label] {
		d.soil(p)
	}
	delete(d.waiting, label)
}

func (d *doc) soil(p *part) {
	if !p.dirty {
		p.dirty = true
		d.dirty = append(d.dirty, p)
	}
}

// miss records a label that a part refers to and that is not defined.
func (p *part) miss(label string) {
	if !slices.Contains(p.missed, label) {
		p.missed = append(p.missed, label)
	}
}

// settle renders the parts again that a late definition changed, until nothing changes. It ends
// because definitions are only added. The number of rounds is bounded all the same.
func (d *doc) settle() {
	for range 10 {
		d.notes.number(d)
		if len(d.dirty) == 0 {
			return
		}
		todo := d.dirty
		d.dirty = nil
		var again []*block
		var parts []*part
		for _, p := range todo {
			switch {
			case p.block == nil:
				parts = append(parts, p)
			case !slices.Contains(again, p.block):
				again = append(again, p.block)
				parts = append(parts, d.parts[p.block.first:p.block.last+1]...)
			}
		}
		d.render(parts...)
		for _, b := range again {
			d.assemble(b)
		}
		d.redone = append(d.redone, again...)
	}
}

// render makes the streams of parts, in order.
func (d *doc) render(parts ...*part) {
	w := &d.scratch
	w.Reset()
	size := 0
	for _, p := range parts {
		size += p.end - p.start
	}
	w.Grow(size + size/2) // the HTML of most texts
	ends := make([]int, len(parts))
	for i, p := range parts {
		p.dirty = false
		p.missed, p.mentions = nil, nil
		d.write(w, p, d.in.text[p.start:p.end], false)
		ends[i] = w.Len()
		for _, label := range p.missed {
			if !slices.Contains(d.waiting[label], p) {
				d.waiting[label] = append(d.waiting[label], p)
			}
		}
		if p.kind == noteSegment {
			d.notes.changed = true
		}
		if len(p.mentions) > 0 {
			d.notes.mentioned(p)
		}
	}
	all, from := bytes.Clone(w.Bytes()), 0
	var unclean []*part
	for i, p := range parts {
		p.stream = all[from:ends[i]:ends[i]]
		from = ends[i]
		if p.checked = !p.raw && verify(d.r, p.stream) == ""; !p.checked {
			unclean = append(unclean, p)
		} else {
			p.tags = nil
		}
	}
	d.sanitise(unclean)
}

// between separates parts that are sanitised together. The byte never occurs in UTF-8.
const between = 0xFE

// sanitise applies bluemonday to the parts with tags of the text or of an extension, and to the
// parts that the last check did not accept. bluemonday would not change a byte of the accepted
// parts, as TestPolicyIsIdentity and FuzzRender check. The parts are sanitised in one call,
// because half of the cost is in starting.
func (d *doc) sanitise(parts []*part) {
	if len(parts) == 0 {
		return
	}
	streams := make([][]byte, len(parts))
	for i, p := range parts {
		streams[i] = p.stream
	}
	clean := bytes.Split(d.r.policy.SanitizeBytes(bytes.Join(streams, []byte{between})), []byte{between})
	for i, p := range parts {
		p.stream = nil
		if len(clean) == len(parts) { // otherwise the last check refuses the remains
			p.stream = clean[i]
		}
		was := p.tags
		p.tags = tagEvents(p.stream)
		for i := range p.tags { // the elements that the text opens reach as far as before
			if len(was) == len(p.tags) && was[i].name == p.tags[i].name {
				p.tags[i].until = was[i].until
			}
		}
	}
}

// write renders the text of a part. If rough is set, the text is the unfinished end, and
// nothing is recorded.
func (d *doc) write(w *sink, p *part, src []byte, rough bool) {
	limit := p.limit
	w.report = Report{}
	start := w.Len()
	p.raw = false
	switch {
	case limit != "":
	case p.kind == fenceSegment && d.r.conv.extended(ast.KindFencedCodeBlock) == nil:
		d.fence(w, p, rough)
	default:
		if p.kind == noteSegment {
			src = dedent(d.in.text[p.body : p.start+len(src)])
		}
		p.raw, limit = d.tree(w, p, src, rough)
	}
	if limit != "" {
		w.Truncate(start)
		w.report = Report{}
		p.raw = false
		w.plain(d.in.text[p.start:p.end], limit, &d.r.opts.Limits)
	}
	if !p.raw && limit == "" && p.kind != fenceSegment {
		if html := joined(d.r, w.Bytes()[start:]); len(html) > w.Len()-start {
			w.Truncate(start)
			w.Write(html)
		}
	}
	capStacksFrom(d.r, w, start)
	p.report = w.report
}

// tree parses and writes a segment. If goldmark or an extension panics, the block becomes plain
// text, and the program continues.
func (d *doc) tree(w *sink, p *part, src []byte, rough bool) (raw bool, limit string) {
	defer func() {
		if recover() != nil {
			raw, limit = false, "broken"
		}
	}()
	ctx := &blockContext{Context: parser.NewContext(), d: d, p: p, rough: rough}
	p.over = ""
	tree := d.r.conv.parse(src, ctx)
	if p.over != "" {
		return false, p.over
	}
	nw := &nodeWriter{r: d.r, w: w, src: src, ctx: ctx, d: d, p: p, rough: rough}
	nw.children(tree, 0)
	return nw.raw, nw.limit
}

// assemble makes the HTML of a block from its parts.
func (d *doc) assemble(b *block) {
	b.html, b.report, _ = d.join(d.parts[b.first : b.last+1])
	for _, p := range d.parts[b.first : b.last+1] {
		b.report.merge(p.report)
		if p.kind != noteSegment {
			p.stream = nil
		}
	}
}

// join balances and checks the streams of the parts of a block. If a limit is hit, join returns
// its name, and html is the text of all parts as plain text.
func (d *doc) join(parts []*part) (html string, report Report, limit string) {
	html, report, limit = d.joinOnce(parts)
	if limit != "" && d.r.gallery != nil && undraw(parts) { // a drawing costs no block
		if again := parts[0].index < len(d.parts) && d.parts[parts[0].index] == parts[0]; again {
			d.render(parts...)
			html, report, limit = d.joinOnce(parts)
		}
	}
	return html, report, limit
}

func (d *doc) joinOnce(parts []*part) (html string, report Report, limit string) {
	if p := parts[0]; len(parts) == 1 && !p.raw && p.kind != noteSegment && d.r.opts.Policy == nil {
		switch {
		case isBlank(p.stream):
			return "", report, ""
		case p.checked || verify(d.r, p.stream) == "":
			return string(p.stream), report, ""
		}
	}
	var streams [][]byte
	var until [][]int
	raw := false
	for _, p := range parts {
		if p.kind == noteSegment && p.limit == "" {
			continue
		}
		streams = append(streams, p.stream)
		raw = raw || p.raw
		var ends []int
		for _, t := range p.tags {
			if !t.end {
				ends = append(ends, t.until-parts[0].index)
			}
		}
		until = append(until, ends)
	}
	out := slices.Concat(streams...)
	if raw {
		out, limit = balance(d.r, streams, until, &report)
		out = joined(d.r, plainCode(out, &report))
	}
	if limit == "" {
		if isBlank(out) {
			return "", report, ""
		}
		if d.r.opts.Policy != nil {
			out = narrow(d.r, out)
		}
		if limit = verify(d.r, out); limit == "" {
			return string(out), report, ""
		}
	}
	w := &sink{}
	w.plain(d.in.text[parts[0].start:parts[len(parts)-1].end], limit, &d.r.opts.Limits)
	capStacksFrom(d.r, w, 0)
	report.merge(w.report)
	return w.String(), report, limit
}

// apart closes every tag of parts at the end of its own part. It is used if the parts are too
// much for one block.
func apart(parts []*part) {
	for _, p := range parts {
		for i := range p.tags {
			p.tags[i].until = p.index
		}
	}
}
