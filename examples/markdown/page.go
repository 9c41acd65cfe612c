//go:build js && wasm

package main

import (
	"context"
	_ "embed" // for the chart
	"errors"
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/markdown"
)

// stopped adds a row to the list of blocked parts.
func stopped(what, detail string) {
	dom.Hide("calm", true)
	row, head, rest := dom.Create("li", ""), dom.Create("b", what), dom.Create("span", detail)
	row.Call("append", head, rest)
	dom.Element("stopped").Call("prepend", row)
}

func clearStopped() {
	dom.Empty("stopped")
	dom.Hide("calm", false)
}

// confirm shows the real address of a link, and opens it only if the user agrees.
func confirm(ctx context.Context, link iframe.Link) {
	if link.Path != "" {
		dom.Status("The link leads to the file " + link.Path + ". This page has no folder to open it from.")
		return
	}
	dom.SetText("leave-text", link.Text)
	dom.SetText("leave-host", link.Host())
	dom.SetText("leave-url", link.URL)
	dialog := dom.Element("leave")
	if dialog.Get("open").Bool() {
		return
	}
	closed := dom.Closed(dialog)
	dialog.Call("showModal")
	<-closed
	switch dialog.Get("returnValue").String() {
	case "open":
		if err := link.Open(ctx); err != nil {
			dom.Status(err.Error())
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
	stopped("Image", "not loaded: "+dom.Cut(r.URL, 160))
	return nil, errors.New("this page loads no images")
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
