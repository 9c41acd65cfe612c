package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

func TestCapabilityNamesAndAliases(t *testing.T) {
	for text, want := range map[string]protocol.Capability{
		"fs.read": protocol.FSRead, "code:execute": protocol.CodeRun, "code.run": protocol.CodeRun,
		"network:fetch": protocol.NetFetch, "dom:read": protocol.DOMRead, "secrets:use": protocol.SecretUse,
		"media:screen": protocol.Screen, "geolocation": protocol.Geolocation,
	} {
		if got, err := protocol.ParseCapability(text); err != nil || got != want {
			t.Errorf("%s = %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "fs", "FS.READ", "fs.read ", "fs.*", "dom:", "constructor"} {
		if _, err := protocol.ParseCapability(text); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, c := range protocol.Capabilities() {
		if got, err := protocol.ParseCapability(string(c)); err != nil || got != c {
			t.Errorf("%s does not parse to itself", c)
		}
		switch c.Risk() {
		case protocol.RiskLow, protocol.RiskMedium, protocol.RiskHigh, protocol.RiskCritical:
		default:
			t.Errorf("%s has no risk", c)
		}
	}
	if protocol.Capability("nope").Risk() != protocol.RiskCritical {
		t.Error("what is not known must count as critical")
	}
}

// No capability includes another.
func TestCapabilitiesAreSeparate(t *testing.T) {
	for _, held := range protocol.Capabilities() {
		g := protocol.Grant{Capability: held}
		switch {
		case held.TakesPaths():
			g.Scope = []string{"."}
		case held.TakesHosts():
			g.Scope = []string{"example.com"}
		case held.TakesScope():
			g.Scope = []string{"*"}
		}
		a, err := protocol.NewAuthority(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, wanted := range protocol.Capabilities() {
			subject := "x"
			if wanted.TakesHosts() {
				subject = "example.com"
			}
			if got := a.Check(wanted, subject) == nil; got != (held == wanted) || a.Has(wanted) != (held == wanted) {
				t.Errorf("%s gives %s: %t", held, wanted, got)
			}
		}
	}
}

// A capability of another system without anything behind it is an error that says so.
func TestCapabilitiesWithoutAnImplementation(t *testing.T) {
	for _, name := range []string{"storage.local.read", "storage:cookie:write", "storage.indexed.write", "notifications"} {
		if _, err := protocol.ParseCapability(name); !errors.Is(err, protocol.ErrInvalidParams) || !strings.Contains(err.Error(), "leave it out") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func authority(t *testing.T, grants ...protocol.Grant) protocol.Authority {
	t.Helper()
	a, err := protocol.NewAuthority(grants...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestScopes(t *testing.T) {
	a := authority(t,
		protocol.Grant{Capability: protocol.FSRead, Scope: []string{"src", "*.md"}},
		protocol.Grant{Capability: protocol.FSWrite},
		protocol.Grant{Capability: protocol.NetFetch, Scope: []string{"api.example.com:443", "*.cdn.example.com"}},
		protocol.Grant{Capability: protocol.ShellRun, Scope: []string{"ls", "grep"}},
		protocol.Grant{Capability: protocol.Geolocation},
	)
	for _, c := range []struct {
		cap     protocol.Capability
		subject string
		want    bool
	}{
		{protocol.FSRead, "src/main.go", true},
		{protocol.FSRead, "src", true},
		{protocol.FSRead, "README.md", true},
		{protocol.FSRead, "docs/README.md", false},
		{protocol.FSRead, "srcs", false},
		{protocol.FSRead, "", false},
		{protocol.FSRead, "../src/x", false},
		{protocol.FSRead, "/src/x", false},
		{protocol.FSWrite, "src/main.go", false},
		{protocol.NetFetch, "api.example.com:443", true},
		{protocol.NetFetch, "API.Example.Com.:443", true},
		{protocol.NetFetch, "api.example.com", false}, // the port is not known
		{protocol.NetFetch, "api.example.com:8443", false},
		{protocol.NetFetch, "a.cdn.example.com", true},
		{protocol.NetFetch, "cdn.example.com", false},
		{protocol.NetFetch, "", false},
		{protocol.ShellRun, "ls", true},
		{protocol.ShellRun, "rm", false},
		{protocol.ShellRun, "", false},
		{protocol.Geolocation, "", true},
		{protocol.Camera, "", false},
		{"unknown", "", false},
	} {
		err := a.Check(c.cap, c.subject)
		if (err == nil) != c.want {
			t.Errorf("%s on %q: %v", c.cap, c.subject, err)
		}
		if err != nil && !errors.Is(err, protocol.ErrCapabilityDenied) && !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%s on %q: %v has no fitting code", c.cap, c.subject, err)
		}
	}
	if a.Has(protocol.FSWrite) {
		t.Error("an empty scope grants something")
	}
}

func TestBadGrantsAreErrors(t *testing.T) {
	for _, g := range []protocol.Grant{
		{Capability: "nope"},
		{Capability: protocol.Geolocation, Scope: []string{"here"}},
		{Capability: protocol.FSRead, Scope: []string{""}},
		{Capability: protocol.FSRead, Scope: []string{"/etc"}},
		{Capability: protocol.FSRead, Scope: []string{"a/../b"}},
		{Capability: protocol.NetFetch, Scope: []string{"*:443"}},
		{Capability: protocol.NetFetch, Scope: []string{"*.com"}},
		{Capability: protocol.NetFetch, Scope: []string{"https://example.com"}},
		{Capability: protocol.ShellRun, Scope: []string{""}},
		{Capability: protocol.ShellRun, Scope: []string{"/bin/sh"}},
		{Capability: protocol.ShellRun, Scope: []string{"ls; rm"}},
	} {
		if _, err := protocol.NewAuthority(g); err == nil {
			t.Errorf("%v is taken", g)
		}
	}
}

// Only the app itself can grant every host: a policy's text can't.
func TestEveryHost(t *testing.T) {
	a := authority(t, protocol.Grant{Capability: protocol.NetFetch, Scope: []string{"*"}})
	for _, host := range []string{"example.com", "example.com:8443", "127.0.0.1:80", "[::1]:443"} {
		if err := a.Check(protocol.NetFetch, host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, bad := range []string{"", "a b", "https://example.com"} {
		if a.Check(protocol.NetFetch, bad) == nil {
			t.Errorf("%q is a host", bad)
		}
	}
	narrow := a.Intersect(authority(t, protocol.Grant{Capability: protocol.NetFetch, Scope: []string{"example.com"}}))
	if narrow.Check(protocol.NetFetch, "example.com") != nil || narrow.Check(protocol.NetFetch, "evil.org") == nil {
		t.Error("every host widens another layer")
	}
}

func TestIntersection(t *testing.T) {
	host := authority(t,
		protocol.Grant{Capability: protocol.FSRead, Scope: []string{"src"}},
		protocol.Grant{Capability: protocol.FSWrite, Scope: []string{"src/out"}},
		protocol.Grant{Capability: protocol.DOMRead})
	tool, err := protocol.RequiredAuthority(
		protocol.Grant{Capability: protocol.FSRead},
		protocol.Grant{Capability: protocol.FSWrite, Scope: []string{"**/*.txt"}},
		protocol.Grant{Capability: protocol.DOMRead},
		protocol.Grant{Capability: protocol.NetFetch})
	if err != nil {
		t.Fatal(err)
	}
	parent := authority(t, protocol.Grant{Capability: protocol.FSRead, Scope: []string{"src/**/*.go"}},
		protocol.Grant{Capability: protocol.DOMRead})
	both := host.Intersect(tool)
	all := both.Intersect(parent)
	for _, c := range []struct {
		name    string
		a       protocol.Authority
		cap     protocol.Capability
		subject string
		want    bool
	}{
		{"an unscoped need narrows nothing", both, protocol.FSRead, "src/a", true},
		{"and mints nothing", both, protocol.NetFetch, "example.com", false},
		{"outside the host's scope", both, protocol.FSRead, "lib/a", false},
		{"both scopes", both, protocol.FSWrite, "src/out/a.txt", true},
		{"only the host's", both, protocol.FSWrite, "src/out/a.exe", false},
		{"only the tool's", both, protocol.FSWrite, "a.txt", false},
		{"both have it", both, protocol.DOMRead, "", true},
		{"not needed", both, protocol.ClipboardRead, "", false},
		{"the parent narrows", all, protocol.FSRead, "src/a.go", true},
		{"the parent's no is final", all, protocol.FSRead, "src/a.c", false},
		{"the parent has no write", all, protocol.FSWrite, "src/out/a.txt", false},
		{"nothing with something is nothing", host.Intersect(protocol.Authority{}), protocol.FSRead, "src/a", false},
		{"nothing", protocol.Authority{}, protocol.DOMRead, "", false},
	} {
		if err := c.a.Check(c.cap, c.subject); (err == nil) != c.want {
			t.Errorf("%s: %s on %q: %v", c.name, c.cap, c.subject, err)
		}
	}
	if got := all.Capabilities(); len(got) != 2 || got[0] != protocol.FSRead || got[1] != protocol.DOMRead {
		t.Errorf("left over: %v", got)
	}
	// Intersecting the same authority twice must not write into a shared array.
	x, y := both.Intersect(parent), both.Intersect(host)
	if x.Check(protocol.FSWrite, "src/out/a.txt") == nil || y.Check(protocol.FSWrite, "src/out/a.txt") != nil {
		t.Error("two intersections share their layers")
	}
}
