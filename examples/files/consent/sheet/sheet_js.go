package sheet

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/consent"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Options are the parts of a page that a sheet talks with. Each may be nil.
type Options struct {
	// Whose returns a text about the session that asks, such as "In the chat “Taxes”". It returns ""
	// if the user sees that session. The default shows no text.
	Whose func(session string) string
	// OnAsk is called with the title of each question when it is shown.
	OnAsk func(title string)
	// OnStop is called when the user presses Stop in the sheet. That button is shown only where the
	// sheet covers the page.
	OnStop func()
}

// Sheet is a [sandbox.Asker]. It shows the questions of consent in an element of the page, one at a
// time.
type Sheet struct {
	options   Options
	mu        sync.Mutex // held while a question is shown
	view      view
	answer    chan policy.Answer
	dismissed chan struct{}
	of        string   // id of the session that asks, "" without a question
	calm      int      // looks since the user last pressed a key or used the pointer
	rested    bool     // the user has used neither for settle looks
	pressed   bool     // the pointer was last pressed in a question that had rested
	ready     bool     // an answer that allows something counts now
	chosen    []bool   // for each request of the prompt: the answer is for it, and others are rejected
	wary      bool     // number keys may be meant for a text field: they answer only after Tab or a click in the question
	once      bool     // no answer is kept for later calls, and those that would be are hidden
	from      js.Value // the text field from which the question took the focus
}

// New builds the sheet in an element of the page, whose id must be "ask", and hides it until
// something is asked.
func New(o Options) *Sheet {
	p := &Sheet{options: o}
	build()
	p.listen()
	return p
}

// Ask implements [sandbox.Asker]. It shows the calls' effects, and waits for the user's answer. The
// answer holds for the requests of the prompt that the user leaves chosen, which are all at first. The
// others are rejected.
func (p *Sheet) Ask(ctx context.Context, q sandbox.Prompt) ([]sandbox.Reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := q.Requests[0].Session
	title := p.fill(q)
	dom.Element("ask").Call("setAttribute", "data-off", "")
	dom.Hide("ask", false)
	p.whole(false)
	toFirstChange()
	p.of = of
	p.ShowWhose()
	if p.options.OnAsk != nil {
		p.options.OnAsk(title)
	}
	before := dom.Focused()
	defer func() {
		p.of = ""
		within := dom.Element("ask").Call("contains", dom.Focused()).Bool()
		dom.Hide("ask", true)
		if within && !before.IsNull() {
			before.Call("focus")
		}
	}()
	answer, err := p.wait(ctx)
	if err != nil {
		return nil, err
	}
	replies := make([]sandbox.Reply, len(q.Requests))
	for i := range replies {
		replies[i] = sandbox.Reply{Answer: answer, Pattern: dom.Value("scope"), Reason: dom.Value("why")}
		if !p.chosen[i] {
			replies[i].Answer = policy.AnswerReject
		}
		if len(q.Requests) > 1 { // each request keeps its own subject
			replies[i].Pattern = ""
		}
	}
	return replies, nil
}

// fill puts a prompt into the page, and returns its title.
func (p *Sheet) fill(asked sandbox.Prompt) string {
	q := consent.Of(asked)
	dom.SetText("ask-title", q.Title)
	risk := dom.Create("span", q.RiskText)
	risk.Set("className", "risk "+string(q.Risk))
	sum := dom.Element("ask-sum")
	sum.Call("replaceChildren", q.Who+" · ", risk)
	if q.Counts != "" {
		sum.Call("append", " · "+q.Counts)
	}
	for _, n := range q.Notes {
		note := dom.Create("span", n)
		note.Set("className", "note")
		sum.Call("append", " · ", note)
	}
	list := dom.Element("ask-list")
	list.Call("replaceChildren")
	p.chosen = slices.Repeat([]bool{true}, len(asked.Requests))
	p.choose(0, true)
	boxed := make([]bool, len(asked.Requests))
	for _, e := range q.Effects {
		item := dom.Create("li", e.Text)
		item.Get("dataset").Set("request", e.Request)
		if e.Destroys {
			item.Set("className", "loss")
		}
		if q.Mixed {
			risk := dom.Create("span", string(e.Risk)+" risk")
			risk.Set("className", "risk "+string(e.Risk))
			item.Call("prepend", risk, " · ")
		}
		for _, n := range e.Notes {
			note := dom.Create("span", n)
			note.Set("className", "note")
			item.Call("append", " · ", note)
		}
		if len(asked.Requests) > 1 && !boxed[e.Request] {
			boxed[e.Request] = true
			box := dom.Create("input", "")
			attributes(box, "type", "checkbox", "aria-label", "Chosen: "+e.Text)
			box.Set("checked", true)
			item.Call("prepend", box, " ")
		}
		list.Call("append", item)
	}
	list.Set("hidden", len(q.Effects) == 0)
	list.Get("classList").Call("toggle", "few", len(q.Effects) <= 2)
	list.Set("scrollTop", 0)
	p.view.list.Reading = consent.All(len(q.Effects))
	p.view.diff.Show(q.Lines, q.Reading)
	dom.Element("ask-diff").Get("classList").Call("toggle", "few", len(q.Lines) <= 3)
	scope := dom.Element("scope")
	scope.Call("replaceChildren")
	option := func(text, value string) {
		o := dom.Create("option", text)
		o.Set("value", value)
		scope.Call("append", o)
	}
	option("only this", "")
	if len(asked.Requests) == 1 {
		for _, pattern := range asked.Requests[0].Patterns {
			option(pattern, pattern)
		}
	}
	dom.SetValue("why", "")
	p.once = slices.ContainsFunc(asked.Requests, func(r sandbox.Request) bool { return r.Once })
	for _, id := range []string{"session", "project", "never", "scope", "scope-label"} {
		dom.Hide(id, p.once)
	}
	return q.Title
}

// choose sets whether the answer is for a request. The buttons of all answers for the chosen requests
// state their number if not all are chosen.
func (p *Sheet) choose(request int, yes bool) {
	p.chosen[request] = yes
	for _, row := range dom.Each(dom.Element("ask-list").Get("children")) {
		if row.Get("dataset").Get("request").String() == strconv.Itoa(request) {
			row.Get("classList").Call("toggle", "left", !yes)
		}
	}
	n := 0
	for _, yes := range p.chosen {
		if yes {
			n++
		}
	}
	of := ""
	if n < len(p.chosen) {
		of = fmt.Sprintf(" %d of %d", n, len(p.chosen))
	}
	for _, at := range dom.Each(dom.Element("ask").Call("querySelectorAll", ".chosen")) {
		at.Set("textContent", of)
	}
}

// toFirstChange scrolls the diff to its first changed line, if that is below the visible part. The
// unchanged lines before it may be long.
func toFirstChange() {
	diff := dom.Element("ask-diff")
	first := diff.Call("querySelector", ".add, .del, .mark")
	if first.IsNull() {
		return
	}
	box := rectOf(diff)
	if r := rectOf(first); r.top+20 > box.bottom {
		diff.Set("scrollTop", r.top-box.top-box.height()/3)
	}
}

// ShowWhose shows which session asks. The page calls it when the user comes to see another session.
func (p *Sheet) ShowWhose() {
	text := ""
	if p.of != "" && p.options.Whose != nil {
		text = p.options.Whose(p.of)
	}
	dom.SetText("ask-whose", text)
	dom.Hide("ask-whose", text == "")
}
