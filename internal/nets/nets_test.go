package nets

import (
	"net/netip"
	"testing"
)

func TestPrivate(t *testing.T) {
	for _, host := range []string{"localhost", "intranet", "a.localhost", "printer.local", "db.internal", "nas.home.arpa", "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "0.0.0.0", "0.1.2.3",
		"100.64.0.1", "100.127.255.255", "192.0.0.1", "198.18.0.1", "198.19.255.255", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "[::1]", "fe80::1", "fe80::1%eth0", "fc00::1", "fdff::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
		"::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1"} {
		if !Private(host) {
			t.Errorf("%s is not private", host)
		}
	}
	for _, host := range []string{"example.com", "local.example", "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.0.1", "198.17.0.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111", "2a00::1", "::ffff:1.1.1.1", "64:ff9b::101:101", "2003::1", "2001:200::1"} {
		if Private(host) {
			t.Errorf("%s is private", host)
		}
	}
	if Special(netip.MustParseAddr("1.1.1.1")) || !Special(netip.Addr{}) {
		t.Error("an address on the internet is special, or none is not")
	}
}
