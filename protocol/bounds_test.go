package protocol_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

// The limits that stand in no other table, each at its end and beyond.
func TestBounds(t *testing.T) {
	everywhere := everything(t)
	path := func(n int) string { return strings.Repeat("a/", n/2)[:n-1] + "b" }
	host := func(n int) string {
		s := strings.Repeat(strings.Repeat("a", 62)+".", 5)
		return s[len(s)-n+4:] + "test"
	}
	schema := func(n int) string { return `{"title":"` + strings.Repeat("a", n-12) + `"}` }
	parseHost := func(s string) error { _, err := protocol.ParseHost(s); return err }
	parseSchema := func(s string) error { _, err := protocol.ParseSchema(s); return err }
	command := func(n int) error {
		_, err := protocol.NewAuthority(protocol.Grant{Capability: protocol.ShellRun, Scope: []string{strings.Repeat("a", n)}})
		return err
	}
	pattern := func(n int) string { return `{"pattern":"` + strings.Repeat("a", n) + `"}` }
	for name, c := range map[string][2]error{
		"a path's bytes":      {everywhere.Check(protocol.OpWrite, path(protocol.MaxPath)), everywhere.Check(protocol.OpWrite, path(protocol.MaxPath+1))},
		"a host's bytes":      {parseHost(host(253)), parseHost(host(254))},
		"a label's bytes":     {parseHost(strings.Repeat("a", 63) + ".test"), parseHost(strings.Repeat("a", 64) + ".test")},
		"a port":              {parseHost("a.test:65535"), parseHost("a.test:65536")},
		"a schema's bytes":    {parseSchema(schema(protocol.MaxSchema)), parseSchema(schema(protocol.MaxSchema + 1))},
		"a schema's pattern":  {parseSchema(pattern(protocol.MaxPattern)), parseSchema(pattern(protocol.MaxPattern + 1))},
		"a command's bytes":   {command(256), command(257)},
		"a tool name's bytes": {protocol.ValidToolName(strings.Repeat("a", 256)), protocol.ValidToolName(strings.Repeat("a", 257))},
	} {
		if c[0] != nil {
			t.Errorf("%s, at the limit: %v", name, c[0])
		}
		if c[1] == nil {
			t.Errorf("%s, above the limit: taken", name)
		}
	}
	if runtime.GOOS == "js" && testing.Short() {
		return // these take a page seconds
	}
	s := &protocol.Toolset{}
	for i := range 10_000 {
		if err := s.Add(protocol.Tool{ID: fmt.Sprintf("t%d", i), Execute: nothing}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(protocol.Tool{ID: "one-more", Execute: nothing}); err == nil {
		t.Error("10,001 tools")
	}
}
