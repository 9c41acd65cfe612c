package policy

import (
	"slices"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/protocol"
)

// Use is what a page under this policy needs of its headers: the widest the policy
// may come to allow, since a page's headers can't change without a reload; what is
// narrower is the fetch broker's to hold. Give it to [headers.For] for the page's
// Content-Security-Policy, Connection-Allowlist and Permissions-Policy. More are
// hosts that the app itself needs beside the policy, such as the model's provider.
// A host that no header can name, such as an IPv6 address, is an error.
func Use(p *Policy, more ...string) (headers.Use, error) {
	u := headers.Use{Connect: append(Hosts(p), more...)}
	slices.Sort(u.Connect)
	u.Connect = slices.Compact(u.Connect)
	for _, host := range u.Connect {
		if err := headers.CheckHost(host); err != nil {
			return u, err
		}
	}
	for _, g := range p.Grants {
		if name := feature(g.Capability); name != "" && !slices.Contains(u.Features, name) {
			u.Features = append(u.Features, name)
		}
	}
	slices.Sort(u.Features)
	return u, nil
}

// Headers are a page's headers under this policy; see [Use].
func Headers(p *Policy, more ...string) (headers.Headers, error) {
	u, err := Use(p, more...)
	if err != nil {
		return headers.Headers{}, err
	}
	return headers.For(u)
}

// Hosts are the host patterns that the policy may come to allow.
func Hosts(p *Policy) []string {
	var out []string
	for _, g := range p.Grants {
		if g.Capability == protocol.NetFetch {
			out = append(out, g.Scope...)
		}
	}
	return out
}

// feature is what Permissions-Policy calls a capability, or nothing.
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

// Enclave is the level and the limits of enclaves under this policy; ok is false if
// the policy does not let code run at all.
func Enclave(p *Policy) (level protocol.Level, limits protocol.Limits, ok bool) {
	for _, g := range p.Grants {
		ok = ok || g.Capability == protocol.CodeRun
	}
	return p.Level, p.Limits, ok
}

// Covered reports whether a page with these headers can reach a host at all; if
// not, the page must be loaded again with the headers of [Use].
func Covered(h headers.Headers, host string) bool {
	name, port, err := protocol.SplitHost(host)
	if err != nil {
		return false
	}
	values, limited := h.CSP.Effective("connect-src")
	if !limited {
		return true
	}
	return slices.ContainsFunc(values, func(v string) bool {
		for _, scheme := range []string{"https://", "http://", "wss://", "ws://"} {
			if len(v) > len(scheme) && v[:len(scheme)] == scheme {
				v = v[len(scheme):]
				break
			}
		}
		pat, err := protocol.ParseHost(v)
		return err == nil && (pat.Match(name, port) || pat.Match(name, 443) && port == 0)
	})
}
