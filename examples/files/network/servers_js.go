package network

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
)

// server is an MCP server of the user's. Its fields are guarded by the lock.
type server struct {
	name   string
	client *mcpclient.Client // nil if it is not connected
	tools  []sandbox.Tool
	state  string // for the user
	wants  string // an origin that the page may not reach yet
	signIn bool   // it wants the user to sign in
	asks   bool   // the user pressed the button for that
	end    context.CancelFunc
	read   time.Time // when its tools were listed
	in     *offer    // set for a server in this page
}

// maxServers is the maximum number of servers, and maxName that of the bytes of a name.
const maxServers, maxName = 20, 30

// Limits of a connection.
const (
	patience = 30 * time.Second // with a server
	absence  = 5 * time.Minute  // of the user, who signs in
	between  = 10 * time.Second // two lists of a server's tools
)

// checkName returns an error for the user if a server can't have a name.
func checkName(name string) error {
	if protocol.ValidToolName(name) != nil || len(name) > maxName || strings.ContainsAny(name, ":_") {
		return fmt.Errorf("the name must be a letter, then letters, digits and -, at most %d", maxName)
	}
	return nil
}

// offers returns an offered server, or nil.
func (n *Network) offers(name string) *offer {
	for _, s := range n.servers {
		if s.name == name && s.in != nil {
			return s.in
		}
	}
	return nil
}

// kept returns the settings of a server, and its index if they are stored.
func (n *Network) kept(name string) (settings.Server, int) {
	if o := n.offers(name); o != nil {
		return o.kept, -1
	}
	i := slices.IndexFunc(n.Settings.Servers, func(s settings.Server) bool { return s.Name == name })
	if i < 0 {
		return settings.Server{}, -1
	}
	return n.Settings.Servers[i], i
}

// keep changes the settings of a server, and stores them if it was added by its address.
func (n *Network) keep(name string, change func(*settings.Server)) {
	if o := n.offers(name); o != nil {
		change(&o.kept)
		return
	}
	if _, i := n.kept(name); i >= 0 {
		list := slices.Clone(n.Settings.Servers)
		change(&list[i])
		n.Settings.Servers = list
		n.Settings.Save()
	}
}

// Start connects the servers of the settings. The page does not wait for them.
func (n *Network) Start() {
	n.Lock.Lock()
	defer n.Lock.Unlock()
	for _, k := range n.Settings.Servers[:min(len(n.Settings.Servers), maxServers)] {
		s := &server{name: k.Name}
		n.servers = append(n.servers, s)
		n.connect(s)
	}
	n.show()
}

// add adds the server in the form.
func (n *Network) add() {
	n.Lock.Lock()
	defer n.Lock.Unlock()
	k := settings.Server{Name: strings.TrimSpace(dom.Value("server-name")), URL: strings.TrimSpace(dom.Value("server-url")), Key: dom.Value("server-key")}
	_, at := n.kept(k.Name)
	u, err := url.Parse(k.URL)
	switch {
	case checkName(k.Name) != nil:
		err = checkName(k.Name)
	case at >= 0 || n.offers(k.Name) != nil:
		err = errors.New("there is a server of this name already: remove it first, or choose another name")
	case len(n.servers) >= maxServers:
		err = fmt.Errorf("there are %d servers already: remove one first", maxServers)
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !protocol.Loopback(u.Hostname())):
		err = errors.New("the address must be a whole one: https, or http on this machine")
	}
	if dom.Failed(err) || !n.Settings.Reach(n.ctx, func(s *settings.Kept) { s.Servers = append(slices.Clone(s.Servers), k) }) {
		return
	}
	for _, id := range []string{"server-name", "server-url", "server-key"} {
		dom.SetValue(id, "")
	}
	s := &server{name: k.Name}
	n.servers = append(n.servers, s)
	n.connect(s)
	n.show()
	dom.Status("Added")
	n.Settings.OfferReload()
}

// remove removes a server with all that is kept of it.
func (n *Network) remove(s *server) {
	n.Lock.Lock()
	defer n.Lock.Unlock()
	if dom.Failed(n.Busy()) {
		return
	}
	n.disconnect(s)
	n.servers = slices.DeleteFunc(n.servers, func(o *server) bool { return o == s })
	n.Settings.Servers = slices.DeleteFunc(slices.Clone(n.Settings.Servers), func(k settings.Server) bool { return k.Name == s.name })
	n.Settings.ForgetServer(s.name)
	n.show()
	n.changed()
	dom.Status("Removed, with the answers about its tools and its key")
	dom.Element("server-name").Call("focus")
}

