//go:build js && wasm

package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// shield shows where this page can reach, what was stopped, and what holds it.
func (a *app) shield() {
	reach := element("reach")
	reach.Call("append", create("li", "This page's own server: "+js.Global().Get("location").Get("origin").String()))
	if a.kept.Origin != "" {
		reach.Call("append", create("li", "The provider you chose: "+a.kept.Origin))
	}
	reach.Call("append", create("li", "No other server: a policy in the page itself holds requests and sockets to this list. The model's code and what it shows reach nothing at all. What holds the rest is below."))
	trying := false // what we try ourselves is no news
	on(document(), "securitypolicyviolation", func(e js.Value) {
		if trying {
			return
		}
		a.stopped(fmt.Sprintf("%s: %s", e.Get("effectiveDirective").String(), e.Get("blockedURI").String()))
	})
	// Looking tries what should be stopped, which the browser's console tells: not before it is asked for.
	on(element("tab-shield"), "click", func(js.Value) {
		if element("holds").Get("childElementCount").Int() > 0 {
			return
		}
		trying = true
		list, err := headers.Check(a.ctx)
		time.AfterFunc(time.Second, func() { trying = false })
		if failed(err) {
			return
		}
		for _, f := range list {
			text := "holds"
			if !f.Holds {
				text = "does not hold: " + f.Cost
			}
			item := create("li", "")
			item.Call("append", create("b", f.Name), " "+text+" ("+string(f.How)+")")
			element("holds").Call("append", item)
		}
	})
}

// stopped notes what was stopped, the last first, and tells how much it was on the tab.
func (a *app) stopped(text string) {
	hide("calm", true)
	list := element("stopped")
	row := create("li", text)
	row.Call("append", " ", create("small", time.Now().Format("15:04:05")))
	list.Call("prepend", row)
	if list.Get("childElementCount").Int() > 100 {
		list.Get("lastElementChild").Call("remove")
	}
	a.blocked++
	tab := element("tab-shield")
	tab.Get("dataset").Set("n", a.blocked)
	tab.Call("replaceChildren", "Shield", away(fmt.Sprintf(", stopped: %d", a.blocked)))
}

// ways are what code reaches a network by in a page. The code of a model has none of them.
var ways = []string{"fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "RTCPeerConnection", "Beacon", "importScripts", "Image", "Worker", "caches", "indexedDB", "document"}

// wayOut tells of code that ended where it reached for one. Code that goes on without is not told of.
func (a *app) wayOut(tool string, output any) {
	m, _ := output.(map[string]any)
	why, _ := m["error"].(string)
	if m["success"] == false && slices.ContainsFunc(ways, func(w string) bool {
		return strings.Contains(why, w+" is not ") || strings.Contains(why, "variable: "+w) // as WebKit says it
	}) {
		a.stopped(tool + ": " + why + ". The model's code reaches no network and no page.")
	}
}

// stops shows what the box stopped since it was last asked. A person's own No is none of it: it
// stands on the call's card.
func (a *app) stops(box *sandbox.Box) {
	list, _ := box.Violations()
	for _, v := range list {
		if v.Reason == protocol.ReasonRejected {
			continue
		}
		a.stopped(fmt.Sprintf("%s: %s %s", v.Layer, v.Tool, v.Detail))
	}
	box.ClearViolations()
}
