package settings

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Session is the part of the conversation in view that grants are kept in.
type Session interface {
	Grants() policy.Rules
	Forget()
}

// GrantsOptions are the parts of the page that the grants talk with. All are required.
type GrantsOptions struct {
	Policy   *policy.Policy
	Session  func() Session // nil if no conversation is in view
	Busy     func() error   // an error while a conversation is at work
	OnChange func() error   // makes a new box, without a rule that was taken back
}

// Grants are the user's lasting answers about the open folder.
type Grants struct {
	GrantsOptions
	settings *Settings
	lock     sync.Locker
	rules    policy.Rules
	name     string // of the open folder
	lasts    bool   // its name identifies it, so that the rules can be stored
}

// NewGrants returns the grants of no folder.
func (s *Settings) NewGrants(o GrantsOptions) *Grants {
	return &Grants{GrantsOptions: o, settings: s, lock: s.lock}
}

// Listen sets up the list of answers that hold for longer than one call.
func (g *Grants) Listen() {
	dom.OnClick("tab-settings", func() { g.show() })
	dom.On(dom.Element("grants"), "click", func(e js.Value) {
		b := e.Get("target").Call("closest", "button")
		if b.IsNull() {
			return
		}
		g.lock.Lock()
		defer g.lock.Unlock()
		dom.Failed(g.takeBack(b.Get("dataset").Get("rule").String()))
	})
}

// Open loads the stored rules of a folder. If lasts is false, its rules hold until it is opened
// again.
func (g *Grants) Open(name string, lasts bool) {
	g.name, g.lasts, g.rules = name, lasts, nil
	if lasts {
		g.rules = slices.DeleteFunc(slices.Clone(g.settings.Rules[name]), func(r policy.Rule) bool { return r.Validate() != nil })
	}
}

// Remember stores an answer for the folder. It is for Remember of [sandbox.Options].
func (g *Grants) Remember(_ context.Context, r policy.Rule) error {
	g.rules = append(g.rules, r)
	g.keep()
	return nil
}

func (g *Grants) keep() {
	if g.lasts {
		g.settings.Rules[g.name] = g.rules
		g.settings.Save()
	}
}

// PolicyHere returns the policy with the user's rules for the folder added.
func (g *Grants) PolicyHere() *policy.Policy {
	p := *g.Policy
	p.Rules = slices.Concat(p.Rules, g.rules)
	return &p
}

// show lists the lasting answers, each with a button that takes it back.
func (g *Grants) show() {
	list := dom.Element("grants")
	list.Call("replaceChildren")
	row := func(r policy.Rule, how, key, take string) {
		what := string(r.Capability)
		if what == "" {
			what = "all it does"
		}
		if r.Destroys {
			what += ", and to lose what was there"
		}
		item, bar, back := dom.Create("li", ""), dom.Create("div", ""), dom.Create("button", take)
		bar.Set("className", "bar")
		back.Set("type", "button")
		back.Set("className", "stop small")
		back.Get("dataset").Set("rule", key)
		back.Call("setAttribute", "aria-label", take+": "+r.Permission+" on "+cmp.Or(r.Pattern, "*"))
		bar.Call("append", back)
		item.Call("append", dom.Create("b", fmt.Sprintf("%s: %s", map[bool]string{true: "Never", false: "Allowed"}[r.Action == protocol.ActionDeny], r.Permission)),
			" on ", dom.Create("code", cmp.Or(r.Pattern, "*")), dom.Create("small", " · "+what+" · "+how), bar)
		list.Call("append", item)
	}
	for i, r := range g.rules {
		row(r, "in this folder", strconv.Itoa(i), "Take back")
	}
	if s := g.Session(); s != nil {
		for _, r := range s.Grants() {
			row(r, "in this conversation", "talk", "Take back all of this conversation")
		}
	}
	dom.Hide("no-grants", list.Get("childElementCount").Int() > 0)
}

// takeBack drops one of the folder's rules by its index, or, for the key "talk", all grants of the
// conversation in view.
func (g *Grants) takeBack(key string) error {
	if key == "talk" {
		g.Session().Forget()
	} else {
		if err := g.Busy(); err != nil {
			return err
		}
		if i, err := strconv.Atoi(key); err == nil && i < len(g.rules) {
			g.rules = slices.Delete(g.rules, i, i+1)
			g.keep()
		}
		if err := g.OnChange(); err != nil { // a new box no longer has the rule
			return err
		}
	}
	g.show()
	dom.Status("Taken back: it is asked about again.")
	dom.Element("grants").Get("parentNode").Call("focus")
	return nil
}
