package ui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync"

	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

type sheet struct {
	options   Options
	host      dom.Node // the page's element
	root      dom.Node // its shadow tree
	parts     map[string]dom.Node
	scope     *jsx.Scope
	turn      chan struct{} // full while a question is shown
	closed    chan struct{}
	closing   sync.Once
	view      view
	answer    chan policy.Answer
	dismissed chan struct{}
	of        string   // id of the session that asks
	open      bool     // a question is shown
	calm      int      // looks since the user last pressed a key or used the pointer
	rested    bool     // the user has used neither for settle looks
	pressed   bool     // the pointer was last pressed in a question that had rested
	ready     bool     // an answer that allows something counts now
	chosen    []bool   // for each request of the prompt: the answer is for it, and others are rejected
	wary      bool     // number keys may be meant for a text field: they answer only after Tab or a click in the question
	once      bool     // no answer is kept for later calls, and those that would be are hidden
	from      dom.Node // the text field from which the question took the focus
	before    dom.Node // the element that had the focus when the question was shown
}

var errClosed = fmt.Errorf("ui: the sheet is closed: %w", fs.ErrClosed)

func (p *sheet) ask(ctx context.Context, q sandbox.Prompt) ([]sandbox.Reply, error) {
	if len(q.Requests) == 0 {
		return nil, errors.New("ui: the prompt has no request: a question is about at least one")
	}
	select {
	case <-p.closed: // also while the turn is free
		return nil, errClosed
	default:
	}
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, errClosed
	}
	defer func() { <-p.turn }()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	title := p.fill(q)
	p.host.Call("setAttribute", "data-off", "")
	p.theme()
	p.host.Set("hidden", false)
	p.whole(false)
	p.toFirstChange()
	p.of, p.open = q.Requests[0].Session, true
	p.showWhose()
	if p.options.OnAsk != nil {
		p.options.OnAsk(title)
	}
	p.before = dom.Focused()
	defer p.leave()
	answer, err := p.wait(ctx)
	if err != nil {
		return nil, err
	}
	replies := make([]sandbox.Reply, len(q.Requests))
	for i := range replies {
		replies[i] = sandbox.Reply{Answer: answer, Pattern: p.part("scope").Get("value").Text(), Reason: p.part("why").Get("value").Text()}
		if !p.chosen[i] {
			replies[i].Answer = policy.AnswerReject
		}
		if len(q.Requests) > 1 { // each request keeps its own subject
			replies[i].Pattern = ""
		}
	}
	return replies, nil
}

// theme lets the sheet follow prefers-color-scheme if the page declares no color-scheme.
func (p *sheet) theme() {
	p.host.Call("removeAttribute", "data-auto")
	p.host.Call("toggleAttribute", "data-auto", dom.Style(p.host).Get("colorScheme").Text() == "normal")
}

// leave hides the question, and gives the focus back if the sheet has it.
func (p *sheet) leave() {
	if !p.open {
		return
	}
	p.of, p.open = "", false
	p.view.end()
	within := p.root.Get("activeElement").OK()
	p.host.Set("hidden", true)
	if within && p.before.OK() {
		p.before.Call("focus")
	}
}

func (p *sheet) close() error {
	p.closing.Do(func() {
		close(p.closed)
		p.leave()
		_ = p.scope.Close()
		p.host.Set("hidden", true)
		p.root.Call("replaceChildren")
	})
	return nil
}

// fill puts a prompt into the page, and returns its title.
func (p *sheet) fill(asked sandbox.Prompt) string {
	q := consent.Of(asked)
	p.part("ask-title").Set("textContent", q.Title)
	risk := dom.Create("span", q.RiskText, "class", "risk "+string(q.Risk))
	sum := p.part("ask-sum")
	sum.Call("replaceChildren", q.Who+" · ", risk)
	if q.Counts != "" {
		sum.Call("append", " · "+q.Counts)
	}
	for _, n := range q.Notes {
		sum.Call("append", " · ", dom.Create("span", n, "class", "note"))
	}
	list := p.part("ask-list")
	list.Call("replaceChildren")
	p.chosen = slices.Repeat([]bool{true}, len(asked.Requests))
	p.choose(0, true)
	boxed := make([]bool, len(asked.Requests))
	for _, e := range q.Effects {
		item := dom.Create("li", e.Text, "data-request", strconv.Itoa(e.Request))
		if e.Destroys {
			item.Set("className", "loss")
		}
		if q.Mixed {
			item.Call("prepend", dom.Create("span", string(e.Risk)+" risk", "class", "risk "+string(e.Risk)), " · ")
		}
		for _, n := range e.Notes {
			item.Call("append", " · ", dom.Create("span", n, "class", "note"))
		}
		if len(asked.Requests) > 1 && !boxed[e.Request] {
			boxed[e.Request] = true
			box := dom.Create("input", "", "type", "checkbox", "aria-label", "Chosen: "+e.Text)
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
	p.host.Call("toggleAttribute", "data-short", len(q.Lines) == 0)
	p.part("ask-diff").Get("classList").Call("toggle", "few", len(q.Lines) <= 3)
	scope := p.part("scope")
	scope.Call("replaceChildren")
	option := func(text, value string) {
		scope.Call("append", dom.Create("option", text, "value", value))
	}
	option("only this", "")
	if len(asked.Requests) == 1 {
		for _, pattern := range asked.Requests[0].Patterns {
			option(pattern, pattern)
		}
	}
	p.part("why").Set("value", "")
	p.once = slices.ContainsFunc(asked.Requests, func(r sandbox.Request) bool { return r.Once })
	for _, id := range []string{"session", "project", "never", "scope", "scope-label"} {
		p.part(id).Set("hidden", p.once)
	}
	return q.Title
}

// choose sets whether the answer is for a request. The buttons of all answers for the chosen requests
// state their number if not all are chosen.
func (p *sheet) choose(request int, yes bool) {
	p.chosen[request] = yes
	for _, row := range p.part("ask-list").Get("children").Each() {
		if row.Call("getAttribute", "data-request").Text() == strconv.Itoa(request) {
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
	for _, at := range p.root.Call("querySelectorAll", ".chosen").Each() {
		at.Set("textContent", of)
	}
}

// toFirstChange scrolls the diff to its first changed line, if that is below the visible part. The
// unchanged lines before it may be long.
func (p *sheet) toFirstChange() {
	diff := p.part("ask-diff")
	first := diff.Call("querySelector", ".add, .del, .mark")
	if !first.OK() {
		return
	}
	box := dom.Bounds(diff)
	if r := dom.Bounds(first); r.Top+20 > box.Bottom {
		diff.Set("scrollTop", r.Top-box.Top-box.Height()/3)
	}
}

func (p *sheet) showWhose() {
	text := ""
	if p.open && p.options.Whose != nil {
		text = p.options.Whose(p.of)
	}
	p.part("ask-whose").Set("textContent", text)
	p.part("ask-whose").Set("hidden", text == "")
}
