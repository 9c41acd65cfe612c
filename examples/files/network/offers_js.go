package network

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
)

// An extension of the browser, or the page around this one, can offer an MCP server:
//
//	const {port1, port2} = new MessageChannel(); // port1 is the server's
//	window.postMessage({type: 'bailey-mcp', name: 'notes'}, location.origin, [port2]);
//
// Each message of the port is a JSON-RPC message as a string, and an empty one announces the end. The page posts
// {type: 'bailey-mcp-ready'} to itself, and to the page around, when it listens. An offer is a line in the settings, and
// nothing else happens before the user presses its button.
type offer struct {
	from   string // for the user
	port   js.Value
	kept   settings.Server // the user's answers. They hold for this visit
	asking bool            // the user looks at it
	of     dom.Listeners   // of the port
}

const (
	offerType = "bailey-mcp"
	readyType = "bailey-mcp-ready"
	here      = "an extension of your browser, or another script of this page"
)

// Limits of offers.
const (
	maxOffers = 5  // that wait for the user
	maxHeard  = 50 // in one visit
	maxNo     = 3  // of the user's, to offers from one place
)

// hear sets up that the page gets offers. Its frames can't make one: their windows are neither this one nor the one
// around, and their origin is opaque.
func (n *Network) hear() {
	self := js.Global()
	dom.On(self, "message", n.offered)
	ready := map[string]any{"type": readyType}
	self.Call("postMessage", ready, self.Get("location").Get("origin"))
	if around := self.Get("parent"); !around.Equal(self) {
		around.Call("postMessage", ready, "*") // it says no more than that
	}
}

// source returns who has posted an offer: its origin, or here. It returns "" for a message that is none, and for one
// from a window or an origin that may make none.
func source(e js.Value) string {
	self, data := js.Global(), e.Get("data")
	if data.Type() != js.TypeObject || data.Get("type").Type() != js.TypeString || data.Get("type").String() != offerType {
		return ""
	}
	from, origin := e.Get("source"), e.Get("origin").String()
	switch {
	case !e.Get("isTrusted").Bool(): // made by a script, with any origin
		return ""
	case from.Equal(self) && origin == self.Get("location").Get("origin").String():
		return here
	case !self.Get("parent").Equal(self) && from.Equal(self.Get("parent")) && (strings.HasPrefix(origin, "https://") || strings.HasPrefix(origin, "http://")):
		return origin
	}
	return ""
}

// offered takes an offer.
func (n *Network) offered(e js.Value) {
	from := source(e)
	if from == "" || e.Get("ports").Length() != 1 {
		return
	}
	port := e.Get("ports").Index(0)
	name := ""
	if v := e.Get("data").Get("name"); v.Type() == js.TypeString && length(v) <= maxName {
		name = v.String()
	}
	n.Lock.Lock()
	defer n.Lock.Unlock()
	n.heard++
	at := slices.IndexFunc(n.servers, func(s *server) bool { return s.name == name })
	_, stored := n.kept(name)
	waiting := 0
	for _, s := range n.servers {
		if s.in != nil && s.client == nil {
			waiting++
		}
	}
	switch {
	case n.heard > maxHeard, checkName(name) != nil, stored >= 0, n.no[from] >= maxNo:
		hangUp(port)
		return
	case at >= 0:
		// The place of a server that the user agreed to, or looks at, is taken. It can be offered again after its end.
		if s := n.servers[at]; s.in == nil || s.client != nil || s.in.asking || s.in.from != from {
			hangUp(port)
			return
		}
		n.disconnect(n.servers[at])
		n.servers = slices.Delete(n.servers, at, at+1)
	case waiting >= maxOffers || len(n.servers) >= maxServers:
		hangUp(port)
		return
	}
	s := &server{name: name, state: "not used yet", in: &offer{from: from, port: port, kept: settings.Server{Name: name}}}
	ended := func() {
		n.Lock.Lock()
		defer n.Lock.Unlock()
		n.ended(s)
	}
	s.in.of.On(port, "close", func(js.Value) { ended() })
	s.in.of.On(port, "message", func(e js.Value) { // not before the port is started
		if v := e.Get("data"); v.Type() == js.TypeString && length(v) == 0 {
			ended()
		}
	})
	n.servers = append(n.servers, s)
	n.show()
	dialog.Toast("A server in this page offers tools: see MCP servers in Settings.")
}

