//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall/js"

	"github.com/bailey-go/bailey/protocol"
)

// granting makes the list of answers that hold for longer than a call.
func (a *app) granting() {
	on(element("tab-settings"), "click", func(js.Value) { a.showGrants() })
	on(element("grants"), "click", func(e js.Value) {
		b := e.Get("target").Call("closest", "button")
		if b.IsNull() {
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		failed(a.takeBack(b.Get("dataset").Get("rule").String()))
	})
}

// lasts reports whether what is kept by the folder's name is this folder's alone.
func (a *app) lasts() bool {
	kind := a.source.Features()
	return kind.Source != "memory" && !kind.ReadOnly
}

// remember keeps an answer for the folder. That of a folder that comes without an identity,
// as an uploaded one does, holds until it is opened anew.
func (a *app) remember(_ context.Context, r protocol.Rule) error {
	if a.lasts() {
		a.kept.Rules[a.name] = append(a.kept.Rules[a.name], r)
		a.kept.save()
	}
	return nil
}

// policyHere is the policy with the person's own rules for the folder.
func (a *app) policyHere() *protocol.Policy {
	p := *a.policy
	p.Rules = slices.Clone(p.Rules)
	for _, r := range a.kept.Rules[a.name] {
		if a.lasts() && r.Validate() == nil {
			p.Rules = append(p.Rules, r)
		}
	}
	return &p
}

// showGrants lists what the person allowed for longer, each with a way to take it back.
func (a *app) showGrants() {
	if a.box == nil {
		return
	}
	list := element("grants")
	list.Call("replaceChildren")
	row := func(r protocol.Rule, how, key string) {
		what := string(r.Capability)
		if what == "" {
			what = "all it does"
		}
		if r.Destroys {
			what += ", and to lose what was there"
		}
		item, bar, back := create("li", ""), create("div", ""), create("button", "Take back")
		bar.Set("className", "bar")
		back.Set("type", "button")
		back.Set("className", "stop small")
		back.Get("dataset").Set("rule", key)
		back.Call("setAttribute", "aria-label", "Take back "+r.Permission+" on "+r.Pattern)
		bar.Call("append", back)
		item.Call("append", create("b", fmt.Sprintf("%s: %s", map[bool]string{true: "Never", false: "Allowed"}[r.Action == protocol.ActionDeny], r.Permission)),
			" on ", create("code", r.Pattern), create("small", " · "+what+" · "+how), bar)
		list.Call("append", item)
	}
	kept := a.kept.Rules[a.name]
	if !a.lasts() {
		kept = a.box.Kept()
	}
	for i, r := range kept {
		row(r, "in this folder", strconv.Itoa(i))
	}
	if a.cur != nil {
		for _, r := range a.cur.session.Grants() {
			row(r, "in this conversation", "talk")
		}
	}
	hide("no-grants", list.Get("childElementCount").Int() > 0)
}

// takeBack drops an answer for the folder, by its number, or all those of the conversation.
func (a *app) takeBack(key string) error {
	if key == "talk" {
		a.cur.session.Forget()
	} else {
		for _, t := range a.talks {
			if t.cancel != nil {
				return errors.New("the assistant is at work: stop it first, or wait until it is done")
			}
		}
		if i, err := strconv.Atoi(key); err == nil && i < len(a.kept.Rules[a.name]) {
			a.kept.Rules[a.name] = slices.Delete(a.kept.Rules[a.name], i, i+1)
			a.kept.save()
		}
		if err := a.rebox(); err != nil { // one made anew knows it no more
			return err
		}
	}
	a.showGrants()
	status("Taken back: it is asked about again.")
	element("grants").Get("parentNode").Call("focus")
	return nil
}
