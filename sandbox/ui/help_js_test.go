package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// put adds an element to the page until the test ends.
func put(t *testing.T, tag, text string, attributes ...string) dom.Node {
	t.Helper()
	el := dom.Create(tag, text, attributes...)
	dom.Document().Get("body").Call("append", el)
	t.Cleanup(func() { el.Call("remove") })
	return el
}

// raw returns an element for functions of package iframe.
func raw(n dom.Node) iframe.Element { return iframe.ElementOf(jsx.ToRaw(n.Value())) }

// page is a sheet in a page of its own element, in a window of 1024 by 768.
type page struct {
	t *testing.T
	*Sheet
	host dom.Node
}

func newPage(t *testing.T, o Options) *page {
	t.Helper()
	testpage.Viewport(t, 1024, 768, 1)
	t.Cleanup(func() { testpage.Viewport(t, 0, 0, 1) })
	host := put(t, "section", "", "hidden", "")
	s, err := New(raw(host), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &page{t, s, host}
}

func (p *page) part(id string) dom.Node { return p.impl.root.Call("getElementById", id) }
func (p *page) open() bool              { return !p.host.Get("hidden").True() }
func (p *page) counts() bool            { return p.open() && !p.host.Call("hasAttribute", "data-off").True() }
func (p *page) note() string            { return p.part("ask-off").Get("textContent").Text() }

// says waits until the sheet gives a reason why an answer does not count.
func (p *page) says(text string) {
	p.t.Helper()
	until.True(p.t, "the sheet says "+text, func() bool { return strings.Contains(p.note(), text) })
}

// answerable waits until an answer that allows counts, and shows what is unseen until then.
func (p *page) answerable() {
	p.t.Helper()
	until.True(p.t, "the question can be answered", func() bool {
		if next := p.part("ask-next"); !next.Get("hidden").True() {
			next.Call("click")
		}
		return p.counts()
	})
}

// blind gives every answer that allows something or lasts, by pointer and by key.
func (p *page) blind() {
	for _, key := range []string{"Tab", "1", "2", "3", "5"} {
		e, err := jsx.NewGlobal("KeyboardEvent", "keydown", map[string]any{"key": key, "bubbles": true, "cancelable": true, "composed": true})
		if err != nil {
			p.t.Fatal(err)
		}
		p.part("sheet").Call("dispatchEvent", e)
	}
	for _, id := range []string{"once", "session", "project", "never"} {
		p.part(id).Call("click")
	}
}

// answered is what Ask returned.
type answered struct {
	replies []sandbox.Reply
	err     error
}

func (a answered) String() string { return fmt.Sprintf("%+v, %v", a.replies, a.err) }

// asks asks, and waits until the question is shown.
func (p *page) asks(ctx context.Context, requests ...sandbox.Request) <-chan answered {
	p.t.Helper()
	done := p.queues(ctx, requests...)
	until.True(p.t, "the question is shown", p.open)
	return done
}

// queues asks.
func (p *page) queues(ctx context.Context, requests ...sandbox.Request) <-chan answered {
	done := make(chan answered, 1)
	go func() {
		replies, err := p.Ask(ctx, sandbox.Prompt{Requests: requests})
		done <- answered{replies, err}
	}()
	return done
}

func (p *page) gets(done <-chan answered, want policy.Answer) {
	p.t.Helper()
	got := <-done
	if got.err != nil || len(got.replies) == 0 || got.replies[0].Answer != want {
		p.t.Errorf("the answer is %v, want %s", got, want)
	}
	if p.open() {
		p.t.Error("the question is still shown after its answer")
	}
}

// writes returns a request that writes a file of so many lines.
func writesFile(name string, lines int) sandbox.Request {
	diff := fmt.Sprintf("--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n%s", name, lines, strings.Repeat("+a line\n", lines))
	return sandbox.Request{
		Tool: "write", Title: "write the new file " + name, Diff: diff, Unified: true, Risk: protocol.RiskLow, Session: "s", Patterns: []string{"notes/**"},
		Effects: []sandbox.Effect{{Text: "write the new file " + name, Risk: protocol.RiskLow, InTitle: true}, {Text: "make the folder notes", Risk: protocol.RiskLow}},
	}
}

// within reports whether a part is in the window, and topmost at its middle and near its corners. It
// does not use the code of the sheet.
func (p *page) within(id string) error {
	r := p.part(id).Call("getBoundingClientRect")
	x, y, w, h := r.Get("left").Number(), r.Get("top").Number(), r.Get("width").Number(), r.Get("height").Number()
	if x < -1 || y < -1 || x+w > dom.Global().Get("innerWidth").Number()+1 || y+h > dom.Global().Get("innerHeight").Number()+1 || w < 40 || h < 10 {
		return fmt.Errorf("%s is at %v, %v and has %v by %v pixels", id, x, y, w, h)
	}
	for _, at := range [][2]float64{{x + 6, y + 6}, {x + w/2, y + h/2}, {x + w - 6, y + h - 6}} {
		if e := p.impl.root.Call("elementFromPoint", at[0], at[1]); !p.part(id).Call("contains", e).True() {
			return fmt.Errorf("%s is covered at %v by %s", id, at, e.Get("id").Text())
		}
	}
	return nil
}
