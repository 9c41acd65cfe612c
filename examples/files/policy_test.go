//go:build !js

package main_test

import (
	"net/url"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// The page's policy reads at once, asks before each change and denies the network.
func TestThePolicyAsksBeforeChanges(t *testing.T) {
	text, err := os.ReadFile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(string(text), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool string
		need policy.Need
		want protocol.Action
	}{
		{"read", policy.Need{Capability: protocol.FSRead, Subject: "notes.md"}, protocol.ActionAllow},
		{"read", policy.Need{Capability: protocol.FSRead, Subject: "app/.env"}, protocol.ActionDeny},
		{"write", policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: ".env.local"}, protocol.ActionDeny},
		{"write", policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: "notes.md"}, protocol.ActionAsk},
		{"delete", policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: "notes.md", Tree: true, Destroys: true}, protocol.ActionAsk},
		{"web_fetch", policy.Need{Capability: protocol.NetFetch, Subject: "example.com:443"}, protocol.ActionDeny},
	} {
		if e, err := policy.Explain(p, policy.Call{Tool: c.tool, Needs: []policy.Need{c.need}}); err != nil || e.Decision.Action != c.want {
			t.Errorf("%s: %v, %v, want %s", c.tool, e.Decision, err, c.want)
		}
	}
}

// The policy names the host of each provider in the settings, and no other host.
func TestThePolicyNamesTheProviders(t *testing.T) {
	text, err := os.ReadFile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(string(text), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	use, err := policy.PageUse(p)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("settings/provider_js.go")
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, m := range regexp.MustCompile(`\{"(https?://[^"]+)", "`).FindAllStringSubmatch(string(source), -1) {
		u, err := url.Parse(m[1])
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, u.Host)
	}
	hosts = append(hosts, "127.0.0.1:8730") // of bailey-box -origin
	slices.Sort(hosts)
	if !slices.Equal(hosts, use.Connect) {
		t.Errorf("the providers are at %v, and the policy names %v", hosts, use.Connect)
	}
}
