package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// question is one settings file, with the paths and hosts to decide.
type question struct {
	Settings map[string]any `json:"settings"`
	Reads    []string       `json:"reads,omitempty"`
	Writes   []string       `json:"writes,omitempty"`
	Hosts    []string       `json:"hosts,omitempty"`
}

type answer struct {
	Error                string
	Reads, Writes, Hosts []bool
}

// theirs returns the npm package's answers to all questions, in one run of Node.js.
func theirs(t *testing.T, questions []question) []answer {
	t.Helper()
	dir, err := filepath.Abs("../../../node_modules/@anthropic-ai/sandbox-runtime")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "package.json")); err != nil {
		t.Fatalf("sandbox-runtime is not installed: %v (make node_modules)", err)
	}
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "decide.mjs", dir)
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.Bytes())
	}
	var answers []answer
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions, %v", len(answers), len(questions), err)
	}
	return answers
}

func fsSettings(denyRead, allowRead, allowWrite, denyWrite []string) map[string]any {
	list := func(l []string) []string { return append([]string{}, l...) }
	return map[string]any{
		"filesystem": map[string]any{"denyRead": list(denyRead), "allowRead": list(allowRead), "allowWrite": list(allowWrite), "denyWrite": list(denyWrite)},
		"network":    map[string]any{"allowedDomains": []string{}, "deniedDomains": []string{}},
	}
}

func netSettings(allowed, denied []string) map[string]any {
	s := fsSettings(nil, nil, nil, nil)
	s["network"] = map[string]any{"allowedDomains": append([]string{}, allowed...), "deniedDomains": append([]string{}, denied...)}
	return s
}

