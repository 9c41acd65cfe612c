package sandbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

const asksToWrite = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"], "stream.send": true}, "rules": [{"permission": "fs.read", "action": "allow"}]}`

// Changing the arguments while the user reads the question does not change the effect.
func TestAttackArgumentsChangedDuringTheQuestion(t *testing.T) {
	count := attack.Start(t, "24")
	for _, c := range []struct {
		name   string
		change func(a args, r *sandbox.Request) // by whoever made the call, or the asker
		caller bool                             // the caller's own arguments are changed
	}{
		{"the caller changes the content", func(a args, _ *sandbox.Request) { a["content"] = "evil" }, true},
		{"the caller changes the path", func(a args, _ *sandbox.Request) { a["path"] = "evil.txt" }, true},
		{"the caller adds a version", func(a args, _ *sandbox.Request) { a["version"] = "absent" }, true},
		{"the caller takes the content away", func(a args, _ *sandbox.Request) { delete(a, "content") }, true},
		{"the asker changes the arguments", func(_ args, r *sandbox.Request) { r.Args.(args)["content"] = "evil" }, false},
		{"the asker changes the path", func(_ args, r *sandbox.Request) { r.Args.(args)["path"] = "evil.txt" }, false},
		{"the asker changes the needs", func(_ args, r *sandbox.Request) { r.Needs[0].Subject = "evil.txt" }, false},
		{"the asker changes the effects' needs", func(_ args, r *sandbox.Request) { r.Effects[0].Needs[0].Subject = "evil.txt" }, false},
		{"the asker changes the patterns", func(_ args, r *sandbox.Request) { r.Patterns[0] = "**" }, false},
	} {
		attempt := func(off bool) (held bool) {
			a := args{"path": "harmless.txt", "content": "x"}
			asker := &sandboxtest.Asker{Reply: func(r sandbox.Request) sandbox.Reply {
				c.change(a, &r)
				return sandbox.Reply{Answer: policy.AnswerOnce}
			}}
			h := build(t, parse(t, asksToWrite), asker, nil, func(o *sandbox.Options) {
				if off {
					o.Without("clone")
				}
			})
			res := h.Call(t.Context(), "write", a)
			return res.Err() == nil && h.file(t, "harmless.txt") == "x" && strings.Contains(h.file(t, "evil.txt"), "no such")
		}
		count.Try(c.name, !attempt(false))
		if c.caller {
			count.Off(c.name, !attempt(true))
		}
	}
	// Deeper in the tree.
	for _, off := range []bool{false, true} {
		inner := args{"command": "prog", "args": []any{"safe"}}
		ran := ""
		asker := &sandboxtest.Asker{Reply: func(r sandbox.Request) sandbox.Reply {
			inner["args"].([]any)[0] = "evil"
			return sandbox.Reply{Answer: policy.AnswerOnce}
		}}
		h := build(t, parse(t, asksToWrite), asker, nil, func(o *sandbox.Options) {
			if off {
				o.Without("clone")
			}
			o.Tools = append(sandbox.Standard(), sandbox.ToolRun(scripted(func(_ context.Context, c sandbox.Command) (int, error) { ran = c.Args[0]; return 0, nil })))
		})
		h.Call(t.Context(), "tool_run", inner)
		if off {
			count.Off("an element of a list", ran == "evil")
		} else {
			count.Try("an element of a list", ran != "safe")
		}
	}
}

// No credential in the name of a member reaches a model.
func TestAttackCredentialsInNamesOfMembers(t *testing.T) {
	count := attack.Start(t, "19")
	key := "gh" + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}}`)
	res := func(data any, off bool) sandbox.ModelResult {
		o := sandbox.Options{Policy: p, Tools: []sandbox.Tool{{Tool: protocol.Tool{ID: "table", Description: "x"},
			Run: func(context.Context, *sandbox.Call) (any, error) { return data, nil }}}}
		if off {
			o.Without("keys")
		}
		b, err := sandbox.New(o)
		must(t, err)
		return b.CallForModel(t.Context(), "table", nil, false)
	}
	for name, data := range map[string]any{
		"a key":                     args{key: "x"},
		"a key beside a value":      args{"value": key, "rows": args{key: "x"}},
		"in a list":                 args{"rows": []any{args{key: "x"}}},
		"within a longer key":       args{"token " + key + " of the app": "x"},
		"as a header's line":        args{"Authorization: Bearer " + key: true},
		"two that become the same":  args{key: "1", "gh" + "p_zB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5": "2"},
		"a key of an address":       args{"https://user:hunter2hunter2@db.example/": nil},
		"nested in three":           args{"a": args{"b": args{key: args{"c": 1.0}}}},
		"a key that holds a secret": args{key: key},
	} {
		got := res(data, false)
		count.Try(name, strings.Contains(got.Text, key) || strings.Contains(got.Text, "hunter2") || len(got.Withheld) == 0)
		off := res(data, true)
		count.Off(name, strings.Contains(off.Text, key) || strings.Contains(off.Text, "hunter2"))
	}
	// No member is lost when two names become equal.
	got := res(args{key: "one", "gh" + "p_zB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5": "two"}, false)
	if !strings.Contains(got.Text, `"one"`) || !strings.Contains(got.Text, `"two"`) {
		t.Errorf("a member is lost: %s", got.Text)
	}
}
