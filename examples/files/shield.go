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

// shield shows the servers that this page can reach, the blocked attempts, and the layers of protection.
func (a *app) shield() {
	reach := element("reach")
	reach.Call("append", create("li", "This page's own server: "+js.Global().Get("location").Get("origin").String()))
	if a.kept.Origin != "" {
		reach.Call("append", create("li", "The provider you chose: "+a.kept.Origin))
	}
	reach.Call("append", create("li", "No other server: a policy in the page itself holds requests and sockets to this list. The model's code and what it shows reach nothing at all. What holds the rest is below."))
	trying := false // the page's own checks are not shown
	on(document(), "securitypolicyviolation", func(e js.Value) {
		if trying {
			return
		}
		a.stopped(fmt.Sprintf("%s: %s", e.Get("effectiveDirective").String(), e.Get("blockedURI").String()))
	})
	// The check makes requests that must be blocked, and the browser's console shows them. So it runs only
	// when the user opens the tab.
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

// stopped lists a blocked attempt, the last one first, and shows their number on the tab.
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

// ways are the names by which a page's code reaches a network or the page. A model's code has none of them.
var ways = []string{"fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "RTCPeerConnection", "Beacon", "importScripts", "Image", "Worker", "caches", "indexedDB", "document"}

// wayOut lists a run of code that failed because one of these names is missing. Code that handles the
// failure is not listed.
func (a *app) wayOut(tool string, output any) {
	m, _ := output.(map[string]any)
	why, _ := m["error"].(string)
	if m["success"] == false && slices.ContainsFunc(ways, func(w string) bool {
		return strings.Contains(why, w+" is not ") || strings.Contains(why, "variable: "+w) // the error text of WebKit
	}) {
		a.stopped(tool + ": " + why + ". The model's code reaches no network and no page.")
	}
}

// stops lists the violations that the box recorded since the last call. A rejection by the user is not one.
// It is shown on the call's card.
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
