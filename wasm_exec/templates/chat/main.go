//go:build js && wasm

// Chat is a page that streams a model's answers as Markdown, behind two frames. The model is one with an
// API like OpenAI's, on this machine or elsewhere. Without an address an echo answers.
package main

import (
	"context"
	"fmt"
	"log"
	"syscall/js"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// The model. headers.json lists its host under "connect", or the page can't reach it.
const (
	address = "" // such as "http://localhost:11434/v1"
	model   = "" // such as "qwen3"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err) // the console and the page show it
	}
}

func run(ctx context.Context) error {
	parent, err := iframe.ElementByID("app")
	if err != nil {
		return err
	}
	view, err := iframe.NewDocument(ctx, parent, iframe.DocumentOptions{Follow: true})
	if err != nil {
		return err
	}
	box, err := sandbox.New(sandbox.Options{Policy: talkOnly(), Tools: []sandbox.Tool{}})
	if err != nil {
		return err
	}
	session, err := box.NewSession(ctx, sandbox.SessionOptions{})
	if err != nil {
		return err
	}
	n := 0
	section := func(kind, label string) *iframe.Section {
		n++
		s := view.Section(fmt.Sprint(n))
		_ = s.SetKind(kind)
		_ = s.SetLabel(label)
		return s
	}
	for text := range messages() {
		said := section("user", "You")
		fmt.Fprint(said, text)
		said.Close()
		if _, err := session.Say(ctx, text); err != nil {
			return err
		}
		answer := section("assistant", "The model")
		for chunk, err := range box.Run(ctx, session, chosen(), sandbox.RunOptions{}) {
			switch {
			case err != nil:
				fmt.Fprintf(answer, "\n\n**That did not work:** %v", err)
			case chunk.Type == sandbox.ChunkText:
				fmt.Fprint(answer, chunk.Delta)
			}
		}
		answer.Close()
	}
	return nil
}

// messages returns the texts that the user sends. The form is in web/index.html.
func messages() <-chan string {
	out := make(chan string, 100)
	page := js.Global().Get("document")
	input := page.Call("getElementById", "text")
	page.Call("getElementById", "form").Call("addEventListener", "submit", js.FuncOf(func(_ js.Value, args []js.Value) any {
		args[0].Call("preventDefault")
		text := input.Get("value").String()
		input.Set("value", "")
		select {
		case out <- text: // a callback of the browser must not wait
		default:
		}
		return nil
	}))
	page.Call("getElementById", "send").Set("disabled", false) // before this the browser would send the form
	return out
}

func chosen() sandbox.Model {
	if address == "" {
		return echo{}
	}
	return provider.OpenAIChat(provider.Options{URL: address, Model: model})
}
