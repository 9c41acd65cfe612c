package markdown

import (
	"bytes"
	"math"
	"slices"
)

// tail is the open end of a text. It is rendered repeatedly, as it will probably end. The guess
// is made in Markdown and rendered like other Markdown, so it is equally safe.
type tail struct {
	credit  int
	pending bool
	last    []shownBlock
	notes   string
}

// A large open end is not rendered for each token. Each written byte and each call earns
// credit, and rendering costs as many bytes as it reads. So the work is proportional to the
// text, and written text still appears within a few calls.
const (
	creditByte = 16
	creditCall = 2 << 10
	freeTail   = 4 << 10 // size in bytes up to which the end is always rendered
)

// blocks returns the unfinished blocks and the footnotes.
func (t *tail) blocks(d *doc) []shownBlock {
	t.pending = false
	t.credit += creditCall
	var now []shownBlock
	if !d.closed {
		now = t.open(d)
	}
	if !d.closed && len(t.notes) > freeTail && !t.pay(len(t.notes)/2) {
		t.pending = t.pending || d.notes.fresh
	} else if d.notes.fresh || t.notes == "" {
		t.notes, _ = d.notes.section(d)
		d.notes.fresh = false
	}
	if t.notes != "" {
		now = append(now, shownBlock{noteKey, t.notes})
	}
	return now
}

// pay subtracts cost from the credit. It returns false if there is not enough.
func (t *tail) pay(cost int) bool {
	if cost > freeTail && t.credit < cost {
		return false
	}
	t.credit = min(max(t.credit-cost, 0), 4*freeTail)
	return true
}

func (t *tail) open(d *doc) []shownBlock {
	pending := d.parts[d.groups.decided:]
	start := d.tailStart()
	cost := len(d.in.text) - start
	if d.sc.open && d.sc.seg.kind == fenceSegment {
		cost /= 8
	}
	if len(pending) > 0 {
		cost += (start - pending[0].start) / 2
	}
	if !t.pay(cost) {
		t.pending = true
		for len(t.last) > 0 && t.last[0].key < d.groups.decided {
			t.last = t.last[1:]
		}
		return slices.Clone(t.last)
	}
	t.last = d.tailBlocks(pending)
	return slices.Clone(t.last)
}

// tailStart returns the start of the text that is in no part yet.
func (d *doc) tailStart() int {
	switch {
	case d.plainTo > 0:
		return d.plainTo
	case d.sc.open:
		return d.sc.seg.start
	}
	return d.sc.pos
}

func (d *doc) tailBlocks(pending []*part) []shownBlock {
	// An incomplete character is not shown yet. It is kept in the intake.
	parts := slices.Concat(pending, d.tailParts())
	if len(parts) == 0 {
		return nil
	}
	// Open tags are treated as if they were closed at the end.
	opens := slices.Clone(d.groups.open)
	for _, p := range parts[len(pending):] {
		for i := range p.tags {
			t := &p.tags[i]
			t.until = p.index
			if !t.end {
				opens = append(opens, openTag{p, i})
				continue
			}
			for k := len(opens) - 1; k >= 0; k-- {
				if o := opens[k]; o.part.tags[o.tag].name == t.name {
					o.part.tags[o.tag].until = p.index
					opens = opens[:k]
					break
				}
			}
		}
	}
	before := make([]int, len(opens))
	for i, o := range opens {
		before[i] = o.part.tags[o.tag].until
		o.part.tags[o.tag].until = math.MaxInt32
	}
	var now []shownBlock
	for first := 0; first < len(parts); {
		last := first
		for i := first; i <= last; i++ {
			for _, t := range parts[i].tags {
				if !t.end {
					last = max(last, min(t.until-parts[0].index, len(parts)-1))
				}
			}
		}
		html, _, limit := d.join(parts[first : last+1])
		if limit != "" && last > first {
			keep := tagsOf(parts)
			apart(parts[first : last+1])
			for _, p := range parts[first : last+1] {
				if html, _, _ := d.join([]*part{p}); html != "" {
					now = append(now, shownBlock{p.index, html})
				}
			}
			keep()
		} else if html != "" {
			now = append(now, shownBlock{parts[first].index, html})
		}
		first = last + 1
	}
	for i, o := range opens {
		o.part.tags[o.tag].until = before[i]
	}
	// A guess about a complete part must not outlive the call.
	for _, p := range pending {
		for i := range p.tags {
			if p.tags[i].until >= len(d.parts) {
				p.tags[i].until = p.index
			}
		}
	}
	return now
}

// tagsOf returns a function that restores the current tags of parts.
func tagsOf(parts []*part) (restore func()) {
	var was [][]tagEvent
	for _, p := range parts {
		was = append(was, slices.Clone(p.tags))
	}
	return func() {
		for i, p := range parts {
			p.tags = was[i]
		}
	}
}

