package iframe

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/internal/wire/document"
)

// screen is a native model of a frame as document.js keeps it, to test the host's side.
type screen struct {
	t        *testing.T
	order    []string
	sections map[string]*pane
}

type pane struct {
	keys []int
	html map[int]string
	busy bool
}

func newScreen(t *testing.T) *screen { return &screen{t: t, sections: map[string]*pane{}} }

func (s *screen) take(b *document.Batch) {
	s.t.Helper()
	var batch []any
	if err := json.Unmarshal([]byte(b.String()), &batch); err != nil {
		s.t.Fatal(err)
	}
	for _, o := range batch[1:] {
		op := o.([]any)
		switch op[0] {
		case "section":
			id := op[1].(string)
			if s.sections[id] == nil {
				s.sections[id] = &pane{html: map[int]string{}}
				s.order = append(s.order, id)
			}
		case "set":
			p := s.sections[op[1].(string)]
			key, html := int(op[2].(float64)), op[4].(string)
			if _, ok := p.html[key]; !ok {
				at := 0
				if op[3] != nil {
					for i, k := range p.keys {
						if k == int(op[3].(float64)) {
							at = i + 1
						}
					}
				}
				p.keys = append(p.keys[:at:at], append([]int{key}, p.keys[at:]...)...)
			}
			p.html[key] = html
		case "drop":
			p := s.sections[op[1].(string)]
			key := int(op[2].(float64))
			delete(p.html, key)
			for i, k := range p.keys {
				if k == key {
					p.keys = append(p.keys[:i:i], p.keys[i+1:]...)
					break
				}
			}
		case "remove":
			id := op[1].(string)
			delete(s.sections, id)
			for i, o := range s.order {
				if o == id {
					s.order = append(s.order[:i:i], s.order[i+1:]...)
					break
				}
			}
		case "busy":
			s.sections[op[1].(string)].busy = op[2].(bool)
		case "scheme", "variable":
		default:
			s.t.Fatalf("order %v is not known", op[0])
		}
	}
}

func (s *screen) text() string {
	var b strings.Builder
	for _, id := range s.order {
		p := s.sections[id]
		fmt.Fprintf(&b, "[%s]", id)
		for _, k := range p.keys {
			b.WriteString(p.html[k])
		}
	}
	return b.String()
}

func testConversation(t *testing.T) (*conversation, *int) {
	t.Helper()
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wakes := 0
	return newConversation(r, func() { wakes++ }), &wakes
}

// settle paints until nothing is left, and counts the batches.
func settle(t *testing.T, c *conversation, s *screen) (batches int) {
	t.Helper()
	for {
		var b document.Batch
		b.Reset(batches)
		more := c.paint(&b, time.Now)
		s.take(&b)
		batches++
		if !more {
			return batches
		}
		if batches > 10000 {
			t.Fatal("painting never ends")
		}
	}
}

const answer = "# Title\n\nSome *text* and `code`.\n\n- one\n- two\n\n```go\nfunc f() {}\n```\n\nThe end."

// A frame shows the result of a single rendering, in whatever pieces the text arrived. So does
// a rebuilt frame.
func TestScreenShowsTheWholeText(t *testing.T) {
	for _, n := range []int{1, 3, 7, 50, len(answer)} {
		c, wakes := testConversation(t)
		s := newScreen(t)
		sec := c.section("a")
		for i := 0; i < len(answer); i += n {
			if _, err := sec.WriteString(answer[i:min(i+n, len(answer))]); err != nil {
				t.Fatal(err)
			}
			settle(t, c, s)
		}
		if !s.sections["a"].busy {
			t.Error("a section that is being written is not busy")
		}
		sec.Close()
		settle(t, c, s)
		want, _, err := c.renderer.Render([]byte(answer))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.text(); got != "[a]"+want.String() {
			t.Errorf("in pieces of %d:\n got %s\nwant %s", n, got, want)
		}
		if sec.HTML() != want.String() {
			t.Errorf("HTML() is %s", sec.HTML())
		}
		if s.sections["a"].busy {
			t.Error("a closed section is busy")
		}
		again := newScreen(t)
		var b document.Batch
		b.Reset(1)
		if next := c.replay(&b, 0); next != -1 {
			t.Errorf("replay stops at %d", next)
		}
		again.take(&b)
		if again.text() != s.text() {
			t.Errorf("a rebuilt frame shows %s", again.text())
		}
		if *wakes == 0 || !c.idle() {
			t.Errorf("%d wakes, idle %v", *wakes, c.idle())
		}
	}
}

