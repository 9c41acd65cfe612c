package sandbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

const sendsSome = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true, "shell.run": ["*"], "code.run": true},
	"send": {"nothing": ["private"], "summaries": ["data/*.csv"]}, "rules": [{"permission": "*", "action": "allow"}]}`

// calling is code that makes one call and returns its result.
type calling struct {
	tool string
	args args
	then func(data any) (tool string, a args)
}

func (c calling) RunCode(ctx context.Context, tools *protocol.Toolset, _ string, _ any) (*protocol.RunResult, error) {
	call := func(id string, a args) (any, error) {
		tool, err := tools.Lookup(id)
		if err != nil {
			return nil, err
		}
		return tool.Execute(ctx, a)
	}
	data, err := call(c.tool, c.args)
	if err == nil && c.then != nil {
		_, err = call(c.then(data))
	}
	return &protocol.RunResult{Success: err == nil, Value: data}, nil
}

func sending(t *testing.T, code sandbox.CodeRunner) *house {
	return build(t, parse(t, sendsSome), nil, map[string]string{"private/diary": strings.Repeat("SECRET\n", 1+sandbox.ReadLimit/7), "data/a.csv": "SECRET\n", "data/b.md": "open\n", "b": "open\n"}, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), shell.Bash(shell.Options{}), sandbox.CodeRun(code), sandbox.ToolRun(scripted(func(_ context.Context, c sandbox.Command) (int, error) {
			data, err := c.FS.ReadFile(c.Args[0])
			if err == nil && len(c.Args) > 1 {
				err = c.FS.WriteFile(c.Args[1], data, 0o644)
			}
			_, _ = c.Stdout.Write(data)
			return 0, err
		})))
	})
}

// Content that the policy does not send is not sent by another way: a tool for a whole folder,
// code, a stored output, or another name of the file.
func TestNothingIsSentByAnotherWay(t *testing.T) {
	for name, c := range map[string]struct {
		code  sandbox.CodeRunner
		calls []sandbox.ToolCall
	}{
		"a program with the file":         {nil, []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"private/diary"}, "read": []any{"private/diary"}}}}},
		"a program with its folder":       {nil, []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"private/diary"}, "read": []any{"private"}}}}},
		"a program with all":              {nil, []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"data/a.csv"}, "read": []any{"."}}}}},
		"a program, a folder by pattern":  {nil, []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"data/a.csv"}, "read": []any{"data"}}}}},
		"a program that copies":           {nil, []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"private/diary", "c"}, "read": []any{"private"}, "write": []any{"c"}}}, {Tool: "read", Args: args{"path": "c"}}}},
		"code that searches":              {calling{"grep", args{"pattern": "SECRET"}, nil}, []sandbox.ToolCall{{Tool: "code_run", Args: args{"code": "x"}}}},
		"code that copies":                {calling{"read", args{"path": "private/diary"}, func(d any) (string, args) { return "write", args{"path": "c", "content": d.(args)["content"]} }}, []sandbox.ToolCall{{Tool: "code_run", Args: args{"code": "x"}}, {Tool: "read", Args: args{"path": "c"}}}},
		"a copy":                          {nil, []sandbox.ToolCall{{Tool: "bash", Args: args{"command": "cp private/diary c"}}, {Tool: "read", Args: args{"path": "c"}}}},
		"a pipe":                          {nil, []sandbox.ToolCall{{Tool: "bash", Args: args{"command": "cat data/a.csv | tee -a b c >> d"}}, {Tool: "read", Args: args{"path": "b"}}, {Tool: "bash", Args: args{"command": "cat b c d"}}}},
		"a move":                          {nil, []sandbox.ToolCall{{Tool: "move", Args: args{"from": "private", "to": "c"}}, {Tool: "read", Args: args{"path": "c/diary"}}}},
		"a move of what is above":         {nil, []sandbox.ToolCall{{Tool: "bash", Args: args{"command": "mv data e"}}, {Tool: "read", Args: args{"path": "e/a.csv"}}}},
		"an output of the same name":      {nil, []sandbox.ToolCall{{Tool: "bash", Args: args{"command": "mkdir -p .bailey/output; cp private/diary .bailey/output/x; cat .bailey/output/x"}}}},
		"a program's writing in the path": {nil, []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"data/a.csv", "data/b.md"}, "read": []any{"data/a.csv"}, "write": []any{"data"}}}, {Tool: "read", Args: args{"path": "data/b.md"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := sending(t, c.code)
			for _, call := range c.calls {
				if told := h.CallForModel(t.Context(), call.Tool, call.Args, false); strings.Contains(told.Text, "SECRET") {
					t.Errorf("%s told %.80s", call.Tool, told.Text)
				}
			}
		})
	}
	h := sending(t, nil) // open content is sent, and may be moved freely
	for _, call := range []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"data/b.md", "n"}, "read": []any{"data/b.md"}, "write": []any{"n"}}}, {Tool: "bash", Args: args{"command": "cp b c; cat c; cp private/diary private/e"}}, {Tool: "read", Args: args{"path": "n"}}} {
		if told := h.CallForModel(t.Context(), call.Tool, call.Args, false); call.Tool != "bash" && !strings.Contains(told.Text, "open") {
			t.Errorf("%s told %.200s", call.Tool, told.Text)
		}
	}
	if h.file(t, "private/e") == "" || h.file(t, "c") != "open\n" {
		t.Error("not copied")
	}
}

func TestKeptOutputsAreSentAsTheirFiles(t *testing.T) {
	for _, call := range []sandbox.ToolCall{{Tool: "read", Args: args{"path": "private/diary"}}, {Tool: "grep", Args: args{"pattern": "SECRET"}}} {
		h := sending(t, nil)
		res := h.Call(t.Context(), call.Tool, call.Args)
		if res.Metadata.OutputPath == "" {
			t.Fatalf("%s was not cut: %+v", call.Tool, res.Metadata)
		}
		if told := h.CallForModel(t.Context(), "read", args{"path": res.Metadata.OutputPath}, false); strings.Contains(told.Text, "SECRET") {
			t.Errorf("%s: %.80s", call.Tool, told.Text)
		}
	}
}

// Rows without a file are not withheld like those of a file.
func TestRowsOfNoFileAreSent(t *testing.T) {
	h := build(t, parse(t, sendsSome), nil, nil, func(o *sandbox.Options) {
		o.Tools = []sandbox.Tool{{Tool: protocol.Tool{ID: "search"}, Rows: "results", Run: func(context.Context, *sandbox.Call) (any, error) {
			return args{"results": []any{args{"title": "found"}}}, nil
		}}}
	})
	if told := h.CallForModel(t.Context(), "search", nil, false); !strings.Contains(told.Text, "found") {
		t.Error(told.Text)
	}
}

// A model on this machine receives everything. Another one that continues the conversation does
// not.
func TestConversationGoesOnElsewhere(t *testing.T) {
	h := sending(t, nil)
	s := h.session(t)
	here := &sandboxtest.Model{OnDevice: true, Turns: []sandboxtest.Turn{sandboxtest.CallTool("read", args{"path": "data/a.csv"}), sandboxtest.Say("read it")}}
	_, err := h.talk(t, s, here, "read a.csv")
	must(t, err)
	saw := func(m *sandboxtest.Model) string {
		text := ""
		for _, r := range m.Requests() {
			for _, msg := range r.Messages {
				for _, p := range msg.Parts {
					text += p.Text + "\n"
				}
			}
		}
		return text
	}
	if !strings.Contains(saw(here), "SECRET") {
		t.Error("the model on this machine was kept from the file")
	}
	far := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("hello")}}
	_, err = h.talk(t, s, far, "and now?")
	must(t, err)
	if got := saw(far); strings.Contains(got, "SECRET") || !strings.Contains(got, "1 lines, 7 bytes") {
		t.Errorf("the model elsewhere saw %s", got)
	}
}