// written returns the questions written by hand.
func written() []question {
	type l = []string
	var out []question
	reads := func(deny, allow l, paths ...string) {
		out = append(out, question{Settings: fsSettings(deny, allow, nil, nil), Reads: paths})
	}
	writes := func(allow, deny l, paths ...string) {
		out = append(out, question{Settings: fsSettings(nil, nil, allow, deny), Writes: paths})
	}
	hosts := func(allowed, denied l, hosts ...string) {
		out = append(out, question{Settings: netSettings(allowed, denied), Hosts: hosts})
	}
	reads(l{"./secrets"}, l{"."}, "secrets", "secrets/key", "secretss", "a")
	reads(l{"secrets"}, l{"secrets/public"}, "secrets/key", "secrets/public/a", "secrets/publics")
	reads(l{"src/private"}, l{"src"}, "src/a", "src/private/a", "src/private")
	reads(l{"src/private"}, l{"src", "src/private/pub"}, "src/private/a", "src/private/pub/a")
	reads(l{"src"}, l{"src"}, "src/a")
	reads(l{"."}, l{"src"}, "src/a", "a", ".")
	reads(l{".", "src/private"}, l{"src"}, "src/a", "src/private/a")
	reads(l{"."}, l{"."}, "a", ".")
	reads(l{"**/.env"}, l{"."}, "sub/.env", ".env", "sub/.envx", "sub/.env/x")
	reads(l{"**/.env"}, l{"sub"}, "sub/.env", "sub/a")
	reads(l{"**/.env"}, l{"sub/.env"}, "sub/.env", "other/.env")
	reads(l{"**/.env"}, l{"**/.env"}, "sub/.env")
	reads(l{"**/*"}, l{"src"}, "src/a", "a", "a/b")
	reads(l{"**/*"}, l{"."}, "src/a", "a")
	reads(l{"*"}, l{"."}, "src/a", "a")
	reads(l{"*.key"}, l{"*.key"}, "a.key", "a.key/x", "b")
	reads(l{"*.key"}, l{"a.*"}, "a.key", "b.key")
	reads(l{"src/**/*.key"}, l{"src"}, "src/a.key", "src/x/a.key", "src/x/a")
	reads(l{"a?c"}, nil, "abc", "ac", "abbc", "abc/x")
	reads(l{"file[!0-9].txt"}, nil, "file1.txt", "filex.txt", "file!.txt")
	reads(l{"file[^0-9].txt"}, nil, "file1.txt", "filex.txt", "file^.txt")
	reads(l{"file[a-c].txt"}, nil, "filea.txt", "filed.txt")
	reads(l{"x[*]"}, nil, "x*", "xa")
	reads(l{"secret/**"}, nil, "secret", "secret/a")
	reads(l{"*/**"}, nil, "a", "a/b")
	reads(l{"secret"}, l{"sec*"}, "secret", "secret/a")
	reads(l{"secret"}, l{"sec*/**"}, "secret", "secret/a")
	reads(l{"secret"}, l{"**"}, "secret", "secret/a")
	reads(l{"**"}, l{"src"}, "src/a", "a")
	reads(l{"**"}, l{"."}, "src/a", "a")
	reads(l{"**/**"}, l{"."}, "src/a", "a")
	reads(l{"a/**/**"}, l{"a"}, "a/x", "a")
	reads(l{"a", "a/b", "a/b/c"}, l{"a/b"}, "a/x", "a/b/x", "a/b/c", "a/b/c/d")
	reads(l{"a[bc]d/e"}, l{"a[bc]d"}, "abd/e", "abd/f", "abd")
	writes(l{"."}, nil, "a", "a/b", ".git/config", ".git/hooks/x", "a/.git/hooks/x", ".bashrc", "a/.zshrc", ".vscode/x", ".idea", ".claude/commands/x", ".mcp.json", ".gitmodules", "a/.ripgreprc")
	writes(l{"src"}, l{"src/vendor"}, "src", "src/a", "src/vendor/a", "srcs", "a")
	writes(l{"out/*"}, nil, "out/a", "out/a/b", "out")
	writes(l{"out/*/**"}, nil, "out/a", "out/a/b")
	writes(l{"out/**/**"}, nil, "out", "out/a", "out/a/b")
	writes(l{"**/**"}, nil, "a", "a/b")
	writes(l{"out/**"}, nil, "out", "out/a", "out/a/b")
	writes(l{"**/*.txt"}, l{"**/no.txt"}, "a.txt", "a/b.txt", "a/no.txt", "a.txt/x")
	writes(l{"**"}, l{"*.lock"}, "a", "a.lock", "a/b.lock", "a.lock/x")
	writes(l{"a[!b]c"}, nil, "abc", "a!c", "axc")
	writes(l{"a[^b]c"}, nil, "abc", "a^c", "axc")
	writes(l{"a?c/d"}, nil, "abc/d", "abc/d/e", "ac/d")
	writes(l{"*"}, l{"[ab]"}, "a", "b", "c", "a/x", "c/x")
	for _, creds := range []l{{"secret"}, {"src/key"}, {"**/*.pem"}} {
		for _, allow := range []l{nil, {"."}, {"secret"}, {"src/key"}, {"**/*.pem"}, {"src/a.pem"}} {
			s := fsSettings(nil, allow, l{"."}, nil)
			var files []any
			for _, c := range creds {
				files = append(files, map[string]any{"path": c, "mode": "deny"})
			}
			s["credentials"] = map[string]any{"files": files}
			out = append(out, question{Settings: s, Reads: l{"secret", "secret/a", "src/key", "src/a.pem", "src/other"}})
		}
	}
	names := l{"example.com", "a.example.com", "b.a.example.com", "xexample.com", "example.com.", "EXAMPLE.com", "example.com:443", "example.com:8443", "example.org", "localhost", "127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1",
		"10.0.0.1", "10.0.0.1:80", "evil.com%2eexample.com", "example.com@evil.com", "a..example.com", "-a.example.com", "_dmarc.example.com", "xn--bcher-kva.example", "evil.com\x00.example.com", "a.example.com:0443", "x.co.uk"}
	hosts(l{"example.com"}, nil, names...)
	hosts(l{"*.example.com"}, nil, names...)
	hosts(l{"*.example.com"}, l{"a.example.com"}, names...)
	hosts(l{"*.example.com", "example.com"}, l{"*.a.example.com"}, names...)
	hosts(l{"example.com:443"}, nil, names...)
	hosts(l{"example.com"}, l{"example.com:443"}, "example.com:443", "example.com:8443")
	hosts(l{"example.com", "localhost", "127.0.0.1"}, l{"*"}, names...)
	hosts(l{"localhost"}, nil, names...)
	hosts(l{"127.0.0.1"}, nil, names...)
	hosts(l{"10.0.0.1:80"}, nil, names...)
	hosts(l{"localhost", "127.0.0.1"}, l{"127.0.0.1"}, names...)
	hosts(l{"*.co.uk"}, nil, names...)
	return out
}

