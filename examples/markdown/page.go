//go:build js && wasm

package main

import (
	"context"
	_ "embed" // for the chart
	"errors"
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/markdown"
)

func element(id string) js.Value {
	return js.Global().Get("document").Call("getElementById", id)
}

func create(tag string) js.Value {
	return js.Global().Get("document").Call("createElement", tag)
}

// on calls fn for each event, as long as the page lives.
func on(target js.Value, event string, fn func(event js.Value)) {
	target.Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any {
		fn(args[0])
		return nil
	}))
}

func status(text string)          { element("status").Set("textContent", text) }
func hide(id string, hidden bool) { element(id).Set("hidden", hidden) }
func enable(id string, on bool)   { element(id).Set("disabled", !on) }

// stopped adds a row to the list of blocked parts.
func stopped(what, detail string) {
	hide("calm", true)
	row, head, rest := create("li"), create("b"), create("span")
	head.Set("textContent", what)
	rest.Set("textContent", detail)
	row.Call("append", head, rest)
	element("stopped").Call("prepend", row)
}

func clearStopped() {
	element("stopped").Call("replaceChildren")
	hide("calm", false)
}

// confirm shows the real address of a link, and opens it only if the user agrees.
func confirm(ctx context.Context, link iframe.Link) {
	element("leave-text").Set("textContent", link.Text)
	element("leave-host").Set("textContent", link.Host())
	element("leave-url").Set("textContent", link.URL)
	dialog := element("leave")
	if dialog.Get("open").Bool() {
		return
	}
	closed := make(chan string, 1)
	done := js.FuncOf(func(js.Value, []js.Value) any {
		closed <- dialog.Get("returnValue").String()
		return nil
	})
	defer done.Release()
	dialog.Set("returnValue", "")
	dialog.Call("addEventListener", "close", done, map[string]any{"once": true})
	dialog.Call("showModal")
	switch <-closed {
	case "open":
		if err := link.Open(ctx); err != nil {
			status(err.Error())
		}
	case "copy":
		js.Global().Get("navigator").Get("clipboard").Call("writeText", link.URL)
	default:
		stopped("Link", "not opened: "+link.URL)
	}
}

// image returns the one image of this page, and an error for every other. An image that must be
// fetched could send data of the page in its address.
func (a *app) image(_ context.Context, r iframe.ImageRequest) ([]byte, error) {
	if r.URL == "bailey-image:chart" || r.URL == "chart" {
		return chart, nil
	}
	stopped("Image", "not loaded: "+clip(r.URL, 160))
	return nil, errors.New("this page loads no images")
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// chart is the one image of this page.
//
//go:embed chart.png
var chart []byte

// report lists the parts that the sanitiser removed from an answer.
func report(title string, r markdown.Report) {
	for _, f := range r.Findings {
		name := f.Name
		switch f.Kind {
		case markdown.Element, markdown.Unclosed:
			name = "<" + name + ">"
		case markdown.Scheme:
			name += ":"
		}
		times := ""
		if f.Count > 1 {
			times = fmt.Sprintf(", %d times", f.Count)
		}
		stopped(words[f.Kind]+" "+name+times, title)
	}
}

// words are the texts for the user about the kinds of removed parts.
var words = map[markdown.Kind]string{
	markdown.Element:   "Element",
	markdown.Attribute: "Attribute",
	markdown.Scheme:    "Link to",
	markdown.Image:     "Image:",
	markdown.Limit:     "Over the limit of",
	markdown.Unclosed:  "Unpaired",
	markdown.Deception: "Deception:",
	markdown.Broken:    "Shown as text:",
}
