package markdown

import (
	"context"
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/microcosm-cc/bluemonday"

	"github.com/bailey-go/bailey/iframe/internal/raster"
)

// Draw returns o with a function that draws code in a language, formulas and diagrams. It may be a
// library that is not trusted: a drawing is data, and one that is not of its source, or not of the
// listed form, is refused. Then, and until a drawing comes, the source is shown. f is called on its
// own goroutine for at most eight sources at once. A call has 10 s, and after three calls that
// ignore the end of their context no more are made. An error means that there is no drawing. f is
// not called for a source again, so the result must depend on the source only. Code above 64 KiB
// is drawn up to there.
//
// Draw is a method and not a field, so a program that does not call it is smaller.
func (o Options) Draw(f func(context.Context, Source) (Drawing, error)) Options {
	o.gallery = nil
	if f != nil {
		o.gallery = func(o Options) gallery {
			return &pictures{draw: f, image: o.Limits.ImageBytes, done: map[Source]*picture{}, asked: map[Source][]func(*picture){}}
		}
	}
	return o
}

// gallery is what a Renderer needs of *pictures. Only Draw makes one, and a linker drops all of it otherwise.
type gallery interface {
	collect(d *doc)
	picture(nw *nodeWriter, s Source) *picture
	colours(nw *nodeWriter, lang, code string) []piece
	figure(w *sink, p *picture, lang string, code func())
	element(name string) (element, bool)
	value(name, val string) bool
	shape(val string) bool
	allow(*bluemonday.Policy)
}

func (ps *pictures) element(name string) (element, bool) { return formulaElement(name) }
func (ps *pictures) value(name, val string) bool         { return goodFormulaValue(name, val) }
func (ps *pictures) shape(val string) bool               { return goodSVG(val) }

func (ps *pictures) allow(p *bluemonday.Policy) {
	allowFormulas(p)
	p.AllowAttrs("src").Matching(regexp.MustCompile(`^data:image/svg\+xml;base64,[A-Za-z0-9+/=]+$`)).OnElements("img")
}

// Source is code, a formula or the text of a diagram, as the function of [Options.Draw] receives it.
type Source struct {
	Lang    string // the language of a code fence, in lower case. "math" for a formula in TeX
	Text    string // without a line break at the end
	Display bool   // a formula that is shown on lines of its own
}

// Drawing is how a Source is shown. One of its fields is set.
type Drawing struct {
	// Spans are the colours of code. Their texts, one after the other, are Source.Text.
	Spans []Span

	// MathML is a <math> element.
	MathML string

	// Image is a picture: PNG, JPEG, GIF, WebP or AVIF, at most Limits.ImageBytes. The source is
	// shown below it, folded.
	Image []byte

	// SVG is a diagram: an <svg> element with a viewBox, of at most 128 KiB. Shapes and texts are
	// kept. Styles are not, and of colours #rgb, #rrggbb, none, currentColor and these, which follow
	// the colour scheme: var(--bailey-text), -muted, -border, -surface and -background. The source is
	// shown below it, folded.
	SVG string
}

// Span is a piece of coloured code. A class has 1 to 32 letters, digits and dashes, and appears as
// "hl-" + class. A piece with an empty or invalid class is not coloured.
type Span struct {
	Class, Text string
}

const (
	maxDrawn     = 64 << 10 // bytes of a source. Of longer code the first lines are drawn
	maxSpans     = 5000     // of a drawing. Code after them is not coloured
	maxMathML    = 256 << 10
	maxAsked     = 1000             // sources that wait for their turn. Others stay as they are
	maxDrawing   = 8                // drawings that are made at the same time
	maxHanging   = 3                // drawings that may take too long, before no more are made
	maxPictures  = 16 << 20         // bytes of the drawings that a renderer keeps
	drawTime     = 10 * time.Second // for one drawing
	smallPicture = 64               // bytes that each kept drawing costs at least
)

// picture is a checked drawing.
type picture struct {
	spans []piece
	html  string // of a formula
	image string // data: URL

	width, height int    // of a diagram
	words         string // of a diagram
}

