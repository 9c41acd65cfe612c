package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/protocol"
)

// PageUse returns what a page with this policy uses, for [headers.For]: the section page, and in
// addition the hosts and the browser features that the capabilities grant. It covers the widest
// access that the policy can ever allow, and no more, because a page's headers can't change without
// a reload. Hosts that the policy always denies are left out. Content-Security-Policy has no deny
// list, so the fetch broker denies the other ones. A host that no header can express, such as an
// IPv6 address, is an error.
func PageUse(p *Policy) (headers.Use, error) {
	u := p.Page
	granted, err := hosts(p)
	if err != nil {
		return u, err
	}
	u.Connect = sorted(append(slices.Clone(u.Connect), granted...))
	u.Features = slices.Clone(u.Features)
	for _, g := range p.Grants {
		if name := feature(g.Capability); name != "" {
			u.Features = append(u.Features, name)
		}
	}
	u.Features = sorted(u.Features)
	if _, err := headers.For(u); err != nil {
		return u, badPolicy("page", "%w", err)
	}
	return u, nil
}

// sorted returns the different texts of a list in order, and nil if there are none.
func sorted(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hosts returns the host patterns that the policy can ever allow.
func hosts(p *Policy) ([]string, error) {
	var out []string
	for _, g := range p.Grants {
		if g.Capability != protocol.NetFetch {
			continue
		}
		for _, text := range g.Scope {
			if decides(p, text) != protocol.ActionDeny {
				out = append(out, text)
				continue
			}
			// Under strictAllowlist only the parts of a wildcard that are in the other list remain.
			whole, err := protocol.ParseHost(text)
			if err != nil {
				return nil, err
			}
			for _, a := range p.Net.Allowed {
				name, port, err := protocol.SplitHost(sample(a.String()))
				if err == nil && whole.Match(name, port) && decides(p, a.String()) != protocol.ActionDeny {
					out = append(out, a.String())
				}
			}
		}
	}
	return out, nil
}

// decides returns the decision of the policy about a host of a pattern that no other pattern names.
func decides(p *Policy, pattern string) protocol.Action {
	host := sample(pattern)
	d := p.Rules.Decide(Call{}, Need{Capability: protocol.NetFetch, Subject: host})
	if d.Action == protocol.ActionDeny && d.Rule != nil && d.Rule.Source == SourceManifest {
		return d.Action
	}
	return p.Net.Decide(host).Action
}

// sample returns a "host:port" that a pattern covers. A header without a port is about port 443.
func sample(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "*."); ok {
		pattern = "any-other-name-of-this-domain." + rest
	}
	if _, port, err := protocol.SplitHost(pattern); err == nil && port == 0 {
		pattern += ":" + strconv.Itoa(443)
	}
	return pattern
}

// feature returns the name of a capability in Permissions-Policy, or "".
func feature(c protocol.Capability) string {
	switch c {
	case protocol.Camera:
		return "camera"
	case protocol.Microphone:
		return "microphone"
	case protocol.Screen:
		return "display-capture"
	case protocol.Geolocation:
		return "geolocation"
	case protocol.ClipboardRead:
		return "clipboard-read"
	case protocol.ClipboardWrite:
		return "clipboard-write"
	}
	return ""
}
