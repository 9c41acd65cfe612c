package settings

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	s.grants = &Grants{GrantsOptions: o, settings: s, lock: s.lock}
	return s.grants
}

// ForgetServer removes the lasting answers about the tools of a server, in all folders, and stores the
// settings. A later server of the same name is another one.
func (s *Settings) ForgetServer(name string) {
	about := func(r policy.Rule) bool { return strings.HasPrefix(r.Permission, "mcp:"+name+":") }
	for folder, rules := range s.Rules {
		s.Rules[folder] = slices.DeleteFunc(slices.Clone(rules), about)
	}
	if s.grants != nil {
		s.grants.rules = slices.DeleteFunc(slices.Clone(s.grants.rules), about)
	}
	s.Save()
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
		g.rules = slices.DeleteFunc(slices.Clone(g.settings.Rules[name]), func(r policy.Rule) bool { return r.Validate() != nil || formless(r) })
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

// show lists the lasting answers, with buttons that take them back.
func (g *Grants) show() {
	list := dom.Element("grants")
	list.Call("replaceChildren")
	row := func(r policy.Rule, how string) js.Value {
		what := string(r.Capability)
		if what == "" {
			what = "everything it does"
		}
		if r.Destroys {
			what += ", also if content is lost"
		}
		item := dom.Create("li", "")
		item.Call("append", dom.Create("b", fmt.Sprintf("%s: %s", map[bool]string{true: "Never", false: "Allowed"}[r.Action == protocol.ActionDeny], r.Permission)),
			" on ", dom.Create("code", cmp.Or(r.Pattern, "*")), dom.Create("small", " · "+what+" · "+how))
		list.Call("append", item)
		return item
	}
	button := func(item js.Value, key, text, about string) {
		bar, back := dom.Create("div", ""), dom.Create("button", text)
		bar.Set("className", "bar")
		back.Set("type", "button")
		back.Set("className", "stop small")
		back.Get("dataset").Set("rule", key)
		back.Call("setAttribute", "aria-label", text+about)
		bar.Call("append", back)
		item.Call("append", bar)
	}
	for i, r := range g.rules {
		button(row(r, "in this folder"), strconv.Itoa(i), "Revoke", ": "+r.Permission+" on "+cmp.Or(r.Pattern, "*"))
	}
	if s := g.Session(); s != nil {
		var last js.Value
		for _, r := range s.Grants() {
			last = row(r, "in this chat")
		}
		if last.Truthy() { // a conversation's grants are taken back together
			button(last, "talk", "Revoke all of this chat", "")
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
	dom.Status("Revoked: you will be asked again.")
	dom.Element("grants").Get("parentNode").Call("focus")
	return nil
}
