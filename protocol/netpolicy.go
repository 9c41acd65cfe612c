package protocol

import (
	"net/netip"
	"strings"
)

// NetPolicy says which hosts may be reached. The zero policy reaches none; what
// it does not mention may be asked about. Content-Security-Policy has no deny
// list, so whoever sends the request must ask here, for each hop.
type NetPolicy struct {
	Allowed []HostPattern
	Denied  []HostPattern // looked at first

	// Reasons explains entries of Denied, by their text.
	Reasons map[string]string
	// DeniedAddresses are ranges that an allowed name must not resolve to. A page does not
	// see which address a name resolves to, so with any of them here an allowed name is
	// asked about; only an address that Allowed spells out is allowed.
	DeniedAddresses []netip.Prefix
	// StrictAllowlist makes what is not mentioned denied instead of asked about.
	StrictAllowlist bool
}

// Decide says what is to happen with a request to "host" or "host:port".
func (n *NetPolicy) Decide(hostport string) Decision {
	host, port, err := SplitHost(hostport)
	if err != nil {
		return Deny(err.Error())
	}
	for _, d := range n.Denied {
		if !d.matchDeny(host, port) {
			continue
		}
		if why := n.Reasons[d.text]; why != "" {
			return Deny(why)
		}
		return Decision{Action: ActionDeny, Reason: "the policy denies this host", Private: "denied by deniedDomains " + quote(d.text)}
	}
	for _, a := range n.Allowed {
		if !a.Match(host, port) {
			continue
		}
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil && len(n.DeniedAddresses) > 0 {
			return Ask("deniedResolvedAddresses forbids addresses, and it can't be seen here which one the name resolves to")
		}
		return Allow()
	}
	if n.StrictAllowlist {
		return Deny("not among allowedDomains")
	}
	return Ask("not among allowedDomains")
}

// Check is Decide with nobody to ask: nil, or an *[Error] with [ErrCapabilityDenied]. The entry
// that denies is not in its text; see [FSPolicy.Check].
func (n *NetPolicy) Check(hostport string) error {
	if d := n.Decide(hostport); d.Action != ActionAllow {
		return byEntry("fetch", hostport, d.Reason, d.Private)
	}
	return nil
}

// parseRange reads an address or a range of them in CIDR form.
func parseRange(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

func parseHosts(key string, texts []string, deny bool, o *PolicyOptions) ([]HostPattern, error) {
	if len(texts) > MaxPatterns {
		return nil, Errorf(ErrInvalidParams, "policy", key, "has more than %d hosts", MaxPatterns)
	}
	var list []HostPattern
	for _, text := range texts {
		full, err := expandPlain(text, o.Vars)
		if err != nil {
			return nil, err
		}
		p, err := parseHost(full, deny)
		if err != nil {
			return nil, err
		}
		p.text = text
		list = append(list, p)
	}
	return list, nil
}
