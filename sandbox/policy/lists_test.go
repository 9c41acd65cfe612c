package policy_test

import (
	"slices"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func patterns(t *testing.T, texts ...string) []protocol.Pattern {
	t.Helper()
	var out []protocol.Pattern
	for _, text := range texts {
		p, err := protocol.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func TestNetPolicy(t *testing.T) {
	pol, err := policy.Read(`{"network": {
		"allowedDomains": ["example.com", "*.example.com:443", "github.com"],
		"deniedDomains": ["bad.example.com", "*:22", "github.com:25"],
		"deniedDomainReasons": {"*:22": "no SSH from a page"}}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for hp, want := range map[string]protocol.Action{
		"example.com:443":     protocol.ActionAllow,
		"example.com:22":      protocol.ActionDeny,
		"example.com":         protocol.ActionDeny, // the port may be the denied one
		"a.example.com:443":   protocol.ActionAllow,
		"a.example.com:80":    protocol.ActionAsk,
		"bad.example.com:443": protocol.ActionDeny,
		"BAD.example.com.:80": protocol.ActionDeny,
		"github.com:443":      protocol.ActionAllow,
		"github.com:25":       protocol.ActionDeny,
		"other.org:443":       protocol.ActionAsk,
		"not a host":          protocol.ActionDeny,
		"":                    protocol.ActionDeny,
	} {
		if got := pol.Net.Decide(hp); got.Action != want {
			t.Errorf("%s: %v", hp, got)
		}
		if err := pol.Net.Check(hp); (err == nil) != (want == protocol.ActionAllow) {
			t.Errorf("%s: %v", hp, err)
		}
	}
	if d := pol.Net.Decide("x.org:22"); d.Reason != "no SSH from a page" {
		t.Errorf("the reason is lost: %q", d.Reason)
	}
	pol.Net.StrictAllowlist = true
	if d := pol.Net.Decide("other.org:443"); d.Action != protocol.ActionDeny {
		t.Error("strictAllowlist asks")
	}
	var zero policy.NetPolicy
	if zero.Check("example.com:443") == nil {
		t.Error("the zero policy reaches a host")
	}
}

func TestExpand(t *testing.T) {
	vars := map[string]string{"A": "x", "B_1": "y/z", "EMPTY": "", "STAR": "a*[b?", "CLOSE": "a]"}
	for in, want := range map[string]string{
		"$A": "x", "${A}b": "xb", "$A/$B_1": "x/y/z", "$$A": "$A", "a": "a", "$STAR": "a[*][[]b[?]", "": "",
	} {
		if got, err := policy.Expanded(in, vars); err != nil || got != want {
			t.Errorf("%s = %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"$", "${", "${A", "${}", "$EMPTY", "${EMPTY}/x", "$NOPE", "a$1", "$ A", "${A B}", "[x$CLOSE"} {
		if got, err := policy.Expanded(in, vars); err == nil {
			t.Errorf("%s = %q: a hole must fail closed", in, got)
		}
	}
	// The value of a variable is literal.
	text, _ := policy.Expanded("$STAR", vars)
	p, err := protocol.ParsePattern(text)
	if err != nil || !p.Match("a*[b?") || p.Match("aXbc") {
		t.Errorf("%v: a wildcard in a variable widens the pattern", err)
	}
}

// A list denies the files that Windows opens by a short name. A list that had only the long name of
// PRIVAT~1 would deny nothing there.
func TestAttackShortNames(t *testing.T) {
	count := attack.Start(t, "17")
	deny := patterns(t, "credentials.json", "private-notes", "deployment.yaml", "a/b c.secretfile", "**/*.key", "**/.env*", "backup*.sqlite", "long folder/x", "[Pp]assword list.txt")
	read := protocol.FSPolicy{DenyRead: deny}
	write := protocol.FSPolicy{AllowWrite: patterns(t, "."), DenyWrite: deny}
	secret := protocol.FSPolicy{AllowWrite: patterns(t, "."), AllowRead: patterns(t, "."), Credentials: deny}
	send := policy.SendPolicy{Nothing: deny}
	summary := policy.SendPolicy{Summaries: deny}
	rule := policy.Rules{{Permission: "*", Action: protocol.ActionAllow}}
	for _, d := range deny {
		rule = append(rule, policy.Rule{Permission: "read", Pattern: d.String(), Action: protocol.ActionDeny})
	}
	for _, path := range []string{
		"CREDEN~1.JSO", "creden~1.jso", "CREDE~12.JSO", "CREDEN~2.JSO", "PRIVAT~1/diary.txt", "PRIVAT~1", "privat~9/x/y", "DEPLOY~1.YAM", "DEPLO~10.YAM", "a/BC~1.SEC", "PRIVA~10/x",
		"SERVER~1.KEY", "x/y/SERVER~1.KEY", "ENV~1", "sub/ENV~1.LOC", "BACKUP~1.SQL", "BACKUP~1.SQL.", "BACKUP~1.SQL::$DATA", "LONGFO~1/x", "PASSWO~1.TXT", "PR1A2B~1/x", "CR12AB~1.JSO",
	} {
		count.Try(path+" may be read", read.Check(protocol.OpRead, path) == nil)
		count.Off(path, !slices.ContainsFunc(deny, func(p protocol.Pattern) bool { return p.Match(path) }))
		for _, op := range []protocol.FSOp{protocol.OpWrite, protocol.OpRemove, protocol.OpMkdir} {
			if write.Check(op, path) == nil || secret.Check(op, path) == nil {
				t.Errorf("%s: %s is allowed", path, op)
			}
		}
		if secret.Check(protocol.OpRead, path) == nil {
			t.Errorf("%s of the credentials may be read", path)
		}
		if send.For(path) != policy.SendNothing || send.Below(path) != policy.SendNothing || summary.For(path) != policy.SendSummary {
			t.Errorf("%s is sent", path)
		}
		if d := rule.Decide(policy.Call{Tool: "read"}, policy.Need{Capability: protocol.FSRead, Subject: path}); d.Action != protocol.ActionDeny {
			t.Errorf("a rule that denies: %s: %s", path, d.Action)
		}
	}
	// A folder that contains a denied path cannot be removed by its short name either.
	if write.Check(protocol.OpRemove, "LONGFO~1") == nil || send.Below("LONGFO~1") != policy.SendNothing {
		t.Error("LONGFO~1, which holds x, is removed or sent")
	}
	for _, path := range []string{"CREDIT~1.JSO", "CREDEN~1.TXT", "PUBLIC~1/x", "a~b.txt", "~1", "SERVER~1.TXT", "verylong~1.key.txt", "x~1.html", "credential~1.json", "SRC~1/a.go"} {
		if err := read.Check(protocol.OpRead, path); err != nil && path != "SRC~1/a.go" {
			t.Errorf("%s: %v", path, err)
		}
	}
	// An allow list takes no short name.
	if p := (protocol.FSPolicy{AllowWrite: patterns(t, "public-notes")}); p.Check(protocol.OpWrite, "PUBLIC~1/x") == nil {
		t.Error("allowed by a short name")
	}
}

func TestAllowReadOpensNoCredential(t *testing.T) {
	p, err := policy.Read(`{"credentials": {"files": [{"path": "keys/id", "mode": "mask"}]}, "filesystem": {"allowRead": [".", "keys/id"], "allowWrite": ["."]}}`, policy.Options{})
	if err != nil || p.FS.Check(protocol.OpRead, "keys/id") == nil || p.FS.Check(protocol.OpWrite, "keys/id") == nil || p.FS.Check(protocol.OpRemove, "keys") == nil {
		t.Errorf("a credential is opened by allowRead, %v", err)
	}
}

// []] is a ] in a pattern of a rule. In sandbox-runtime it matches nothing, so its lists may not have it.
func TestBracketInLists(t *testing.T) {
	for text, ok := range map[string]bool{`"[[]"`: true, `"id[]]"`: false} {
		for _, key := range []string{"denyRead", "allowRead", "allowWrite", "denyWrite"} {
			_, err := policy.Parse(`{"filesystem": {"`+key+`": [`+text+`]}}`, policy.Options{})
			if (err == nil) != ok {
				t.Errorf("%s with %s: %v", key, text, err)
			}
		}
		if _, err := policy.Parse(`{"capabilities": {"fs.read": ["."]}, "rules": [{"permission": "fs.read", "pattern": `+text+`, "action": "allow"}]}`, policy.Options{}); err != nil {
			t.Errorf("a rule with %s: %v", text, err)
		}
	}
}