func (n *Network) disconnect(s *server) {
	if s.end != nil {
		s.end()
	}
	if c := s.client; c != nil {
		go func() {
			ctx, stop := context.WithTimeout(n.ctx, patience)
			defer stop()
			_ = c.Close(ctx)
		}()
	}
	s.client, s.tools = nil, nil
	if s.in != nil {
		s.in.of.Release()
		hangUp(s.in.port)
	}
}

// connect connects a server, beside all else. The lock must be held.
func (n *Network) connect(s *server) {
	n.disconnect(s)
	k, _ := n.kept(s.name)
	limit := patience
	if s.asks {
		limit = absence
	}
	ctx, end := context.WithTimeout(n.ctx, limit)
	s.end, s.state, s.wants, s.signIn = end, "connecting", "", false
	o := mcpclient.Options{Name: k.Name, URL: k.URL, Apps: true, Tokens: k.Tokens, Transport: n.transport(s, k.Reach()), Ask: asker(k.Name), OnChange: func() { n.refresh(s) }}
	if k.Samples {
		o.Sample = func(ctx context.Context, r sandbox.ModelRequest) (string, string, error) {
			return r.Sample(ctx, "the MCP server "+k.Name)
		}
	}
	if k.Key != "" {
		o.Header = map[string]string{"authorization": "Bearer " + k.Key}
	} else {
		at, _ := url.Parse(js.Global().Get("location").Get("href").String())
		o.Redirect = at.ResolveReference(&url.URL{Path: "oauth.html"}).String()
		o.Authorize = func(ctx context.Context, address string) (string, error) {
			return n.authorize(ctx, s, address, o.Redirect)
		}
		o.OnTokens = func(text string) {
			n.Lock.Lock()
			defer n.Lock.Unlock()
			n.keep(s.name, func(k *settings.Server) { k.Tokens = text })
		}
	}
	go func() {
		defer end()
		c, err := mcpclient.Connect(ctx, o)
		var tools []sandbox.Tool
		if err == nil {
			tools, err = c.Tools(ctx)
		}
		n.Lock.Lock()
		defer n.Lock.Unlock()
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) { // removed, or connected anew
			if c != nil {
				go c.Close(n.ctx)
			}
			return
		}
		s.asks = false
		switch {
		case err == nil:
			s.client, s.tools, s.read = c, tools, time.Now()
			s.state = "connected to " + dom.Cut(c.Server().Name, 60)
		case errors.Is(err, context.DeadlineExceeded):
			s.state = "not connected: it did not answer in time"
		case s.wants != "" || s.signIn:
			s.state = "not connected yet"
		default:
			s.state = "not connected: " + dom.Cut(protocol.Public(err).Message, 300)
		}
		if err != nil && c != nil {
			go c.Close(n.ctx)
		}
		n.show()
		if err == nil {
			n.changed()
		}
	}()
}

// refresh lists the tools of a server again, because it said that they have changed.
func (n *Network) refresh(s *server) {
	n.Lock.Lock()
	c, wait := s.client, between-time.Since(s.read)
	s.read = time.Now().Add(max(wait, 0))
	n.Lock.Unlock()
	if c == nil {
		return
	}
	time.Sleep(wait) // a server may announce changes all the time
	ctx, stop := context.WithTimeout(n.ctx, patience)
	defer stop()
	tools, err := c.Tools(ctx)
	n.Lock.Lock()
	defer n.Lock.Unlock()
	if err != nil && s.client == c && s.in != nil {
		n.ended(s)
		return
	}
	if err != nil || s.client != c || slices.EqualFunc(s.tools, tools, same) {
		return
	}
	s.tools = tools
	n.show()
	n.changed()
	dom.Status("The server " + s.name + " has changed its tools.")
}

// Page reads the page of a tool of a server, at its address there.
func (n *Network) Page(ctx context.Context, server, uri string) (protocol.App, error) {
	n.Lock.Lock()
	var c *mcpclient.Client
	for _, s := range n.servers {
		if s.name == server {
			c = s.client
		}
	}
	n.Lock.Unlock()
	if c == nil {
		return protocol.App{}, fmt.Errorf("the server %s is not connected: see MCP servers in Settings", server)
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	return c.App(ctx, uri)
}

// Free returns the ids of the tools of a server whose calls the user allows, all of them.
func (n *Network) Free(server string) map[string]bool {
	n.Lock.Lock()
	defer n.Lock.Unlock()
	out := map[string]bool{}
	k, _ := n.kept(server)
	for _, s := range n.servers {
		for _, t := range s.tools {
			if s.name == server && k.Of(t.Tool) == protocol.ActionAllow {
				out[t.ID] = true
			}
		}
	}
	return out
}

func same(a, b sandbox.Tool) bool {
	return a.ID == b.ID && a.Description == b.Description && a.Parameters == b.Parameters && a.Missing == b.Missing
}

// transport sends requests to the origins in reach that this page's policy names, and notes another one that is
// needed. The page reaches further ones for other servers and for the model's provider. A server that names one
// of those in its answers gets no request to it.
func (n *Network) transport(s *server, reach []string) fetch.Transport {
	browser := fetch.Browser()
	return fetch.TransportFunc(func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
		u, err := url.Parse(r.URL)
		if err != nil {
			return nil, err
		}
		if origin := u.Scheme + "://" + u.Host; !slices.Contains(reach, origin) || !n.Settings.Reaches(origin) {
			s.wants = origin
			return nil, protocol.Errorf(protocol.ErrExecution, "fetch", origin, "this page may not reach %s", origin)
		}
		return browser.Do(ctx, r)
	})
}

