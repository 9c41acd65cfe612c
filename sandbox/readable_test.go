package sandbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// No text of a model can change the direction of a question, hide a part of it or push it out of
// view.
func TestQuestionsShowWhatIsInThem(t *testing.T) {
	long := strings.Repeat("w", 400)
	for _, c := range []struct{ name, words, title, diff string }{
		{"turned", "a\u202egpj.exe", `run prog "a\u202egpj.exe"`, ""},
		{"invisible", "a\u200b\u3164\u2800b", `run prog "a\u200b\u3164\u2800b"`, ""},
		{"tag", "a\U000e0041", `run prog "a\U000e0041"`, ""},
		{"control", "a\x1b[2K\rb", `run prog "a\x1b[2K\rb"`, ""},
		{"pushed away", "a\n\n\n\nb", `run prog "a\n\n\n\nb"`, ""},
		{"wide space", "a\u2003\u00a0b", `run prog "a\u2003\u00a0b"`, ""},
		{"no UTF-8", "a\xffb", `run prog "a\xffb"`, ""},
		{"as long as may be", long[:240-len("run prog ")], "run prog " + long[:240-len("run prog ")], ""},
		{"one more", long[:241-len("run prog ")], "run prog " + long[:240-len("run prog ")] + "… (1 characters more)", "run prog " + long[:241-len("run prog ")] + "\n\n"},
		{"other scripts", "Grüße, 日本, עברית, 👍", `run prog "Grüße, 日本, עברית, 👍"`, ""},
	} {
		asker := sandboxtest.Always(policy.AnswerOnce)
		ran := ""
		h := build(t, parse(t, `{"capabilities": {"shell.run": ["prog"]}, "rules": [{"permission": "shell.run", "action": "ask"}]}`), asker, nil, func(o *sandbox.Options) {
			o.Tools = append(sandbox.Standard(), sandbox.ToolRun(scripted(func(_ context.Context, c sandbox.Command) (int, error) {
				ran = c.Args[0]
				return 0, nil
			})))
		})
		h.Call(context.Background(), "tool_run", args{"command": "prog", "args": []any{c.words}})
		list := asker.Requests()
		if len(list) != 1 || list[0].Title != c.title || list[0].Diff != c.diff {
			t.Errorf("%s: asked %+v", c.name, list)
		}
		if ran != c.words {
			t.Errorf("%s: %q ran", c.name, ran)
		}
	}
}

// The content that would be written is shown with its invisible characters.
func TestDiffsShowWhatIsInThem(t *testing.T) {
	asker := sandboxtest.Always(policy.AnswerOnce)
	h := build(t, policy.AskBeforeChanges(), asker, nil)
	const text = "if admin\u202e\u2066 // ok\u2069\n\tgo\n"
	h.ok(t, "write", args{"path": "a.go", "content": text})
	if list := asker.Requests(); len(list) != 1 || !strings.Contains(list[0].Diff, "+if admin\\u202e\\u2066 // ok\\u2069\n+\tgo\n") {
		t.Errorf("asked %+v", list)
	}
	if h.file(t, "a.go") != text {
		t.Errorf("%q was written", h.file(t, "a.go"))
	}
}

// Only a diff that the box made is called one. A script, or a text of an app's tool, may imitate it.
func TestDiffsOfTheBox(t *testing.T) {
	const fake = "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n rm -rf x\n"
	own := sandbox.Tool{Tool: protocol.Tool{ID: "own", Requires: []protocol.Grant{{Capability: protocol.FSWrite}}},
		Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.FSWrite, Subject: "a"}}, nil
		},
		Preview: func(context.Context, *sandbox.Call) (string, string) { return "do it", fake },
		Run:     func(context.Context, *sandbox.Call) (any, error) { return nil, nil },
	}
	for _, c := range []struct {
		tool string
		args args
		want bool
	}{
		{"write", args{"path": "new", "content": "x"}, true}, {"edit", args{"path": "a", "old_string": "one", "new_string": "two"}, true},
		{"delete", args{"path": "a"}, true}, {"move", args{"from": "a", "to": "b"}, true}, {"bash", args{"command": fake + "rm a"}, false}, {"own", args{}, false},
	} {
		asker := sandboxtest.Always(policy.AnswerReject)
		h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`), asker, map[string]string{"a": "one\n"}, withBash, func(o *sandbox.Options) { o.Tools = append(o.Tools, own) })
		s := h.session(t)
		h.Call(s.Context(t.Context()), "read", args{"path": "a"})
		h.Call(s.Context(t.Context()), c.tool, c.args)
		list := asker.Requests()
		if last := list[len(list)-1]; last.Tool != c.tool || last.Unified != c.want || last.Diff == "" {
			t.Errorf("%s: %t, %+v", c.tool, last.Unified, last)
		}
	}
}
