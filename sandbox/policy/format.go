package policy

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/protocol"
)

// Format returns a policy as indented JSON. [Parse] reads it to a policy with the same decisions,
// given the same variables. The entries in Policy.Inapplicable are not part of it.
func Format(p *Policy) string {
	type object = map[string]any
	doc := object{
		"filesystem":   filesystem(&p.FS),
		"network":      network(&p.Net),
		"capabilities": capabilities(p.Grants),
	}
	var secret []object
	for _, c := range p.FS.Credentials {
		secret = append(secret, object{"path": c.String(), "mode": "deny"})
	}
	if len(secret) > 0 {
		doc["credentials"] = object{"files": secret}
	}
	if len(p.Rules) > 0 {
		doc["rules"] = p.Rules
	}
	s := object{}
	if p.Send.Default != "" {
		s["default"] = p.Send.Default
	}
	if p.Send.Above != 0 {
		s["above"] = p.Send.Above
	}
	put(s, "contents", texts(p.Send.Contents))
	put(s, "summaries", texts(p.Send.Summaries))
	put(s, "nothing", texts(p.Send.Nothing))
	if len(s) > 0 {
		doc["send"] = s
	}
	if limits := p.Limits.Named(); p.Level != protocol.Strict || len(limits) > 0 {
		e := object{"level": p.Level.String()}
		if len(limits) > 0 {
			e["limits"] = limits
		}
		doc["enclave"] = e
	}
	if !reflect.DeepEqual(p.Page, headers.Use{}) {
		doc["page"] = p.Page
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return "" // a Rule's time outside of the years 0 to 9999, which Validate would have to accept first
	}
	return b.String()
}

func filesystem(f *protocol.FSPolicy) map[string]any {
	out := map[string]any{}
	put(out, "denyRead", texts(f.DenyRead))
	put(out, "allowRead", texts(f.AllowRead))
	put(out, "allowWrite", texts(f.AllowWrite))
	put(out, "denyWrite", texts(f.DenyWrite))
	if f.AllowGitConfig {
		out["allowGitConfig"] = true
	}
	return out
}

func network(n *NetPolicy) map[string]any {
	out := map[string]any{}
	put(out, "allowedDomains", texts(n.Allowed))
	put(out, "deniedDomains", texts(n.Denied))
	if len(n.Reasons) > 0 {
		out["deniedDomainReasons"] = n.Reasons
	}
	put(out, "deniedResolvedAddresses", texts(n.DeniedAddresses))
	if n.StrictAllowlist {
		out["strictAllowlist"] = true
	}
	return out
}

func capabilities(grants []protocol.Grant) map[string]any {
	out := map[string]any{}
	for _, g := range grants {
		if !g.Capability.TakesScope() {
			out[string(g.Capability)] = true
			continue
		}
		had, _ := out[string(g.Capability)].([]string)
		out[string(g.Capability)] = append(append([]string{}, had...), g.Scope...)
	}
	return out
}

func texts[T interface{ String() string }](list []T) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.String())
	}
	return out
}

func put(m map[string]any, key string, list []string) {
	if len(list) > 0 {
		m[key] = list
	}
}
