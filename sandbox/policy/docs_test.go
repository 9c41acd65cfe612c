package policy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox/policy"
)

// Each recipe of docs/policy.md is a policy, and decides the calls below it as it is written there.
func TestDocsRecipes(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```(json|text)\n(.*?)```")
	recipes := strings.Split(string(text), "\n## ")[1:]
	if len(recipes) != 10 {
		t.Errorf("%d recipes, not ten", len(recipes))
	}
	for _, recipe := range recipes {
		title, _, _ := strings.Cut(recipe, "\n")
		parts := block.FindAllStringSubmatch(recipe, -1)
		if len(parts) != 2 || parts[0][1] != "json" || parts[1][1] != "text" {
			t.Errorf("%s: want a policy and its calls", title)
			continue
		}
		p, err := policy.Parse(parts[0][2], policy.Options{})
		if err != nil {
			t.Errorf("%s: %v", title, err)
			continue
		}
		decisions := map[string]bool{}
		for row := range strings.Lines(strings.TrimSpace(parts[1][2])) {
			want, call := parseRow(t, row)
			call.Untrusted = strings.HasPrefix(call.Tool, "mcp:")
			e, err := policy.Explain(p, call)
			if err != nil || e.Decision.Action != want {
				t.Errorf("%s: %s is %s (%s) %v", title, strings.TrimSpace(row), e.Decision.Action, e.Decision.Reason, err)
			}
			decisions[string(want)] = true
		}
		if len(decisions) < 2 {
			t.Errorf("%s: its calls are all decided alike", title)
		}
	}
	if a, b := policy.Format(policy.AskBeforeChanges()), policyOf(t, recipes[0], block); a != b {
		t.Errorf("recipe 1 is not AskBeforeChanges:\n%s\n%s", a, b)
	}
}

func policyOf(t *testing.T, recipe string, block *regexp.Regexp) string {
	t.Helper()
	p, err := policy.Parse(block.FindStringSubmatch(recipe)[2], policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return policy.Format(p)
}
