package policy_test

import (
	"fmt"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func ExampleRules_Decide() {
	rules := policy.Rules{
		{Permission: "*", Action: protocol.ActionAsk},
		{Permission: "fs.read", Action: protocol.ActionAllow},
		{Permission: "read", Pattern: "**/*.key", Action: protocol.ActionDeny},
	}
	for _, path := range []string{"notes/a.md", "certs/site.key"} {
		d := rules.Decide(policy.Call{Tool: "read"}, policy.Need{Capability: protocol.FSRead, Subject: path})
		fmt.Printf("%s: %s (%s)\n", path, d.Action, d.Reason)
	}
	// Output:
	// notes/a.md: allow ()
	// certs/site.key: deny (a rule of the policy denies this)
}
