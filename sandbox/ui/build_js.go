package ui

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/consent/inview"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox/policy"
)

//go:embed sheet.css
var style string

// answers are the buttons that answer, in the order of their keys from 1 on. The number of the chosen
// requests comes between text and rest.
var answers = []struct {
	id, text, rest, class string
	answer                policy.Answer
}{
	{"once", "Allow", "", "primary", policy.AnswerOnce},
	{"session", "Allow", " in this chat", "", policy.AnswerSession},
	{"project", "Always allow", " here", "", policy.AnswerProject},
	{"reject", "Don't allow", "", "stop", policy.AnswerReject},
	{"never", "Never", " here", "stop", policy.AnswerNever},
}

// build makes the elements of the sheet in the shadow tree of the page's element.
func build(parent iframe.Element, o Options) (*sheet, error) {
	s := &sheet{options: o, host: dom.Of(jsx.FromRaw(parent.Value())), parts: map[string]dom.Node{}, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	if !s.host.OK() {
		return nil, errors.New("ui: the parent is no element: make one with iframe.ElementByID or iframe.ElementOf")
	}
	s.root = s.host.Get("shadowRoot") // of a program that ended, in the same page
	if !s.root.OK() {
		v, err := jsx.Call(s.host.Value(), "attachShadow", map[string]any{"mode": "open"})
		if err != nil {
			return nil, fmt.Errorf("ui: a %s can't hold the sheet, so use a section or a div: %w", strings.ToLower(s.host.Get("tagName").Text()), err)
		}
		s.root = dom.Of(v)
	}
	s.host.Set("hidden", true)
	s.fillRoot()
	s.scope = jsx.NewScope(jsx.ScopeOptions{})
	s.view.list, s.view.diff = inview.NewReader(jsx.ToRaw(s.part("ask-list").Value())), inview.NewReader(jsx.ToRaw(s.part("ask-diff").Value()))
	if err := errors.Join(adopt(s.root, style), s.listen()); err != nil {
		_ = s.close()
		return nil, err
	}
	return s, nil
}

// adopt gives a shadow tree its style sheet.
func adopt(root dom.Node, text string) error {
	css, err := jsx.NewGlobal("CSSStyleSheet")
	if err != nil {
		return err
	}
	dom.Of(css).Call("replaceSync", text)
	return jsx.Set(root.Value(), "adoptedStyleSheets", []any{css})
}

// part returns an element of the sheet by its id in the shadow tree. No script of the page can put
// another element in its place.
func (p *sheet) part(id string) dom.Node { return p.parts[id] }

// make returns a new element of the sheet. Its id may be empty.
func (p *sheet) make(tag, id, text string, attributes ...string) dom.Node {
	n := dom.Create(tag, text, attributes...)
	if id != "" {
		n.Set("id", id)
		p.parts[id] = n
	}
	return n
}

func (p *sheet) fillRoot() {
	bar := p.make("div", "answers", "", "role", "group", "aria-label", "Answers", "class", "bar")
	for i, a := range answers {
		b := p.make("button", a.id, "", "type", "button", "class", a.class)
		b.Call("append", dom.Create("kbd", fmt.Sprint(i+1)), " "+a.text)
		if a.answer != policy.AnswerReject { // which is for all requests
			b.Call("append", dom.Create("span", "", "class", "chosen"), a.rest)
		}
		if a.answer != policy.AnswerNever { // which is below, beside the reason
			bar.Call("append", b)
		}
	}
	const reason = "Tell the assistant why (optional)"
	next := p.make("button", "ask-next", "", "type", "button", "hidden", "")
	next.Call("append", dom.Create("kbd", "n"), " Next")
	more := p.make("div", "", "", "class", "bar more")
	more.Call("append",
		p.make("label", "scope-label", "Applies to", "for", "scope", "class", "small"),
		p.make("select", "scope", ""),
		p.make("label", "", reason, "for", "why", "class", "away"),
		p.make("input", "why", "", "placeholder", reason, "autocomplete", "off"),
		p.part("never"), next,
		p.make("button", "ask-all", "Show more", "type", "button", "aria-pressed", "false", "hidden", ""),
		p.make("button", "ask-stop", "Stop", "type", "button", "class", "stop"))
	p.part("ask-stop").Set("hidden", p.options.OnStop == nil)
	replies := p.make("div", "replies", "")
	replies.Call("append", p.make("p", "ask-off", "", "role", "status", "class", "small"), p.make("p", "ask-keys", "", "class", "away"), bar, more)
	all := p.make("div", "sheet", "", "tabindex", "-1", "role", "region", "aria-labelledby", "ask-title", "aria-describedby", "ask-sum ask-keys")
	all.Call("append",
		p.make("p", "ask-whose", "", "class", "small", "hidden", ""),
		p.make("h2", "ask-title", ""),
		p.make("p", "ask-sum", "", "class", "small"),
		p.make("ul", "ask-list", "", "tabindex", "0", "aria-label", "Effects"),
		p.make("pre", "ask-diff", "", "tabindex", "0", "role", "region", "aria-label", "Changes", "hidden", ""),
		replies)
	p.root.Call("replaceChildren", all)
}
