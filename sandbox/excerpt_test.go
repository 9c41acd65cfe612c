package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

const excerpts = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true, "shell.run": ["*"], "code.run": true}, "send": {%s}, "rules": [{"permission": "*", "action": "allow"}]}`

// valued is code with a fixed function over the tools.
type valued func(read func(path string) string) any

func (f valued) RunCode(ctx context.Context, tools *protocol.Toolset, _ string, _ any) (*protocol.RunResult, error) {
	return &protocol.RunResult{Success: true, Value: f(func(path string) string {
		tool, err := tools.Lookup("read")
		if err != nil {
			return err.Error()
		}
		data, err := tool.Execute(ctx, args{"path": path})
		if err != nil {
			return err.Error()
		}
		return data.(map[string]any)["content"].(string)
	})}, nil
}

// excerpted returns what a model elsewhere received of calls, and what the user sees of them.
func excerpted(t *testing.T, send string, files map[string]string, code sandbox.CodeRunner, local bool, calls ...sandbox.ToolCall) (sent, shown string) {
	t.Helper()
	h := build(t, parse(t, fmt.Sprintf(excerpts, send)), nil, files, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), shell.Bash(shell.Options{}), sandbox.CodeRun(code), sandbox.ToolRun(scripted(func(_ context.Context, c sandbox.Command) (int, error) {
			data, err := c.FS.ReadFile(c.Args[0])
			_, _ = c.Stdout.Write(data)
			if len(c.Args) > 1 {
				return 1, errors.New("it fails")
			}
			return 0, err
		})))
	})
	m := &sandboxtest.Model{OnDevice: local}
	for _, c := range calls {
		m.Turns = append(m.Turns, sandboxtest.CallTool(c.Tool, c.Args))
	}
	lines, err := h.talk(t, h.session(t), m, "go")
	must(t, err)
	last := m.Requests()[len(m.Requests())-1]
	return fmt.Sprint(last.Messages), strings.Join(lines, "")
}

// Of a text above the limit a model elsewhere receives the beginning, the end and the size. The user and a
// model on this machine have all of it.
func TestExcerpts(t *testing.T) {
	long := strings.Repeat("begin line\n", 200) + "the middle\n" + strings.Repeat("end of line\n", 200)
	read := sandbox.ToolCall{Tool: "read", Args: args{"path": "a"}}
	sent, shown := excerpted(t, `"above": 2048`, map[string]string{"a": long}, nil, false, read)
	if strings.Contains(sent, "the middle") || !strings.Contains(sent, "begin line") || !strings.Contains(sent, "end of line") || !strings.Contains(sent, fmt.Sprintf("of %d bytes in 401 lines", len(long))) {
		t.Errorf("a model elsewhere receives %.300q", sent)
	}
	if n := strings.Count(sent, "begin line")*11 + strings.Count(sent, "end of line")*12; n > 2048 || n < 1900 {
		t.Errorf("%d bytes of the text are sent", n)
	}
	if !strings.Contains(shown, "the middle") {
		t.Error("the user does not see all")
	}
	if sent, _ := excerpted(t, `"above": 2048`, map[string]string{"a": long}, nil, true, read); !strings.Contains(sent, "the middle") {
		t.Error("a model on this machine does not receive all")
	}
	if sent, _ := excerpted(t, `"above": 2048`, map[string]string{"a": long}, nil, false, sandbox.ToolCall{Tool: "read", Args: args{"path": "a", "offset": 195, "limit": 20}}); !strings.Contains(sent, "the middle") || strings.Contains(sent, "are left out") {
		t.Errorf("the lines that it asks for: %.300q", sent)
	}
	for n, cut := range map[int]bool{255: false, 256: false, 257: true} {
		if sent, _ := excerpted(t, `"above": 256`, map[string]string{"a": strings.Repeat("x", n)}, nil, false, read); strings.Contains(sent, "are left out") != cut {
			t.Errorf("%d bytes: %q", n, sent)
		}
	}
	umlauts := strings.Repeat("ä", 2000)
	if sent, _ := excerpted(t, `"above": 257`, map[string]string{"a": umlauts}, nil, false, read); strings.Contains(sent, "\ufffd") || strings.Contains(sent, "\\ufffd") {
		t.Error("a character is cut in two")
	}
	names := map[string]string{}
	for i := range 100 {
		names[fmt.Sprintf("a-folder/with-a-long-name/file-%03d.txt", i)] = ""
	}
	if sent, _ := excerpted(t, `"above": 256`, names, nil, false, sandbox.ToolCall{Tool: "glob", Args: args{"pattern": "**"}}); strings.Count(sent, "file-") != 100 {
		t.Errorf("names of files are left out: %d are there", strings.Count(sent, "file-"))
	}
	own := valued(func(func(string) string) any { return strings.Repeat("its own words ", 100) })
	if sent, _ := excerpted(t, `"above": 256`, nil, own, false, sandbox.ToolCall{Tool: "code_run", Args: args{"code": "x"}}); strings.Contains(sent, "are left out") {
		t.Error("a text that is of no file is cut")
	}
	for text, ok := range map[string]bool{`"above": 255`: false, `"above": 256`: true, `"above": 1048576`: true, `"above": 1048577`: false, `"above": 300.5`: false, `"above": "2048"`: false, `"above": 0`: false, `"above": -1`: false} {
		p, err := policy.Parse(fmt.Sprintf(excerpts, text), policy.Options{})
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil {
			if again, err := policy.Parse(policy.Format(p), policy.Options{}); err != nil || again.Send.Above != p.Send.Above {
				t.Errorf("%s, printed and read again: %v", text, err)
			}
		}
	}
}

// No call sends the middle of a long text at once, and no cut hides a credential from the search for it.
func TestAttackTextAboveTheLimit(t *testing.T) {
	count := attack.Start(t, "sent")
	long := strings.Repeat("begin line\n", 300) + "MIDDLE line\n" + strings.Repeat("end of line\n", 300)
	key := "ghp_abcdefghij0123456789ABCDEFGHIJ012345"
	files := map[string]string{"a": long, "wide": strings.ReplaceAll(long, "\n", " "), "0": strings.Repeat("a line that goes on for a while\n", 60) + "MIDDLE line\n" + strings.Repeat("a line that goes on for a while\n", 60), "key": strings.Repeat("x", 1024-20) + " " + key + " " + strings.Repeat("y", 2000)}
	of := func(f func(text string) any) valued {
		return func(read func(string) string) any { return f(read("a")) }
	}
	code := sandbox.ToolCall{Tool: "code_run", Args: args{"code": "x"}}
	for _, c := range []struct {
		name  string
		code  sandbox.CodeRunner
		calls []sandbox.ToolCall
		leak  string
	}{
		{"read", nil, []sandbox.ToolCall{{Tool: "read", Args: args{"path": "a"}}}, "MIDDLE"},
		{"read one long line", nil, []sandbox.ToolCall{{Tool: "read", Args: args{"path": "wide"}}}, "MIDDLE"},
		{"read with limits above it", nil, []sandbox.ToolCall{{Tool: "read", Args: args{"path": "a", "offset": 150, "limit": 300}}}, "MIDDLE"},
		{"search for every line", nil, []sandbox.ToolCall{{Tool: "grep", Args: args{"pattern": "line"}}}, "MIDDLE"},
		{"the shell", nil, []sandbox.ToolCall{{Tool: "bash", Args: args{"command": "cat a"}}}, "MIDDLE"},
		{"the shell, as an error", nil, []sandbox.ToolCall{{Tool: "bash", Args: args{"command": "cat a >&2"}}}, "MIDDLE"},
		{"a program", nil, []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"a"}, "read": []any{"a"}}}}, "MIDDLE"},
		{"a program that fails", nil, []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"a", "x"}, "read": []any{"a"}}}}, "MIDDLE"},
		{"code", of(func(s string) any { return s }), []sandbox.ToolCall{code}, "MIDDLE"},
		{"code, as lines", of(func(s string) any {
			var out []any
			for l := range strings.Lines(s) {
				out = append(out, l)
			}
			return out
		}), []sandbox.ToolCall{code}, "MIDDLE"},
		{"code, as a name", of(func(s string) any { return map[string]any{s: 1.0} }), []sandbox.ToolCall{code}, "MIDDLE"},
		{"code, deep inside", of(func(s string) any { return []any{map[string]any{"x": []any{[]any{s}}}} }), []sandbox.ToolCall{code}, "MIDDLE"},
		{"a key where the text is cut", nil, []sandbox.ToolCall{{Tool: "read", Args: args{"path": "key"}}}, key[:16]},
	} {
		sent := func(send string) bool {
			got, _ := excerpted(t, send, files, c.code, false, c.calls...)
			return strings.Contains(got, c.leak)
		}
		count.Try(c.name, sent(`"above": 2048`))
		count.Off(c.name, sent(`"default": "contents"`))
	}
}
