package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func rule(permission, pattern string, action protocol.Action, source policy.Source) policy.Rule {
	return policy.Rule{Permission: permission, Pattern: pattern, Action: action, Source: source, AddedAt: time.Unix(1, 0)}
}

// effect is one need of a call.
type effect struct {
	Tool       string
	Capability protocol.Capability
	Subject    string
}

func decision(rs policy.Rules, e effect) policy.Decision {
	return rs.Decide(policy.Call{Tool: e.Tool}, policy.Need{Capability: e.Capability, Subject: e.Subject})
}

func TestMostSpecificRuleWins(t *testing.T) {
	const allow, deny, ask = protocol.ActionAllow, protocol.ActionDeny, protocol.ActionAsk
	const user, manifest = policy.SourceUser, policy.SourceManifest
	write := effect{Tool: "write", Capability: protocol.FSWrite, Subject: "src/a.go"}
	mcp := effect{Tool: "mcp:github:create_issue"}
	bash := effect{Tool: "bash", Capability: protocol.ShellRun, Subject: "git push --force"}
	fetch := effect{Tool: "web_fetch", Capability: protocol.NetFetch, Subject: "api.example.com:443"}
	for _, c := range []struct {
		name  string
		rules policy.Rules
		call  effect
		want  protocol.Action
	}{
		{"nothing said", nil, write, ask},
		{"any", policy.Rules{rule("*", "", allow, user)}, write, allow},
		{"tool over any", policy.Rules{rule("*", "", allow, user), rule("write", "", deny, user)}, write, deny},
		{"tool over capability", policy.Rules{rule("fs.write", "", deny, user), rule("write", "", allow, user)}, write, allow},
		{"capability over any", policy.Rules{rule("*", "", deny, user), rule("fs.write", "", allow, user)}, write, allow},
		{"alias", policy.Rules{rule("fs:write", "", allow, user)}, write, allow},
		{"pattern over none", policy.Rules{rule("write", "", deny, user), rule("write", "src", allow, user)}, write, allow},
		{"longer over shorter", policy.Rules{rule("write", "src/**", deny, user), rule("write", "src/*.go", allow, user)}, write, allow},
		{"literal over glob", policy.Rules{rule("write", "src/a.g?", deny, user), rule("write", "src", allow, user)}, write, allow},
		{"permission over pattern", policy.Rules{rule("fs.write", "src/a.go", allow, user), rule("write", "", ask, user)}, write, ask},
		{"equal: strictest", policy.Rules{rule("write", "", allow, user), rule("write", "", ask, policy.SourceProject), rule("write", "", deny, policy.SourceSession)}, write, deny},
		{"does not match", policy.Rules{rule("write", "lib", allow, user), rule("read", "", allow, user)}, write, ask},
		{"manifest's deny is absolute", policy.Rules{rule("*", "", deny, manifest), rule("write", "src/a.go", allow, user)}, write, deny},
		{"manifest's allow is not", policy.Rules{rule("*", "", allow, manifest), rule("write", "", ask, user)}, write, ask},
		{"deny folds case, allow does not", policy.Rules{rule("write", "SRC", deny, user)}, write, deny},
		{"allow does not fold", policy.Rules{rule("write", "SRC", allow, user)}, write, ask},
		{"mcp tool", policy.Rules{rule("mcp:github:*", "", deny, user), rule("mcp:github:create_issue", "", allow, user)}, mcp, allow},
		{"mcp server", policy.Rules{rule("mcp:github:*", "", allow, user)}, mcp, allow},
		{"mcp other server", policy.Rules{rule("mcp:git:*", "", allow, user), rule("mcp:github2:*", "", allow, user)}, mcp, ask},
		{"command", policy.Rules{rule("bash", "git *", allow, user), rule("bash", "git push*", deny, user)}, bash, deny},
		{"command with stars", policy.Rules{rule("shell.run", "git*--force", deny, user)}, bash, deny},
		{"command not matched", policy.Rules{rule("shell.run", "git status*", allow, user)}, bash, ask},
		{"host", policy.Rules{rule("net.fetch", "*.example.com", allow, user)}, fetch, allow},
		{"host port", policy.Rules{rule("net.fetch", "api.example.com:80", allow, user)}, fetch, ask},
		{"a subject that is not a host", policy.Rules{rule("net.fetch", "example.com", deny, user), rule("*", "", allow, user)}, effect{Capability: protocol.NetFetch, Subject: "???"}, deny},
		{"a subject that is not a path", policy.Rules{rule("fs.write", "src", allow, user)}, effect{Capability: protocol.FSWrite, Subject: "../src"}, ask},
		{"an action that is not one", policy.Rules{rule("write", "", "maybe", user)}, write, deny},
	} {
		if got := decision(c.rules, c.call); got.Action != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
		for i, j := 0, len(c.rules)-1; i < j; i, j = i+1, j-1 {
			c.rules[i], c.rules[j] = c.rules[j], c.rules[i]
		}
		if got := decision(c.rules, c.call); got.Action != c.want {
			t.Errorf("%s, the other way round: %+v", c.name, got)
		}
	}
}

