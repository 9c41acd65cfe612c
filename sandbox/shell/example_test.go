package shell_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// A script over the folder. Under the careful policy the person is asked for each script,
// and says yes to the first and no to the second.
func ExampleBash() {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = dir.WriteFile("hours.csv", []byte("mon,8\ntue,6\nmon,2\n"), 0o644)
	box, err := sandbox.New(sandbox.Options{
		FS: dir, Policy: policy.Careful(),
		Ask:   sandboxtest.Script(sandbox.Reply{Answer: protocol.AnswerOnce}, sandbox.Reply{Answer: protocol.AnswerReject}),
		Tools: append(sandbox.Standard(), shell.Bash(shell.Options{})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	res := box.Call(ctx, "bash", map[string]any{"command": "cut -d, -f1 hours.csv | sort | uniq -c | sort -rn | head -1"})
	fmt.Print(res.Data.(map[string]any)["output"])
	res = box.Call(ctx, "bash", map[string]any{"command": "rm hours.csv"})
	fmt.Println(res.Code)
	// Output:
	// 2 mon
	// CAPABILITY_DENIED
}
