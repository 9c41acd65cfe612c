//go:build js && wasm

package main

import (
	"encoding/json"
	"strings"
	"syscall/js"
	"time"
)

// card shows a call: what is to be done, how far it is, what came of it, and what of
// that the model got to see.
type card struct {
	name  string
	item  js.Value
	head  js.Value
	note  js.Value
	body  js.Value
	model string
	began time.Time
}

// card is the card of a call, made when it is first heard of.
func (a *app) card(id, name string) *card {
	if c := a.talk.cards[id]; c != nil {
		return c
	}
	c := &card{name: name, item: create("li", ""), head: create("b", name), note: create("span", ""), body: create("div", ""), began: time.Now()}
	fold, summary := create("details", ""), create("summary", "")
	summary.Call("append", c.head, " ", c.note)
	fold.Call("append", summary, c.body)
	c.item.Call("append", fold)
	c.item.Set("className", "running")
	a.talk.cards[id] = c
	hide("quiet", true)
	element("cards").Call("append", c.item)
	c.item.Call("scrollIntoView", map[string]any{"block": "nearest"})
	return c
}

func (c *card) state(text string) { c.note.Set("textContent", text) }

// input shows the arguments, and says in the head what they are about.
func (c *card) input(v any) {
	c.part("What was asked for", v)
	m, _ := v.(map[string]any)
	for _, key := range []string{"pattern", "path", "from", "command", "code", "url"} {
		if s, ok := m[key].(string); ok && s != "" {
			s, _, _ = strings.Cut(s, "\n")
			if len(s) > 60 {
				s = s[:57] + "…"
			}
			c.head.Set("textContent", c.name+" "+s)
			return
		}
	}
}

// end shows what came of it.
func (c *card) end(bad, denied bool, why string, output any) {
	class, note := "done", time.Since(c.began).Round(time.Millisecond).String()
	switch {
	case denied:
		class, note = "denied", "not allowed"
	case bad:
		class, note = "failed", "failed"
	case c.model != "":
		note = "" // of an earlier visit
	}
	// Code that failed is a call that went well: its result says so.
	if m, ok := output.(map[string]any); ok && m["success"] == false {
		class, note = "failed", "the code failed"
	}
	c.item.Set("className", class)
	c.state(note)
	if why != "" {
		c.part("Why", why)
	}
	if output != nil {
		c.part("What came of it", output)
	}
	if c.model != "" {
		c.part("What the model saw", c.model)
	}
}

func (c *card) part(title string, v any) {
	text, ok := v.(string)
	if m, is := v.(map[string]any); is {
		if diff, has := m["diff"].(string); has && diff != "" {
			box := create("pre", "")
			box.Set("className", "diff")
			box.Set("tabIndex", 0)
			showDiff(box, diff)
			c.body.Call("append", create("h3", title), box)
			return
		}
	}
	if !ok {
		b, _ := json.MarshalIndent(v, "", "  ")
		text = string(b)
	}
	if len(text) > 20_000 {
		text = strings.ToValidUTF8(text[:20_000], "") + "\n… cut here"
	}
	box := create("pre", text)
	box.Set("tabIndex", 0)
	box.Call("setAttribute", "aria-label", title)
	c.body.Call("append", create("h3", title), box)
}