func TestBadRules(t *testing.T) {
	for _, r := range []policy.Rule{
		{}, rule("", "", "allow", ""), rule("write", "", "", ""), rule("write", "", "Allow", ""), rule("write", "", "allow", "nobody"),
		rule("a b", "", "allow", ""), rule("mcp:", "", "allow", ""), rule("mcp:*:x", "", "allow", ""), rule("mcp:a:b c", "", "allow", ""),
		rule("fs.read", "../x", "allow", ""), rule("net.fetch", "https://x.y", "allow", ""), rule("constructor", "", "allow", ""),
		rule("write", strings.Repeat("a", protocol.MaxPattern+1), "allow", ""), rule("write", "\xff", "allow", ""),
	} {
		if err := r.Validate(); err == nil {
			t.Errorf("%+v is taken", r)
		}
		if _, err := (policy.Rules{}).Add(r); err == nil {
			t.Errorf("%+v is added", r)
		}
	}
	if err := rule("write", strings.Repeat("a", protocol.MaxPattern), "allow", "").Validate(); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}

func TestAddReplaces(t *testing.T) {
	rs := policy.Rules{rule("write", "a", "allow", "user"), rule("*", "", "deny", "manifest")}
	out, err := rs.Add(rule("write", "a", "deny", "user"))
	if err != nil || len(out) != 2 || len(rs) != 2 || rs[0].Action != "allow" {
		t.Fatalf("%v %v %v", rs, out, err)
	}
	if out, _ = out.Add(rule("*", "", "allow", "manifest")); len(out) != 3 || decision(out, effect{Tool: "x"}).Action != "deny" {
		t.Errorf("a rule of the manifest was replaced: %v", out)
	}
}

func TestNarrowAndHeadless(t *testing.T) {
	a, d, k := policy.Decision{Action: protocol.ActionAllow}, policy.Decision{Action: protocol.ActionDeny, Reason: "no"}, policy.Decision{Action: protocol.ActionAsk, Reason: "why"}
	if a.Narrow(d).Action != "deny" || d.Narrow(a).Action != "deny" || k.Narrow(a).Action != "ask" || a.Narrow(k).Action != "ask" || k.Narrow(d).Action != "deny" {
		t.Error("a later look widened a decision")
	}
	if a.Narrow(policy.Decision{}).Err("x", "") == nil || (policy.Decision{}).Err("x", "") == nil {
		t.Error("the zero decision must deny")
	}
	if k.Headless().Action != "deny" || a.Headless().Action != "allow" {
		t.Error("ask with nobody there must be deny")
	}
	if a.Err("x", "") != nil || k.Err("x", "") == nil || d.Err("x", "") == nil {
		t.Error("Err")
	}
	for _, ans := range []policy.Answer{"once", "session", "project"} {
		if ans.Decision().Action != "allow" {
			t.Errorf("%s", ans)
		}
	}
	for _, ans := range []policy.Answer{"reject", "", "yes"} {
		if ans.Decision().Action != "deny" {
			t.Errorf("%s", ans)
		}
	}
}

func TestRuleForOneCapability(t *testing.T) {
	read := rule("bash", "notes.md", protocol.ActionAllow, policy.SourceSession)
	read.Capability = protocol.FSRead
	rs := policy.Rules{read}
	for c, want := range map[protocol.Capability]protocol.Action{protocol.FSRead: protocol.ActionAllow, protocol.FSWrite: protocol.ActionAsk, "": protocol.ActionAsk} {
		if d := decision(rs, effect{Tool: "bash", Capability: c, Subject: "notes.md"}); d.Action != want {
			t.Errorf("%s: %v", c, d)
		}
	}
	write := read
	write.Capability, write.Destroys = protocol.FSWrite, true
	rs, err := rs.Add(write)
	if err != nil || len(rs) != 2 {
		t.Fatalf("%v %v", rs, err)
	}
	write.Destroys = false
	if rs, err = rs.Add(write); err != nil || len(rs) != 2 || !rs[1].Destroys {
		t.Errorf("%v %v", rs, err)
	}
	for _, c := range []protocol.Capability{"fs.nothing", "FS.READ"} {
		read.Capability = c
		if read.Validate() == nil {
			t.Errorf("%s is taken for a capability", c)
		}
	}
	read.Capability, read.Pattern = protocol.NetFetch, "docs/**"
	if read.Validate() == nil {
		t.Error("a pattern of paths is taken for one of hosts")
	}
}