// tailParts renders the text that is in no part yet.
func (d *doc) tailParts() []*part {
	index := len(d.parts)
	if d.plainTo > 0 {
		p := &part{segment: segment{kind: plainSegment, start: d.plainTo, end: len(d.in.text), limit: "Bytes"}, index: index}
		if p.start == p.end {
			return nil
		}
		d.roughen(p, nil)
		return []*part{p}
	}
	text := d.in.text
	g := d.guess(text)
	for g.held < len(text) {
		text = text[:g.held]
		g = d.guess(text)
	}
	var parts []*part
	for i, seg := range g.segs {
		if seg.kind == noteSegment {
			continue // shown with the other notes when it is complete
		}
		p := &part{segment: seg, index: index + i}
		src := text[seg.start:seg.end]
		if i == len(g.segs)-1 && seg.kind == markdownSegment && seg.limit == "" {
			src = g.complete(text, src)
			if d.list.render(d, p, g.items, src) {
				parts = append(parts, p)
				continue
			}
		}
		d.roughen(p, src)
		parts = append(parts, p)
	}
	return parts
}

// roughen renders an incomplete part.
func (d *doc) roughen(p *part, src []byte) {
	for {
		w := &d.scratch
		w.Reset()
		d.write(w, p, src, true)
		if d.roughCheck(p, bytes.Clone(w.Bytes())) || p.undrawn || d.r.gallery == nil {
			return
		}
		p.undrawn = true
	}
}

// roughCheck checks the stream of an incomplete part. It reports whether it is within the limits.
func (d *doc) roughCheck(p *part, stream []byte) (fits bool) {
	p.stream = stream
	fits = p.raw
	if p.checked = !p.raw && verify(d.r, stream) == ""; !p.checked {
		d.sanitise([]*part{p})
	}
	return fits || p.checked
}

// guess is the result of the scanner for a text that would end here.
type guess struct {
	noMath bool
	segs   []segment
	leaf   leaf
	open   bool // the last segment may continue
	conts  []container
	items  []int // positions of the items, if the last segment is a list
	line   int   // start of the last line
	held   int   // text from here on is better not shown yet
}

func (d *doc) guess(text []byte) guess {
	s := d.sc
	s.rough = true
	s.done = nil
	s.conts = slices.Clone(s.conts)
	s.leaf.lines = slices.Clip(s.leaf.lines)
	s.items = slices.Clone(s.items)
	s.scan(text, false)
	g := guess{noMath: s.noMath, held: len(text), line: bytes.LastIndexByte(text, '\n') + 1}
	if s.pos < len(text) && s.holds(text[s.pos:]) {
		g.held = s.pos
		return g
	}
	if s.pos < len(text) {
		s.line(text, s.pos, len(text), true)
	}
	g.leaf, g.open, g.conts = s.leaf, s.open, s.conts
	if s.open {
		g.items = slices.Clone(s.items)
	}
	if s.open && s.leaf.kind == paragraphLeaf && len(s.leaf.lines) > 0 && s.hides(text) {
		first := s.leaf.lines[0][0]
		g.held = bytes.LastIndexByte(text[:first], '\n') + 1
		if g.held < s.seg.start || g.held == s.seg.start {
			g.held = s.seg.start
		}
		if g.held == 0 && s.seg.start == 0 && len(text) > 0 {
			return guess{held: len(text)} // nothing to show at all
		}
		return g
	}
	s.finish(len(text))
	g.segs = s.done
	return g
}

// holds reports whether the incomplete last line may still become one of many constructs: an
// underline, a list item, a fence or a table's second line.
func (s *scanner) holds(line []byte) bool {
	t := bytes.Trim(line, " \t>\n")
	if len(t) == 0 {
		return s.leaf.kind == formulaLeaf
	}
	if s.leaf.kind == fenceLeaf {
		return len(bytes.Trim(t, string(s.leaf.fence.char))) == 0
	}
	if s.leaf.kind == formulaLeaf {
		return len(t) == 1 && t[0] == s.leaf.shut[0]
	}
	if s.leaf.kind == htmlLeaf || s.leaf.kind == indentedLeaf {
		return false
	}
	if len(bytes.Trim(t, "-=*_+~`#|: ")) == 0 {
		return true
	}
	if len(bytes.TrimLeft(t, "0123456789")) == 0 || len(t) < 12 && len(bytes.Trim(bytes.TrimLeft(t, "0123456789"), ".)")) == 0 {
		return len(t) < 12
	}
	return bytes.HasPrefix(t, []byte("```")) || bytes.HasPrefix(t, []byte("~~~"))
}

// hides reports whether the open paragraph is the beginning of a table or of a link definition.
func (s *scanner) hides(text []byte) bool {
	l := s.leaf.lines
	first := text[l[0][0]:l[0][1]]
	switch {
	case first[0] == '|' && len(l) == 1:
		return true
	case first[0] == '|' && len(l) == 2 && l[1][1] == len(text) && text[len(text)-1] != '\n':
		return isTableDelimiter(append(text[l[1][0]:l[1][1]:l[1][1]], '-', '|'))
	case first[0] == '[' && len(s.conts) > 0 && s.conts[len(s.conts)-1].kind == '>' && len(l) == 1:
		return l[0][1] == len(text) && text[len(text)-1] != '\n' && mayAlert(first)
	case first[0] == '[' && len(s.conts) == 0:
		i := bytes.IndexByte(first, ']')
		return i > 1 && (i+1 == len(first) && first[1] == '^' || i+1 < len(first) && first[i+1] == ':')
	}
	return false
}
