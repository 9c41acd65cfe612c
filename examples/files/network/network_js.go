package network

import (
	"context"
	"slices"
	"strings"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/web"
)

// Options are the parts of the page that the network talks with. All are required.
type Options struct {
	Lock     sync.Locker // held during one action of the user's
	Settings *settings.Settings
	Busy     func() error // an error while a conversation is at work
	OnChange func() error // makes a new box, with the tools and the policy of now
}

// Network is the page's way to other servers.
type Network struct {
	Options
	ctx     context.Context
	web     []sandbox.Tool
	servers []*server
	heard   int            // offers of servers in this visit
	no      map[string]int // the user's refusals of them, by their origin
	stale   bool           // the box has not what the network has now
	of      dom.Listeners  // of the list of servers, released before it is rebuilt
}

// New returns the network of the settings.
func New(ctx context.Context, o Options) *Network {
	n := &Network{Options: o, ctx: ctx, no: map[string]int{}}
	dom.Failed(n.setWeb())
	return n
}

// Listen sets up the forms.
func (n *Network) Listen() {
	fill := func() {
		w := n.Settings.Web
		dom.SetValue("relay", w.Relay)
		dom.SetValue("sites", strings.Join(w.Sites, " "))
		dom.SetValue("engine", w.Engine)
		dom.SetValue("search-key", w.Key)
	}
	fill()
	dom.On(dom.Element("web-form"), "submit", func(js.Value) {
		n.Lock.Lock()
		defer n.Lock.Unlock()
		w := settings.Web{Relay: strings.TrimSpace(dom.Value("relay")), Engine: dom.Value("engine"), Key: dom.Value("search-key"),
			Sites: strings.FieldsFunc(dom.Value("sites"), func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })}
		if w.Engine == "" {
			w.Key = ""
		}
		if dom.Failed(w.Check()) || dom.Failed(n.Busy()) || !n.Settings.Reach(n.ctx, func(k *settings.Kept) { k.Web = w }) {
			return
		}
		fill()
		if dom.Failed(n.setWeb()) || dom.Failed(n.OnChange()) || n.Settings.OfferReload() {
			return
		}
		dom.Status("Kept")
	})
	dom.On(dom.Element("server-form"), "submit", func(js.Value) { n.add() })
	n.show()
	n.hear()
}

// setWeb makes the web tools of the settings.
func (n *Network) setWeb() error {
	n.web = nil
	w := n.Settings.Web
	if err := w.Check(); err != nil {
		return err
	}
	o := web.BrokerOptions{Relay: w.Relay}
	if w.Engine != "" {
		o.Credentials = []web.Credential{{Name: w.Engine, Hosts: []string{settings.Engines[w.Engine]}, Value: w.Key}}
	}
	b, err := web.NewBroker(o)
	if err != nil {
		return err
	}
	if w.Relay != "" || len(w.Sites) > 0 {
		n.web = append(n.web, web.Fetch(b))
	}
	switch w.Engine {
	case "brave":
		n.web = append(n.web, web.Search(b, web.Brave(w.Engine)))
	case "tavily":
		n.web = append(n.web, web.Search(b, web.Tavily(w.Engine)))
	}
	return nil
}

// Tools returns the tools that reach other servers.
func (n *Network) Tools() []sandbox.Tool {
	out := slices.Clone(n.web)
	for _, s := range n.servers {
		out = append(out, s.tools...)
	}
	return out
}

// Policy returns a policy with the hosts of these tools added, and the user's decisions about the servers'
// tools. The user is asked about all other calls.
func (n *Network) Policy(p *policy.Policy) *policy.Policy {
	out := *p
	hosts := n.Settings.Web.Hosts()
	out.Rules = slices.Clip(out.Rules)
	for _, s := range n.servers {
		if s.client == nil {
			continue
		}
		if s.in == nil { // a server in the page needs no network
			hosts = append(hosts, s.client.Target())
		}
		kept, _ := n.kept(s.name)
		for _, t := range s.tools {
			out.Rules = append(out.Rules, kept.Rules(t.Tool)...)
		}
	}
	if len(hosts) == 0 {
		return &out
	}
	out.Grants = append(slices.Clip(out.Grants), protocol.Grant{Capability: protocol.NetFetch, Scope: hosts})
	out.Net.Allowed = slices.Clip(out.Net.Allowed)
	for _, text := range hosts {
		if h, err := protocol.ParseDeniedHost(text); err == nil { // which knows a pattern for every host
			out.Net.Allowed = append(out.Net.Allowed, h)
		}
	}
	return &out
}

// changed makes a new box, at once or when the conversation at work is done. The lock must be held.
func (n *Network) changed() {
	n.stale = true
	dom.Failed(n.Settle())
}

// Settle makes a new box if the network has changed during a conversation's work. The lock must be held.
func (n *Network) Settle() error {
	if !n.stale || n.Busy() != nil {
		return nil
	}
	n.stale = false
	return n.OnChange()
}
