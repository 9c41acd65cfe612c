package shell_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// The policy lets scripts run and read. Before a script changes a file, the user is asked. Here
// the answer is no.
func ExampleBash() {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = dir.WriteFile("hours.csv", []byte("mon,8\ntue,6\nmon,2\n"), 0o644)
	pol, err := policy.Parse(`{
		"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "shell.run", "action": "allow"}]
	}`, policy.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	box, err := sandbox.New(sandbox.Options{
		FS: dir, Policy: pol, Ask: sandboxtest.Always(policy.AnswerReject),
		Tools: append(sandbox.Standard(), shell.Bash(shell.Options{})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, script := range []string{"cut -d, -f1 hours.csv | sort | uniq -c | sort -rn | head -1", "rm hours.csv; ls"} {
		res := box.Call(context.Background(), "bash", map[string]any{"command": script})
		fmt.Print(res.Data.(map[string]any)["output"])
	}
	// Output:
	// 2 mon
	// rm: cannot remove 'hours.csv': Permission denied (call bash: the user declined)
	// hours.csv
}
