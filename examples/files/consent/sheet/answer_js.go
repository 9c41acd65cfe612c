package sheet

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/files/consent"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// settle is the number of looks in a row without a key or pointer before an answer counts.
const settle = consent.Settle

// The times between two looks: soon until the question can be answered, later from then on. The
// last look is at the moment of the answer.
const (
	soon  = consent.Soon
	later = 300 * time.Millisecond
)

// listen sets up the answers, by pointer and by key.
func (p *Sheet) listen() {
	p.answer, p.dismissed = make(chan policy.Answer, 1), make(chan struct{})
	p.view.listen()
	touch := js.FuncOf(func(_ js.Value, args []js.Value) any { p.touched(args[0]); return nil })
	for _, event := range []string{"keydown", "keyup", "mousedown", "pointerdown", "click", "focusin"} {
		dom.Document().Call("addEventListener", event, touch, true)
	}
	answers := []struct {
		id     string
		answer policy.Answer
	}{{"once", policy.AnswerOnce}, {"session", policy.AnswerSession}, {"project", policy.AnswerProject}, {"reject", policy.AnswerReject}, {"never", policy.AnswerNever}}
	for _, a := range answers {
		dom.Element(a.id).Call("addEventListener", "click", js.FuncOf(func(js.Value, []js.Value) any { p.give(a.answer); return nil }))
	}
	dom.OnKey(dom.Element("ask"), func(e js.Value) bool {
		at := e.Get("target").Get("id").String()
		if at == "scope" || at == "why" && e.Get("key").String() != "Enter" || e.Get("isComposing").Bool() || e.Get("repeat").Bool() ||
			e.Get("ctrlKey").Bool() || e.Get("altKey").Bool() || e.Get("metaKey").Bool() {
			return false
		}
		if at == "why" {
			p.give(policy.AnswerReject)
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
			if key == fmt.Sprint(i+1) && !dom.Element(a.id).Get("hidden").Bool() {
				p.give(a.answer)
				return true
			}
		}
		return false
	})
	dom.On(dom.Element("ask-list"), "change", func(e js.Value) {
		if i, err := strconv.Atoi(e.Get("target").Call("closest", "li").Get("dataset").Get("request").String()); err == nil && i < len(p.chosen) {
			p.choose(i, e.Get("target").Get("checked").Bool())
			p.show()
		}
	})
	dom.OnClick("ask-stop", func() {
		if p.options.OnStop != nil {
			p.options.OnStop()
		}
	})
	dom.OnClick("ask-next", func() { p.view.next() })
	dom.OnClick("ask-all", func() { p.whole(dom.Element("ask-all").Call("getAttribute", "aria-pressed").String() != "true") })
}

// whole shows the question in the whole window, or in its usual place.
func (p *Sheet) whole(yes bool) {
	b := dom.Element("ask-all")
	b.Call("setAttribute", "aria-pressed", fmt.Sprint(yes))
	b.Set("textContent", map[bool]string{true: "Show less", false: "Show more"}[yes])
	dom.Element("ask").Get("classList").Call("toggle", "whole", yes)
	p.view.wake()
}

// give answers the question that is shown. An answer that allows something, or that is kept as a rule,
// such as Never, counts only if a request is chosen, and the question is in view now and has been for
// settle looks. Don't allow changes nothing, so it needs no view, only settle looks without a key or
// pointer. Other answers are dropped.
func (p *Sheet) give(a policy.Answer) {
	if p.of == "" {
		return
	}
	if a == policy.AnswerReject {
		if !p.rested {
			return
		}
	} else {
		if p.ready {
			p.look(true)
		}
		if !p.ready || !slices.Contains(p.chosen, true) {
			return
		}
	}
	select {
	case p.answer <- a:
	default:
	}
}

// Dismiss rejects the question of a session, if it is the one that is shown.
func (p *Sheet) Dismiss(session string) {
	if p.of != session {
		return
	}
	select {
	case p.dismissed <- struct{}{}:
	default:
	}
}

