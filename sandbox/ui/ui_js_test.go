package ui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Each key answers, the answer has the pattern and the reason, and the focus goes back to where it was.
func TestAnswers(t *testing.T) {
	titles := []string{}
	p := newPage(t, Options{OnAsk: func(title string) { titles = append(titles, title) }, Whose: func(string) string { return "In the chat “Taxes”" }})
	button := put(t, "button", "a button")
	for i, want := range []policy.Answer{policy.AnswerOnce, policy.AnswerSession, policy.AnswerProject, policy.AnswerReject, policy.AnswerNever} {
		button.Call("focus")
		done := p.asks(t.Context(), writesFile("notes/a.md", 2))
		p.answerable()
		if got := p.part("ask-title").Get("textContent").Text() + "|" + p.part("ask-whose").Get("textContent").Text() + "|" + p.part("ask-list").Get("textContent").Text(); got != "Write the new file notes/a.md?|In the chat “Taxes”|Write the new file notes/a.mdMake the folder notes" {
			t.Errorf("it shows %q", got)
		}
		if !dom.Focused().Is(p.part("sheet")) {
			t.Fatalf("the focus is at %q", dom.Focused().Get("id").Text())
		}
		testpage.Press(t, fmt.Sprint(i+1))
		p.gets(done, want)
		if !dom.Focused().Is(button) {
			t.Errorf("after %s the focus is at %s", want, dom.Focused().Get("outerHTML").Text())
		}
	}
	if len(titles) != 5 || titles[0] != "Write the new file notes/a.md?" {
		t.Errorf("OnAsk gets %q", titles)
	}

	done := p.asks(t.Context(), writesFile("notes/a.md", 2))
	p.answerable()
	p.part("scope").Set("value", "notes/**")
	p.part("why").Set("value", "not now")
	p.part("project").Call("click")
	if got := <-done; len(got.replies) != 1 || got.replies[0] != (sandbox.Reply{Answer: policy.AnswerProject, Pattern: "notes/**", Reason: "not now"}) {
		t.Errorf("the reply is %v", got)
	}
}

// Of several requests the answer is for those that are chosen.
func TestAnswersChosen(t *testing.T) {
	p := newPage(t, Options{})
	done := p.asks(t.Context(), writesFile("a.md", 1), writesFile("b.md", 1), writesFile("c.md", 1))
	p.answerable()
	boxes := p.part("ask-list").Call("querySelectorAll", "input").Each()
	if len(boxes) != 3 {
		t.Fatalf("%d boxes", len(boxes))
	}
	boxes[1].Call("click")
	if got := p.part("once").Get("textContent").Text(); got != "1 Allow 2 of 3" {
		t.Errorf("the button says %q", got)
	}
	p.answerable()
	testpage.Press(t, "1")
	got := <-done
	var answers []policy.Answer
	for _, r := range got.replies {
		answers = append(answers, r.Answer)
	}
	if !slices.Equal(answers, []policy.Answer{policy.AnswerOnce, policy.AnswerReject, policy.AnswerOnce}) {
		t.Errorf("the replies are %v", got)
	}
}

// sizes are windows at and above the least size, in CSS pixels.
var sizes = [][2]int{{1400, 860}, {1120, 700}, {1024, 768}, {933, 573}, {390, 844}, {320, 568}}

// In every window from 320 by 568 on, title, effects, difference and answers are in view, and an answer
// counts. So it does with a question of many effects, whose parts scroll.
func TestSizes(t *testing.T) {
	p := newPage(t, Options{OnStop: func() {}})
	many := writesFile("notes/long.md", 200)
	for i := range 30 {
		many.Effects = append(many.Effects, sandbox.Effect{Text: fmt.Sprintf("send a request to host-%d.example with a name that is rather long", i), Risk: protocol.RiskLow})
	}
	for name, r := range map[string]sandbox.Request{"short": writesFile("notes/a.md", 3), "long": many} {
		done := p.asks(t.Context(), r)
		for _, size := range sizes {
			testpage.Viewport(t, size[0], size[1], 1)
			var err error
			if !until.Met(func() bool {
				err = nil
				for _, id := range []string{"ask-title", "ask-sum", "ask-list", "ask-diff", "once", "session", "project", "reject", "never"} {
					err = errors.Join(err, p.within(id))
				}
				return err == nil
			}) {
				t.Errorf("%s in %v: %v", name, size, err)
			}
			p.answerable()
		}
		testpage.Viewport(t, 1024, 768, 1)
		p.answerable()
		testpage.Press(t, "1")
		p.gets(done, policy.AnswerOnce)
	}
}

