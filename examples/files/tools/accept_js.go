package tools

import (
	"context"
	"errors"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/consent/inview"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// accepts shows a skill to the user, and reports whether the user accepts it. For that, its text must have
// been in view, as for the box's question about a skill. The description is shown too, because the
// assistant receives it in every conversation.
func accepts(s sandbox.Skill) (bool, error) {
	description, err := visible(s.Description)
	if err != nil {
		return false, err
	}
	content, err := visible(s.Content)
	if err != nil {
		return false, err
	}
	always, then := "The assistant always receives", "It receives when it uses them"
	if s.UserOnly {
		always, then = "Description", "Text"
	}
	lines, need, long := consent.Read(consent.Passage{Heading: always, Text: description}, consent.Passage{Heading: then, Text: content})
	text := dom.Pre("", "diff", "Text of "+s.Name)
	read := inview.NewReader(text)
	read.Show(lines, need)
	left := dom.Create("p", "")
	left.Set("className", "small")
	left.Call("setAttribute", "role", "status")
	var of dom.Listeners
	defer of.Release()
	bar := dom.Create("div", "")
	bar.Set("className", "bar unread")
	bar.Call("append", left)
	next := of.Button(bar, "Next", "small", func() {
		text.Call("scrollIntoView", map[string]any{"block": "nearest"}) // in a low window the dialogue scrolls too
		read.Next()
	})
	next.Set("hidden", true)
	about := "They came with the folder, and not from you. If you accept them, the assistant may follow them in every conversation of yours, as long as this very text stays."
	unseen := "Not all of the text has been in view yet. Scroll on, or press Next."
	if long != "" {
		about += " They are long, so only their beginning and their end have to be in view."
		unseen = "The end of the text has not been in view yet. Scroll on, or press Next."
	}
	answer, _ := dialog.Ask(dialog.Question{Title: "Instructions from " + s.Source, Text: about, Body: []js.Value{text, bar}, Answers: []string{"Leave", "Accept"}, Ready: func() bool {
		ready := read.Look()
		why := ""
		if !ready {
			why = unseen
		}
		if left.Get("textContent").String() != why { // set only on a change, because screen readers read it aloud
			left.Set("textContent", why)
			next.Set("hidden", ready)
		}
		return ready
	}})
	return answer == "Accept", nil
}

// visible returns a text as a box's question shows it: characters that can't be seen, and those that
// change the direction of text, are escapes. So it asks a box about a skill with that text.
func visible(text string) (string, error) {
	const name = "text"
	shown := ""
	box, err := sandbox.New(sandbox.Options{
		FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: policy.AskBeforeChanges(), Skills: []sandbox.Skill{{Name: name, Content: text, Source: name}},
		Ask: sandbox.AskFunc(func(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
			shown = p.Requests[0].Diff
			return nil, nil // which declines it
		}),
	})
	if err != nil {
		return "", err
	}
	box.Call(context.Background(), "skill", map[string]any{"name": name})
	if shown == "" && text != "" {
		return "", errors.New("the text can't be shown")
	}
	return shown, nil
}