type piece struct {
	class string
	n     int
}

func (p *picture) empty() bool {
	return p == nil || len(p.spans) == 0 && p.html == "" && p.image == ""
}

// pictures makes and keeps the drawings of a Renderer.
type pictures struct {
	draw  func(context.Context, Source) (Drawing, error)
	image int // Limits.ImageBytes

	mu      sync.Mutex
	done    map[Source]*picture // an empty one if there is no drawing
	order   []Source            // of done
	size    int
	asked   map[Source][]func(*picture) // to be called with the drawing
	queue   []Source
	drawing int
	hanging int
	refused atomic.Int64 // drawings that the check refused
}

// look returns the drawing of a source, or nil if there is none yet, or none any more.
func (ps *pictures) look(s Source) *picture {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.done[s]
}

// ask has a source drawn. then is called on another goroutine with the drawing, which may be empty.
func (ps *pictures) ask(s Source, then func(*picture)) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	list, asked := ps.asked[s]
	switch {
	case ps.done[s] != nil:
		go then(ps.done[s])
		return
	case !asked && (len(ps.queue) >= maxAsked || ps.hanging >= maxHanging):
		go then(&picture{})
		return
	}
	ps.asked[s] = append(list, then)
	if !asked {
		ps.queue = append(ps.queue, s)
		ps.next()
	}
}

// next starts the drawings whose turn it is. ps.mu is held.
func (ps *pictures) next() {
	for len(ps.queue) > 0 && ps.drawing < maxDrawing {
		s := ps.queue[0]
		ps.queue = ps.queue[1:]
		ps.drawing++
		go ps.make(s)
	}
}

// make draws a source. It waits for at most drawTime, also if Draw ignores its context.
func (ps *pictures) make(s Source) {
	ctx, cancel := context.WithTimeout(context.Background(), drawTime)
	defer cancel()
	result := make(chan *picture, 1)
	ps.mu.Lock()
	hanging := ps.hanging
	ps.mu.Unlock()
	var p *picture
	if hanging < maxHanging {
		var settled atomic.Bool // by the drawing, or by its time
		go func() {
			p := &picture{}
			defer func() {
				if recover() != nil {
					p = &picture{}
				}
				result <- p
				if settled.Swap(true) {
					ps.hang(-1)
				}
			}()
			if d, err := ps.draw(ctx, s); err == nil && ctx.Err() == nil {
				if p, err = ps.check(s, d); err != nil {
					p = &picture{}
					ps.refused.Add(1)
				}
			}
		}()
		select {
		case p = <-result:
		case <-ctx.Done():
			if !settled.Swap(true) {
				ps.hang(1)
			}
		}
	}
	if p == nil {
		p = &picture{}
	}
	ps.mu.Lock()
	ps.keep(s, p)
	then := ps.asked[s]
	delete(ps.asked, s)
	ps.drawing--
	ps.next()
	ps.mu.Unlock()
	for _, f := range then {
		f(p)
	}
}

func (ps *pictures) hang(by int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.hanging += by
}

// keep stores a drawing, and forgets the oldest ones above maxPictures. ps.mu is held.
func (ps *pictures) keep(s Source, p *picture) {
	if _, ok := ps.done[s]; ok {
		return
	}
	ps.done[s] = p
	ps.order = append(ps.order, s)
	ps.size += sizeOf(s, p)
	for ps.size > maxPictures && len(ps.order) > 1 {
		old := ps.order[0]
		ps.order = ps.order[1:]
		ps.size -= sizeOf(old, ps.done[old])
		delete(ps.done, old)
	}
}

func sizeOf(s Source, p *picture) int {
	return smallPicture + len(s.Text) + len(s.Lang) + 24*len(p.spans) + len(p.html) + len(p.image) + len(p.words)
}

var errDrawing = errors.New("markdown: the drawing is not of its source")

