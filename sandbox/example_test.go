package sandbox_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/provider"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// This example uses a folder in memory with a journal. The user agrees to the first change and to
// no other.
func ExampleBox_Call() {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = dir.WriteFile("notes.md", []byte("Call Anna.\n"), 0o644)
	box, err := sandbox.New(sandbox.Options{
		FS:     fsaccess.NewJournal(dir, fsaccess.NewMemory(fsaccess.MemoryOptions{})),
		Policy: policy.Careful(),
		Ask:    sandboxtest.Script(sandbox.Reply{Answer: protocol.AnswerOnce}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	box.Call(ctx, "read", map[string]any{"path": "notes.md"})
	res := box.Call(ctx, "edit", map[string]any{"path": "notes.md", "old_string": "Anna", "new_string": "Ben"})
	fmt.Print(res.Data.(map[string]any)["diff"])
	res = box.Call(ctx, "delete", map[string]any{"path": "notes.md"})
	fmt.Println(string(res.Code), string(res.Reason))
	// Output:
	// --- a/notes.md
	// +++ b/notes.md
	// @@ -1 +1 @@
	// -Call Anna.
	// +Call Ben.
	// CAPABILITY_DENIED rejected
}

// This example runs the loop with provider.Commands, which needs no key and sends nothing.
func ExampleBox_Run() {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = dir.WriteFile("list.txt", []byte("milk\neggs\n"), 0o644)
	box, _ := sandbox.New(sandbox.Options{FS: dir, Policy: policy.Careful()})
	ctx := context.Background()
	session, _ := box.NewSession(ctx, sandbox.SessionOptions{})
	defer session.Close()
	_, _ = session.Say(ctx, "how many lines has list.txt?")
	for chunk, err := range box.Run(ctx, session, provider.Commands()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(chunk.Delta)
	}
	// Output: 2 lines.
}
