//go:build js && wasm

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// talk is an open conversation. Its text is one document behind two frames, and its calls are cards
// beside it. Several can be at work, and one is in view.
type talk struct {
	app     *app
	session *sandbox.Session
	box     js.Value // the element around the document
	view    *iframe.Document
	n       int // number of sections
	text    *iframe.Section
	last    strings.Builder // the text of the section that streams, for the live region
	cards   map[string]*card
	items   []js.Value              // the cards in order
	cancel  context.CancelCauseFunc // ends the run, nil without one
	leave   context.CancelFunc      // drops a plan during its question
	asked   string                  // id of the last message that a model received
	news    bool                    // a text came while another conversation was in view
	look    int                     // app.looks when it was in view last
}

// newTalk returns a talk that shows the messages of a session. It is not yet in view.
func (a *app) newTalk(s *sandbox.Session) (*talk, error) {
	t := &talk{app: a, session: s, box: create("div", ""), cards: map[string]*card{}}
	t.box.Set("id", "talk-"+s.ID())
	t.box.Set("className", "paper")
	element("talk").Call("append", t.box)
	parent, err := iframe.ElementByID("talk-" + s.ID())
	if err != nil {
		return nil, err
	}
	t.view, err = iframe.NewDocument(a.ctx, parent, iframe.DocumentOptions{
		Label: "Conversation", MaxHeight: 200_000, OnLink: a.link,
		CSS:         `section[aria-label^="You,"] blockquote { margin-inline: 0; padding: .5em .9em; border: 0; border-radius: 10px; color: inherit; background: light-dark(#eef6f1, #18261f); } section[aria-label^="You,"] blockquote > * { margin: 0; }`,
		Theme:       iframe.Theme{Variables: map[string]string{"--bailey-background": "light-dark(#ffffff, #1a1e23)"}},
		OnViolation: func(v iframe.Violation) { a.stopped(fmt.Sprintf("an answer: %s: %s", v.Directive, v.Blocked)) },
	})
	if err != nil {
		t.box.Call("remove")
		return nil, err
	}
	t.messages()
	return t, nil
}

// messages shows all messages of the session again.
func (t *talk) messages() {
	for _, s := range t.view.Sections() {
		_ = s.Remove()
	}
	t.cards, t.items = map[string]*card{}, nil
	for _, m := range t.session.Messages() {
		t.message(m)
	}
}

// close closes the session, and removes the document.
func (t *talk) close() {
	t.session.Close()
	_ = t.view.Close()
	t.box.Call("remove")
}

// message shows a stored message.
func (t *talk) message(m sandbox.Message) {
	for _, p := range m.Parts {
		d, _ := p.Data.(map[string]any)
		text, _ := d["text"].(string)
		switch {
		case p.Type == "text" && m.Role == protocol.RoleUser:
			t.said(text)
		case p.Type == "text":
			s := t.section("Assistant")
			s.write(text)
			_ = s.Close()
			t.text = nil
		case p.ToolCallID != "":
			name, _ := d["tool"].(string)
			c := t.card(p.ToolCallID, name)
			c.input(d["input"])
			why, _ := d["error"].(string)
			c.past = true
			c.stored(p)
			c.end(p.ToolState != protocol.ToolOutputAvailable, d["reason"] == string(protocol.ReasonRejected), why, d["output"])
		}
	}
}

// said shows a message of the user's as plain text.
func (t *talk) said(text string) {
	s := t.section("You")
	defer s.Close()
	if t.app.cur == t { // the user wants to see the answer
		scroll := element("talk")
		scroll.Set("scrollTop", scroll.Get("scrollHeight"))
	}
	for line := range strings.Lines(text) {
		s.write("> " + escape(strings.TrimRight(line, "\r\n")) + "  \n")
	}
	t.text = nil
}

// escape returns s with each character of Markdown escaped.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]()<>#+-.!|~&:$^=", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

type out struct{ *iframe.Section }

func (o out) write(text string) { _, _ = o.WriteString(text) }

// section begins a section of the document, labelled by its author.
func (t *talk) section(who string) out {
	t.n++
	s := t.view.Section(fmt.Sprintf("s%d", t.n))
	_ = s.SetLabel(fmt.Sprintf("%s, %d", who, t.n))
	t.text = s
	t.last.Reset()
	return out{s}
}

// chunk shows a part of the model's stream.
func (t *talk) chunk(c sandbox.Chunk) {
	switch c.Type {
	case "text-start":
		t.section("Assistant")
	case "text-delta":
		if t.text == nil {
			t.section("Assistant")
		}
		out{t.text}.write(c.Delta)
		if t.last.Len() < 2000 {
			t.last.WriteString(c.Delta)
		}
	case "text-end":
		if t.text != nil {
			_ = t.text.Close()
			t.heard()
		}
		t.text = nil
	case "tool-input-start":
		t.card(c.ToolCallID, c.ToolName)
	case "tool-input-available":
		t.card(c.ToolCallID, c.ToolName).input(c.Input)
	case "tool-input-error":
		t.end(c, false, c.ErrorText)
	case "tool-approval-request":
		t.card(c.ToolCallID, "").state("waits for you")
	case "tool-output-available":
		t.end(c, false, "")
	case "tool-output-error":
		t.end(c, false, c.ErrorText)
	case "tool-output-denied":
		t.end(c, true, "You said no.")
	case "data-retry":
		t.retry(c.Data)
	case "data-stopped":
		t.halted(c.Data)
	}
}

// end shows that a call has ended, and its outcome.
func (t *talk) end(c sandbox.Chunk, denied bool, why string) {
	card := t.card(c.ToolCallID, c.ToolName)
	if p, ok := t.session.Part(c.ToolCallID); ok {
		card.stored(p)
	}
	card.end(c.Type != "tool-output-available", denied, why, c.Output)
	t.app.wayOut(card.name, c.Output)
}

// heard puts the answer into the page's live region, because not every browser reads a frame's live
// region aloud. A conversation that is not in view gets a mark instead.
func (t *talk) heard() {
	if t.app.cur != t {
		t.news = true
		t.app.strip()
		return
	}
	line := create("p", "Assistant: "+t.last.String())
	log := element("heard")
	log.Call("append", line)
	if log.Get("childElementCount").Int() > 5 {
		log.Get("firstElementChild").Call("remove")
	}
}

// halted lists the finished steps of a run that was stopped.
func (t *talk) halted(data any) {
	d, _ := data.(map[string]any)
	s := t.section("Assistant")
	s.write("**Stopped.** ")
	list := texts(d["done"])
	if len(list) == 0 {
		s.write("Nothing had been done in this answer.")
	} else {
		s.write("Done until then:\n\n")
	}
	for _, text := range list {
		name, input, _ := strings.Cut(text, " ")
		var args map[string]any
		if json.Unmarshal([]byte(input), &args) == nil {
			text = name + " " + about(args)
		}
		s.write("- " + escape(cut(strings.Join(strings.Fields(text), " "), 160)) + "\n")
	}
	_ = s.Close()
	t.text = nil
	status(fmt.Sprintf("Stopped. Calls done until then: %d", len(list)))
}

func texts(v any) (out []string) {
	switch list := v.(type) {
	case []string:
		return list
	case []any:
		for _, e := range list {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// cut returns s shortened to n characters, with an ellipsis.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
