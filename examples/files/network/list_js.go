package network

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
)

// show lists the servers, each with its state and its tools.
func (n *Network) show() {
	box := dom.Element("servers")
	open := map[string]bool{} // whose tools are in view
	for _, d := range dom.Each(box.Call("querySelectorAll", "details[open]")) {
		open[d.Get("dataset").Get("server").String()] = true
	}
	box.Call("replaceChildren")
	n.of.Release()
	for _, s := range n.servers {
		k, _ := n.kept(s.name)
		row, bar := dom.Create("li", ""), dom.Create("div", "")
		bar.Set("className", "bar")
		state := dom.Create("small", " · "+s.state)
		state.Set("className", "state")
		place := k.URL
		if s.in != nil {
			place = "in this page, from " + s.in.from
		}
		row.Call("append", dom.Create("b", s.name), state, dom.Create("p", dom.Cut(place, 200)))
		if s.client != nil {
			row.Call("append", n.tools(s, open[s.name]))
		}
		if s.in == nil {
			row.Call("append", n.samples(s, k.Samples))
		}
		button := func(text, class string, do func()) {
			n.of.Button(bar, text, class, do).Call("setAttribute", "aria-label", text+": "+s.name)
		}
		again := func(asks bool) func() {
			return func() {
				n.Lock.Lock()
				defer n.Lock.Unlock()
				s.asks = asks
				n.connect(s)
				n.show()
			}
		}
		switch {
		case s.wants != "":
			row.Call("append", dom.Create("p", "It needs "+s.wants+", which this page may not reach yet."))
			wanted := s.wants // what the user read, whatever the server wants by then
			button("Let this page reach it", "small", func() { n.allow(s, wanted) })
		case s.signIn:
			row.Call("append", dom.Create("p", "It wants you to sign in."))
			button("Sign in", "small primary", again(true))
		}
		switch {
		case s.in != nil && s.client == nil && s.state == "not used yet":
			button("Show its tools", "small primary", func() { n.consider(s) })
		case s.in == nil && s.client == nil && s.state != "connecting":
			button("Try again", "small", again(false))
		}
		button("Remove", "stop small", func() { n.remove(s) })
		row.Call("append", bar)
		box.Call("append", row)
	}
	dom.Hide("no-servers", len(n.servers) > 0)
}

// samples returns the field that lets a server ask the model.
func (n *Network) samples(s *server, on bool) js.Value {
	label, box := dom.Create("label", ""), dom.Create("input", "")
	label.Set("className", "check")
	box.Set("type", "checkbox")
	box.Set("checked", on)
	box.Get("dataset").Set("samples", s.name)
	label.Call("append", box, " It may ask your model, once you have seen what it asks")
	n.of.On(box, "change", func(js.Value) {
		n.Lock.Lock()
		defer n.Lock.Unlock()
		if dom.Failed(n.Busy()) {
			n.show()
			return
		}
		n.keep(s.name, func(k *settings.Server) { k.Samples = box.Get("checked").Bool() })
		n.connect(s) // a server learns it at the beginning
		n.show()
		n.changed()
		dom.Status("Kept")
	})
	return label
}

// allow lets the page reach an origin that a server needs, after another load.
func (n *Network) allow(s *server, origin string) {
	n.Lock.Lock()
	defer n.Lock.Unlock()
	_, at := n.kept(s.name)
	if at < 0 || !n.Settings.Reach(n.ctx, func(k *settings.Kept) {
		k.Servers = append([]settings.Server(nil), k.Servers...)
		k.Servers[at].Origins = append(slices.Clip(k.Servers[at].Origins), origin)
	}) {
		return
	}
	if !n.Settings.OfferReload() {
		n.connect(s)
		n.show()
	}
}

// tools returns the fold with the tools of a server. The rows are made when it is opened.
func (n *Network) tools(s *server, open bool) js.Value {
	fold := dom.Create("details", "")
	fold.Get("dataset").Set("server", s.name)
	fold.Call("append", dom.Create("summary", fmt.Sprintf("Tools: %d", len(s.tools))))
	list := s.tools
	n.of.On(fold, "toggle", func(js.Value) {
		if !fold.Get("open").Bool() || fold.Get("childElementCount").Int() > 1 {
			return
		}
		n.Lock.Lock()
		k, _ := n.kept(s.name)
		n.Lock.Unlock()
		turn := time.Now()
		for _, t := range list {
			if time.Since(turn) > 8*time.Millisecond { // half a frame
				if dom.Yield(n.ctx) != nil {
					return
				}
				turn = time.Now()
			}
			row, name := dom.Create("label", ""), k.Tool(t.Tool)
			_, about, _ := strings.Cut(t.Description, "which says of it: ")
			if t.Missing != "" {
				about = "can't be used: " + t.Missing
			}
			row.Set("className", "tool")
			row.Call("append", dom.Create("code", dom.Cut(name, 60)), dom.Create("small", dom.Cut(about, 200)))
			if d := k.Decisions[name]; d.Action == protocol.ActionAllow && k.Of(t.Tool) == protocol.ActionAsk {
				row.Call("append", dom.Create("small", "The server has changed it since you allowed it, so you are asked again."))
			}
			choice := dom.Create("select", "")
			for _, a := range []struct {
				action protocol.Action
				text   string
			}{{protocol.ActionAsk, "Ask"}, {protocol.ActionAllow, "Always"}, {protocol.ActionDeny, "Never"}} {
				o := dom.Create("option", a.text)
				o.Set("value", string(a.action))
				choice.Call("append", o)
			}
			choice.Set("value", string(k.Of(t.Tool)))
			choice.Get("dataset").Set("tool", name)
			choice.Set("disabled", t.Missing != "")
			row.Call("append", choice)
			fold.Call("append", row)
		}
	})
	n.of.On(fold, "change", func(e js.Value) {
		name, action := e.Get("target").Get("dataset").Get("tool").String(), protocol.Action(e.Get("target").Get("value").String())
		n.Lock.Lock()
		defer n.Lock.Unlock()
		for _, t := range list {
			k, _ := n.kept(s.name)
			if k.Tool(t.Tool) != name {
				continue
			}
			n.keep(s.name, func(k *settings.Server) {
				k.Decisions = maps.Clone(k.Decisions)
				if k.Decisions == nil {
					k.Decisions = map[string]settings.Decision{}
				}
				k.Decisions[name] = settings.Decision{Action: action, Sum: t.Sum()}
			})
		}
		if n.Busy() != nil {
			dom.Status("Kept. It holds from the next message on.")
		} else {
			dom.Status("Kept")
		}
		n.changed()
	})
	fold.Set("open", open)
	return fold
}