// In a window that is too small no answer counts but Don't allow, and the sheet says why.
func TestTooSmall(t *testing.T) {
	p := newPage(t, Options{})
	for _, size := range [][2]int{{300, 120}, {933, 150}, {120, 500}} {
		testpage.Viewport(t, 1024, 768, 1)
		done := p.asks(t.Context(), writesFile("notes/a.md", 3))
		p.answerable()
		testpage.Viewport(t, size[0], size[1], 1)
		p.says("Make the window larger")
		p.blind()
		until.Turns(5)
		if len(done) > 0 {
			t.Fatalf("in %v an answer counts: %v", size, <-done)
		}
		testpage.Press(t, "4")
		p.gets(done, policy.AnswerReject)
	}
}

// Long effects have to be scrolled through, by the key n or by the pointer.
func TestEffectsAreScrolledThrough(t *testing.T) {
	p := newPage(t, Options{})
	r := writesFile("notes/a.md", 1)
	for i := range 60 {
		r.Effects = append(r.Effects, sandbox.Effect{Text: fmt.Sprintf("delete old-%d.txt, whose content is lost", i), Risk: protocol.RiskHigh, Destroys: true})
	}
	done := p.asks(t.Context(), r)
	p.says("Scroll down: not seen yet: ")
	p.blind()
	list := p.part("ask-list")
	list.Set("scrollTop", 1e6) // past those in the middle
	before := p.note()
	until.True(t, "those at the end are seen", func() bool { return p.note() != before })
	p.blind()
	until.Turns(5)
	if len(done) > 0 {
		t.Fatalf("an answer for effects out of view counts: %v", <-done)
	}
	until.True(t, "the question has the focus", func() bool { return dom.Focused().Is(p.part("sheet")) })
	for range 100 {
		if p.counts() || !strings.Contains(p.note(), "not seen yet") {
			break
		}
		testpage.Press(t, "n")
		until.Turns(2)
	}
	until.True(t, "all were seen", p.counts)
	testpage.Press(t, "1")
	p.gets(done, policy.AnswerOnce)
}

// Escape rejects, or it stops if the page can be stopped.
func TestEscape(t *testing.T) {
	p := newPage(t, Options{})
	done := p.asks(t.Context(), writesFile("a.md", 1))
	p.answerable()
	testpage.Press(t, "Escape")
	p.gets(done, policy.AnswerReject)

	stopped := make(chan struct{}, 8)
	q := newPage(t, Options{OnStop: func() { stopped <- struct{}{} }})
	done = q.asks(t.Context(), writesFile("a.md", 1))
	q.answerable()
	testpage.Press(t, "Escape")
	<-stopped
	q.Dismiss("another session")
	if !q.open() {
		t.Error("the question of one session is dismissed for another")
	}
	q.Dismiss("s")
	q.gets(done, policy.AnswerReject)
}

// Questions queue. The end of a context closes its own question only, also while that waits.
func TestQueue(t *testing.T) {
	p := newPage(t, Options{})
	first := p.asks(t.Context(), writesFile("first.md", 1))
	ctx, cancel := context.WithCancel(t.Context())
	second := p.queues(ctx, writesFile("second.md", 1))
	third := p.queues(t.Context(), writesFile("third.md", 1))
	cancel()
	if got := <-second; !errors.Is(got.err, context.Canceled) {
		t.Errorf("the question that waits: %v", got)
	}
	if got := p.part("ask-title").Get("textContent").Text(); got != "Write the new file first.md?" {
		t.Errorf("it shows %q", got)
	}
	p.answerable()
	testpage.Press(t, "4")
	if got := <-first; got.err != nil || got.replies[0].Answer != policy.AnswerReject {
		t.Errorf("the first: %v", got)
	}
	until.True(t, "the third is shown", func() bool {
		return p.open() && p.part("ask-title").Get("textContent").Text() == "Write the new file third.md?"
	})
	p.Dismiss("s")
	p.gets(third, policy.AnswerReject)

	ctx, cancel = context.WithCancel(t.Context())
	button := put(t, "button", "a button")
	button.Call("focus")
	done := p.asks(ctx, writesFile("a.md", 1))
	p.answerable()
	cancel()
	if got := <-done; !errors.Is(got.err, context.Canceled) || p.open() || !dom.Focused().Is(button) {
		t.Errorf("the question that is shown: %v, open %v, the focus is at %s", got, p.open(), dom.Focused().Get("outerHTML").Text())
	}
}

