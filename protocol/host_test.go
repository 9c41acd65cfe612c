package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

func TestHostPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"example.com", []string{"example.com", "EXAMPLE.com", "example.com.", "example.com:443", "example.com:1"}, []string{"a.example.com", "example.org", "xexample.com"}},
		{"Example.COM:443", []string{"example.com:443"}, []string{"example.com", "example.com:80"}},
		{"*.example.com", []string{"a.example.com", "a.b.example.com:8080"}, []string{"example.com", "aexample.com", "example.com.evil.org"}},
		{"*.example.com:443", []string{"a.example.com:443"}, []string{"a.example.com:80", "a.example.com"}},
		{"localhost", []string{"localhost:3000", "LOCALHOST"}, []string{"localhost.evil.com", "a.localhost"}},
		{"127.0.0.1", []string{"127.0.0.1:80"}, []string{"127.0.0.2"}},
		{"[::1]", []string{"[::1]", "[0:0:0:0:0:0:0:1]:80"}, []string{"[::2]"}},
		{"[2001:DB8::1]:443", []string{"[2001:db8:0::1]:443"}, []string{"[2001:db8::1]"}},
		{"xn--bcher-kva.example", []string{"XN--bcher-kva.example"}, nil},
	} {
		p, err := protocol.ParseHost(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for want, hosts := range map[bool][]string{true: c.yes, false: c.no} {
			for _, hp := range hosts {
				host, port, err := protocol.SplitHost(hp)
				if err != nil {
					t.Errorf("%s: %v", hp, err)
				} else if p.Match(host, port) != want {
					t.Errorf("%s on %s: %t", c.pattern, hp, !want)
				}
			}
		}
	}
	for _, text := range []string{
		"", "*", "*:443", "*.com", "*.", "*.*.com", "a*.com", "*a.com", "https://example.com", "example.com/", "user@example.com",
		"example", "com", ".example.com", "example..com", "-a.com", "a-.com", "bücher.example", "a b.com", "example.com:0", "example.com:65536",
		"example.com:", "example.com:080", "example.com:https", "::1", "[::1", "[::1]x", "[127.0.0.1]", "[fe80::1%eth0]", "[::ffff:1.2.3.4]",
		"127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "1.2.3.4.5", "1.2.3.256", "*.1.2.3.4", strings.Repeat("a.", 127) + "com", strings.Repeat("a", 64) + ".com",
	} {
		if p, err := protocol.ParseHost(text); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%q is taken for %v", text, p)
		}
	}
	if (protocol.HostPattern{}).Match("", 0) || (protocol.HostPattern{}).Match("a.com", 0) {
		t.Error("the zero pattern matches")
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"example.com", "*.a.b:443", "[::1]:80", "127.0.0.1", "xn--a.b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, port, err := protocol.SplitHost(s)
		if err == nil {
			again, port2, err := protocol.SplitHost(host)
			if err != nil || again != host || port2 != 0 || port < 0 || port > 65535 {
				t.Errorf("%q → %q → %q, %v", s, host, again, err)
			}
		}
		p, err := protocol.ParseHost(s)
		if err == nil && (p.Match("evil.test", 443) && !strings.EqualFold(strings.TrimSuffix(host, "."), "evil.test") && !strings.HasPrefix(s, "*.")) {
			t.Errorf("%q matches a stranger", s)
		}
	})
}

func TestLoopback(t *testing.T) {
	for s, want := range map[string]bool{"localhost": true, "LOCALHOST.": true, "app.localhost": true, "127.0.0.1": true, "127.9.9.9:80": true, "[::1]": true,
		"127.example.org": false, "127.0.0.1.example.org": false, "notlocalhost": false, "localhost.example.org": false, "128.0.0.1": false, "[::2]": false, "0.0.0.0": false} {
		host, _, err := protocol.SplitHost(s)
		if err != nil || protocol.Loopback(host) != want {
			t.Errorf("%s: %v, %v", s, !want, err)
		}
	}
}
