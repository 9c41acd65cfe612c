package protocol_test

import (
	"fmt"

	"github.com/bailey-go/bailey/protocol"
)

// Host, tool and parent are layers of one authority. It allows only the uses that all of them
// allow.
func ExampleAuthority_Intersect() {
	host, _ := protocol.NewAuthority(
		protocol.Grant{Capability: protocol.FSRead, Scope: []string{"."}},
		protocol.Grant{Capability: protocol.FSWrite, Scope: []string{"notes"}},
	)
	tool, _ := protocol.Need(protocol.Grant{Capability: protocol.FSRead}, protocol.Grant{Capability: protocol.NetFetch})
	both := host.Intersect(tool)
	fmt.Println(both.Capabilities())
	fmt.Println(both.Check(protocol.FSWrite, "notes/a.md"))
	// Output:
	// [fs.read]
	// use fs.write: not granted (CAPABILITY_DENIED)
}

func ExampleRules_Decide() {
	rules := protocol.Rules{
		{Permission: "*", Action: protocol.ActionAsk},
		{Permission: "fs.read", Action: protocol.ActionAllow},
		{Permission: "read", Pattern: "**/*.key", Action: protocol.ActionDeny},
	}
	for _, path := range []string{"notes/a.md", "certs/site.key"} {
		d := rules.Decide(protocol.Call{Tool: "read", Capability: protocol.FSRead, Subject: path})
		fmt.Printf("%s: %s (%s)\n", path, d.Action, d.Reason)
	}
	// Output:
	// notes/a.md: allow ()
	// certs/site.key: deny (a rule of the policy denies this)
}

func ExampleWatch() {
	watch, _ := protocol.NewWatch(protocol.WatchOptions{Deny: []string{`admin:.*`}})
	for _, tool := range []string{"users:list", "admin:reset", "email:send"} {
		d := watch.Check(protocol.WatchedCall{Tool: tool})
		fmt.Printf("%s: %s (%s)\n", tool, d.Action, d.Reason)
	}
	// Output:
	// users:list: allow ()
	// admin:reset: deny (the tool admin:reset is denied by its name)
	// email:send: ask (exfiltration: something was listed, and now something is to be sent)
}
