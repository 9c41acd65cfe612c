package shell_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// The user has time for the questions of a script, whatever limit the script gave itself. A script that only sleeps is
// ended.
func TestQuestionsOfAScriptTakeNoTime(t *testing.T) {
	native.Only(t) // the clock of the bubble is the same in a page
	for _, c := range []struct {
		script  string
		timeout float64
		want    string
		code    protocol.Code
	}{
		{"echo x > new.txt; echo y > newer.txt; echo done", 0, "done\n", ""},
		{"echo x > new.txt; echo done", 1000, "done\n", ""},
		{"timeout 1 tee new.txt < /dev/null; echo $?", 0, "0\n", ""},
		{"echo x | tee new.txt | cat", 1000, "x\n", ""},
		{"timeout 1 sleep 30; echo $?", 0, "124\n", ""},
		{"sleep 30", 1000, "", protocol.ErrTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := false
			ask := sandbox.AskFunc(func(_ context.Context, p sandbox.Prompt) (out []sandbox.Reply, err error) {
				asked = true
				<-time.After(10 * time.Hour)
				for range p.Requests {
					out = append(out, sandbox.Reply{Answer: policy.AnswerOnce})
				}
				return out, nil
			})
			b, _, _ := buildWith(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "filesystem": {"allowWrite": ["."]},
				"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "shell.run", "action": "allow"}, {"permission": "fs.write", "action": "ask"}]}`, ask, shell.Bash(shell.Options{}))
			a := map[string]any{"command": c.script}
			if c.timeout > 0 {
				a["timeout"] = c.timeout
			}
			res := b.Call(t.Context(), "bash", a)
			out, _ := res.Data.(map[string]any)
			text, _ := out["output"].(string)
			if res.Code != c.code || text != c.want || asked != (c.want != "124\n" && c.code == "") {
				t.Errorf("%s: %+v, asked %v", c.script, res, asked)
			}
			synctest.Wait()
		})
	}
}
