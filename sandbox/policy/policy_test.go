package policy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func ExampleExplain() {
	p, err := policy.Parse(`{
		"filesystem": {"denyRead": ["private"], "allowWrite": ["notes"]},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "write", "pattern": "notes/**", "action": "ask"}]
	}`, policy.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, _ := policy.Explain(p, policy.Call{Tool: "write", Needs: []policy.Need{{Capability: protocol.FSWrite, Subject: "notes/today.md"}}})
	fmt.Println(e)
	e, _ = policy.Explain(p, policy.Call{Tool: "read", Needs: []policy.Need{{Capability: protocol.FSRead, Subject: "private/diary.md"}}})
	fmt.Println(e)
	// Output:
	// capability: fs.write on notes/today.md: allow
	// rules: fs.write on notes/today.md: ask, rule ask write on "notes/**"
	// so: ask, rule ask write on "notes/**"
	// capability: fs.read on private/diary.md: deny, denied by denyRead "private"
	// so: deny, denied by denyRead "private"
}

func TestFlags(t *testing.T) {
	p, err := policy.FromFlags([]string{"--allow-read=src,docs", "-W=out", "--allow-net=api.example.com:443", "--deny-read=src/secret", "--deny-net=evil.com", "--allow-env=LANG", "--allow-run=ls", "--deny-run=rm", "--no-prompt"}, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]protocol.Action{
		"x read fs.read src/a": protocol.ActionAllow, "x read fs.read src/secret/a": protocol.ActionDeny, "x read fs.read b": protocol.ActionDeny,
		"x write fs.write out/a": protocol.ActionAllow, "x write fs.write src/a": protocol.ActionDeny, "x f net.fetch api.example.com:443": protocol.ActionAllow,
		"x f net.fetch api.example.com:80": protocol.ActionDeny, "x e env.read LANG": protocol.ActionAllow, "x e env.read HOME": protocol.ActionDeny,
		"x b shell.run ls": protocol.ActionAllow, "x b shell.run rm": protocol.ActionDeny, "x c code.run": protocol.ActionDeny,
	} {
		_, c := parseRow(t, row)
		if e, err := policy.Explain(p, c); err != nil || e.Decision.Action != want {
			t.Errorf("%s: %v %v", row, e, err)
		}
	}
	if len(p.Inapplicable) != 1 || p.Inapplicable[0] != "--no-prompt" {
		t.Errorf("inapplicable: %v", p.Inapplicable)
	}
	for _, bad := range []string{"--allow-all", "-A", "--allow-net", "--allow-raed=x", "--allow-read=/etc", "--allow-read=~", "--allow-read=", "--allow-read=..", "--allow-net=*", "allow-read"} {
		if p, err := policy.FromFlags([]string{bad}, policy.Options{}); err == nil {
			t.Errorf("%s: %s", bad, policy.Format(p))
		}
	}
	if p, err := policy.FromFlags([]string{"-R"}, policy.Options{}); err != nil || len(p.Grants) != 1 || p.Grants[0].Scope[0] != "." {
		t.Errorf("-R: %v %v", p, err)
	}
	if p, err := policy.FromFlags(nil, policy.Options{}); err != nil || len(p.Grants) != 0 {
		t.Errorf("no flags: %v %v", p, err)
	}
}

func TestBTCP(t *testing.T) {
	p, err := policy.FromBTCP([]string{"dom:read", "code:execute", "network:fetch:https://api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]protocol.Action{"x a dom.read": protocol.ActionAllow, "x a dom.write": protocol.ActionDeny, "x a code.run": protocol.ActionAllow,
		"x a net.fetch api.example.com:443": protocol.ActionAllow, "x a net.fetch b.com": protocol.ActionDeny} {
		_, c := parseRow(t, row)
		if e, err := policy.Explain(p, c); err != nil || e.Decision.Action != want {
			t.Errorf("%s: %v %v", row, e, err)
		}
	}
	if _, err := policy.FromBTCP([]string{"dom:reed"}); err == nil {
		t.Error("a misspelt capability passes")
	}
}

func TestUnknownKeysAreErrors(t *testing.T) {
	for _, text := range []string{`{"filesytem":{}}`, `{"filesystem":{"denyReed":[]}}`, `{"network":{"allowDomains":[]}}`, `{"rules":[{"permission":"read","acton":"deny"}]}`,
		`{"send":{"noting":["a"]}}`, `{"send":{"default":"all"}}`, `{"enclave":{"limits":{"Tiem":1}}}`, `{"enclave":{"limits":{"Time":1}}}`, `{"enclave":{"level":"strict"}}`, `{"capabilities":{"fs.raed":["."]}}`, `[]`, ``} {
		if p, err := policy.Parse(text, policy.Options{}); err == nil {
			t.Errorf("%s: %s", text, policy.Format(p))
		}
	}
	p, err := policy.Parse(`{"network":{"allowedDomains":[],"allowUnixSockets":["/x"],"mitmProxy":{}},"seccomp":{},"allowPty":true}`, policy.Options{})
	if err != nil || strings.Join(p.Inapplicable, " ") != "allowPty network.allowUnixSockets network.mitmProxy seccomp" {
		t.Errorf("%v %v", p, err)
	}
}

// arbitrary returns a random policy with a few patterns and rules.
func arbitrary(r *rand.Rand) *policy.Policy {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	paths := func() string {
		var out []string
		for range r.IntN(3) {
			out = append(out, `"`+pick(".", "a", "a/**", "*.txt", "a/*", "**/b", "b", "a/b")+`"`)
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	var rules []string
	for range r.IntN(4) {
		perm := pick("*", "fs.read", "fs.write", "write", "read", "delete")
		rules = append(rules, fmt.Sprintf(`{"permission":%q,"pattern":%q,"action":%q,"source":%q}`, perm, pick("", "a/**", "b", "*"), pick("allow", "allow", "ask", "deny"), pick("manifest", "user")))
	}
	text := fmt.Sprintf(`{"filesystem":{"denyRead":%s,"allowRead":%s,"allowWrite":%s,"denyWrite":%s},"rules":[%s]}`, paths(), paths(), paths(), paths(), strings.Join(rules, ","))
	p, err := policy.Parse(text, policy.Options{})
	if err != nil {
		panic(text + ": " + err.Error())
	}
	return p
}

func calls() (out []policy.Call) {
	for _, path := range []string{".", "a", "b", "a/b", "a/c.txt", "x.txt", "d/b", "a/b/c"} {
		out = append(out,
			policy.Call{Tool: "read", Needs: []policy.Need{{Capability: protocol.FSRead, Subject: path}}},
			policy.Call{Tool: "write", Needs: []policy.Need{{Capability: protocol.FSWrite, Subject: path}}},
			policy.Call{Tool: "delete", Needs: []policy.Need{{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: path, Destroys: true}}})
	}
	return out
}

func strictness(a protocol.Action) int {
	return map[protocol.Action]int{protocol.ActionAllow: 0, protocol.ActionAsk: 1, protocol.ActionDeny: 2}[a]
}

func decide(t *testing.T, p *policy.Policy, c policy.Call) int {
	t.Helper()
	e, err := policy.Explain(p, c)
	if err != nil {
		t.Fatal(err)
	}
	return strictness(e.Decision.Action)
}

func TestAddingADenyNeverAllowsMore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	must := func(p protocol.Pattern, err error) protocol.Pattern {
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for i := range 800 {
		p := arbitrary(r)
		q := *p
		pattern := []string{"a", "b", "**/b", "*.txt", "."}[r.IntN(5)]
		switch i % 4 {
		case 0:
			q.FS.DenyRead = append(q.FS.DenyRead[:len(q.FS.DenyRead):len(q.FS.DenyRead)], must(protocol.ParsePattern(pattern)))
		case 1:
			q.FS.DenyWrite = append(q.FS.DenyWrite[:len(q.FS.DenyWrite):len(q.FS.DenyWrite)], must(protocol.ParsePattern(pattern)))
		case 2:
			q.Rules = append(q.Rules[:len(q.Rules):len(q.Rules)], policy.Rule{Permission: "fs.write", Pattern: pattern, Action: protocol.ActionDeny, Source: policy.SourceManifest})
		case 3:
			q.Rules = append(q.Rules[:len(q.Rules):len(q.Rules)], policy.Rule{Permission: "read", Pattern: "", Action: protocol.ActionDeny, Source: policy.SourceManifest})
		}
		for _, c := range calls() {
			if a, b := decide(t, p, c), decide(t, &q, c); b < a {
				t.Fatalf("a deny on %s allows %v: %d to %d under\n%s", pattern, c, a, b, policy.Format(p))
			}
		}
	}
}

func TestNarrowerAuthorityNeverAllowsMore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		p := arbitrary(r)
		c, err := policy.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		child, err := protocol.NewAuthority(protocol.Grant{Capability: protocol.FSRead, Scope: []string{"a"}}, protocol.Grant{Capability: protocol.FSWrite, Scope: []string{"a/b", "b"}}, protocol.Grant{Capability: protocol.CodeRun})
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls() {
			parent := c.Explain(call, c.Authority(), nil).Decision.Action
			sub := c.Explain(call, c.Authority().Intersect(child), nil).Decision.Action
			if strictness(sub) < strictness(parent) {
				t.Fatalf("a subagent may more: %v, %s and %s under\n%s", call, parent, sub, policy.Format(p))
			}
		}
	}
}

func TestOneValueRendersThePage(t *testing.T) {
	p, err := policy.Parse(`{"capabilities":{"net.fetch":["api.example.com","*.x.org"],"media.camera":true,"code.run":true},"network":{"allowedDomains":["api.example.com"]},"page":{"connect":["api.anthropic.com"],"features":["microphone"]},
		"enclave":{"level":"SECURE","limits":{"Time":2000,"ToolCalls":7}}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u, err := policy.PageUse(p)
	if err != nil {
		t.Fatal(err)
	}
	h, err := headers.For(u)
	if err != nil {
		t.Fatal(err)
	}
	connect, _ := h.CSP.Get("connect-src")
	for _, want := range []string{"https://api.example.com", "https://*.x.org", "https://api.anthropic.com"} {
		if !strings.Contains(strings.Join(connect, " "), want) {
			t.Errorf("connect-src %v lacks %s", connect, want)
		}
	}
	var all string
	for _, header := range h.List() {
		all += header.Name + ": " + header.Value + "\n"
	}
	if !strings.Contains(all, "camera=(self)") || !strings.Contains(all, "microphone=(self)") || strings.Contains(all, "display-capture=(self)") || !strings.Contains(all, "*.x.org") {
		t.Error(all)
	}
	for host, want := range map[string]bool{"api.example.com": true, "a.x.org": true, "x.org": false, "api.openai.com": false, "api.anthropic.com:443": true} {
		if got := h.Reaches(host); got != want {
			t.Errorf("%s covered: %t", host, got)
		}
	}
	if p.Level != protocol.Secure || p.Limits.Time.Milliseconds() != 2000 || p.Limits.ToolCalls != 7 {
		t.Errorf("enclave: %v %+v", p.Level, p.Limits)
	}
	if _, err := policy.PageUse(&policy.Policy{Grants: []protocol.Grant{{Capability: protocol.NetFetch, Scope: []string{"[::1]:80"}}}}); err == nil {
		t.Error("what no header can say is not told")
	}
}