// length returns the length of a string without a copy of it, which may be large.
func length(v js.Value) int { return js.Global().Call("Object", v).Length() }

// hangUp refuses an offer.
func hangUp(port js.Value) {
	port.Call("postMessage", "")
	port.Call("close")
}

// ended notes that the other side has closed the port of an offered server. The lock must be held.
func (n *Network) ended(s *server) {
	if !slices.Contains(n.servers, s) || s.in == nil {
		return
	}
	used := s.client != nil
	n.disconnect(s)
	s.state = "it has ended"
	if !used && !s.in.asking { // nobody has agreed to it
		n.servers = slices.DeleteFunc(n.servers, func(o *server) bool { return o == s })
	}
	n.show()
	if used {
		n.changed()
		dom.Status("The server " + s.name + " in this page has ended.")
	}
}

// consider connects an offered server, whose tools it then shows to the user. Only a yes adds them to the box.
func (n *Network) consider(s *server) {
	n.Lock.Lock()
	if s.in == nil || s.client != nil || s.in.asking || !slices.Contains(n.servers, s) {
		n.Lock.Unlock()
		return
	}
	s.in.asking, s.state = true, "connecting"
	ctx, end := context.WithTimeout(n.ctx, patience)
	s.end = end
	n.show()
	n.Lock.Unlock()
	defer end()
	c, err := mcpclient.Connect(ctx, mcpclient.Options{Name: s.name, Apps: true, Port: s.in.port, Ask: asker(s.name), OnChange: func() { n.refresh(s) }})
	var tools []sandbox.Tool
	if err == nil {
		tools, err = c.Tools(ctx)
	}
	yes := err == nil && agreed(s, tools)
	n.Lock.Lock()
	defer n.Lock.Unlock()
	s.in.asking = false
	left := !slices.Contains(n.servers, s) || s.state == "it has ended"
	switch {
	case err == nil && yes && !left:
		n.Settings.ForgetServer(s.name) // answers of an earlier visit were about another server
		s.client, s.tools, s.read = c, tools, time.Now()
		s.state = "connected to " + dom.Cut(c.Server().Name, 60)
		n.show()
		n.changed()
		return
	case left:
		if s.state == "it has ended" {
			dom.Status("The server " + s.name + " in this page has ended.")
		}
	case err == nil:
		n.no[s.in.from]++
		dom.Status("Not used")
	case errors.Is(err, context.DeadlineExceeded):
		dom.Failed(fmt.Errorf("the server %s did not answer in time", s.name))
	default:
		dom.Failed(fmt.Errorf("the server %s can't be used: %s", s.name, dom.Cut(protocol.Public(err).Message, 300)))
	}
	if c != nil {
		go c.Close(n.ctx)
	}
	n.disconnect(s)
	n.servers = slices.DeleteFunc(n.servers, func(o *server) bool { return o == s })
	n.show()
}

// listedTools is the number of tools that the question names. The settings have all.
const listedTools = 30

// agreed asks the user about an offered server, and reports whether they agreed.
func agreed(s *server, tools []sandbox.Tool) bool {
	list := dom.Create("ul", "")
	list.Set("tabIndex", 0)
	list.Call("setAttribute", "aria-label", "Its tools")
	for _, t := range tools[:min(len(tools), listedTools)] {
		_, about, _ := strings.Cut(t.Description, "which says of it: ")
		row := dom.Create("li", "")
		row.Call("append", dom.Create("code", dom.Cut(s.in.kept.Tool(t.Tool), 60)), " ", dom.Create("small", dom.Cut(about, 120)))
		list.Call("append", row)
	}
	if more := len(tools) - listedTools; more > 0 {
		list.Call("append", dom.Create("li", fmt.Sprintf("and %d more", more)))
	}
	answer, _ := dialog.Ask(dialog.Question{Title: "Use the server " + s.name + "?",
		Text:    "It comes from " + s.in.from + ". It receives the assistant's messages to its tools, and the assistant receives its answers. You are asked before each use. It can be used until this page is closed.",
		Body:    []js.Value{list},
		Answers: []string{"Don't use it", "Use it"}, Ready: func() bool { return true }})
	return answer == "Use it"
}