// check returns a drawing as this package shows it. It shares no trust with Draw: colours must be those of exactly the
// source, a formula may have only the elements of MathML that are listed here, and a picture is written again from its bytes.
func (ps *pictures) check(s Source, d Drawing) (*picture, error) {
	p := &picture{}
	if d.SVG != "" {
		if d.Spans != nil || d.MathML != "" || d.Image != nil || s.Lang == "math" && !s.Display || len(d.SVG) > maxSVG {
			return nil, errDrawing
		}
		clean, err := cleanSVG(d.SVG)
		if err != nil {
			return nil, err
		}
		return clean.picture(), nil
	}
	switch {
	case len(d.Spans) > 0 && d.MathML == "" && d.Image == nil:
		rest := s.Text
		for i, span := range d.Spans {
			tail, ok := strings.CutPrefix(rest, span.Text)
			if !ok {
				return nil, errDrawing
			}
			rest = tail
			if span.Text == "" || i >= maxSpans {
				continue
			}
			class := span.Class
			if !goodToken(class, 32, "-") {
				class = ""
			}
			p.spans = append(p.spans, piece{class, len(span.Text)})
		}
		if rest != "" {
			return nil, errDrawing
		}
	case d.MathML != "" && d.Spans == nil && d.Image == nil:
		if len(d.MathML) > maxMathML {
			return nil, errDrawing
		}
		var err error
		if p.html, err = cleanMathML(d.MathML, s.Display || s.Lang != "math"); err != nil {
			return nil, err
		}
	case len(d.Image) > 0 && d.Spans == nil && d.MathML == "":
		kind := raster.Type(d.Image)
		if kind == "" || len(d.Image) > ps.image || s.Lang == "math" && !s.Display {
			return nil, errDrawing
		}
		p.image = "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(d.Image)
	}
	return p, nil
}

// ---- in a text --------------------------------------------------------------------

// drawn is a text's part of the drawings. A text keeps what it shows, so a drawing that the renderer has forgotten is not
// made for it again.
type drawn struct {
	waiting map[Source][]*part  // finished parts that a drawing changes
	kept    map[Source]*picture // the drawings that came
	size    int                 // of kept, at most maxPictures
	open    []Source            // the last versions of unfinished code that were drawn, the newest at the end
	busy    bool                // a version of unfinished code is being drawn
	came    atomic.Bool         // a drawing came since the last call of collect
	left    atomic.Int64        // drawings that were asked for and did not come yet
	notify  atomic.Pointer[func()]

	mu    sync.Mutex
	inbox map[Source]*picture // drawings that came, until the next call of collect
}

// arrived returns a function that gives the text the drawing of a source.
func (dr *drawn) arrived(s Source) func(*picture) {
	dr.left.Add(1)
	return func(p *picture) {
		dr.mu.Lock()
		if dr.inbox == nil {
			dr.inbox = map[Source]*picture{}
		}
		dr.inbox[s] = p
		dr.mu.Unlock()
		dr.came.Store(true)
		dr.left.Add(-1)
		if f := dr.notify.Load(); f != nil {
			(*f)()
		}
	}
}

// keep stores a drawing of the text, an empty one if it has no room for it.
func (dr *drawn) keep(s Source, p *picture) *picture {
	if dr.kept == nil {
		dr.kept = map[Source]*picture{}
	}
	if dr.size += sizeOf(s, p); dr.size > maxPictures {
		dr.size -= sizeOf(s, p)
		p = &picture{}
		dr.size += sizeOf(s, p)
	}
	dr.kept[s] = p
	return p
}

func (dr *drawn) forget(s Source) {
	if p := dr.kept[s]; p != nil {
		dr.size -= sizeOf(s, p)
		delete(dr.kept, s)
	}
}

// collect marks the parts whose drawings came, to be rendered again. It reports whether one came.
func (d *doc) collect() bool {
	if !d.drawn.came.Swap(false) {
		return false
	}
	d.r.gallery.collect(d)
	return true
}

func (ps *pictures) collect(d *doc) {
	dr := &d.drawn
	dr.mu.Lock()
	inbox := dr.inbox
	dr.inbox = nil
	dr.mu.Unlock()
	dr.busy = false
	for s, p := range inbox {
		if dr.kept[s] == nil {
			dr.keep(s, p)
		}
		for _, part := range dr.waiting[s] {
			d.soil(part)
		}
		delete(dr.waiting, s)
	}
	d.list = listTail{}
}

