package quickjs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// A person who is asked by a call of the code has far more time than the code, up to the bound of all questions of a
// run.
func TestQuestionTakesNoTime(t *testing.T) {
	const limit = 5 * time.Second
	p, err := policy.Parse(`{"capabilities": {"fs.write": ["."], "code.run": true}, "filesystem": {"allowWrite": ["."]},
		"rules": [{"permission": "fs.write", "action": "ask"}, {"permission": "code.run", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		each time.Duration // for each of two questions
		want protocol.Code
	}{
		{"longer than a call may take", time.Minute, ""},
		{"below the bound", stopclock.Most / 2, ""},
		{"at the bound, with all of the code's own time", (stopclock.Most + limit - time.Second) / 2, ""},
		{"above the bound and the code's own time", (stopclock.Most + limit + time.Second) / 2, protocol.ErrTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := runner(t, Options{Limits: protocol.Limits{Time: limit}})
			box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: p, Tools: append(sandbox.Standard(), sandbox.CodeRun(r)),
				Ask: sandbox.AskFunc(func(ctx context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
					select {
					case <-time.After(c.each):
						return []sandbox.Reply{{Answer: policy.AnswerOnce}}, nil
					case <-ctx.Done():
						return nil, context.Cause(ctx)
					}
				})})
			if err != nil {
				t.Fatal(err)
			}
			res := box.Call(t.Context(), "code_run", map[string]any{"code": `await callTool("write", { path: "a", content: "a" }); await callTool("write", { path: "b", content: "b" }); return "both"`})
			out, _ := res.Data.(map[string]any)
			said, _ := out["error"].(string)
			if res.Code != "" || (out["value"] == "both") != (c.want == "") || (said == "") != (c.want == "") {
				t.Errorf("%s: %+v", c.name, res)
			}
			synctest.Wait()
		})
	}
}

// Code raises a question and works without end while the person reads. The time that it works counts, and with the
// defence off it works on until somebody stops it.
func TestAttackWorkDuringAQuestion(t *testing.T) {
	count := attack.Start(t, "frames")
	stop := errors.New("stopped")
	for name, code := range map[string]string{
		"a loop":             `callTool("ask", {}); await sleep(0); for (;;);`,
		"a loop of promises": `callTool("ask", {}); for (;;) await 0`,
		"a chain of timers":  `callTool("ask", {}); const f = () => { for (let i = 0; i < 1e5; i++); setTimeout(f, 0) }; f(); await new Promise(() => {})`,
	} {
		for _, rests := range []bool{false, true} {
			var (
				res   *protocol.RunResult
				err   error
				asked atomic.Bool
			)
			// On a busy machine the time can be over before the code asks.
			for limit := 200 * time.Millisecond; limit < time.Minute && !asked.Load(); limit *= 2 {
				ctx, cancel := context.WithCancelCause(t.Context())
				ask := protocol.Tool{ID: "ask", Parameters: `{"type":"object"}`, Execute: func(ctx context.Context, _ any) (any, error) {
					defer stopclock.Hold(ctx)()
					asked.Store(true)
					if rests { // nothing else ends the run
						time.AfterFunc(2*limit, func() { cancel(stop) })
					}
					<-ctx.Done()
					return nil, context.Cause(ctx)
				}}
				r := runner(t, Options{Limits: protocol.Limits{Time: limit}, rests: rests})
				res, err = r.RunCode(ctx, tools(t, ask), code, nil)
				cancel(nil)
			}
			if rests {
				count.Off(name, errors.Is(err, stop))
				continue
			}
			ended := err == nil && res.Error != nil && res.Error.Code == protocol.ErrTimeout && asked.Load()
			if count.Try(name, !ended); !ended {
				t.Errorf("%s: %v %+v", name, err, res)
			}
		}
	}
}
