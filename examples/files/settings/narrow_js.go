package settings

import (
	"fmt"
	"net/url"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Narrow limits this page to its own server, the chosen provider, and the hosts that the policy grants
// to tools. The page's headers name every host of the policy. Only a reload takes the limit away.
func (s *Settings) Narrow(p *policy.Policy) error {
	meta := dom.Document().Call("querySelector", "meta[data-origin]")
	if !meta.IsNull() { // the program was started again in the same page
		s.loaded = meta.Get("dataset").Get("origin").String()
		return nil
	}
	one := *p
	one.Page.Connect = nil
	if u, err := url.Parse(s.Origin); err == nil && u.Host != "" && headers.CheckHost(u.Host) == nil {
		one.Page.Connect = []string{u.Host}
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
	meta = dom.Document().Call("createElement", "meta")
	meta.Set("httpEquiv", "Content-Security-Policy")
	meta.Set("content", headers.CSP{{Name: "connect-src", Values: connect}}.String())
	meta.Get("dataset").Set("origin", s.Origin)
	js.Global().Get("document").Get("head").Call("append", meta)
	return nil
}