// wholeLines returns the complete lines of code, without the last line break.
func wholeLines(code string) string { return code[:max(0, strings.LastIndexByte(code, '\n'))] }

// undraw marks parts to be rendered without drawings. It is used if a block's drawings are together above a limit. It
// returns false if they have none.
func undraw(parts []*part) bool {
	changed := false
	for _, p := range parts {
		changed = changed || !p.undrawn
		p.undrawn = true
	}
	return changed
}

// picture returns the drawing of a source that is complete. If there is none yet, it asks for it, and the part is
// rendered again when it comes.
func (ps *pictures) picture(nw *nodeWriter, s Source) *picture {
	if s.Text == "" || nw.p != nil && nw.p.undrawn || len(s.Text) > maxDrawn {
		return nil
	}
	dr := &nw.d.drawn
	if p := dr.kept[s]; p != nil {
		return p
	}
	if p := ps.look(s); p != nil {
		return dr.keep(s, p)
	}
	parts, waits := dr.waiting[s]
	if !nw.rough && nw.p != nil && !slices.Contains(parts, nw.p) {
		parts = append(parts, nw.p)
	}
	if dr.waiting == nil { // not in newDoc, so that a program without drawings has no such map
		dr.waiting = map[Source][]*part{}
	}
	dr.waiting[s] = parts
	if !waits {
		ps.ask(s, dr.arrived(s))
	}
	return nil
}

// colours returns the colours of code. Of code that is unfinished, or whose colours did not come yet, they are those
// of an earlier version, whose text is the beginning of this one. So colours never become plain text again.
func (ps *pictures) colours(nw *nodeWriter, lang, code string) []piece {
	if nw.p != nil && nw.p.undrawn {
		return nil
	}
	dr := &nw.d.drawn
	if !nw.rough {
		text := strings.TrimSuffix(code, "\n")
		if len(text) > maxDrawn {
			text = wholeLines(text[:maxDrawn])
		}
		if p := ps.picture(nw, Source{Lang: lang, Text: text}); p != nil {
			return p.spans
		}
	}
	var best []piece
	for i := len(dr.open) - 1; i >= 0; i-- {
		s := dr.open[i]
		if s.Lang != lang || !strings.HasPrefix(code, s.Text) {
			continue
		}
		if p := dr.kept[s]; !p.empty() {
			best = p.spans
			break
		}
	}
	if !nw.rough || dr.busy {
		return best
	}
	// The next version has complete lines only, and is larger than the last one by a part of it.
	next := Source{Lang: lang, Text: wholeLines(code[:min(len(code), maxDrawn)])}
	text := next.Text
	if n := len(dr.open); n > 0 && strings.HasPrefix(code, dr.open[n-1].Text) && len(text) < len(dr.open[n-1].Text)*9/8+1 || text == "" {
		return best
	}
	dr.busy = true
	for len(dr.open) > 3 {
		dr.forget(dr.open[0])
		dr.open = dr.open[1:]
	}
	dr.open = append(dr.open, next)
	ps.ask(next, dr.arrived(next))
	return best
}

// figure writes a drawing of a source, and the source below it.
func (ps *pictures) figure(w *sink, p *picture, lang string, code func()) {
	w.WriteString("<figure>\n")
	if p.html != "" {
		w.WriteString("<p>" + p.html + "</p>")
	} else {
		p.img(w, lang)
	}
	w.WriteString("\n<details>\n<summary>")
	w.escapeString(lang)
	w.WriteString(" source</summary>\n")
	code()
	w.WriteString("</details>\n</figure>\n")
}

func (p *picture) img(w *sink, lang string) {
	w.WriteString("<img")
	w.attr("src", p.image)
	if p.words != "" {
		w.attr("alt", lang+": "+p.words)
	} else {
		w.attr("alt", lang)
	}
	if p.width > 0 {
		w.attr("width", strconv.Itoa(p.width))
		w.attr("height", strconv.Itoa(p.height))
	}
	w.WriteByte('>')
}
