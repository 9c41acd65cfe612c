package settings

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Web is the user's way to the web, for the tools web_fetch and web_search. Its zero value is none.
type Web struct {
	Relay  string   `json:"relay,omitempty"`  // address that fetches pages, or a path on the page's own server
	Sites  []string `json:"sites,omitempty"`  // host patterns that are fetched without a relay
	Engine string   `json:"engine,omitempty"` // of [Engines]
	Key    string   `json:"key,omitempty"`    // of the search engine
}

// Engines are the hosts of the search engines, by id.
var Engines = map[string]string{"brave": "api.search.brave.com", "tavily": "api.tavily.com"}

// Check returns an error for the user if w can't be used.
func (w Web) Check() error {
	for _, site := range w.Sites {
		if _, err := protocol.ParseHost(site); err != nil {
			return fmt.Errorf("%q is no site: write names such as docs.example.com or *.example.org, with spaces between them", site)
		}
	}
	if w.Relay != "" && origin(w.Relay) == "" && (!strings.HasPrefix(w.Relay, "/") || strings.HasPrefix(w.Relay, "//")) {
		return errors.New("the relay must be a whole address, such as https://relay.example.com/get, or a path on this page's own server, such as /relay")
	}
	if w.Engine != "" && w.Key == "" {
		return errors.New("the search engine needs a key")
	}
	return nil
}

// origins returns the origins that the page must be able to reach.
func (w Web) origins() (list []string) {
	if w.Relay != "" {
		return append(list, origin(w.Relay))
	}
	for _, site := range w.Sites {
		list = append(list, "https://"+site)
		if host, _, err := protocol.SplitHost(site); err == nil && protocol.Loopback(host) {
			list = append(list, "http://"+site)
		}
	}
	if w.Engine != "" {
		list = append(list, "https://"+Engines[w.Engine])
	}
	return list
}

// Hosts returns the host patterns that the tools may be asked for. With a relay a page of any host can be
// fetched, and the user is asked about each.
func (w Web) Hosts() (list []string) {
	if w.Relay != "" {
		return []string{"*"}
	}
	list = slices.Clone(w.Sites)
	if w.Engine != "" {
		list = append(list, Engines[w.Engine])
	}
	return list
}

// Server is an MCP server that the user added.
type Server struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Key  string `json:"key,omitempty"` // sent as a bearer token, if it is not empty
	// Tokens is the state of the server's authorization, and Origins are the authorization servers that the
	// user let the page reach.
	Tokens  string   `json:"tokens,omitempty"`
	Origins []string `json:"origins,omitempty"`
	Samples bool     `json:"samples,omitempty"` // the server may ask the model, after a question each time
	// Decisions are the user's about tools, by the tool's name in rules. The user is asked about the others.
	Decisions map[string]Decision `json:"decisions,omitempty"`
}

// Reach returns the origins that the server is reached at: its own, and those that the user allowed for it.
func (s Server) Reach() []string { return append([]string{origin(s.URL)}, s.Origins...) }

// Decision is what the user decided about a tool.
type Decision struct {
	Action protocol.Action `json:"action"`
	Sum    string          `json:"sum"` // of the tool that the user saw, see [protocol.Tool.Sum]
}

// Of returns the user's decision about a tool of the server as it is now. If the server has changed it since,
// the user is asked, unless it was forbidden.
func (s Server) Of(t protocol.Tool) protocol.Action {
	d := s.Decisions[s.Tool(t)]
	if d.Action == protocol.ActionDeny || d.Action == protocol.ActionAllow && d.Sum == t.Sum() {
		return d.Action
	}
	return protocol.ActionAsk
}

// Tool returns the name of a tool among the server's.
func (s Server) Tool(t protocol.Tool) string {
	return strings.TrimPrefix(t.RuleName(), "mcp:"+s.Name+":")
}

// Rules returns the rules of the user's decisions about tools.
func (s Server) Rules(tools ...protocol.Tool) (list policy.Rules) {
	for _, t := range tools {
		r := policy.Rule{Permission: t.RuleName(), Action: s.Of(t), Source: policy.SourceUser}
		if r.Action != protocol.ActionAsk && r.Validate() == nil {
			list = append(list, r)
		}
	}
	return list
}

// formless reports whether a rule allows a server's tool whatever the server makes of it.
func formless(r policy.Rule) bool {
	return r.Action == protocol.ActionAllow && r.Sum == "" && strings.HasPrefix(r.Permission, "mcp:")
}

// origin returns the origin of an address, or "" if it is none.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// origins returns the origins besides the provider's that the page must be able to reach, for Narrow.
func (k *Kept) origins() (list []string) {
	list = k.Web.origins()
	for _, s := range k.Servers {
		list = append(list, s.Reach()...)
	}
	list = append(list, origin(k.Box.URL), origin(k.Cloud.URL))
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
}
