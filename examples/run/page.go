//go:build js && wasm

package main

import (
	"fmt"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
)

func checkbox(id, text string) {
	label, box := dom.Create("label", ""), dom.Create("input", "")
	box.Set("type", "checkbox")
	box.Set("id", id)
	box.Set("checked", true)
	label.Call("append", box, dom.Create("code", id), dom.Create("span", text))
	dom.Element("tools").Call("append", label)
}

func clearRun() {
	dom.Empty("console", "timeline")
	for _, id := range []string{"outcome", "quiet", "untimed"} {
		dom.Hide(id, id == "outcome")
	}
}

// line adds a row to the console.
func line(level, text string) {
	dom.Hide("quiet", true)
	row := dom.Create("li", text)
	row.Set("className", level)
	dom.Element("console").Call("append", row)
}

// outcome shows the value, or the error that ended the code.
func outcome(res *protocol.RunResult, layer string) {
	box := dom.Element("outcome")
	dom.Hide("outcome", false)
	box.Call("replaceChildren")
	box.Set("className", "ok")
	head, text := "Returned", protocol.PrintValue(res.Value, shown)
	if res.Error != nil {
		head, text = "Ended: "+string(res.Error.Code), protocol.PrintValue(res.Error.Name+": "+res.Error.Message, shown)
		box.Set("className", "bad")
	}
	box.Call("append", dom.Create("b", head), dom.Create("span", text))
	if layer != "" {
		box.Call("append", dom.Create("small", layer))
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
		row, bar := dom.Create("li", ""), dom.Create("i", "")
		style := bar.Get("style")
		style.Call("setProperty", "margin-inline-start", percent(at/total))
		style.Call("setProperty", "width", percent(max(e.DurationMS/total, .01)))
		row.Set("className", e.Status)
		track := dom.Create("div", "")
		track.Call("append", bar)
		row.Call("append", dom.Create("b", name), dom.Create("span", fmt.Sprintf("%.1f ms, %s", e.DurationMS, e.Status)), track)
		dom.Element("timeline").Call("append", row)
	}
	dom.Hide("untimed", true)
}

func percent(part float64) string { return fmt.Sprintf("%.1f%%", min(max(part, 0), 1)*100) }

// shown is the number of bytes of a value or of a row that the page shows at most.
const shown = 4000
