package policy

import (
	"errors"
	"net/netip"
	"strings"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// NetPolicy is the part of a policy about hosts. The zero policy allows no host, and an unlisted
// host gives [protocol.ActionAsk]. Content-Security-Policy has no deny list, so the sender of a request must
// call this policy for each hop of its redirects.
type NetPolicy struct {
	// Allowed are the hosts that may be reached.
	Allowed []protocol.HostPattern
	Denied  []protocol.HostPattern // checked before Allowed

	// Reasons are explanations of entries of Denied, by the text of the entry. They are sent to the
	// model.
	Reasons map[string]string
	// DeniedAddresses are ranges that an allowed name must not resolve to. A page cannot see the
	// address of a name. If the list is not empty, an allowed name therefore gives [protocol.ActionAsk], and
	// only an address in Allowed is allowed at once.
	DeniedAddresses []netip.Prefix
	// StrictAllowlist denies unlisted hosts. By default they give [protocol.ActionAsk].
	StrictAllowlist bool
}

// Decide returns the decision about a request to "host" or "host:port". A bad host is denied.
func (n *NetPolicy) Decide(hostport string) Decision {
	host, port, err := protocol.SplitHost(hostport)
	if err != nil {
		return deny(err.Error())
	}
	for _, d := range n.Denied {
		if !d.MatchDeny(host, port) {
			continue
		}
		if why := n.Reasons[d.String()]; why != "" {
			return deny(why)
		}
		return Decision{Action: protocol.ActionDeny, Reason: "the policy denies this host", Private: "denied by deniedDomains " + strictjson.Quote(d.String())}
	}
	for _, a := range n.Allowed {
		if !a.Match(host, port) {
			continue
		}
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil && len(n.DeniedAddresses) > 0 {
			return ask("deniedResolvedAddresses forbids addresses, and it can't be seen here which one the name resolves to")
		}
		return allow()
	}
	if n.StrictAllowlist {
		return deny("not among allowedDomains")
	}
	return ask("not among allowedDomains")
}

// Check is Decide without a user to ask. It returns nil for allow, else an *[protocol.Error] with
// [protocol.ErrCapabilityDenied]. The text does not contain the entry that denied, see [protocol.FSPolicy.Check].
func (n *NetPolicy) Check(hostport string) error {
	if d := n.Decide(hostport); d.Action != protocol.ActionAllow {
		e := protocol.Errorf(protocol.ErrCapabilityDenied, "fetch", strictjson.Quote(hostport), "%s", d.Reason)
		if d.Private != "" {
			e.Err = errors.New(d.Private)
		}
		return e
	}
	return nil
}

// parseRange returns the range of an address or of a CIDR text such as 10.0.0.0/8.
func parseRange(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

func parseHosts(key string, texts []string, deny bool, o *Options) ([]protocol.HostPattern, error) {
	if len(texts) > maxEntries {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "policy", key, "has more than %d hosts", maxEntries)
	}
	var list []protocol.HostPattern
	for _, text := range texts {
		full, err := expandPlain(text, o.Vars)
		if err != nil {
			return nil, err
		}
		p, err := parseHost(full, deny)
		if err != nil {
			return nil, err
		}
		list = append(list, p.WithText(text))
	}
	return list, nil
}

// parseHost returns the pattern of an entry of a list. deny is whether the list denies.
func parseHost(text string, deny bool) (protocol.HostPattern, error) {
	if deny {
		return protocol.ParseDeniedHost(text)
	}
	return protocol.ParseHost(text)
}
