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
	tool, _ := protocol.RequiredAuthority(protocol.Grant{Capability: protocol.FSRead}, protocol.Grant{Capability: protocol.NetFetch})
	both := host.Intersect(tool)
	fmt.Println(both.Capabilities())
	fmt.Println(both.Check(protocol.FSWrite, "notes/a.md"))
	// Output:
	// [fs.read]
	// use fs.write: not granted (CAPABILITY_DENIED)
}
