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
		FS:     fsaccess.NewJournal(dir, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{}),
		Policy: policy.AskBeforeChanges(),
		Ask:    sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerOnce}),
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
	box, _ := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges()})
	ctx := context.Background()
	session, _ := box.NewSession(ctx, sandbox.SessionOptions{})
	defer session.Close()
	_, _ = session.Say(ctx, "how many lines has list.txt?")
	for chunk, err := range box.Run(ctx, session, provider.Commands(), sandbox.RunOptions{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(chunk.Delta)
	}
	// Output: 2 lines.
}

// terminal asks about each request on standard output, and agrees to all that lose no content.
type terminal struct{}

func (terminal) Ask(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	var replies []sandbox.Reply
	for _, r := range p.Requests {
		fmt.Printf("May the assistant %s? (risk: %s)\n%s", r.Title, r.Risk, r.Diff)
		if r.Destroys || r.Untrusted {
			replies = append(replies, sandbox.Reply{Answer: policy.AnswerReject, Reason: "nothing may be lost"})
			continue
		}
		replies = append(replies, sandbox.Reply{Answer: policy.AnswerOnce})
	}
	return replies, nil
}

// This example implements an Asker.
func ExampleAsker() {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = dir.WriteFile("old.txt", []byte("old\n"), 0o644)
	box, _ := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges(), Ask: terminal{}})
	ctx := context.Background()
	fmt.Println(box.Call(ctx, "write", map[string]any{"path": "new.txt", "content": "new\n"}).Err())
	res := box.Call(ctx, "delete", map[string]any{"path": "old.txt"})
	fmt.Println(string(res.Code), string(res.Reason))
	// Output:
	// May the assistant write the new file new.txt? (risk: low)
	// --- /dev/null
	// +++ b/new.txt
	// @@ -0,0 +1 @@
	// +new
	// <nil>
	// May the assistant delete old.txt? (risk: high)
	// --- a/old.txt
	// +++ /dev/null
	// @@ -1 +0,0 @@
	// -old
	// CAPABILITY_DENIED rejected
}

// This example is a tool that acquires a permit while it runs: only the content of the first file
// shows which other file it needs.
func ExampleCall_Acquire() {
	follow := sandbox.Tool{
		Tool: protocol.Tool{ID: "follow", Requires: []protocol.Grant{{Capability: protocol.FSRead}},
			Description: "Reads the file whose name is in the file link.txt.",
			Parameters:  `{"type":"object","properties":{},"additionalProperties":false}`},
		Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.FSRead, Subject: "link.txt"}}, nil
		},
		Run: func(ctx context.Context, c *sandbox.Call) (any, error) {
			link, _, err := c.FS.Read(ctx, c.Permit, "link.txt")
			if err != nil {
				return nil, err
			}
			name := string(link)
			permit, err := c.Acquire(ctx, policy.Need{Capability: protocol.FSRead, Subject: name})
			if err != nil {
				return nil, err // the policy or the user denied it
			}
			text, _, err := c.FS.Read(ctx, permit, name)
			return map[string]any{"text": string(text)}, err
		},
	}
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = dir.WriteFile("link.txt", []byte("notes.md"), 0o644)
	_ = dir.WriteFile("notes.md", []byte("Call Anna."), 0o644)
	box, _ := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges(), Tools: []sandbox.Tool{follow}})
	res := box.Call(context.Background(), "follow", nil)
	fmt.Println(res.Data, res.Err())
	// Output: map[text:Call Anna.] <nil>
}
