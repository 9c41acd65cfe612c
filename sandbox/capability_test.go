package sandbox_test

import (
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/btcp"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/shell"
	"github.com/bailey-go/bailey/sandbox/web"
)

// Each capability opens something: a tool of this module requires it, the page's headers follow from it, or
// the place in the table decides by it.
func TestEveryCapabilityOpensSomething(t *testing.T) {
	elsewhere := map[protocol.Capability]string{
		protocol.Stream:  "Box.Run sends messages only with it",
		protocol.EnvRead: "tools of programs outside of a page require it, and policy.FromFlags grants it (--allow-env)",
	}
	required := map[protocol.Capability]bool{}
	tools, err := btcp.Page{Storage: "tools."}.Tools()
	if err != nil {
		t.Fatal(err)
	}
	tools = append(append(tools, sandbox.Standard()...), sandbox.CodeRun(nil), sandbox.ToolRun(nil), shell.Bash(shell.Options{}), web.Fetch(nil), web.Search(nil, nil))
	for _, tool := range append(tools, web.Secrets(nil, nil)...) {
		for _, g := range tool.Requires {
			required[g.Capability] = true
		}
	}
	for _, c := range protocol.Capabilities() {
		use, err := policy.PageUse(&policy.Policy{Grants: []protocol.Grant{{Capability: c}}})
		if err != nil {
			t.Errorf("%s: %v", c, err)
		}
		if header := len(use.Features) > 0; !required[c] && !header && elsewhere[c] == "" {
			t.Errorf("%s opens nothing", c)
		} else if elsewhere[c] != "" && (required[c] || header) {
			t.Errorf("%s is in the table, and has a tool or a header too", c)
		}
	}
}
