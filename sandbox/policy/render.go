package policy

import (
	"slices"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/protocol"
)

// pageUse returns the requirements for the headers of a page with this policy, see [Headers].
func pageUse(p *Policy, more ...string) (headers.Use, error) {
	u := headers.Use{Connect: append(hosts(p), more...)}
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

// Headers returns the headers of a page with this policy: its Content-Security-Policy,
// Connection-Allowlist and Permissions-Policy. They cover the widest access that the policy can
// ever allow, because a page's headers can't change without a reload. Narrower limits are enforced
// by the fetch broker. More are hosts that the app itself needs in addition, such as the model's
// provider. A host that no header can express, such as an IPv6 address, is an error.
func Headers(p *Policy, more ...string) (headers.Headers, error) {
	u, err := pageUse(p, more...)
	if err != nil {
		return headers.Headers{}, err
	}
	return headers.For(u)
}

// hosts returns the host patterns that the policy can ever allow.
func hosts(p *Policy) []string {
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
