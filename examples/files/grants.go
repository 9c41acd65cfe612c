//go:build js && wasm

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// granting sets up the list of answers that hold for longer than one call.
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

// lasts reports whether the folder's name identifies it, so that data can be stored by the name. It
// does not for a folder in memory, nor for a read-only one, such as an upload.
func lasts(f *fsaccess.Folder) bool {
	kind := f.Features()
	return kind.Source != "memory" && !kind.ReadOnly
}

// here loads the stored rules of the open folder.
func (a *app) here() {
	a.rules = nil
	if lasts(a.source) {
		a.rules = slices.DeleteFunc(slices.Clone(a.kept.Rules[a.name]), func(r protocol.Rule) bool { return r.Validate() != nil })
	}
}

// remember implements sandbox.Options.Remember: it stores an answer for the folder.
func (a *app) remember(_ context.Context, r protocol.Rule) error {
	a.rules = append(a.rules, r)
	a.keepRules()
	return nil
}

// keepRules stores the rules of the open folder. The rules of a folder that its name does not
// identify, such as an uploaded one, hold until it is opened again.
func (a *app) keepRules() {
	if lasts(a.source) {
		a.kept.Rules[a.name] = a.rules
		a.kept.save()
	}
}

// policyHere returns the policy with the user's rules for the folder added.
func (a *app) policyHere() *protocol.Policy {
	p := *a.policy
	p.Rules = slices.Concat(p.Rules, a.rules)
	return &p
}

// showGrants lists the lasting answers, each with a button that takes it back.
func (a *app) showGrants() {
	if a.box == nil {
		return
	}
	list := element("grants")
	list.Call("replaceChildren")
	row := func(r protocol.Rule, how, key, take string) {
		what := string(r.Capability)
		if what == "" {
			what = "all it does"
		}
		if r.Destroys {
			what += ", and to lose what was there"
		}
		item, bar, back := create("li", ""), create("div", ""), create("button", take)
		bar.Set("className", "bar")
		back.Set("type", "button")
		back.Set("className", "stop small")
		back.Get("dataset").Set("rule", key)
		back.Call("setAttribute", "aria-label", take+": "+r.Permission+" on "+cmp.Or(r.Pattern, "*"))
		bar.Call("append", back)
		item.Call("append", create("b", fmt.Sprintf("%s: %s", map[bool]string{true: "Never", false: "Allowed"}[r.Action == protocol.ActionDeny], r.Permission)),
			" on ", create("code", cmp.Or(r.Pattern, "*")), create("small", " · "+what+" · "+how), bar)
		list.Call("append", item)
	}
	for i, r := range a.rules {
		row(r, "in this folder", strconv.Itoa(i), "Take back")
	}
	if a.cur != nil {
		for _, r := range a.cur.session.Grants() {
			row(r, "in this conversation", "talk", "Take back all of this conversation")
		}
	}
	hide("no-grants", list.Get("childElementCount").Int() > 0)
}

// takeBack drops one of the folder's rules by its index, or, for the key "talk", all grants of the
// conversation in view.
func (a *app) takeBack(key string) error {
	if key == "talk" {
		a.cur.session.Forget()
	} else {
		for _, t := range a.talks {
			if t.cancel != nil {
				return errors.New("the assistant is at work: stop it first, or wait until it is done")
			}
		}
		if i, err := strconv.Atoi(key); err == nil && i < len(a.rules) {
			a.rules = slices.Delete(a.rules, i, i+1)
			a.keepRules()
		}
		if err := a.rebox(); err != nil { // a new box no longer has the rule
			return err
		}
	}
	a.showGrants()
	status("Taken back: it is asked about again.")
	element("grants").Get("parentNode").Call("focus")
	return nil
}
