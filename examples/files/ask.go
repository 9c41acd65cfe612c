//go:build js && wasm

package main

import (
	"context"
	"fmt"
	"sync"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/files/consent"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// prompts shows the questions of consent, one at a time.
type prompts struct {
	mu        sync.Mutex // held while a question is shown
	view      view
	answer    chan protocol.Answer
	dismissed chan struct{}
	of        string         // id of the session that asks, "" without a question
	calm      int            // looks since the user last pressed a key or used the pointer
	rested    bool           // the user has used neither for settle looks
	ready     bool           // an answer that allows something counts now
	wary      bool           // number keys may be meant for a text field: they answer only after Tab or a click in the question
	from      js.Value       // the text field from which the question took the focus
	rest      []consent.Line // the lines of a long diff that are not in the page yet, added as the user scrolls
}

// chunk is the number of lines of a diff that are added to the page at once. Many more would block
// the page.
const chunk = 1000

// more adds lines when the end of the present ones comes near to view.
func (p *prompts) more() {
	box := element("ask-diff")
	if len(p.rest) == 0 || box.Get("scrollTop").Float()+2*box.Get("clientHeight").Float()+400 < box.Get("scrollHeight").Float() {
		return
	}
	if last := box.Get("lastElementChild"); !last.IsNull() && last.Get("id").String() == "ask-rest" {
		last.Call("remove")
	}
	n := min(chunk, len(p.rest))
	addLines(box, p.rest[:n])
	if p.rest = p.rest[n:]; len(p.rest) > 0 {
		end := create("span", "⟨"+consent.Thousands(len(p.rest))+" more lines: scroll down⟩")
		end.Set("id", "ask-rest")
		end.Set("className", "line skip")
		box.Call("append", end)
	}
}

// settle is the number of looks in a row during which the question must be in view, and the user
// must not press a key or use the pointer, before an answer counts. So a key that was meant for
// another element is no answer. Looks are counted, not time, because a page that was blocked
// receives the keys of that time afterwards.
const settle = 5

// The times between two looks: soon until the question can be answered, later from then on. The
// last look is at the moment of the answer.
const (
	soon  = 100 * time.Millisecond
	later = 300 * time.Millisecond
)

// listen sets up the answers, by pointer and by key.
func (p *prompts) listen() {
	p.answer, p.dismissed = make(chan protocol.Answer, 1), make(chan struct{})
	p.view.listen()
	touch := js.FuncOf(func(_ js.Value, args []js.Value) any { p.touched(args[0]); return nil })
	for _, event := range []string{"keydown", "keyup", "mousedown", "pointerdown", "focusin"} {
		document().Call("addEventListener", event, touch, true)
	}
	answers := []struct {
		id     string
		answer protocol.Answer
	}{{"once", protocol.AnswerOnce}, {"session", protocol.AnswerSession}, {"project", protocol.AnswerProject}, {"reject", protocol.AnswerReject}}
	for _, a := range answers {
		element(a.id).Call("addEventListener", "click", js.FuncOf(func(js.Value, []js.Value) any { p.give(a.answer); return nil }))
	}
	onKey(element("ask"), func(e js.Value) bool {
		at := e.Get("target").Get("id").String()
		if at == "scope" || at == "why" && e.Get("key").String() != "Enter" || e.Get("isComposing").Bool() || e.Get("repeat").Bool() ||
			e.Get("ctrlKey").Bool() || e.Get("altKey").Bool() || e.Get("metaKey").Bool() {
			return false
		}
		if at == "why" {
			p.give(protocol.AnswerReject)
			return true
		}
		key := e.Get("key").String()
		if p.wary {
			if len([]rune(key)) == 1 && p.from.Truthy() && p.from.Get("isConnected").Bool() {
				p.from.Call("focus") // the browser types the key into that field
			}
			return false
		}
		if key == "n" {
			p.view.next()
			return true
		}
		for i, a := range answers {
			if key == fmt.Sprint(i+1) {
				p.give(a.answer)
				return true
			}
		}
		return false
	})
	on(element("ask-next"), "click", func(js.Value) { p.view.next() })
	on(element("ask-all"), "click", func(js.Value) { p.whole(element("ask-all").Call("getAttribute", "aria-pressed").String() != "true") })
}

// whole shows the question in the whole window, or in its usual place.
func (p *prompts) whole(yes bool) {
	b := element("ask-all")
	b.Call("setAttribute", "aria-pressed", fmt.Sprint(yes))
	b.Set("textContent", map[bool]string{true: "Show less", false: "Show more"}[yes])
	element("ask").Get("classList").Call("toggle", "whole", yes)
	p.view.wake()
}

// give answers the question that is shown. An answer that allows something counts only if the
// question is in view now, and has been for settle looks. A refusal changes nothing, so it needs no
// view, only settle looks without a key or pointer. Other answers are dropped.
func (p *prompts) give(a protocol.Answer) {
	if p.of == "" {
		return
	}
	p.look()
	if a == protocol.AnswerReject && !p.rested || a != protocol.AnswerReject && !p.ready {
		return
	}
	select {
	case p.answer <- a:
	default:
	}
}

// dismiss rejects the question of a session, if it is the one that is shown.
func (p *prompts) dismiss(session string) {
	if p.of != session {
		return
	}
	select {
	case p.dismissed <- struct{}{}:
	default:
	}
}

// tick counts a look, and makes the question answerable after settle of them.
func (p *prompts) tick() {
	p.calm++
	p.view.calm++
	p.look()
	if p.calm < settle {
		return
	}
	if !p.rested {
		p.rested = true
		p.focus()
	}
	if p.view.calm >= settle && p.note() == "" && !p.ready {
		p.ready = true
		p.show()
	}
}

// look checks whether the question is in view, and shows the reason if it is not.
func (p *prompts) look() {
	p.more()
	if p.view.look() != "" {
		p.ready = false // the count begins again when the question is back in view
	}
	p.show()
}

// note returns the reason why nothing can be allowed, "" without one. The waiting time is no
// reason.
func (p *prompts) note() string {
	if p.view.why != "" {
		return p.view.why
	}
	return p.view.seen()
}

// show shows whether an answer counts now, and the reason if it does not.
func (p *prompts) show() {
	ask, note := element("ask"), element("ask-off")
	ask.Call("toggleAttribute", "data-off", !p.ready)
	for _, id := range []string{"once", "session", "project"} {
		element(id).Call("setAttribute", "aria-disabled", fmt.Sprint(!p.ready))
	}
	why := p.note()
	if note.Get("textContent").String() != why { // set only on a change, because screen readers read it aloud
		note.Set("textContent", why)
	}
	more := func(id string) bool {
		el := element(id)
		return el.Get("scrollHeight").Int() > el.Get("clientHeight").Int()+1
	}
	hide("ask-next", p.view.why != "" || why == "")
	hide("ask-all", !more("ask-diff") && !more("ask-list") && !ask.Get("classList").Call("contains", "whole").Bool())
}

// focus moves the focus to the question, but not out of a field that has text. If it comes from an
// empty field, number keys do not answer until Tab or a click in the question, because they may be
// meant for that field.
func (p *prompts) focus() {
	at := document().Get("activeElement")
	if writes(at) {
		p.suspect(true)
		if text := at.Get("value"); text.Type() == js.TypeString && text.String() != "" {
			return
		}
		p.from = at
	}
	element("ask").Call("focus")
}

// writes reports whether keys may write into an element. The content of a frame is unknown, so a
// frame counts.
func writes(el js.Value) bool {
	if el.IsNull() || el.IsUndefined() || el.Get("tagName").IsUndefined() {
		return false
	}
	switch el.Get("tagName").String() {
	case "INPUT", "TEXTAREA", "SELECT", "IFRAME":
		return true
	}
	return el.Get("isContentEditable").Truthy()
}

// suspect sets whether keys answer only after Tab or a click in the question. The question shows
// this on its answers, and in words for a screen reader.
func (p *prompts) suspect(yes bool) {
	p.wary = yes
	element("ask").Call("toggleAttribute", "data-tab", yes)
	element("ask-keys").Set("textContent", map[bool]string{true: "To answer by a key, press Tab first, then a number from 1 to 4.", false: "Press a number from 1 to 4 to answer."}[yes])
}

// touched handles each key, click and move of the focus, and restarts the count of calm looks. Tab
// within the question, or a click in it after it has rested, makes keys answer. A key in a text
// field does the opposite, and so does a click at the moment when the question appears.
func (p *prompts) touched(e js.Value) {
	event, target := e.Get("type").String(), e.Get("target")
	if event == "keydown" || event == "pointerdown" {
		p.calm = 0
	}
	if p.of == "" {
		return
	}
	within := element("ask").Call("contains", target).Bool()
	switch {
	case !within:
		if (event == "keydown" || event == "focusin" || event == "pointerdown") && writes(target) {
			p.suspect(true)
		}
	case event == "mousedown" && !p.rested:
		e.Call("preventDefault") // the focus stays at its element
		p.suspect(true)
	case event == "pointerdown" && p.rested, event == "keydown" && e.Get("key").String() == "Tab":
		p.suspect(false)
	case p.wary && (event == "keydown" || event == "keyup") && element("answers").Call("contains", target).Bool():
		if key := e.Get("key").String(); key == "Enter" || key == " " {
			e.Call("preventDefault")
		}
	}
}

// wait waits for the answer to the question that is shown. It returns AnswerReject after a dismiss,
// and the error of ctx when that ends.
func (p *prompts) wait(ctx context.Context) (protocol.Answer, error) {
	p.calm, p.rested, p.ready, p.from = 0, false, false, js.Null()
	p.suspect(writes(document().Get("activeElement")))
	select {
	case <-p.answer: // an answer to an earlier question is dropped
	default:
	}
	p.view.begin()
	defer p.view.end()
	again := time.NewTimer(soon)
	defer again.Stop()
	p.look()
	for {
		select {
		case <-again.C:
			p.tick()
			again.Reset(map[bool]time.Duration{true: later, false: soon}[p.ready])
		case <-p.view.changed:
			p.look()
		case answer := <-p.answer:
			return answer, nil
		case <-p.dismissed:
			return protocol.AnswerReject, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// Ask implements [sandbox.Asker]. It shows the calls' effects, and waits for the user's answer. The
// answer holds for all requests of the prompt.
func (a *app) Ask(ctx context.Context, q sandbox.Prompt) ([]sandbox.Reply, error) {
	p := &a.prompts
	p.mu.Lock()
	defer p.mu.Unlock()
	of := q.Requests[0].Session
	title := p.fill(q)
	a.whose(of)
	element("ask").Call("setAttribute", "data-off", "")
	hide("ask", false)
	p.whole(false)
	toFirstChange()
	p.of = of
	status("Waiting for your answer: " + title)
	a.notify("The assistant asks", title)
	before := document().Get("activeElement")
	defer func() {
		p.of = ""
		within := element("ask").Call("contains", document().Get("activeElement")).Bool()
		hide("ask", true)
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
		replies[i] = sandbox.Reply{Answer: answer, Pattern: value("scope"), Reason: value("why")}
		if len(q.Requests) > 1 { // each request keeps its own subject
			replies[i].Pattern = ""
		}
	}
	return replies, nil
}

// fill puts a prompt into the page, and returns its title.
func (p *prompts) fill(asked sandbox.Prompt) string {
	q := consent.Of(asked)
	element("ask-title").Set("textContent", q.Title)
	risk := create("span", q.RiskText)
	risk.Set("className", "risk "+string(q.Risk))
	sum := element("ask-sum")
	sum.Call("replaceChildren", q.Who+" · ", risk)
	if q.Counts != "" {
		sum.Call("append", " · "+q.Counts)
	}
	for _, n := range q.Notes {
		note := create("span", n)
		note.Set("className", "note")
		sum.Call("append", " · ", note)
	}
	list := element("ask-list")
	list.Call("replaceChildren")
	for _, e := range q.Effects {
		item := create("li", e.Text)
		if e.Destroys {
			item.Set("className", "loss")
		}
		if q.Mixed {
			risk := create("span", string(e.Risk)+" risk")
			risk.Set("className", "risk "+string(e.Risk))
			item.Call("prepend", risk, " · ")
		}
		for _, n := range e.Notes {
			note := create("span", n)
			note.Set("className", "note")
			item.Call("append", " · ", note)
		}
		list.Call("append", item)
	}
	list.Set("hidden", len(q.Effects) == 0)
	list.Get("classList").Call("toggle", "few", len(q.Effects) <= 2)
	diff := element("ask-diff")
	n := min(chunk, len(q.Lines))
	showLines(diff, q.Lines[:n])
	p.rest = q.Lines[n:]
	p.view.reading = q.Reading
	diff.Get("classList").Call("toggle", "few", len(q.Lines) <= 3)
	for _, el := range []js.Value{list, diff} {
		el.Set("scrollTop", 0)
	}
	scope := element("scope")
	scope.Call("replaceChildren")
	option := func(text, value string) {
		o := create("option", text)
		o.Set("value", value)
		scope.Call("append", o)
	}
	option("only this", "")
	if len(asked.Requests) == 1 {
		for _, pattern := range asked.Requests[0].Patterns {
			option(pattern, pattern)
		}
	}
	element("why").Set("value", "")
	return q.Title
}

// toFirstChange scrolls the diff to its first changed line, if that is below the visible part. The
// unchanged lines before it may be long.
func toFirstChange() {
	diff := element("ask-diff")
	first := diff.Call("querySelector", ".add, .del, .mark")
	if first.IsNull() {
		return
	}
	box := rectOf(diff)
	if r := rectOf(first); r.top+20 > box.bottom {
		diff.Set("scrollTop", r.top-box.top-box.height()/3)
	}
}

// whose shows which conversation asks, if it is not the one in view.
func (a *app) whose(session string) {
	text := ""
	if a.cur == nil || a.cur.session.ID() != session {
		for _, r := range a.records {
			if r.ID == session {
				text = "In the chat “" + titleOf(r) + "”"
			}
		}
	}
	element("ask-whose").Set("textContent", text)
	hide("ask-whose", text == "")
}

// question shows the model's own questions, and returns the user's answers. It returns an error
// with code ErrCapabilityDenied if one is not answered.
func (a *app) question(ctx context.Context, list []sandbox.Question) ([][]string, error) {
	var out [][]string
	for _, q := range list {
		options := create("div", "")
		options.Set("className", "options")
		for _, o := range q.Options {
			option(options, "answer", o.Label, o.Label, "")
		}
		answer, text := ask(asking{title: "The assistant asks", text: q.Question, label: "Your answer", body: []js.Value{options}, answers: []string{"No answer", "Answer"}})
		if text == "" {
			text = chosenOf(options)
		}
		if answer != "Answer" || text == "" {
			return nil, protocol.Errorf(protocol.ErrCapabilityDenied, "question", "", "the person did not answer")
		}
		out = append(out, []string{text})
	}
	return out, nil
}
