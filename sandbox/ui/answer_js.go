package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
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
func (p *sheet) listen() error {
	p.answer, p.dismissed = make(chan policy.Answer, 1), make(chan struct{})
	err := p.view.listen(p)
	on := func(target dom.Node, event string, capture bool, fn func(e dom.Node)) {
		_, failed := p.scope.Listen(target.Value(), event, func(e jsx.Value) { fn(dom.Of(e)) }, jsx.ListenOptions{Capture: capture})
		err = errors.Join(err, failed)
	}
	for _, event := range []string{"keydown", "keyup", "mousedown", "pointerdown", "click", "focusin"} {
		on(dom.Document(), event, true, p.touched)
	}
	on(p.host, "keydown", false, func(e dom.Node) {
		if p.key(e) {
			e.Call("preventDefault")
		}
	})
	for _, a := range answers {
		on(p.part(a.id), "click", false, func(dom.Node) { p.give(a.answer) })
	}
	on(p.part("ask-list"), "change", false, func(e dom.Node) {
		i, bad := strconv.Atoi(e.Get("target").Call("closest", "li").Call("getAttribute", "data-request").Text())
		if bad == nil && i < len(p.chosen) {
			p.choose(i, e.Get("target").Get("checked").True())
			p.show()
		}
	})
	on(p.part("ask-stop"), "click", false, func(dom.Node) {
		if p.options.OnStop != nil {
			go p.options.OnStop()
		}
	})
	on(p.part("ask-next"), "click", false, func(dom.Node) { p.view.next() })
	on(p.part("ask-all"), "click", false, func(dom.Node) { p.whole(p.part("ask-all").Call("getAttribute", "aria-pressed").Text() != "true") })
	return err
}

// target returns the element at which an event happened, also within the shadow tree.
func target(e dom.Node) dom.Node { return e.Call("composedPath").At(0) }

// key handles a key that was pressed in the sheet, and reports whether it had a meaning.
func (p *sheet) key(e dom.Node) bool {
	at := target(e)
	why := at.Is(p.part("why"))
	key := e.Get("key").Text()
	if at.Is(p.part("scope")) || why && key != "Enter" && key != "Escape" || e.Get("isComposing").True() || e.Get("repeat").True() ||
		e.Get("ctrlKey").True() || e.Get("altKey").True() || e.Get("metaKey").True() {
		return false
	}
	if key == "Escape" && p.options.OnStop != nil {
		go p.options.OnStop()
		return true
	}
	if why || key == "Escape" {
		p.give(policy.AnswerReject)
		return true
	}
	if p.wary {
		if len([]rune(key)) == 1 && p.from.Get("isConnected").True() {
			p.from.Call("focus") // the browser types the key into that field
		}
		return false
	}
	if key == "n" {
		p.view.next()
		return true
	}
	for i, a := range answers {
		if key == strconv.Itoa(i+1) && !p.part(a.id).Get("hidden").True() {
			p.give(a.answer)
			return true
		}
	}
	return false
}

// whole shows the question in the whole window, or in its usual place.
func (p *sheet) whole(yes bool) {
	b := p.part("ask-all")
	b.Call("setAttribute", "aria-pressed", fmt.Sprint(yes))
	b.Set("textContent", map[bool]string{true: "Show less", false: "Show more"}[yes])
	p.host.Call("toggleAttribute", "data-whole", yes)
	p.view.wake()
}