// authorize sends the user to the authorization server of a server, in a window of its own.
func (n *Network) authorize(ctx context.Context, s *server, address, redirect string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	if !s.asks {
		s.signIn = true
		return "", errors.New("sign in at the server in Settings")
	}
	channel := js.Global().Get("BroadcastChannel").New("bailey-files-oauth")
	defer channel.Call("close")
	back := make(chan string, 1)
	var on dom.Listeners
	defer on.Release()
	on.On(channel, "message", func(e js.Value) {
		text := e.Get("data")
		if text.Type() != js.TypeString || !strings.HasPrefix(text.String(), redirect+"?") {
			return
		}
		if got, err := url.Parse(text.String()); err == nil && got.Query().Get("state") == u.Query().Get("state") { // another tab may sign in, too
			select {
			case back <- text.String():
			default:
			}
		}
	})
	answer, _ := dialog.Ask(dialog.Question{Title: "Sign in at " + u.Host + "?", Text: "The server " + s.name + " sends you there, in a window of its own. The assistant and its code see neither what you enter there, nor the token that this page gets for it.",
		Answers: []string{"Cancel", "Open the window"}})
	if answer != "Open the window" {
		return "", errors.New("you did not want to")
	}
	if js.Global().Call("open", address, "_blank", "popup,width=600,height=700").IsNull() && !js.Global().Get("crossOriginIsolated").Bool() {
		return "", errors.New("the browser did not open the window: allow pop-ups for this page")
	}
	dom.Status("Waiting for you at " + u.Host)
	select {
	case text := <-back:
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// asker returns the function that shows a server's questions.
func asker(name string) func(context.Context, []sandbox.ModelQuestion) ([][]string, error) {
	return func(ctx context.Context, list []sandbox.ModelQuestion) ([][]string, error) {
		var body []js.Value
		var read []func() []string
		for i, q := range list {
			field := dom.Create("label", q.Header)
			field.Set("className", "field")
			if i > 0 || q.Header == "" {
				field.Call("append", dom.Create("small", q.Question))
			}
			body = append(body, field)
			switch {
			case q.MultiSelect:
				boxes := map[string]js.Value{}
				for _, o := range q.Options {
					row, box := dom.Create("label", ""), dom.Create("input", "")
					box.Set("type", "checkbox")
					row.Set("className", "check")
					row.Call("append", box, " "+o.Label)
					body = append(body, row)
					boxes[o.Label] = box
				}
				read = append(read, func() (chosen []string) {
					for label, box := range boxes {
						if box.Get("checked").Bool() {
							chosen = append(chosen, label)
						}
					}
					slices.Sort(chosen)
					return chosen
				})
				continue
			case len(q.Options) > 1:
				choice := dom.Create("select", "")
				choice.Call("append", dom.Create("option", ""))
				for _, o := range q.Options {
					choice.Call("append", dom.Create("option", o.Label))
				}
				field.Call("append", choice)
				read = append(read, func() []string { return []string{choice.Get("value").String()} })
			case q.Header != "":
				text := dom.Create("input", "")
				text.Set("autocomplete", "off")
				for _, o := range q.Options {
					text.Set("value", o.Label)
				}
				field.Call("append", text)
				read = append(read, func() []string { return []string{text.Get("value").String()} })
			}
		}
		answer, _ := dialog.Ask(dialog.Question{Title: "The MCP server " + name + " asks you", Text: list[0].Question + "\nWhat you enter is sent to this server. Give it no password.",
			Body: body, Answers: []string{"Decline", "Send"}, Ready: func() bool { return true }, Until: ctx.Done()})
		switch {
		case answer == "" || ctx.Err() != nil:
			return nil, context.Canceled
		case answer != "Send":
			return nil, errors.New("the user declined")
		}
		var out [][]string
		for _, f := range read {
			out = append(out, f())
		}
		return out, nil
	}
}
