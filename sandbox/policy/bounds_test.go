package policy_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func TestBounds(t *testing.T) {
	parse := func(text string, vars map[string]string) error {
		_, err := policy.Read(text, policy.Options{Vars: vars})
		return err
	}
	rules := func(n int) error {
		return parse(`{"rules":[`+strings.TrimSuffix(strings.Repeat(`{"permission":"a","action":"ask"},`, n), ",")+`]}`, nil)
	}
	long := func(n int) error { return parse(`{}`+strings.Repeat(" ", n-2), nil) }
	hosts := func(n int) error {
		return parse(`{"network":{"deniedDomains":[`+strings.TrimSuffix(strings.Repeat(`"a.test",`, n), ",")+`]}}`, nil)
	}
	paths := func(n int) error {
		return parse(`{"filesystem":{"denyRead":[`+strings.TrimSuffix(strings.Repeat(`"a",`, n), ",")+`]}}`, nil)
	}
	for name, c := range map[string][2]error{
		"a policy's bytes":   {long(1 << 20), long(1<<20 + 1)},
		"a policy's rules":   {rules(4096), rules(4097)},
		"a list's hosts":     {hosts(4096), hosts(4097)},
		"a list's paths":     {paths(4096), paths(4097)},
		"a variable's bytes": {policy.Expand("$V", map[string]string{"V": strings.Repeat("a", 16384)}), policy.Expand("$V", map[string]string{"V": strings.Repeat("a", 16385)})},
		"a rule's pattern":   {rule("write", strings.Repeat("a", protocol.MaxPattern), "allow", "").Validate(), rule("write", strings.Repeat("a", protocol.MaxPattern+1), "allow", "").Validate()},
	} {
		if c[0] != nil {
			t.Errorf("%s, at the limit: %v", name, c[0])
		}
		if c[1] == nil {
			t.Errorf("%s, above the limit: taken", name)
		}
	}
}
