//go:build js && wasm

package main

import (
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/protocol"
)

func element(id string) js.Value {
	return js.Global().Get("document").Call("getElementById", id)
}

func create(tag, text string) js.Value {
	el := js.Global().Get("document").Call("createElement", tag)
	el.Set("textContent", text)
	return el
}

// on calls fn for each event, as long as the page lives.
func on(target js.Value, event string, fn func(event js.Value)) {
	target.Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any {
		fn(args[0])
		return nil
	}))
}

func status(text string)          { element("status").Set("textContent", text) }
func enable(id string, on bool)   { element(id).Set("disabled", !on) }
func hide(id string, hidden bool) { element(id).Set("hidden", hidden) }

func checkbox(id, text string) {
	label, box := create("label", ""), create("input", "")
	box.Set("type", "checkbox")
	box.Set("id", id)
	box.Set("checked", true)
	label.Call("append", box, create("code", id), create("span", text))
	element("tools").Call("append", label)
}

func clearRun() {
	for _, id := range []string{"console", "timeline"} {
		element(id).Call("replaceChildren")
	}
	for _, id := range []string{"outcome", "quiet", "untimed"} {
		hide(id, id == "outcome")
	}
}

// line adds a row to the console.
func line(level, text string) {
	hide("quiet", true)
	row := create("li", text)
	row.Set("className", level)
	element("console").Call("append", row)
}

// outcome shows the value, or the error that ended the code.
func outcome(res *protocol.RunResult, layer string) {
	box := element("outcome")
	hide("outcome", false)
	box.Call("replaceChildren")
	box.Set("className", "ok")
	head, text := "Returned", protocol.PrintValue(res.Value, shown)
	if res.Error != nil {
		head, text = "Ended: "+string(res.Error.Code), protocol.PrintValue(res.Error.Name+": "+res.Error.Message, shown)
		box.Set("className", "bad")
	}
	box.Call("append", create("b", head), create("span", text))
	if layer != "" {
		box.Call("append", create("small", layer))
	}
}

// timeline draws each tool call as a bar at its place in the time of the run.
func timeline(traces []protocol.TraceEvent) {
	if len(traces) < 2 {
		return
	}
	total := traces[len(traces)-1].DurationMS
	began := traces[0].Time
	for _, e := range traces[1:] {
		name := e.Tool
		at := float64(e.Time.Sub(began)) / 1e6
		if e.Type == protocol.TraceEnd {
			name, at = "whole run", 0
		}
		row, bar := create("li", ""), create("i", "")
		style := bar.Get("style")
		style.Call("setProperty", "margin-inline-start", percent(at/total))
		style.Call("setProperty", "width", percent(max(e.DurationMS/total, .01)))
		row.Set("className", e.Status)
		track := create("div", "")
		track.Call("append", bar)
		row.Call("append", create("b", name), create("span", fmt.Sprintf("%.1f ms, %s", e.DurationMS, e.Status)), track)
		element("timeline").Call("append", row)
	}
	hide("untimed", true)
}

func percent(part float64) string { return fmt.Sprintf("%.1f%%", min(max(part, 0), 1)*100) }

// shown is the number of bytes of a value or of a row that the page shows at most.
const shown = 4000
