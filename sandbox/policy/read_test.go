package policy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func ExampleParse() {
	policy, err := policy.Read(`{
		"filesystem": {"denyRead": ["$PRIVATE"], "allowWrite": ["notes"]},
		"network":    {"allowedDomains": ["api.example.com:443"], "allowLocalBinding": false}
	}`, policy.Options{Vars: map[string]string{"PRIVATE": "diary"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(policy.FS.Check(protocol.OpWrite, "notes/today.md"))
	err = policy.FS.Check(protocol.OpRead, "diary/2026.md")
	fmt.Println(err)
	fmt.Println("for the user:", errors.Unwrap(err))
	fmt.Println(policy.FS.Check(protocol.OpWrite, "notes/.git/hooks/pre-commit"))
	fmt.Println(policy.Net.Check("api.example.com:443"))
	fmt.Println(policy.Inapplicable)
	// Output:
	// <nil>
	// read "diary/2026.md": the policy does not let this be read (CAPABILITY_DENIED)
	// for the user: denied by denyRead "$PRIVATE"
	// write "notes/.git/hooks/pre-commit": .git is protected: other programs run what it says, so no policy opens it (CAPABILITY_DENIED, protected)
	// <nil>
	// [network.allowLocalBinding]
}

func TestPolicy(t *testing.T) {
	pol, err := policy.Read(`{
		"filesystem": {"denyRead": ["/work/secret", "a*"], "allowRead": ["/work/secret/pub"], "allowWrite": ["/work/"], "denyWrite": ["x"], "allowGitConfig": true, "disabled": false},
		"network": {"allowedDomains": [], "deniedDomains": ["*"], "strictAllowlist": true, "allowUnixSockets": ["/x"], "tlsTerminate": {}},
		"credentials": {"files": [{"path": "token", "mode": "mask", "decode": "jwt"}], "envVars": [{"name": "A", "mode": "deny"}]},
		"seccomp": {"applyPath": "/x"}, "allowPty": true, "windows": {}, "ignoreViolations": {},
		"capabilities": {"fs.read": ["/work/a", "$V"], "code:execute": true, "geolocation": false, "shell.run": []},
		"rules": [{"permission": "write", "pattern": "", "action": "deny", "source": "manifest", "added_at": "2026-11-20T10:00:00Z"},
			{"permission": "fs.write", "pattern": "$V/x", "action": "allow"}]
	}`, policy.Options{Mount: "/work", Vars: map[string]string{"V": "v"}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"secret/a": false, "secret/pub": true, "ab": false, "b": true, "token": false} {
		if got := pol.FS.Check(protocol.OpRead, path) == nil; got != want {
			t.Errorf("read %s: %t", path, got)
		}
	}
	for path, want := range map[string]bool{"b": true, "x": false, ".git/config": true, "token": false} {
		if got := pol.FS.Check(protocol.OpWrite, path) == nil; got != want {
			t.Errorf("write %s: %t", path, got)
		}
	}
	if pol.Net.Decide("a.com:1").Action != protocol.ActionDeny {
		t.Error("deny all is not")
	}
	a, err := protocol.NewAuthority(pol.Grants...)
	if err != nil {
		t.Fatal(err)
	}
	if a.Check(protocol.FSRead, "v/x") != nil || a.Check(protocol.FSRead, "a") != nil || a.Check(protocol.FSRead, "b") == nil || !a.Has(protocol.CodeRun) || a.Has(protocol.Geolocation) || a.Has(protocol.ShellRun) {
		t.Errorf("grants: %v", pol.Grants)
	}
	if len(pol.Rules) != 2 || pol.Rules[0].AddedAt.Year() != 2026 || pol.Rules[1].Pattern != "v/x" {
		t.Errorf("rules: %+v", pol.Rules)
	}
	want := []string{
		"allowPty", "credentials.envVars", "credentials.files[0].decode", "ignoreViolations", "network.allowUnixSockets", "network.tlsTerminate", "seccomp", "windows",
	}
	if !slices.Equal(pol.Inapplicable, want) {
		t.Errorf("inapplicable: %v", pol.Inapplicable)
	}
}

func TestPolicyFailsClosed(t *testing.T) {
	opts := policy.Options{Vars: map[string]string{"EMPTY": "", "V": "v", "UP": "../up", "ABS": "/etc"}, Mount: "/work"}
	for _, text := range []string{
		``, `[]`, `null`, `"x"`, `{`, `{} {}`,
		`{"filesytem": {}}`,
		`{"filesystem": {"denyread": []}}`,
		`{"filesystem": {"denyRead": "x"}}`,
		`{"filesystem": {"denyRead": [1]}}`,
		`{"filesystem": {"denyRead": [null]}}`,
		`{"filesystem": []}`,
		`{"filesystem": {"denyRead": [""]}}`,
		`{"filesystem": {"denyRead": ["$EMPTY"]}}`,
		`{"filesystem": {"denyRead": ["$UNSET/x"]}}`,
		`{"filesystem": {"denyRead": ["$UP"]}}`,
		`{"filesystem": {"denyRead": ["/work/../etc"]}}`,
		`{"filesystem": {"denyRead": ["/./work/a"]}}`,
		`{"filesystem": {"denyRead": ["/etc/../work/a"]}}`,
		`{"filesystem": {"denyRead": ["/w*/a"]}}`,
		`{"filesystem": {"denyRead": ["~/../a"]}}`,
		"{\"filesystem\": {\"denyRead\": [\"re\u0301sume\"]}}",
		`{"filesystem": {"disabled": true}}`,
		`{"filesystem": {"allowGitConfig": "yes"}}`,
		`{"filesystem": {"denyRead": ["a"], "denyRead": []}}`,
		`{"network": {"allowedDomains": ["*"]}}`,
		`{"network": {"allowedDomains": ["*.com"]}}`,
		`{"network": {"allowedDomains": ["$EMPTY"]}}`,
		`{"network": {"alloweddomains": []}}`,
		`{"network": {"strictAllowlist": 1}}`,
		`{"network": {"deniedDomainReasons": {"a.com": ""}}}`,
		`{"network": {"filterRequest": {}}}`,
		`{"credentials": {"injectHosts": []}}`,
		`{"credentials": {"files": [{"path": "a"}]}}`,
		`{"credentials": {"files": [{"path": "a", "mode": "allow"}]}}`,
		`{"credentials": {"files": [{"path": "~/../a", "mode": "deny"}]}}`,
		`{"capabilities": {"fs.read": ["/etc"]}}`,
		`{"capabilities": {"fs.write": ["~/a"]}}`,
		`{"send": {"nothing": ["/etc"]}}`,
		`{"credentials": {"files": [{"path": "a", "mode": "deny", "x": 1}]}}`,
		`{"capabilities": {"fs.reed": ["."]}}`,
		`{"capabilities": {"fs.read": true}}`,
		`{"capabilities": {"geolocation": ["x"]}}`,
		`{"capabilities": {"fs.read": ["$EMPTY"]}}`,
		`{"rules": {}}`,
		`{"rules": [{"permission": "write", "action": "permit"}]}`,
		`{"rules": [{"permission": "write", "action": "allow", "patern": "x"}]}`,
		`{"rules": [{"permission": "../x", "action": "allow"}]}`,
		`{"rules": [{"permission": "fs.read", "pattern": "/etc", "action": "allow"}]}`,
		`{"rules": [{"permission": "write", "action": "allow", "source": "god"}]}`,
		`{"__proto__": {"filesystem": {}}}`,
		`{"constructor": {}}`,
		`{"filesystem": {"allowWrite": [` + strings.Repeat(`"a",`, 4096) + `"a"]}}`,
	} {
		if pol, err := policy.Read(text, opts); err == nil {
			t.Errorf("%.80s is taken: %+v", text, pol)
		} else if !errors.Is(err, protocol.ErrInvalidParams) && !errors.Is(err, protocol.ErrSecurityViolation) {
			t.Errorf("%.80s: %v has no fitting code", text, err)
		}
	}
	if _, err := policy.Read(`{"filesystem": {"allowWrite": [`+strings.Repeat(`"a",`, 4096-1)+`"a"]}}`, opts); err != nil {
		t.Errorf("at the limit of patterns: %v", err)
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add(`{"filesystem": {"denyRead": ["a*"], "allowWrite": ["."]}, "network": {"allowedDomains": ["a.com"]}}`)
	f.Add(`{"rules": [{"permission": "mcp:a:*", "pattern": "x*", "action": "deny"}], "capabilities": {"fs.read": ["$V"]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		pol, err := policy.Read(text, policy.Options{Vars: map[string]string{"V": "v"}})
		if err != nil {
			return
		}
		if pol.FS.Check(protocol.OpWrite, "a/.git/hooks/x") == nil || pol.FS.Check(protocol.OpWrite, ".bashrc") == nil {
			t.Errorf("%q opens what no policy opens", text)
		}
		if len(pol.Net.Allowed) == 0 && pol.Net.Check("example.com:443") == nil {
			t.Errorf("%q reaches a host without naming one", text)
		}
		if err := pol.Rules.Validate(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// For of a path is between Below and Most of each folder above it.
func TestSendOfAFolder(t *testing.T) {
	names := []string{"a", "b", "a.csv", "B"}
	var paths []string
	for _, x := range names {
		paths = append(paths, x)
		for _, y := range names {
			paths = append(paths, x+"/"+y, x+"/"+y+"/a", x+"/"+y+"/b.csv")
		}
	}
	patterns := []string{"", "a", "b", "a/b", "*.csv", "**/*.csv", "a/*", "**", "b/a.csv"}
	checked, exact := 0, 0
	for _, level := range []string{"contents", "summary", "nothing"} {
		for _, contents := range patterns {
			for _, summaries := range patterns {
				for _, nothing := range patterns {
					text := `{"send": {"default": "` + level + `"`
					for list, pattern := range map[string]string{"contents": contents, "summaries": summaries, "nothing": nothing} {
						if pattern != "" {
							text += `, "` + list + `": ["` + pattern + `"]`
						}
					}
					p, err := policy.Read(text+"}}", policy.Options{})
					if err != nil {
						t.Fatal(err)
					}
					for _, root := range []string{".", "a", "b", "a/b"} {
						least, most := p.Send.Below(root), p.Send.Most(root)
						reached := false
						for _, path := range paths {
							if root != "." && !strings.HasPrefix(path, root+"/") {
								continue
							}
							got := p.Send.For(path)
							if got.Narrow(most) != got || least.Narrow(got) != least {
								t.Fatalf("%s}}: %s is sent of %s; of %s it is %s to %s", text, got, path, root, least, most)
							}
							checked++
							reached = reached || got == most
						}
						if reached {
							exact++
						}
					}
				}
			}
		}
	}
	if tried := 3 * 9 * 9 * 9 * 4; exact < tried*4/5 {
		// In the other folders a question shows more than is sent, and never less.
		t.Errorf("Most is reached by a path in %d of %d folders (%d paths)", exact, tried, checked)
	}
	for root, want := range map[string]policy.Send{"../x": policy.SendNothing, "A": policy.SendNothing, "a/b": policy.SendNothing, "c": policy.SendSummary, ".": policy.SendContents, "d/e": policy.SendContents, "f": policy.SendNothing} {
		p, err := policy.Read(`{"send": {"default": "nothing", "contents": [".", "d"], "summaries": ["c"], "nothing": ["a", "f"]}}`, policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Send.Most(root); got != want {
			t.Errorf("%s: %s, want %s", root, got, want)
		}
	}
}

func TestSendBelow(t *testing.T) {
	p, err := policy.Read(`{"send": {"nothing": ["Private/keys", "**/*.pem"], "summaries": ["data/*.csv"]}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := policy.Read(`{"send": {"default": "summary", "contents": ["src", "doc/*"], "nothing": ["src/secret"]}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := policy.SendPolicy{}
	for _, c := range []struct {
		s    *policy.SendPolicy
		root string
		want policy.Send
	}{
		{&p.Send, ".", policy.SendNothing}, {&p.Send, "private", policy.SendNothing}, {&p.Send, "private/keys/a", policy.SendNothing}, {&p.Send, "a.pem", policy.SendNothing},
		{&p.Send, "../x", policy.SendNothing}, {&q.Send, ".", policy.SendNothing}, {&q.Send, "src", policy.SendNothing}, {&q.Send, "src/a", policy.SendContents},
		{&q.Send, "doc", policy.SendSummary}, {&q.Send, "doc/a", policy.SendSummary}, {&q.Send, "other", policy.SendSummary}, {&open, ".", policy.SendContents}, {&open, "a", policy.SendContents},
	} {
		if got := c.s.Below(c.root); got != c.want {
			t.Errorf("%s: %s, want %s", c.root, got, c.want)
		}
	}
	narrow, err := policy.Read(`{"send": {"nothing": ["private"], "summaries": ["data/*.csv"]}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string]policy.Send{"data": policy.SendSummary, "DATA": policy.SendSummary, "PRIVATE": policy.SendNothing, "src": policy.SendContents, "private2": policy.SendContents} {
		if got := narrow.Send.Below(root); got != want {
			t.Errorf("%s: %s, want %s", root, got, want)
		}
	}
}
