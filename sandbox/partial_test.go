package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// halfway is a command that writes, and then runs until it is stopped.
func halfway(began chan<- struct{}) sandbox.CommandRunner {
	return scripted(func(ctx context.Context, c sandbox.Command) (int, error) {
		_, _ = c.Stdout.Write([]byte("half of it\n"))
		_, _ = c.Stderr.Write([]byte("a warning\n"))
		close(began)
		<-ctx.Done()
		return 0, context.Cause(ctx)
	})
}

// A command or a script that is stopped, takes too long or hits a limit keeps its output: the model,
// the session and the caller get it beside the error.
func TestOutputOfAFailedCallIsKept(t *testing.T) {
	t.Run("a command that is stopped", func(t *testing.T) {
		began := make(chan struct{})
		h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "shell.run": ["*"], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`), sandboxtest.Always(policy.AnswerOnce), nil, func(o *sandbox.Options) {
			o.Tools = append(sandbox.Standard(), sandbox.ToolRun(halfway(began)))
		})
		s := h.session(t)
		m := &sandboxtest.Model{Turns: []sandboxtest.Turn{{Calls: []sandbox.ToolCall{{ID: "c", Tool: "tool_run", Args: args{"command": "prog"}}}}, sandboxtest.Say("done")}}
		go func() {
			<-began
			s.StopCall("c", "enough")
		}()
		lines, err := h.talk(t, s, m, "go")
		must(t, err)
		p, _ := s.Part("c")
		d, _ := p.Data.(map[string]any)
		out, _ := d["output"].(map[string]any)
		if p.ToolState != sandbox.ToolOutputError || out["output"] != "half of it\n" || out["stderr"] != "a warning\n" || d["error"] == nil {
			t.Errorf("%s %v", p.ToolState, d)
		}
		if got := texts(m.Requests()[1]); !strings.Contains(got, "enough") || !strings.Contains(got, `The output until then: {"output":"half of it\n","stderr":"a warning\n"}`) {
			t.Errorf("the model gets %s", got)
		}
		if !strings.Contains(types(lines), "tool-output-error") {
			t.Error(types(lines))
		}
	})
	h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "shell.run": ["*"], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`), nil, map[string]string{"a": "text of a\n"}, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), shell.Bash(shell.Options{}))
	})
	for name, c := range map[string]struct {
		script string
		code   protocol.Code
		output any
	}{
		"takes too long":          {"cat a; while :; do :; done", protocol.ErrTimeout, map[string]any{"output": "text of a\n"}},
		"hits a limit":            {"cat a; x=a; while :; do x=$x$x; done", protocol.ErrResourceLimit, map[string]any{"output": "text of a\n"}},
		"fails without an output": {"while :; do :; done", protocol.ErrTimeout, nil},
	} {
		t.Run(name, func(t *testing.T) {
			res := h.Call(t.Context(), "bash", args{"command": c.script, "timeout": 300.0})
			var e *protocol.Error
			if !errors.As(res.Err(), &e) || e.Code != c.code {
				t.Fatalf("%v", res.Err())
			}
			if want, _ := c.output.(map[string]any); want == nil && res.Data != nil {
				t.Errorf("%v", res.Data)
			} else if got, _ := res.Data.(map[string]any); want != nil && got["output"] != want["output"] {
				t.Errorf("%v, want %v", res.Data, want)
			}
		})
	}
}

// The output of a failed call is sent as that of any other: not what the policy keeps here, and no
// credentials.
func TestAttackOutputOfAFailedCall(t *testing.T) {
	a := attack.Start(t, "sent")
	h := sending(t, nil)
	const end = "; while :; do :; done"
	const credential = "ghp_abcdefghij0123456789ABCDEFGHIJ012345"
	for name, c := range map[string]struct{ script, hides, shows string }{
		"a file that is not sent": {"cat private/diary" + end, "SECRET", ""},
		"a file of rows":          {"cat data/a.csv" + end, "SECRET", ""},
		"an open file":            {"cat data/b.md" + end, "SECRET", "open"},
		"a credential":            {"echo key " + credential + end, credential, "key"},
	} {
		t.Run(name, func(t *testing.T) {
			call := args{"command": c.script, "timeout": 300.0}
			far := h.CallForModel(t.Context(), "bash", call, false)
			a.Try(name, strings.Contains(far.Text, c.hides))
			if !strings.Contains(far.Text, c.shows) || !strings.HasPrefix(far.Text, "error time limit reached: ") || strings.Contains(far.Text, `"done"`) {
				t.Errorf("a model elsewhere gets %.300s", far.Text)
			}
			near := h.CallForModel(t.Context(), "bash", call, true)
			got := strings.Contains(near.Text, c.hides)
			a.Off(name+", a model on this machine", got)
			if (c.shows == "" || c.hides == credential) && !got {
				t.Errorf("a model on this machine gets %.300s", near.Text)
			}
		})
	}
}
