//go:build js && wasm

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// prompts shows one question of consent at a time.
type prompts struct {
	mu        sync.Mutex // held while one is shown
	answer    chan protocol.Answer
	dismissed chan struct{}
	of        string    // the session that asks
	touched   time.Time // when a key or the pointer was last used
}

// settle is how long a person has not used a key or the pointer before a question can be
// answered: what was meant for something else is no answer.
const settle = 500 * time.Millisecond

// listen makes the answers work, by mouse and by key.
func (p *prompts) listen() {
	p.answer, p.dismissed = make(chan protocol.Answer), make(chan struct{})
	touch := js.FuncOf(func(js.Value, []js.Value) any { p.touched = time.Now(); return nil })
	for _, event := range []string{"keydown", "pointerdown"} {
		document().Call("addEventListener", event, touch, true)
	}
	for i, a := range []struct {
		id     string
		answer protocol.Answer
	}{{"once", protocol.AnswerOnce}, {"session", protocol.AnswerSession}, {"project", protocol.AnswerProject}, {"reject", protocol.AnswerReject}} {
		on(element(a.id), "click", func(js.Value) { p.give(a.answer) })
		onKey(element("ask"), func(e js.Value) bool {
			if e.Get("key").String() != fmt.Sprint(i+1) || e.Get("target").Get("id").String() == "why" || element(a.id).Get("disabled").Bool() {
				return false
			}
			go p.give(a.answer)
			return true
		})
	}
	onKey(element("why"), func(e js.Value) bool {
		if e.Get("key").String() != "Enter" {
			return false
		}
		go p.give(protocol.AnswerReject)
		return true
	})
}

// give answers what is shown; if nothing is, it is dropped.
func (p *prompts) give(a protocol.Answer) {
	select {
	case p.answer <- a:
	default:
	}
}

// dismiss answers what a session asks.
func (p *prompts) dismiss(session string) {
	if p.of != session {
		return
	}
	select {
	case p.dismissed <- struct{}{}:
	default:
	}
}

// wait waits for the answer to what is shown. The focus, too, comes when nobody types any
// more, and stays in a field that has text in it.
func (p *prompts) wait(ctx context.Context) (protocol.Answer, error) {
	p.touched = time.Now()
	ready := time.NewTimer(settle)
	defer ready.Stop()
	var answers chan protocol.Answer // nil: those that come are dropped
	for {
		select {
		case <-ready.C:
			if left := settle - time.Since(p.touched); left > 0 {
				ready.Reset(left)
				continue
			}
			answers = p.answer
			element("ask").Call("removeAttribute", "data-early")
			if text := document().Call("querySelector", "textarea:focus, input:focus"); text.IsNull() || text.Get("value").String() == "" {
				element("ask").Call("focus")
			}
		case answer := <-answers:
			return answer, nil
		case <-p.dismissed:
			return protocol.AnswerReject, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// Ask shows what calls would do, and waits for the person.
func (a *app) Ask(ctx context.Context, q sandbox.Prompt) ([]sandbox.Reply, error) {
	p := &a.prompts
	p.mu.Lock()
	defer p.mu.Unlock()
	fill(q)
	p.of = q.Requests[0].Session
	a.whose(p.of)
	element("ask").Call("setAttribute", "data-early", "")
	hide("ask", false)
	status("The assistant asks: " + element("ask-title").Get("textContent").String())
	a.notify("The assistant asks", element("ask-title").Get("textContent").String())
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
		if len(q.Requests) > 1 { // each for its own subject
			replies[i].Pattern = ""
		}
	}
	return replies, nil
}

// fill shows a prompt.
func fill(q sandbox.Prompt) {
	what := func(r sandbox.Request) string {
		if r.Tool == "plan" { // whose number says nothing to a person
			return "carry out the plan"
		}
		return r.Title
	}
	title := "May the assistant " + what(q.Requests[0]) + "?"
	if n := len(q.Requests); n > 1 {
		title = fmt.Sprintf("May the assistant do these %d things?", n)
	}
	element("ask-title").Set("textContent", title)
	list := element("ask-list")
	list.Call("replaceChildren")
	var diff strings.Builder
	destroys := false
	for _, r := range q.Requests {
		item, risk := create("li", ""), create("span", string(r.Risk)+" risk")
		risk.Set("className", "risk "+string(r.Risk))
		item.Call("append", risk, " · "+what(r))
		if r.Destroys {
			item.Call("append", " · something is lost, and can be brought back by undo")
		}
		if r.Untrusted {
			item.Call("append", " · the tool is not Bailey's own")
		}
		if r.Agent != "" {
			item.Call("append", " · asked by "+r.Agent)
		}
		list.Call("append", item)
		diff.WriteString(r.Diff)
		destroys = destroys || r.Destroys
	}
	showDiff(element("ask-diff"), diff.String())
	scope := element("scope")
	scope.Call("replaceChildren")
	option := func(text, value string) {
		o := create("option", text)
		o.Set("value", value)
		scope.Call("append", o)
	}
	option("just this", "")
	if len(q.Requests) == 1 {
		for _, pattern := range q.Requests[0].Patterns {
			option(pattern, pattern)
		}
	}
	element("why").Set("value", "")
}

// whose says which conversation asks, if it is not the one in view.
func (a *app) whose(session string) {
	text := ""
	if a.cur == nil || a.cur.session.ID() != session {
		for _, r := range a.records {
			if r.ID == session {
				text = "In the conversation “" + titleOf(r) + "”"
			}
		}
	}
	element("ask-whose").Set("textContent", text)
	hide("ask-whose", text == "")
}

// question puts the model's own questions to the person.
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