// tick counts a look, and makes the question answerable after settle of them.
func (p *Sheet) tick() {
	p.calm++
	p.view.calm++
	p.look(p.view.calm%settle == 0 || p.view.calm > settle && !p.ready)
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

// look checks whether the question is in view, and shows the reason if it is not. See view for all.
func (p *Sheet) look(all bool) {
	p.view.diff.fill()
	if p.view.look(all) != "" {
		p.ready = false // the count begins again when the question is back in view
	}
	p.show()
}

// note returns the reason why only Don't allow counts, "" without one. The waiting time is no reason.
func (p *Sheet) note() string {
	if p.view.why != "" {
		return p.view.why
	}
	if why := p.view.seen(); why != "" {
		return why
	}
	if !slices.Contains(p.chosen, true) {
		return "Nothing is chosen: choose what you allow, or press Don't allow."
	}
	return ""
}

// show shows whether an answer other than Don't allow counts now, and the reason if it does not.
func (p *Sheet) show() {
	ask, note := dom.Element("ask"), dom.Element("ask-off")
	off := !p.ready || !slices.Contains(p.chosen, true)
	ask.Call("toggleAttribute", "data-off", off)
	for _, id := range []string{"once", "session", "project", "never"} {
		dom.Element(id).Call("setAttribute", "aria-disabled", fmt.Sprint(off))
	}
	why := p.note()
	if note.Get("textContent").String() != why { // set only on a change, because screen readers read it aloud
		note.Set("textContent", why)
	}
	more := func(id string) bool {
		el := dom.Element(id)
		return el.Get("scrollHeight").Int() > el.Get("clientHeight").Int()+1
	}
	dom.Hide("ask-next", p.view.why != "" || why == "")
	dom.Hide("ask-all", !more("ask-diff") && !more("ask-list") && !ask.Get("classList").Call("contains", "whole").Bool())
}

// focus moves the focus to the question, but not out of a field that has text. If it comes from an
// empty field, number keys do not answer until Tab or a click in the question, because they may be
// meant for that field.
func (p *Sheet) focus() {
	at := dom.Focused()
	if writes(at) {
		p.suspect(true)
		if text := at.Get("value"); text.Type() == js.TypeString && text.String() != "" {
			return
		}
		p.from = at
	}
	dom.Element("ask").Call("focus")
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
func (p *Sheet) suspect(yes bool) {
	p.wary = yes
	dom.Element("ask").Call("toggleAttribute", "data-tab", yes)
	keys := "a number from 1 to 5"
	if p.once {
		keys = "1 or 4"
	}
	dom.SetText("ask-keys", map[bool]string{true: "To answer by a key, press Tab first, then " + keys + ".", false: "Press " + keys + " to answer."}[yes])
}

// touched handles each key, click and move of the focus, and restarts the count of calm looks. Tab
// within the question, or a click in it after it has rested, makes keys answer. A key in a text
// field does the opposite, and so does a click at the moment when the question appears. The answers
// change their width with that, so they do it behind the click: one that moves away from under the
// pointer would not be clicked.
func (p *Sheet) touched(e js.Value) {
	event, target := e.Get("type").String(), e.Get("target")
	if event == "keydown" || event == "pointerdown" {
		p.calm = 0
	}
	if p.of == "" {
		return
	}
	within := dom.Element("ask").Call("contains", target).Bool()
	switch {
	case !within:
		if (event == "keydown" || event == "focusin" || event == "pointerdown") && writes(target) {
			p.suspect(true)
		}
	case event == "mousedown" && !p.rested:
		e.Call("preventDefault") // the focus stays at its element
		p.suspect(true)
	case event == "pointerdown":
		p.pressed = p.rested
	case event == "click" && p.pressed && e.Get("isTrusted").Bool() && e.Get("detail").Int() > 0, event == "keydown" && e.Get("key").String() == "Tab":
		p.suspect(false)
	case p.wary && (event == "keydown" || event == "keyup") && (dom.Element("answers").Call("contains", target).Bool() || target.Equal(dom.Element("never"))):
		if key := e.Get("key").String(); key == "Enter" || key == " " {
			e.Call("preventDefault")
		}
	}
}

// wait waits for the answer to the question that is shown. It returns AnswerReject after a dismiss,
// and the error of ctx when that ends.
func (p *Sheet) wait(ctx context.Context) (policy.Answer, error) {
	p.calm, p.rested, p.pressed, p.ready, p.from = 0, false, false, false, js.Null()
	p.suspect(writes(dom.Focused()))
	select {
	case <-p.answer: // an answer to an earlier question is dropped
	default:
	}
	p.view.begin()
	defer p.view.end()
	again := time.NewTimer(soon)
	defer again.Stop()
	p.look(true)
	for {
		select {
		case <-again.C:
			p.tick()
			again.Reset(map[bool]time.Duration{true: later, false: soon}[p.ready])
		case <-p.view.changed:
			p.look(false)
		case answer := <-p.answer:
			return answer, nil
		case <-p.dismissed:
			return policy.AnswerReject, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