// A frame that is lost between any two paints loses nothing.
func TestReplayAtAnyTime(t *testing.T) {
	c, _ := testConversation(t)
	s := newScreen(t)
	a, z := c.section("a"), c.section("z")
	for i := range len(answer) {
		_, _ = a.WriteString(answer[i : i+1])
		_, _ = z.WriteString(answer[len(answer)-1-i : len(answer)-i])
		if i%5 == 0 {
			settle(t, c, s)
		}
		if i%13 == 0 {
			s = newScreen(t)
			for next := 0; next != -1; {
				var b document.Batch
				b.Reset(1)
				next = c.replay(&b, next)
				s.take(&b)
			}
		}
	}
	a.Close()
	z.Close()
	settle(t, c, s)
	if got := s.text(); got != "[a]"+a.HTML()+"[z]"+z.HTML() {
		t.Errorf("shown: %s", got)
	}
	want, _, _ := c.renderer.Render([]byte(answer))
	if a.HTML() != want.String() {
		t.Errorf("a is %s", a.HTML())
	}
}

// The work of one animation frame is bounded: an instant answer of 400 KB is not rendered at
// once.
func TestPaintingComesInSlices(t *testing.T) {
	c, _ := testConversation(t)
	sec := c.section("a")
	_, _ = sec.WriteString(strings.Repeat("A paragraph.\n\n", 30000))
	sec.Close()
	// A clock that advances 1 ms at each reading: slice permits eight bites.
	var now time.Time
	clock := func() time.Time { now = now.Add(time.Millisecond); return now }
	var b document.Batch
	b.Reset(1)
	if more := c.paint(&b, clock); !more {
		t.Fatal("400 KB were painted in one slice")
	}
	c.mu.Lock()
	done := 14*30000 - len(sec.unread)
	c.mu.Unlock()
	if done < bite || done > 9*bite {
		t.Errorf("%d bytes rendered in a slice of eight looks at the clock; a bite is %d", done, bite)
	}
}

func TestBatchesAreBounded(t *testing.T) {
	c, _ := testConversation(t)
	s := newScreen(t)
	for i := range 40 {
		sec := c.section(fmt.Sprint(i))
		_, _ = sec.WriteString(strings.Repeat("word ", 8000))
		sec.Close()
	}
	settle(t, c, s)
	n, batches := 0, 0
	for next := 0; next != -1; batches++ {
		var b document.Batch
		b.Reset(1)
		next = c.replay(&b, next)
		if b.Size() > maxBatch+100_000 {
			t.Errorf("a batch of %d bytes", b.Size())
		}
		n += b.Size()
	}
	if want := n / (maxBatch + 100_000); batches < want || batches < 2 {
		t.Errorf("%d bytes in %d batches", n, batches)
	}
}

func TestSectionLimits(t *testing.T) {
	c, _ := testConversation(t)
	for i := range maxSections {
		c.section(fmt.Sprint(i))
	}
	if _, err := c.section("0").WriteString("x"); err != nil {
		t.Errorf("a section that is there already: %v", err)
	}
	over := c.section("one too many")
	if _, err := over.WriteString("x"); err == nil || !strings.Contains(err.Error(), "10000") {
		t.Errorf("section %d: %v", maxSections+1, err)
	}
	if err := over.Close(); err == nil {
		t.Error("Close of a section that is none")
	}
	if err := c.section("7").Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.section("one too many").WriteString("x"); err != nil {
		t.Errorf("after one was removed: %v", err)
	}
}

func TestThemeVariablesAreTakenBack(t *testing.T) {
	c, _ := testConversation(t)
	c.mu.Lock()
	c.setTheme(Theme{Variables: map[string]string{"--a": "1", "--b": "2"}})
	c.setTheme(Theme{Scheme: "dark", Variables: map[string]string{"--b": "3"}})
	c.mu.Unlock()
	var b document.Batch
	b.Reset(0)
	c.paint(&b, time.Now)
	if got := b.String(); !strings.Contains(got, `["variable","--a",""]`) || !strings.Contains(got, `["scheme","dark"]`) {
		t.Error(got)
	}
}

