package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Narrow limits this page to its own server, the chosen provider, the web and MCP servers that the user
// added, the hosts of the user's secrets, and the hosts that the policy grants to tools. The page's headers name every host of the policy. Only a reload takes the limit away.
func (s *Settings) Narrow(p *policy.Policy) error {
	meta := dom.Document().Call("querySelector", "meta[data-origin]")
	if !meta.IsNull() { // the program was started again in the same page
		s.loaded = meta.Get("dataset").Get("origin").String()
		s.secretHosts = strings.Fields(meta.Get("dataset").Get("secrets").String())
		s.others = strings.Fields(meta.Get("dataset").Get("others").String())
		return nil
	}
	s.others = slices.Clone(s.Origins)
	for _, m := range s.Models { // each can be chosen without a reload
		s.others = append(s.others, m.Origin)
	}
	slices.Sort(s.others)
	s.others = slices.DeleteFunc(slices.Compact(s.others), func(o string) bool { return !plainOrigin.MatchString(o) })
	one := *p
	s.secretHosts = loadSecretHosts()
	one.Page.Connect = slices.Clone(s.secretHosts)
	if u, err := url.Parse(s.Origin); err == nil && u.Host != "" && headers.CheckHost(u.Host) == nil {
		one.Page.Connect = append(one.Page.Connect, u.Host)
	}
	use, err := policy.PageUse(&one)
	if err != nil {
		return fmt.Errorf("policy.json: %w", err)
	}
	h, err := headers.For(use)
	if err != nil {
		return fmt.Errorf("policy.json: %w", err)
	}
	connect, _ := h.CSP.Effective("connect-src")
	connect = append(slices.DeleteFunc(connect, func(v string) bool { return v == "'none'" }), s.others...)
	meta = dom.Document().Call("createElement", "meta")
	meta.Set("httpEquiv", "Content-Security-Policy")
	meta.Set("content", headers.CSP{{Name: "connect-src", Values: connect}}.String())
	meta.Get("dataset").Set("origin", s.Origin)
	meta.Get("dataset").Set("others", strings.Join(s.others, " "))
	meta.Get("dataset").Set("secrets", strings.Join(s.secretHosts, " "))
	js.Global().Get("document").Get("head").Call("append", meta)
	return nil
}

// plainOrigin is an origin, or the pattern of one, that can end no directive.
var plainOrigin = regexp.MustCompile(`^https?://(\*\.)?[a-z0-9.:-]+$`)

// secretHosts is the place of the hosts of the user's secrets in localStorage. Narrow needs them before
// the store of the secrets is open.
const secretHosts = storage + "-secret-hosts"

func loadSecretHosts() (hosts []string) {
	if v := js.Global().Get("localStorage").Call("getItem", secretHosts); v.Type() == js.TypeString {
		_ = json.Unmarshal([]byte(v.String()), &hosts) // unreadable ones are ignored
	}
	return slices.DeleteFunc(hosts, func(h string) bool { return headers.CheckHost(h) != nil })
}

// SetSecretHosts stores the hosts of the user's secrets. It reports whether this page must be loaded again
// to reach them all.
func (s *Settings) SetSecretHosts(hosts []string) (reload bool) {
	text, _ := json.Marshal(hosts)
	js.Global().Get("localStorage").Call("setItem", secretHosts, string(text))
	return slices.ContainsFunc(hosts, func(h string) bool { return !slices.Contains(s.secretHosts, h) })
}

// Allows reports whether the headers of this page allow requests to all hosts. If they do not, it shows the
// line that policy.json needs.
func (s *Settings) Allows(ctx context.Context, hosts []string) bool {
	for _, h := range hosts {
		if !reaches(ctx, &url.URL{Scheme: "https", Host: h}) {
			text := dom.Element("needs-text").Get("textContent").String()
			dom.SetText("needs-text", strings.Replace(text, againSave, "Then save the secret again.", 1))
			return false
		}
	}
	return true
}
