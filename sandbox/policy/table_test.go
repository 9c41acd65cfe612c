package policy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// The table is testdata/decisions.txt. Each entry is a policy in JSON, followed by one line for
// each call: the decision, tool, capability, subject, and "destroys", "tree" or "filtered".
func TestDecisions(t *testing.T) {
	data, err := os.ReadFile("testdata/decisions.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, block := range strings.Split(string(data), "\n\n") {
		text, rows, ok := strings.Cut(strings.TrimSpace(block), "\n---\n")
		if !ok {
			t.Fatalf("a block without rows: %.80s", block)
		}
		var lines []string
		for _, l := range strings.Split(text, "\n") {
			if !strings.HasPrefix(l, "#") {
				lines = append(lines, l)
			}
		}
		p, err := policy.Parse(strings.Join(lines, "\n"), policy.Options{Mount: "/work", Vars: map[string]string{"OUT": "build"}})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := policy.Parse(policy.Format(p), policy.Options{Vars: map[string]string{"OUT": "build"}, Mount: "/work"})
		if err != nil {
			t.Fatalf("%s: printed and read: %v\n%s", text, err, policy.Format(p))
		}
		for _, row := range strings.Split(strings.TrimSpace(rows), "\n") {
			n++
			want, call := parseRow(t, row)
			for which, p := range map[string]*policy.Policy{"": p, " printed and read again": again} {
				e, err := policy.Explain(p, call)
				if err != nil {
					t.Fatal(err)
				}
				if e.Decision.Action != want {
					t.Errorf("%s%s\nunder %s\n%s", row, which, text, e)
				}
				if want != protocol.ActionAllow && e.Decision.Reason == "" {
					t.Errorf("%s: no reason", row)
				}
			}
		}
	}
	if n < 250 {
		t.Errorf("%d decisions only", n)
	}
}

func parseRow(t *testing.T, row string) (protocol.Action, policy.Call) {
	t.Helper()
	f := strings.Fields(row)
	if len(f) < 2 {
		t.Fatalf("bad row %q", row)
	}
	c := policy.Call{Tool: f[1]}
	if len(f) > 2 {
		n := policy.Need{Capability: protocol.Capability(f[2])}
		for _, w := range f[3:] {
			switch w {
			case "destroys":
				n.Destroys = true
			case "tree":
				n.Tree = true
			case "filtered":
				n.Filtered = true
			case "remove", "mkdir":
				n.Op = protocol.FSOp(w)
			default:
				n.Subject = w
			}
		}
		c.Needs = []policy.Need{n}
	}
	return protocol.Action(f[0]), c
}