// A block that kills its frame costs two frames. Then it is cut, and everything else is shown.
func TestTheBlockThatEndsFramesIsFound(t *testing.T) {
	const deadly = "<em>deadly"
	for name, c := range map[string]struct {
		write func(t *testing.T, c *conversation)
		cut   int // blocks
		lost  int
	}{
		"the only one": {func(t *testing.T, c *conversation) { fill(t, c, "a", "*deadly*") }, 1, 2},
		"the first":    {func(t *testing.T, c *conversation) { fill(t, c, "a", "*deadly*\n\nb\n\nc") }, 1, 2},
		"in between":   {func(t *testing.T, c *conversation) { fill(t, c, "a", "b\n\n*deadly*\n\nc") }, 1, 2},
		"the last":     {func(t *testing.T, c *conversation) { fill(t, c, "a", "b\n\nc\n\n*deadly*") }, 1, 2},
		"in another section": {func(t *testing.T, c *conversation) {
			fill(t, c, "a", "b")
			fill(t, c, "b", "- *deadly*")
			fill(t, c, "c", "d")
		}, 1, 2},
		"two":         {func(t *testing.T, c *conversation) { fill(t, c, "a", "*deadly*\n\nb\n\n*deadly* too") }, 2, 3},
		"after Show":  {func(t *testing.T, c *conversation) { fill(t, c, "a", "x"); showHTML(t, c, "b", "*deadly*") }, 1, 2},
		"none at all": {func(t *testing.T, c *conversation) { fill(t, c, "a", "b\n\nc") }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			conv, _ := testConversation(t)
			c.write(t, conv)
			s := newScreen(t)
			lost, state := 0, -1 // painting
			for steps := 0; ; steps++ {
				if steps > 1000 {
					t.Fatal("it never ends")
				}
				var b document.Batch
				b.Reset(steps)
				more := true
				if state >= 0 {
					state = conv.replay(&b, state)
				} else {
					more = conv.paint(&b, time.Now)
				}
				blocks, alone := conv.posted()
				if strings.Contains(b.String(), deadly) {
					lost++
					conv.accuse(blocks, alone)
					s, state = newScreen(t), 0
					continue
				}
				s.take(&b)
				if state < 0 && !more {
					break
				}
			}
			if lost != c.lost {
				t.Errorf("%d frames were lost: want %d", lost, c.lost)
			}
			cut := 0
			for _, section := range conv.sections {
				for i := range section.blocks {
					block := &section.blocks[i]
					if block.cut {
						cut++
					}
					if got := s.sections[section.id].html[block.key]; got != block.visible().String() || block.cut != strings.Contains(got, "could not show") {
						t.Errorf("block %d of %s, cut %v: shown is %q", block.key, section.id, block.cut, got)
					}
				}
				if got, want := len(s.sections[section.id].keys), len(section.blocks); got != want {
					t.Errorf("section %s shows %d of %d blocks", section.id, got, want)
				}
				for i, key := range s.sections[section.id].keys {
					if section.blocks[i].key != key {
						t.Errorf("section %s: block %d stands at %d", section.id, key, i)
					}
				}
			}
			if cut != c.cut {
				t.Errorf("%d blocks are cut: want %d", cut, c.cut)
			}
		})
	}
}

func fill(t *testing.T, c *conversation, id, text string) {
	t.Helper()
	s := c.section(id)
	if _, err := s.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func showHTML(t *testing.T, c *conversation, id, text string) {
	t.Helper()
	h, _, err := c.renderer.Render([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.section(id).Show(h); err != nil {
		t.Fatal(err)
	}
}

// A drawing that comes after the section was closed changes its block. One that comes after the section was removed
// changes nothing.
func TestLateDrawing(t *testing.T) {
	gate, asked := make(chan struct{}), make(chan struct{}, 10)
	r, err := markdown.New(markdown.Options{}.Draw(func(_ context.Context, s markdown.Source) (markdown.Drawing, error) {
		asked <- struct{}{}
		<-gate
		return markdown.Drawing{MathML: "<math><mi>" + s.Text + "</mi></math>"}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	woken := make(chan struct{}, 100)
	c := newConversation(r, func() { woken <- struct{}{} })
	view := newScreen(t)
	paint := func() { // all frames that are due: one ends after 8 ms, in which a page may render only the first section
		for more := true; more; {
			var b document.Batch
			b.Reset(1)
			more = c.paint(&b, time.Now)
			view.take(&b)
		}
	}
	for _, id := range []string{"a", "b"} {
		s := c.section(id)
		_, _ = s.WriteString("$" + id + "$")
		_ = s.Close()
	}
	paint()
	<-asked
	<-asked
	if got := view.sections["a"].html[0]; got != "<p><code class=\"bailey-tex\">a</code></p>\n" {
		t.Errorf("%s", got)
	}
	if err := c.section("b").Remove(); err != nil {
		t.Fatal(err)
	}
	paint()
	for len(woken) > 0 {
		<-woken
	}
	close(gate)
	<-woken // by the drawing of a. That of b, whose section is gone, wakes nobody
	until.True(t, "all is drawn", func() bool { return !c.section("a").stream.Drawing() })
	paint()
	if got := view.sections["a"].html[0]; got != "<p><math><mi>a</mi></math></p>\n" {
		t.Errorf("%s", got)
	}
	if view.sections["b"] != nil {
		t.Error("a removed section came back")
	}
}
