package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

func nothing(context.Context, any) (any, error) { return nil, nil }

func ExampleToolset() {
	tools, err := protocol.NewToolset(protocol.Tool{
		ID:         "notes:search",
		Parameters: `{"type":"object","required":["text"],"properties":{"text":{"type":"string"}},"additionalProperties":false}`,
		Requires:   []protocol.Grant{{Capability: protocol.FSRead}},
		Execute: func(_ context.Context, args any) (any, error) {
			var in struct {
				Text string `json:"text"`
			}
			if err := protocol.Unmarshal(args, &in); err != nil {
				return nil, err
			}
			return []string{in.Text + " is in a.md"}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tool, _ := tools.Lookup("notes:search")
	fmt.Println(tool.Check(map[string]any{"txt": "x"}))
	args := map[string]any{"text": "x"}
	fmt.Println(tool.Check(args))
	out, _ := tool.Execute(context.Background(), args)
	fmt.Println(out)
	_, err = tools.Lookup("notes:delete")
	fmt.Println(errors.Is(err, protocol.ErrToolNotFound))
	// Output:
	// call notes:search: validate: $: text is missing; $.txt: is not known; known are text (INVALID_PARAMS) (INVALID_PARAMS)
	// <nil>
	// [x is in a.md]
	// true
}

func TestToolset(t *testing.T) {
	s, err := protocol.NewToolset(protocol.Tool{ID: "a", Execute: nothing}, protocol.Tool{ID: "github_create", Server: "github", Execute: nothing})
	if err != nil {
		t.Fatal(err)
	}
	for name, tool := range map[string]protocol.Tool{
		"taken":            {ID: "a", Execute: nothing},
		"no name":          {Execute: nothing},
		"bad name":         {ID: "a b", Execute: nothing},
		"long name":        {ID: strings.Repeat("a", 257), Execute: nothing},
		"refused name":     {ID: "constructor", Execute: nothing},
		"no execute":       {ID: "b"},
		"bad schema":       {ID: "b", Parameters: `{"type":1}`, Execute: nothing},
		"bad need":         {ID: "b", Requires: []protocol.Grant{{Capability: "fly"}}, Execute: nothing},
		"bad server":       {ID: "b", Server: "a:b", Execute: nothing},
		"long time":        {ID: "b", Time: time.Hour, Execute: nothing},
		"long description": {ID: "b", Description: strings.Repeat("a", 16<<10+1), Execute: nothing},
		"locked otherwise": {ID: "read", Parameters: `{"properties":{"file":{}}}`, Execute: nothing},
		"locked and more":  {ID: "write", Parameters: `{"properties":{"path":{},"content":{},"mode":{}}}`, Execute: nothing},
		"locked, required": {ID: "write", Parameters: `{"required":["version"],"properties":{"path":{},"content":{},"version":{}}}`, Execute: nothing},
	} {
		if err := s.Add(tool); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := s.Add(protocol.Tool{ID: "write", Parameters: `{"required":["path","content"],"properties":{"path":{},"content":{},"version":{}}}`, Execute: nothing}); err != nil {
		t.Errorf("a locked tool in its shape: %v", err)
	}
	if err := s.Add(protocol.Tool{ID: strings.Repeat("a", 256), Execute: nothing}); err != nil {
		t.Errorf("a name at its limit: %v", err)
	}
	if got := s.Names(); !slices.Equal(got[:2], []string{"a", strings.Repeat("a", 256)}) || len(got) != 4 {
		t.Errorf("%d names", len(got))
	}
	n := 0
	for tool := range s.All() {
		n++
		if tool.RuleName() == "" {
			t.Error("no name for rules")
		}
	}
	if n != 4 {
		t.Errorf("All yields %d", n)
	}
	g, _ := s.Lookup("github_create")
	if g.RuleName() != "mcp:github:create" {
		t.Error(g.RuleName())
	}
	for _, name := range []string{"", "nope", "__proto__", "a\x00"} {
		if tool, err := s.Lookup(name); err == nil {
			t.Errorf("%q finds %v", name, tool.ID)
		}
	}
	if len((&protocol.Toolset{}).Locked()) != 13 {
		t.Errorf("%v", (&protocol.Toolset{}).Locked())
	}
	a, _ := s.Lookup("a")
	if a.Check(nil) != nil || a.Check(map[string]any{"x": 1.0}) == nil || a.Check(protocol.Undefined{}) == nil {
		t.Error("a tool without parameters takes no arguments")
	}
	if (&protocol.Tool{ID: "loose"}).Check(nil) == nil {
		t.Error("a tool that was not added takes anything")
	}
}

func TestToolAuthority(t *testing.T) {
	s, err := protocol.NewToolset(protocol.Tool{ID: "a", Requires: []protocol.Grant{{Capability: protocol.FSRead}}, Execute: nothing})
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := s.Lookup("a")
	host := authority(t, protocol.Grant{Capability: protocol.FSRead, Scope: []string{"x"}}, protocol.Grant{Capability: protocol.CodeRun})
	got := tool.Authority(host)
	if got.Check(protocol.FSRead, "x/a") != nil || got.Check(protocol.FSRead, "y") == nil || got.Has(protocol.CodeRun) {
		t.Error("host ∩ need")
	}
	if tool.Authority(protocol.Authority{}).Has(protocol.FSRead) {
		t.Error("a need granted something")
	}
}

func TestNothingOfTheHostCrosses(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want protocol.PublicError
	}{
		"a foreign error":     {errors.New("open /home/me/.ssh/id: permission denied"), protocol.PublicError{Code: protocol.ErrExecution, Message: "execution failed"}},
		"a path error":        {&fs.PathError{Op: "open", Path: "/home/me", Err: fs.ErrPermission}, protocol.PublicError{Code: protocol.ErrCapabilityDenied, Message: "not allowed"}},
		"a cause stays":       {&protocol.Error{Code: protocol.ErrExecution, Op: "read", Subject: "a", Message: "broken", Err: errors.New("/home/me")}, protocol.PublicError{Code: protocol.ErrExecution, Message: "read a: broken"}},
		"only a cause":        {&protocol.Error{Code: protocol.ErrTimeout, Err: errors.New("/home/me")}, protocol.PublicError{Code: protocol.ErrTimeout, Message: "time limit reached"}},
		"a reason":            {&protocol.Error{Code: protocol.ErrExecution, Reason: protocol.ReasonStale}, protocol.PublicError{Code: protocol.ErrExecution, Reason: protocol.ReasonStale, Message: "stale"}},
		"a deadline":          {context.DeadlineExceeded, protocol.PublicError{Code: protocol.ErrTimeout, Message: "time limit reached"}},
		"nothing":             {nil, protocol.PublicError{}},
		"wrapped by the host": {fmt.Errorf("key=secret: %w", protocol.Errorf(protocol.ErrResourceLimit, "", "", "too many")), protocol.PublicError{Code: protocol.ErrResourceLimit, Message: "too many"}},
	} {
		if got := protocol.Public(c.err); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	long := protocol.Public(protocol.Errorf(protocol.ErrExecution, "", "", "%s", strings.Repeat("é", 10_000)))
	if len(long.Message) > 4<<10+4 {
		t.Errorf("%d bytes", len(long.Message))
	}
}
