package policy_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// The headers of a page reach no host that its policy can never allow, beside those of the section page.
// Off are the headers of all granted hosts.
func TestAttackHeadersWiderThanThePolicy(t *testing.T) {
	a := attack.Start(t, "headers")
	for _, c := range []struct {
		text  string
		never string // hosts that the headers must not reach
		reach string // hosts that they must reach, so that the page works
	}{
		{`{}`, "api.example.com", ""},
		{`{"network": {"allowedDomains": ["api.example.com"]}}`, "x.example.com", "api.example.com"},
		{`{"network": {"allowedDomains": ["api.example.com"]}, "capabilities": {}}`, "api.example.com", ""},
		{`{"network": {"allowedDomains": ["api.example.com"]}, "capabilities": {"net.fetch": []}}`, "api.example.com", ""},
		{`{"capabilities": {"net.fetch": ["api.example.com"]}}`, "example.com x.api.example.com api.example.org", "api.example.com"},
		{`{"capabilities": {"net.fetch": ["*.example.com"]}}`, "example.com example.com.evil.org", "a.example.com"},
		{`{"capabilities": {"net.fetch": ["api.example.com"]}, "network": {"deniedDomains": ["api.example.com"]}}`, "api.example.com", ""},
		{`{"capabilities": {"net.fetch": ["api.example.com"]}, "network": {"deniedDomains": ["*"]}}`, "api.example.com", ""},
		{`{"capabilities": {"net.fetch": ["*.example.com"]}, "network": {"deniedDomains": ["*.example.com"]}}`, "api.example.com", ""},
		{`{"capabilities": {"net.fetch": ["*.api.example.com"]}, "network": {"deniedDomains": ["*.example.com"]}}`, "x.api.example.com", ""},
		{`{"capabilities": {"net.fetch": ["api.example.com"]}, "network": {"allowedDomains": [], "strictAllowlist": true}}`, "api.example.com", ""},
		{`{"capabilities": {"net.fetch": ["*.example.com"]}, "network": {"allowedDomains": ["a.example.com", "b.example.org"], "strictAllowlist": true}}`, "x.example.com b.example.org", "a.example.com"},
		{`{"capabilities": {"net.fetch": ["*.example.com"]}, "network": {"allowedDomains": ["*.a.example.com"], "strictAllowlist": true}}`, "x.example.com", "x.a.example.com"},
		{`{"capabilities": {"net.fetch": ["*.example.com"]}, "network": {"allowedDomains": ["a.example.com"], "deniedDomains": ["a.example.com"], "strictAllowlist": true}}`, "a.example.com", ""},
		{`{"capabilities": {"net.fetch": ["api.example.com"]}, "rules": [{"permission": "net.fetch", "action": "deny", "source": "manifest"}]}`, "api.example.com", ""},
		{`{"capabilities": {"net.fetch": ["api.example.com"]}, "rules": [{"permission": "*", "action": "deny", "source": "manifest"}]}`, "api.example.com", ""},
		{`{"capabilities": {"net.fetch": ["api.example.com:8443"]}}`, "api.example.com:443", "api.example.com:8443"},
		{`{"page": {"connect": ["api.example.com"]}}`, "x.example.com", "api.example.com"},
	} {
		p, err := policy.Parse(c.text, policy.Options{})
		if err != nil {
			t.Fatal(c.text, err)
		}
		u, err := policy.PageUse(p)
		if err != nil {
			t.Fatal(c.text, err)
		}
		h, err := headers.For(u)
		if err != nil {
			t.Fatal(c.text, err)
		}
		for host := range strings.FieldsSeq(c.never) {
			a.Try(c.text, h.Reaches(host))
			if h.Reaches(host) {
				t.Errorf("%s reaches %s", c.text, host)
			}
			d := p.Net.Decide(host)
			if e, err := policy.Explain(p, policy.Call{Tool: "web_fetch", Needs: []policy.Need{{Capability: protocol.NetFetch, Subject: host}}}); err != nil || e.Decision.Action != protocol.ActionDeny {
				t.Errorf("%s: the policy itself decides %s as %v, %v", c.text, host, d, err)
			}
		}
		for host := range strings.FieldsSeq(c.reach) {
			if !h.Reaches(host) {
				t.Errorf("%s does not reach %s: %s", c.text, host, h.CSP)
			}
		}
		open := policy.Policy{Grants: append(p.Grants, protocol.Grant{Capability: protocol.NetFetch, Scope: []string{"*.example.com"}})}
		if u, err = policy.PageUse(&open); err == nil {
			h, err = headers.For(u)
		}
		a.Off(c.text, err == nil && h.Reaches(strings.Fields(c.never)[0]))
	}
	for _, bad := range []string{`{"page": {"conect": ["a.com"]}}`, `{"page": []}`, `{"page": {"connect": "a.com"}}`, `{"page": {"connect": [1]}}`, `{"page": {"Connect": ["a.com"]}}`} {
		if _, err := policy.Parse(bad, policy.Options{}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	for _, bad := range []string{`{"page": {"connect": ["*"]}}`, `{"page": {"connect": ["*.com"]}}`, `{"page": {"connect": ["https://a.com"]}}`, `{"page": {"features": ["cammera"]}}`, `{"page": {"isolation": "no"}}`} {
		p, err := policy.Parse(bad, policy.Options{})
		if err == nil {
			_, err = policy.PageUse(p)
		}
		if err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// The section page is for the page: no tool reaches its hosts, and Format keeps it.
func TestThePagesHostsAreNotTheTools(t *testing.T) {
	p, err := policy.Parse(`{"capabilities": {"net.fetch": ["a.example.com"]}, "page": {"connect": ["b.example.com"], "blobScripts": true}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := policy.Parse(policy.Format(p), policy.Options{})
	if err != nil || !again.Page.BlobScripts || strings.Join(again.Page.Connect, " ") != "b.example.com" {
		t.Errorf("printed and read again: %v %v", again, err)
	}
	for host, want := range map[string]protocol.Action{"a.example.com:443": protocol.ActionAsk, "b.example.com:443": protocol.ActionDeny} {
		e, err := policy.Explain(again, policy.Call{Tool: "web_fetch", Needs: []policy.Need{{Capability: protocol.NetFetch, Subject: host}}})
		if err != nil || e.Decision.Action != want {
			t.Errorf("%s: %v %v", host, e, err)
		}
	}
}
