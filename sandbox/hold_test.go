package sandbox_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// caller runs "code" that makes one call of a tool.
type caller struct {
	tool string
	args any
	err  *error // of the call
}

func (r caller) RunCode(ctx context.Context, tools *protocol.Toolset, _ string, _ any) (*protocol.RunResult, error) {
	t, err := tools.Lookup(r.tool)
	if err == nil {
		_, err = t.Execute(ctx, r.args)
	}
	*r.err = err
	return &protocol.RunResult{Success: true}, nil
}

// other is a runner with a third-party command.
type other struct{ scripted }

func (other) AskCommand(context.Context, string) (reason, key string, err error) {
	return "it was installed", "0123456789abcdef", nil
}

// A person has as long as they like for each kind of question, also for one that a call asks on behalf of another: none of
// the limits above it counts that time. A tool that takes its own time is ended.
func TestQuestionsTakeNoTime(t *testing.T) {
	native.Only(t) // the clock of the bubble is the same in a page
	const day = 24 * time.Hour
	slow := func(id string, requires protocol.Capability, run func(ctx context.Context, c *sandbox.Call) error) sandbox.Tool {
		tool := sandbox.Tool{Tool: protocol.Tool{ID: id, Time: time.Second}, Run: func(ctx context.Context, c *sandbox.Call) (any, error) { return nil, run(ctx, c) }}
		if requires != "" {
			tool.Requires = []protocol.Grant{{Capability: requires}}
		}
		return tool
	}
	program := other{func(context.Context, sandbox.Command) (int, error) { return 0, nil }}
	for _, c := range []struct {
		name, tool string
		args       any
		questions  int
		want       protocol.Code
	}{
		{"before the call", "write", args{"path": "a.txt", "content": "x"}, 1, ""},
		{"a dangerous kind, during the call", "write", args{"path": "a.sh", "content": "x"}, 2, ""},
		{"further effects, during the call", "acquire", nil, 1, ""},
		{"by the tool itself", "await", nil, 1, ""},
		{"two at once, by the tool itself", "twice", nil, 2, ""},
		{"a third-party command", "tool_run", args{"command": "prog"}, 1, ""},
		{"the model's own", "question", args{"questions": []any{map[string]any{"question": "?"}}}, 1, ""},
		{"none, and it is too slow", "slow", nil, 0, protocol.ErrTimeout},
	} {
		for _, through := range []string{"code", "a tool"} {
			if c.tool == "question" && through == "code" {
				continue // code can't call it
			}
			synctest.Test(t, func(t *testing.T) {
				var questions atomic.Int32
				person := func() {
					questions.Add(1)
					<-time.After(day) // of the bubble
				}
				var failed error
				nested := sandbox.Tool{Tool: protocol.Tool{ID: "nested", Time: time.Second}, Run: func(ctx context.Context, call *sandbox.Call) (any, error) {
					if res := call.Box().Call(ctx, c.tool, c.args); res.Code != "" {
						failed = protocol.Errorf(res.Code, "", "", "%s", res.ErrorText)
					}
					return nil, nil
				}}
				tools := append(sandbox.Standard(), sandbox.CodeRun(caller{c.tool, c.args, &failed}), sandbox.ToolRun(program), nested,
					slow("acquire", protocol.FSWrite, func(ctx context.Context, c *sandbox.Call) error {
						_, err := c.Acquire(context.Background(), sandbox.Writes("b.txt")...) // a context without the call's values
						return err
					}),
					slow("await", "", func(ctx context.Context, c *sandbox.Call) error { c.Await(person); return nil }),
					slow("twice", "", func(ctx context.Context, c *sandbox.Call) error {
						done := make(chan struct{})
						go c.Await(func() { person(); close(done) })
						c.Await(func() { <-time.After(time.Hour) })
						questions.Add(1)
						<-done
						return nil
					}),
					slow("slow", "", func(ctx context.Context, _ *sandbox.Call) error { <-ctx.Done(); return context.Cause(ctx) }))
				p := parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"], "code.run": true}, "filesystem": {"allowWrite": ["."]},
					"rules": [{"permission": "shell.run", "action": "allow"}, {"permission": "code_run", "action": "allow"}, {"permission": "fs.write", "action": "ask"}]}`)
				box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: p, Tools: tools,
					Ask: sandbox.AskFunc(func(_ context.Context, p sandbox.Prompt) (out []sandbox.Reply, err error) {
						person()
						for range p.Requests {
							out = append(out, sandbox.Reply{Answer: policy.AnswerOnce})
						}
						return out, nil
					}),
					AnswerModel: func(context.Context, []sandbox.ModelQuestion) ([][]string, error) { person(); return nil, nil }})
				must(t, err)
				outer, a := "code_run", any(args{"code": "x"})
				if through != "code" {
					outer, a = "nested", nil
				}
				res := box.Call(t.Context(), outer, a)
				if c.want == "" && (res.Code != "" || failed != nil || int(questions.Load()) != c.questions) {
					t.Errorf("%s, through %s: %q %q, the call: %v, %d questions", c.name, through, res.Code, res.ErrorText, failed, questions.Load())
				}
				if c.want != "" && res.Code != c.want && protocol.CodeOf(failed) != c.want {
					t.Errorf("%s, through %s: %q, the call: %v", c.name, through, res.Code, failed)
				}
				synctest.Wait()
			})
		}
	}
}
