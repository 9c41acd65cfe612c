package policy

import (
	"slices"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/protocol"
)

// Use returns the requirements for the headers of a page with this policy. They cover the widest
// access that the policy can ever allow, because a page's headers can't change without a reload.
// Narrower limits are enforced by the fetch broker. Pass the result to [headers.For] to get the
// page's Content-Security-Policy, Connection-Allowlist and Permissions-Policy. More are hosts that
// the app itself needs in addition, such as the model's provider. A host that no header can
// express, such as an IPv6 address, is an error.
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

// Headers returns the headers of a page with this policy, see [Use].
func Headers(p *Policy, more ...string) (headers.Headers, error) {
	u, err := Use(p, more...)
	if err != nil {
		return headers.Headers{}, err
	}
	return headers.For(u)
}

// Hosts returns the host patterns that the policy can ever allow.
func Hosts(p *Policy) []string {
	var out []string
	for _, g := range p.Grants {
		if g.Capability == protocol.NetFetch {
			out = append(out, g.Scope...)
		}
	}
	return out
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

// Enclave returns the level and the limits of enclaves under this policy. ok is false if the policy
// does not grant code.run.
func Enclave(p *Policy) (level protocol.Level, limits protocol.Limits, ok bool) {
	for _, g := range p.Grants {
		ok = ok || g.Capability == protocol.CodeRun
	}
	return p.Level, p.Limits, ok
}

// Covered reports whether a page with these headers can reach a host. If not, the page must be
// reloaded with the headers of [Use].
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