// give answers the question that is shown. An answer that allows something, or that is kept as a rule,
// such as Never, counts only if a request is chosen, and the question is in view now and has been for
// settle looks. Don't allow changes nothing, so it needs no view, only settle looks without a key or
// pointer. Other answers are dropped.
func (p *sheet) give(a policy.Answer) {
	if !p.open {
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

func (p *sheet) dismiss(session string) {
	if !p.open || p.of != session {
		return
	}
	select {
	case p.dismissed <- struct{}{}:
	default:
	}
}

// tick counts a look, and makes the question answerable after settle of them.
func (p *sheet) tick() {
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
func (p *sheet) look(all bool) {
	p.view.diff.Fill()
	if p.view.look(all) != "" {
		p.ready = false // the count begins again when the question is back in view
	}
	p.show()
}

// note returns the reason why only Don't allow counts, "" without one. The waiting time is no reason.
func (p *sheet) note() string {
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
func (p *sheet) show() {
	note := p.part("ask-off")
	off := !p.ready || !slices.Contains(p.chosen, true)
	p.host.Call("toggleAttribute", "data-off", off)
	for _, id := range []string{"once", "session", "project", "never"} {
		p.part(id).Call("setAttribute", "aria-disabled", fmt.Sprint(off))
	}
	why := p.note()
	if note.Get("textContent").Text() != why { // set only on a change, because screen readers read it aloud
		note.Set("textContent", why)
	}
	more := func(id string) bool {
		el := p.part(id)
		return el.Get("scrollHeight").Int() > el.Get("clientHeight").Int()+1
	}
	p.part("ask-next").Set("hidden", p.view.why != "" || why == "")
	p.part("ask-all").Set("hidden", !more("ask-diff") && !more("ask-list") && !p.host.Call("hasAttribute", "data-whole").True())
}

// focus moves the focus to the question, but not out of a field that has text. If it comes from an
// empty field, number keys do not answer until Tab or a click in the question, because they may be
// meant for that field.
func (p *sheet) focus() {
	at := dom.Focused()
	if writes(at) {
		p.suspect(true)
		if at.Get("value").Text() != "" {
			return
		}
		p.from = at
	}
	p.part("sheet").Call("focus")
}

// writes reports whether keys may write into an element. The content of a frame is unknown, so a
// frame counts, and so does a custom element whose shadow tree is closed.
func writes(el dom.Node) bool {
	tag := el.Get("tagName").Text()
	switch strings.ToUpper(tag) {
	case "INPUT", "TEXTAREA", "SELECT", "IFRAME":
		return true
	}
	return el.Get("isContentEditable").True() || strings.Contains(tag, "-") && !el.Get("shadowRoot").OK()
}

// suspect sets whether keys answer only after Tab or a click in the question. The question shows
// this on its answers, and in words for a screen reader.
func (p *sheet) suspect(yes bool) {
	p.wary = yes
	p.host.Call("toggleAttribute", "data-tab", yes)
	keys := "a number from 1 to 5"
	if p.once {
		keys = "1 or 4"
	}
	p.part("ask-keys").Set("textContent", map[bool]string{true: "To answer by a key, press Tab first, then " + keys + ".", false: "Press " + keys + " to answer."}[yes])
}

// touched handles each key, click and move of the focus, and restarts the count of calm looks. Tab
// within the question, or a click in it after it has rested, makes keys answer. A key in a text
// field does the opposite, and so does a click at the moment when the question appears. The answers
// change their width with that, so they do it behind the click: one that moves away from under the
// pointer would not be clicked.
func (p *sheet) touched(e dom.Node) {
	event, at := e.Get("type").Text(), target(e)
	if event == "keydown" || event == "pointerdown" {
		p.calm = 0
	}
	if !p.open {
		return
	}
	within := e.Call("composedPath").Call("includes", p.host).True()
	switch {
	case !within:
		if (event == "keydown" || event == "focusin" || event == "pointerdown") && writes(at) {
			p.suspect(true)
		}
	case event == "mousedown" && !p.rested:
		e.Call("preventDefault") // the focus stays at its element
		p.suspect(true)
	case event == "pointerdown":
		p.pressed = p.rested
	case event == "click" && p.pressed && e.Get("isTrusted").True() && e.Get("detail").Int() > 0, event == "keydown" && e.Get("key").Text() == "Tab":
		p.suspect(false)
	case p.wary && (event == "keydown" || event == "keyup") && (p.part("answers").Call("contains", at).True() || p.part("never").Call("contains", at).True()):
		if key := e.Get("key").Text(); key == "Enter" || key == " " {
			e.Call("preventDefault")
		}
	}
}

// wait waits for the answer to the question that is shown. It returns AnswerReject after a dismiss,
// and the error of ctx when that ends.
func (p *sheet) wait(ctx context.Context) (policy.Answer, error) {
	p.calm, p.rested, p.pressed, p.ready, p.from = 0, false, false, false, dom.Node{}
	p.suspect(writes(dom.Focused()))
	select {
	case <-p.answer: // an answer to an earlier question is dropped
	default:
	}
	p.view.begin()
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
		case <-p.closed:
			return "", errClosed
		}
	}
}