// generated returns settings and paths made of few words, so that they often match.
func generated(seed uint64, n int) []question {
	r := rand.New(rand.NewPCG(17, seed))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	elems := []string{"a", "b", "ab", "secret", ".env", "k.pem", "x1.txt"}
	globs := append([]string{"*", "**", "?", "a*", "*b", "[ab]", "[!a]", "[^b]", "[a-b]b", "*.pem", "x[0-9].txt", "s*t", "?b"}, elems...)
	path := func(from []string, max int) string {
		p := pick(from)
		for range r.IntN(max) {
			p += "/" + pick(from)
		}
		return p
	}
	list := func(max int) (out []string) {
		for range r.IntN(max + 1) {
			p := path(globs, 3)
			switch r.IntN(8) {
			case 0:
				p = "./" + p
			case 1:
				p += "/**"
			case 2:
				p = "**/" + p
			case 3:
				p = "."
			}
			out = append(out, p)
		}
		return out
	}
	labels := []string{"a", "b", "www", "api"}
	domains := []string{"example.com", "example.org", "b.example.com", "co.uk"}
	host := func() string {
		h := pick(domains)
		for range r.IntN(3) {
			h = pick(labels) + "." + h
		}
		if r.IntN(4) == 0 {
			h += pick([]string{":443", ":80", ":8443"})
		}
		return h
	}
	hostList := func() (out []string) {
		for range r.IntN(4) {
			h := host()
			if r.IntN(2) == 0 {
				h = "*." + h
			}
			out = append(out, h)
		}
		return out
	}
	var out []question
	for range n {
		q := question{Settings: fsSettings(list(3), list(3), list(3), list(2))}
		q.Settings["network"] = netSettings(hostList(), hostList())["network"]
		for range 12 {
			p := path(elems, 3)
			q.Reads, q.Writes, q.Hosts = append(q.Reads, p), append(q.Writes, p), append(q.Hosts, host())
		}
		out = append(out, q)
	}
	return out
}

// compare asks both, and reports each decision that is wider here. skipped are the
// settings that one of the two refuses to read.
func compare(t *testing.T, questions []question, count *attack.Table) (same, narrower, wider, skipped int) {
	for i, a := range theirs(t, questions) {
		q := questions[i]
		text, err := json.Marshal(q.Settings)
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse(string(text), policy.Options{})
		if err != nil || a.Error != "" {
			skipped++
			continue
		}
		// The control reads the same settings and leaves out each denial.
		open := *p
		open.FS.DenyRead, open.FS.DenyWrite, open.FS.Credentials, open.Net.Denied = nil, nil, nil, nil
		row := func(kind, subject string, ours, blind, theirs bool) {
			if !theirs { // an attack is a decision that sandbox-runtime denies
				count.Off(kind+" "+subject, blind)
				count.Try(fmt.Sprintf("%s %q is allowed here and not by sandbox-runtime: %s", kind, subject, text), ours)
			}
			switch {
			case ours == theirs:
				same++
			case theirs:
				narrower++
			default:
				wider++
			}
		}
		for j, path := range q.Reads {
			row("reading", path, p.FS.Check(protocol.OpRead, path) == nil, open.FS.Check(protocol.OpRead, path) == nil, a.Reads[j])
		}
		for j, path := range q.Writes {
			row("writing", path, p.FS.Check(protocol.OpWrite, path) == nil, open.FS.Check(protocol.OpWrite, path) == nil, a.Writes[j])
		}
		for j, host := range q.Hosts {
			row("reaching", host, p.Net.Check(host) == nil, open.Net.Check(host) == nil, a.Hosts[j])
		}
	}
	return same, narrower, wider, skipped
}

