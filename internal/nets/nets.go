// Package nets tells the names and addresses of private networks from those of the internet. It resolves no
// name, so a public name that resolves to a private address is not one of them.
package nets

import (
	"net/netip"
	"slices"
	"strings"
)

// Private reports whether a host, as of protocol.SplitHost, is on the machine or in the network of the one
// that asks for it.
func Private(host string) bool {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return Special(a)
	}
	return !strings.Contains(host, ".") || slices.ContainsFunc([]string{".localhost", ".local", ".internal", ".home.arpa"}, func(s string) bool { return strings.HasSuffix(host, s) })
}

// Special reports whether an address is not one of a host on the internet: of this machine, of a private
// network, or of a range with another purpose. An IPv4 address in one of IPv6 is taken as itself.
func Special(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return true
	}
	for _, p := range strings.Fields(special) {
		if prefix, err := netip.ParsePrefix(p); err != nil || prefix.Contains(a) {
			return true
		}
	}
	if gateway := netip.PrefixFrom(netip.AddrFrom16([16]byte{1: 0x64, 2: 0xff, 3: 0x9b}), 96); gateway.Contains(a) { // to IPv4 (RFC 6052)
		b := a.As16()
		return Special(netip.AddrFrom4([4]byte(b[12:])))
	}
	return false
}

// special are the ranges for other purposes, of the registries of IANA (RFC 6890), as far as net/netip does not
// know them: a provider's NAT, protocols, documentation, benchmarks, the future, and old ways from IPv6 to IPv4.
const special = `0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4
	::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fec0::/10`
