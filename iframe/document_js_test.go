package iframe

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/until"
)

// element makes an element of the page and puts it at the end of the body.
func element(t *testing.T, tag string, attributes map[string]string) jsx.Value {
	t.Helper()
	page := must(jsx.Get(jsx.Global(), "document"))(t)
	el := must(jsx.Call(page, "createElement", tag))(t)
	for name, value := range attributes {
		must(jsx.Call(el, "setAttribute", name, value))(t)
	}
	must(jsx.Call(must(jsx.Get(page, "body"))(t), "append", el))(t)
	t.Cleanup(func() { jsx.Call(el, "remove") })
	return el
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// place makes a place in the page for a document to stand in.
func place(t *testing.T) Element {
	t.Helper()
	return ElementOf(jsx.ToRaw(element(t, "div", nil)))
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, opts DocumentOptions) *Document {
	t.Helper()
	d, err := NewDocument(testContext(t), place(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func flush(t *testing.T, d *Document) {
	t.Helper()
	if err := d.Flush(testContext(t)); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, s *Section, text string) {
	t.Helper()
	if _, err := s.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestDocumentShowsWhatIsWritten(t *testing.T) {
	d := open(t, DocumentOptions{})
	s := d.Section("a")
	before := d.Height()
	for range 10 {
		write(t, s, "A line of text.\n\n")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	flush(t, d)
	if h := d.Height(); h <= before || h < 200 {
		t.Errorf("height %d after ten paragraphs, %d before", h, before)
	}
	if _, err := s.WriteString("more"); !errors.Is(err, ErrClosed) {
		t.Errorf("writing to a closed section: %v", err)
	}
	if got := strings.Count(s.HTML(), "A line of text."); got != 10 {
		t.Errorf("%d of 10 paragraphs in %q", got, s.HTML())
	}
	if got := box(t, d).height; got != d.Height() {
		t.Errorf("the frame is %d px tall, its content %d", got, d.Height())
	}
}

// box is the outer frame as the page lays it out.
func box(t *testing.T, d *Document) (b struct{ width, height int }) {
	t.Helper()
	ask := make(chan jsx.Value, 1)
	d.impl.do(func() { ask <- d.impl.frame.outer })
	rect := must(jsx.Call(<-ask, "getBoundingClientRect"))(t)
	b.width = int(must(jsx.GetFinite(rect, "width"))(t))
	b.height = int(must(jsx.GetFinite(rect, "height"))(t))
	return b
}

func TestHeightFollowsTheWidth(t *testing.T) {
	div := element(t, "div", map[string]string{"style": "width:600px"})
	d, err := NewDocument(testContext(t), ElementOf(jsx.ToRaw(div)), DocumentOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	write(t, d.Section("a"), strings.Repeat("words that wrap ", 100))
	flush(t, d)
	wide := d.Height()
	must(jsx.Call(must(jsx.Get(div, "style"))(t), "setProperty", "width", "200px"))(t)
	eventually(t, "a taller frame", func() bool { return d.Height() > wide*2 })
	must(jsx.Call(must(jsx.Get(div, "style"))(t), "setProperty", "width", "600px"))(t)
	eventually(t, "the first height again", func() bool { return d.Height() == wide })
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	until.True(t, what, ok)
}

func TestHeightIsClamped(t *testing.T) {
	d := open(t, DocumentOptions{MaxHeight: 300})
	write(t, d.Section("a"), strings.Repeat("line\n\n", 100))
	flush(t, d)
	if d.Height() != 300 {
		t.Errorf("height %d: MaxHeight is 300", d.Height())
	}
}

func TestEmptyDocumentIsNoBox(t *testing.T) {
	d := open(t, DocumentOptions{})
	flush(t, d)
	if h := box(t, d).height; h > 8 {
		t.Errorf("an empty document is %d px tall", h)
	}
}

// The last token is shown, even if another event follows directly.
func TestLastTokenIsShown(t *testing.T) {
	long := strings.Repeat("A paragraph of an instant answer, in one write.\n\n", 2000)
	for name, c := range map[string]struct {
		text string
		end  func(*Section)
	}{
		"close right after write": {"one *two* three LAST", func(s *Section) { s.Close() }},
		"never closed":            {"one **two LAST", func(s *Section) {}},
		"instant answer":          {long + "LAST", func(s *Section) { s.Close() }},
		"open fence":              {"```go\nLAST", func(s *Section) { s.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, DocumentOptions{})
			s := d.Section("a")
			write(t, s, c.text)
			c.end(s)
			flush(t, d)
			if !strings.Contains(s.HTML(), "LAST") {
				h := s.HTML()
				t.Errorf("the last token is missing: …%s", h[max(0, len(h)-200):])
			}
		})
	}
}

// A large open block is not rendered for each token, and only the document itself requests
// animation frames: nothing here waits for a heartbeat.
func TestLargeOpenBlockGoesOn(t *testing.T) {
	for name, line := range map[string]string{"paragraph": "Some words of one paragraph.\n", "list": "- An item of some words.\n", "table": "| a cell | another |\n"} {
		t.Run(name, func(t *testing.T) {
			d := open(t, DocumentOptions{Heartbeat: time.Minute})
			s := d.Section("a")
			if name == "table" {
				write(t, s, "| a | b |\n|---|---|\n")
			}
			lines := 2000
			if testing.Short() {
				lines = 800
			}
			write(t, s, strings.Repeat(line, lines))
			flush(t, d)
			for range 5 {
				write(t, s, line)
				flush(t, d)
			}
			write(t, s, "LAST")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			flush(t, d)
			if !strings.Contains(s.HTML(), "LAST") {
				t.Error("the last token is missing")
			}
		})
	}
}

func TestSections(t *testing.T) {
	d := open(t, DocumentOptions{})
	a, b := d.Section("a"), d.Section("b")
	if d.Section("a") != a || len(d.Sections()) != 2 {
		t.Fatal("an id is one section")
	}
	write(t, b, "second")
	write(t, a, "first")
	flush(t, d)
	two := d.Height()
	if err := a.SetLabel("Answer"); err != nil {
		t.Error(err)
	}
	if err := a.SetDir("sideways"); err == nil {
		t.Error("SetDir took nonsense")
	}
	if err := a.SetDir("rtl"); err != nil {
		t.Error(err)
	}
	if err := b.Remove(); err != nil {
		t.Fatal(err)
	}
	flush(t, d)
	if d.Height() >= two {
		t.Errorf("height %d without b, %d with it", d.Height(), two)
	}
	if _, err := b.WriteString("x"); !errors.Is(err, ErrClosed) {
		t.Errorf("writing to a removed section: %v", err)
	}
	if err := a.Reset(); err != nil {
		t.Fatal(err)
	}
	write(t, a, "again")
	a.Close()
	flush(t, d)
	if h := a.HTML(); !strings.Contains(h, "again") || strings.Contains(h, "first") {
		t.Errorf("after Reset: %q", h)
	}
	for _, bad := range []string{"", "a\nb", "a\x1fb", "\xff", strings.Repeat("x", maxSectionID+1)} {
		if _, err := d.Section(bad).WriteString("x"); err == nil {
			t.Errorf("section id %.20q was taken", bad)
		}
	}
	write(t, d.Section(strings.Repeat("x", maxSectionID)), "an id of maxSectionID bytes")
}

func TestDocumentRefusesNonsense(t *testing.T) {
	ctx := testContext(t)
	if _, err := NewDocument(ctx, Element{}, DocumentOptions{}); err == nil || !strings.Contains(err.Error(), "parent") {
		t.Errorf("no parent: %v", err)
	}
	if _, err := ElementByID("not-there"); err == nil || !strings.Contains(err.Error(), "not-there") {
		t.Errorf("ElementByID: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := NewDocument(cancelled, place(t), DocumentOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestContextEndsTheDocument(t *testing.T) {
	ctx, cancel := context.WithCancel(testContext(t))
	d, err := NewDocument(ctx, place(t), DocumentOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	eventually(t, "ErrClosed", func() bool { return errors.Is(d.Err(), ErrClosed) })
	if _, err := d.Section("a").WriteString("x"); !errors.Is(err, ErrClosed) {
		t.Errorf("writing after the context's end: %v", err)
	}
	d.Close()
}

func TestDocumentsLeaveNothingBehind(t *testing.T) {
	page := must(jsx.Get(jsx.Global(), "document"))(t)
	documents := func(n int) {
		for range n {
			d, err := NewDocument(testContext(t), place(t), DocumentOptions{})
			if err != nil {
				t.Fatal(err)
			}
			write(t, d.Section("a"), "*hello*")
			flush(t, d)
			d.Close()
			d.Close()
			if err := d.Flush(testContext(t)); !errors.Is(err, ErrClosed) {
				t.Errorf("Flush of a closed document: %v", err)
			}
		}
	}
	goHeap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	n := 100
	if testing.Short() {
		n = 30
	}
	documents(10) // what is made once
	before, held, heap := jsx.Live(), countable(t), goHeap()
	documents(n)
	if over := jsx.Live().Over(before); over.Total() != 0 {
		t.Errorf("left behind: %v", over)
	}
	if n := must(jsx.GetInt(must(jsx.Call(page, "getElementsByTagName", "iframe"))(t), "length"))(t); n != 0 {
		t.Errorf("%d frames left in the page", n)
	}
	// 10 KB a document: less than its frame's first page.
	most := int64(n) * (1 << 20) / 100
	if grown := goHeap() - heap; grown > most {
		t.Errorf("Go's heap grew by %d bytes", grown)
	}
	now := countable(t)
	if grown := now.HeapUsed - held.HeapUsed; grown > most {
		t.Errorf("the page's heap grew by %d bytes", grown)
	}
	t.Logf("after %d documents: Go's heap %+d bytes, the page's %+d", n, goHeap()-heap, now.HeapUsed-held.HeapUsed)
}

// If a document reports that files are dragged over it, only its own frame is moved out of the
// way.
func TestDocumentDragIsItsOwn(t *testing.T) {
	d, other := open(t, DocumentOptions{}), open(t, DocumentOptions{})
	pointers := func(d *Document) string {
		said := make(chan string, 1)
		d.impl.do(func() {
			style, err := jsx.Get(d.impl.frame.outer, "style")
			if err != nil {
				said <- err.Error()
				return
			}
			v, err := jsx.GetString(style, "pointerEvents", 100)
			said <- fmt.Sprint(v, err)
		})
		return <-said
	}
	d.impl.do(func() { d.impl.heard(d.impl.frame, "drag") })
	if got, others := pointers(d), pointers(other); got != "none<nil>" || others != "<nil>" {
		t.Errorf("the frame that says so: %q; another: %q", got, others)
	}
	eventually(t, "the frame takes the pointer again", func() bool { return pointers(d) == "<nil>" })
}