// Close ends each question, is idempotent and leaves nothing behind. A new sheet can be made in the same
// element, as by a program that is started again in the same page.
func TestClose(t *testing.T) {
	p := newPage(t, Options{})
	shown := p.asks(t.Context(), writesFile("a.md", 1))
	waits := p.queues(t.Context(), writesFile("b.md", 1))
	before := dom.Document().Get("adoptedStyleSheets").Get("length").Int()
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, done := range []<-chan answered{shown, waits, p.queues(t.Context(), writesFile("c.md", 1))} {
		if got := <-done; !errors.Is(got.err, fs.ErrClosed) {
			t.Errorf("after Close: %v", got)
		}
	}
	if n := dom.Document().Get("adoptedStyleSheets").Get("length").Int(); p.open() || n != before-1 {
		t.Errorf("open %v, %d style sheets of %d", p.open(), n, before)
	}
	again, err := New(raw(p.host), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	p.Sheet = again
	done := p.asks(t.Context(), writesFile("a.md", 1))
	p.answerable()
	testpage.Press(t, "1")
	p.gets(done, policy.AnswerOnce)
}

func TestErrors(t *testing.T) {
	if _, err := New(iframe.Element{}, Options{}); err == nil || !strings.Contains(err.Error(), "iframe.ElementByID") {
		t.Errorf("no element: %v", err)
	}
	if _, err := New(raw(put(t, "button", "")), Options{}); err == nil || !strings.Contains(err.Error(), "a button can't hold the sheet, so use a section or a div") {
		t.Errorf("a button: %v", err)
	}
	p := newPage(t, Options{})
	if got := <-p.queues(t.Context()); got.err == nil || !strings.Contains(got.err.Error(), "has no request") {
		t.Errorf("a prompt without a request: %v", got)
	}
}

// The sheet takes the focus from an empty field, where keys then answer nothing before Tab, and none from a
// field with a text.
func TestFocusOfAField(t *testing.T) {
	p := newPage(t, Options{})
	field := put(t, "input", "")
	field.Call("focus")
	done := p.asks(t.Context(), writesFile("a.md", 1))
	p.answerable()
	until.True(t, "the question has the focus", func() bool { return dom.Focused().Is(p.part("sheet")) })
	testpage.Press(t, "1") // which was meant for the field
	if got := field.Get("value").Text(); got != "1" || !p.open() || !dom.Focused().Is(field) {
		t.Errorf("the field has %q, open %v", got, p.open())
	}
	p.part("sheet").Call("focus")
	testpage.Press(t, "Tab")
	p.answerable()
	testpage.Press(t, "1")
	p.gets(done, policy.AnswerOnce)

	field.Call("focus")
	field.Set("value", "a text")
	done = p.asks(t.Context(), writesFile("a.md", 1))
	p.answerable()
	if !dom.Focused().Is(field) {
		t.Error("the focus has gone from a text")
	}
	testpage.Press(t, "1")
	if got := field.Get("value").Text(); len(got) != len("a text")+1 || !p.open() {
		t.Errorf("the field has %q, open %v", got, p.open())
	}
	p.Dismiss("s")
	p.gets(done, policy.AnswerReject)
}

// Both themes follow the system if the page declares no color-scheme, and else the page. A custom property
// changes a colour.
func TestThemes(t *testing.T) {
	const light, dark = "rgb(255, 255, 255)", "rgb(26, 30, 35)"
	p := newPage(t, Options{})
	root := dom.Document().Get("documentElement")
	t.Cleanup(func() { testpage.Media(t, nil); root.Call("removeAttribute", "style") })
	for _, c := range []struct{ system, page, own, want string }{
		{"light", "", "", light},
		{"dark", "", "", dark},
		{"dark", "color-scheme: light", "", light},
		{"light", "color-scheme: dark", "", dark},
		{"dark", "color-scheme: light dark", "", dark},
		{"dark", "", "--bailey-ask-panel: rgb(1, 2, 3)", "rgb(1, 2, 3)"},
	} {
		testpage.Media(t, map[string]string{"prefers-color-scheme": c.system})
		root.Set("style", c.page)
		p.host.Set("style", c.own)
		done := p.asks(t.Context(), writesFile("a.md", 1))
		if got := dom.Style(p.part("sheet")).Get("backgroundColor").Text(); got != c.want {
			t.Errorf("%+v: the ground is %s", c, got)
		}
		p.answerable()
		p.Dismiss("s")
		p.gets(done, policy.AnswerReject)
	}
}

// Styles of the page do not change the sheet, and its own do not change the page.
func TestStylesDoNotMeet(t *testing.T) {
	p := newPage(t, Options{})
	look := func() string {
		out := ""
		for _, id := range []string{"sheet", "ask-title", "ask-list", "ask-diff", "once", "scope", "why"} {
			s := dom.Style(p.part(id))
			for _, name := range []string{"fontSize", "fontFamily", "fontWeight", "color", "backgroundColor", "display", "textTransform", "letterSpacing", "textAlign", "padding", "borderRadius", "lineHeight", "height"} {
				out += id + " " + name + " " + s.Get(name).Text() + "\n"
			}
		}
		return out
	}
	show := func() string {
		done := p.asks(t.Context(), writesFile("a.md", 1))
		p.answerable()
		defer func() { p.Dismiss("s"); p.gets(done, policy.AnswerReject) }()
		return look()
	}
	was := show()
	style := put(t, "style", `* { border-radius: 0; padding: 20px; margin: 3px } html { font-size: 10px } body { color: red; font: 30px serif; text-transform: uppercase; letter-spacing: .5em; text-align: right; line-height: 3 }
		button, input, select { display: none } h2, p, ul, pre { font-size: 2px; display: inline } #once { color: green } .line { height: 1px }`)
	p.host.Set("style", "padding: 0; margin: 0") // which are the page's to set
	if now := show(); now != was {
		t.Errorf("with styles of the page:\n%s\nwithout:\n%s", now, was)
	}
	style.Call("remove")
	mine := put(t, "span", "x", "class", "line add", "id", "once")
	done := p.asks(t.Context(), writesFile("a.md", 1))
	if got := dom.Style(mine).Get("display").Text(); got != "inline" {
		t.Errorf("an element of the page has display %s", got)
	}
	p.answerable()
	p.Dismiss("s")
	p.gets(done, policy.AnswerReject)
}

// The sheet works with the strict policy of package headers, which permits no inline style.
func TestStrictPolicy(t *testing.T) {
	h := headers.Default()
	use := map[string]string{}
	for _, header := range h.List() {
		use[header.Name] = header.Value
	}
	testpage.Run(t, testpage.Page{Header: use}, func(t *testing.T) {
		violations := 0
		s := jsx.NewScope(jsx.ScopeOptions{})
		defer s.Close()
		if _, err := s.Listen(dom.Document().Value(), "securitypolicyviolation", func(e jsx.Value) {
			violations++
			t.Logf("violated: %s", dom.Of(e).Get("violatedDirective").Text())
		}); err != nil {
			t.Fatal(err)
		}
		host := dom.Create("section", "", "hidden", "")
		dom.Document().Get("body").Call("append", host)
		sheet, err := New(raw(host), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer sheet.Close()
		p := &page{t, sheet, host}
		done := p.asks(t.Context(), writesFile("a.md", 2))
		if got := dom.Style(p.part("sheet")).Get("borderTopLeftRadius").Text(); got != "12px" {
			t.Errorf("the sheet has no style: its corner is %s", got)
		}
		p.answerable()
		testpage.Press(t, "1")
		p.gets(done, policy.AnswerOnce)
		if violations > 0 {
			t.Errorf("%d violations", violations)
		}
	})
}

// An answer in a tab that is not shown does not count.
func TestHiddenTab(t *testing.T) {
	p := newPage(t, Options{})
	done := p.asks(t.Context(), writesFile("a.md", 1))
	p.answerable()
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	hidden := 0
	if _, err := s.Listen(dom.Document().Value(), "visibilitychange", func(jsx.Value) {
		if dom.Document().Get("visibilityState").Text() == "hidden" {
			hidden++
			p.blind()
		}
	}); err != nil {
		t.Fatal(err)
	}
	testpage.Hide(t, 700*time.Millisecond)
	if hidden == 0 {
		t.Fatal("the tab was not hidden")
	}
	until.Turns(5)
	if len(done) > 0 {
		t.Fatalf("an answer in a hidden tab counts: %v", <-done)
	}
	p.answerable()
	testpage.Press(t, "1")
	p.gets(done, policy.AnswerOnce)
}
