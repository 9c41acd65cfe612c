//go:build js && wasm

// Markdown streams the answers of a model, one of them hostile, into a document behind two frames,
// and lists the blocked parts.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/examples/markdown/answers"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/guests"
	"github.com/bailey-go/bailey/iframe/markdown"
)

func main() {
	err := run(context.Background()) // run returns only if it fails
	fmt.Fprintln(os.Stderr, err)
	dom.SetText("hint", "This page could not start: "+err.Error())
	dom.Element("hint").Set("hidden", false)
	os.Exit(1)
}

// app is the page's state. Callbacks of the browser start goroutines for their work, so they never
// block.
type app struct {
	ctx      context.Context
	doc      *iframe.Document
	stop     context.CancelFunc // ends the current stream
	answers  int                // number of sections made so far
	renderer *markdown.Renderer
}

func run(ctx context.Context) error {
	// After an exit the program is started again in the same page.
	dom.Empty("conversation", "answers", "stopped")
	renderer, err := markdown.New(markdown.Options{}.Draw(guests.Draw(ctx, "guests/")))
	if err != nil {
		return err
	}
	a := &app{ctx: ctx, renderer: renderer}
	parent, err := iframe.ElementByID("conversation")
	if err != nil {
		return err
	}
	a.doc, err = iframe.NewDocument(ctx, parent, iframe.DocumentOptions{
		Renderer: renderer,
		Theme:    theme(""),
		OnLink:   confirm,
		OnImage:  a.image,
		OnViolation: func(v iframe.CSPViolation) {
			stopped("Policy", v.Directive+" refused "+v.Blocked)
		},
		OnState: func(s iframe.State) {
			if s == iframe.StateLost {
				dom.Status("The document was lost and is being rebuilt.")
			}
		},
	})
	if err != nil {
		return err
	}
	a.list()
	dom.On(dom.Element("own"), "submit", func(js.Value) {
		if text := dom.Value("paste"); strings.TrimSpace(text) != "" {
			a.stream("Your Markdown", text)
		}
	})
	dom.Enable("ready", true)
	dom.OnClick("stop", func() { a.halt() })
	dom.OnClick("clear", func() { a.clear() })
	dom.On(dom.Element("theme"), "change", func(js.Value) { a.theme(dom.Value("theme")) })
	select {}
}

// list adds a button for each answer.
func (a *app) list() {
	for answer := range answers.All() {
		item, button, size := dom.Create("li", ""), dom.Button(answer.Title, ""), dom.Create("small", fmt.Sprintf("%.1f KB", float64(len(answer.Text))/1000))
		button.Call("append", size)
		button.Set("id", answer.Name)
		if answer.Name == "hostile" {
			item.Set("className", "hostile")
		}
		dom.On(button, "click", func(js.Value) {
			for _, b := range dom.Each(dom.Element("answers").Call("querySelectorAll", "button")) {
				b.Call("removeAttribute", "aria-current")
			}
			button.Call("setAttribute", "aria-current", "true")
			a.stream(answer.Title, answer.Text)
		})
		item.Call("append", button)
		dom.Element("answers").Call("append", item)
	}
}

func (a *app) theme(scheme string) {
	dom.Document().Get("documentElement").Get("dataset").Set("theme", scheme)
	if err := a.doc.SetTheme(theme(scheme)); err != nil {
		dom.Status(err.Error())
	}
}

// theme returns a theme with the page's own panel colour as the background.
func theme(scheme string) iframe.Theme {
	return iframe.Theme{Scheme: scheme, Variables: map[string]string{"--bailey-background": "light-dark(#ffffff, #1a1e23)"}}
}