// TestAttackWiderThanSandboxRuntime reads the same settings as sandbox-runtime. Everything that
// sandbox-runtime denies must be denied here.
func TestAttackWiderThanSandboxRuntime(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 120
	}
	count := attack.Start(t, "srt")
	for name, questions := range map[string][]question{"written": written(), "generated": generated(1, n)} {
		t.Run(name, func(t *testing.T) {
			same, narrower, wider, skipped := compare(t, questions, count)
			t.Logf("%d settings, of which %d are refused by one of the two; %d decisions the same, %d narrower here, %d wider", len(questions), skipped, same, narrower, wider)
			if same < 300 || narrower > same {
				t.Errorf("%d decisions the same, %d narrower: that shows little", same, narrower)
			}
		})
	}
}

// Keys and values of newer versions: understood, or refused as a whole.
func TestNewKeysAreNotWider(t *testing.T) {
	for text, want := range map[string]protocol.Action{
		`{"network":{"allowedDomains":["example.com"],"deniedResolvedAddresses":["10.0.0.0/8","fc00::/7","192.168.1.10"]}}`: protocol.ActionAsk,
		`{"network":{"allowedDomains":["example.com"],"deniedResolvedAddresses":[]}}`:                                       protocol.ActionAllow,
		`{"network":{"allowedDomains":["example.com"],"deniedResolvedAddresses":["ten"]}}`:                                  "",
		`{"network":{"allowedDomains":["example.com"],"stripResponseHeaders":["set-cookie"]}}`:                              "",
		`{"network":{"allowedDomains":["example.com"],"requireHostMatch":true}}`:                                            protocol.ActionAllow,
		`{"network":{"allowedDomains":["example.com"]},"filesystem":{"denyRead":[{"path":"a","literal":true}]}}`:            protocol.ActionAllow,
		`{"network":{"allowedDomains":["example.com"]},"filesystem":{"denyRead":[{"path":"a[b]","literal":true}]}}`:         "",
		`{"network":{"allowedDomains":["example.com"]},"filesystem":{"denyRead":[{"path":"a","literal":false}]}}`:           "",
		`{"network":{"allowedDomains":["example.com"]},"allowNestedUserNamespaces":true}`:                                   protocol.ActionAllow,
	} {
		p, err := policy.Parse(text, policy.Options{})
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if got := p.Net.Decide("example.com").Action; got != want {
			t.Errorf("%s: %s, want %q", text, got, want)
		}
		again, err := policy.Parse(policy.Format(p), policy.Options{})
		if err != nil || again.Net.Decide("example.com").Action != want {
			t.Errorf("%s: printed and read again: %v", text, err)
		}
	}
}

// Each settings file in the README of the npm package loads. Its complete example names paths outside of a
// folder, which Explain lists.
func TestReadmeLoads(t *testing.T) {
	text, err := os.ReadFile("../../../node_modules/@anthropic-ai/sandbox-runtime/README.md")
	if err != nil {
		t.Fatalf("sandbox-runtime is not installed: %v (make node_modules)", err)
	}
	tried, outside := 0, 0
	for _, m := range regexp.MustCompile("(?s)```json\n(\\{.*?)\n```").FindAllStringSubmatch(string(text), -1) {
		var keys map[string]any
		must(t, json.Unmarshal([]byte(m[1]), &keys))
		if keys["filesystem"] == nil && keys["network"] == nil {
			continue
		}
		p, err := policy.Parse(m[1], policy.Options{})
		if err != nil {
			t.Errorf("%s\n%v", m[1], err)
			continue
		}
		tried++
		e, err := policy.Explain(p, policy.Call{Tool: "read", Needs: []policy.Need{{Capability: protocol.FSRead, Subject: "a"}}})
		must(t, err)
		if strings.Contains(e.String(), `filesystem.denyRead "~/.ssh" is outside the folder`) && strings.Contains(e.String(), `filesystem.allowWrite "/tmp" is outside the folder`) {
			outside++
		}
		if p.FS.Check(protocol.OpRead, ".ssh/id_rsa") == nil && strings.Contains(m[1], "~/.ssh") {
			t.Error("~/.ssh of a home folder can be read")
		}
	}
	if tried < 6 || outside != 1 {
		t.Errorf("%d settings load, and %d name paths outside", tried, outside)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
