package shield

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Shield is the panel. Its zero value shows nothing yet.
type Shield struct {
	blocked int // number of blocked attempts
}

// Listen shows the servers that this page can reach, the blocked attempts, and the layers
// of protection. The parameters are the origin of the chosen provider, or "", and the origins of the other
// servers that the user chose.
func (s *Shield) Listen(ctx context.Context, provider string, others []string) {
	reach := dom.Element("reach")
	reach.Call("append", dom.Create("li", "This page's own server: "+js.Global().Get("location").Get("origin").String()))
	if provider != "" {
		reach.Call("append", dom.Create("li", "The AI model you chose: "+provider))
	}
	for _, o := range others {
		reach.Call("append", dom.Create("li", "For the web, an MCP server or a box, which you added: "+o))
	}
	reach.Call("append", dom.Create("li", "Nowhere else: the page limits itself to this list. The assistant's code, and what it shows, reach nothing at all. The walls are listed below."))
	own := map[string]bool{} // what the page's own check tries, which is not shown: each once, whenever the browser tells it
	trying := false          // the check goes on, in a browser that uses other words
	dom.On(dom.Document(), "securitypolicyviolation", func(e js.Value) {
		if uri := e.Get("blockedURI").String(); own[uri] || trying {
			delete(own, uri)
			return
		}
		s.Stopped(fmt.Sprintf("%s: %s", e.Get("effectiveDirective").String(), e.Get("blockedURI").String()))
	})
	// The check makes requests that must be blocked, and the browser's console shows them. So it runs only
	// when the user opens the tab.
	checked := false
	dom.On(dom.Element("tab-shield"), "click", func(js.Value) {
		if checked {
			return
		}
		checked = true
		own, trying = map[string]bool{"eval": true, "inline": true, "trusted-types-sink": true}, true
		list, err := headers.Check(ctx)
		time.AfterFunc(time.Second, func() { trying = false })
		if dom.Failed(err) {
			checked = false
			return
		}
		for _, f := range list {
			text := "holds"
			if !f.Holds {
				text = "does not hold: " + f.Cost
			}
			item := dom.Create("li", "")
			item.Call("append", dom.Create("b", f.Name), " "+text+" ("+f.How+")")
			dom.Element("holds").Call("append", item)
		}
	})
}

// Elsewhere shows the protections of the box where the conversation in view works, as it says itself. Without a box it
// works in this page.
func (s *Shield) Elsewhere(where string, walls, lacks []string) {
	text := "In this page. What holds it in is listed below."
	if where != "" {
		text = where + ", on a copy of the folder. It says of itself:"
	}
	dom.SetText("place-about", text)
	list := dom.Element("place-walls")
	list.Call("replaceChildren")
	for i, rows := range [][]string{walls, lacks} {
		for _, row := range rows {
			list.Call("append", dom.Create("li", []string{"", "Missing: "}[i]+dom.Cut(row, 400)))
		}
	}
}

// Stopped lists a blocked attempt, the last one first, and shows their number on the tab.
func (s *Shield) Stopped(text string) {
	dom.Hide("calm", true)
	list := dom.Element("stopped")
	row := dom.Create("li", text)
	row.Call("append", " ", dom.Create("small", time.Now().Format("15:04:05")))
	list.Call("prepend", row)
	if list.Get("childElementCount").Int() > 100 {
		list.Get("lastElementChild").Call("remove")
	}
	s.blocked++
	tab := dom.Element("tab-shield")
	tab.Get("dataset").Set("n", s.blocked)
	tab.Call("replaceChildren", "Security", dom.Away(fmt.Sprintf(", stopped: %d", s.blocked)))
}

// ways are the names by which a page's code reaches a network or the page. A model's code has none of them.
var ways = []string{"fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "RTCPeerConnection", "Beacon", "importScripts", "Image", "Worker", "caches", "indexedDB", "document"}

// WayOut lists a run of code that failed because one of these names is missing. Code that handles the
// failure is not listed.
func (s *Shield) WayOut(tool string, output any) {
	m, _ := output.(map[string]any)
	why, _ := m["error"].(string)
	if m["success"] == false && slices.ContainsFunc(ways, func(w string) bool {
		return strings.Contains(why, w+" is not ") || strings.Contains(why, "variable: "+w) // the error text of WebKit
	}) {
		s.Stopped(tool + ": " + why + ". The model's code reaches no network and no page.")
	}
}

// Violations lists the violations that the box recorded since the last call. A rejection by the user is not one.
// It is shown on the call's card.
func (s *Shield) Violations(box *sandbox.Box) {
	list, _ := box.Violations()
	for _, v := range list {
		if v.Reason == protocol.ReasonRejected {
			continue
		}
		s.Stopped(fmt.Sprintf("%s: %s %s", v.Layer, v.Tool, v.Detail))
	}
	box.ClearViolations()
}
