package sandboxtest_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// This example tests a program that uses a box. The model follows a script, the user agrees to
// everything, and both record their requests.
func Example() {
	ctx := context.Background()
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	person := sandboxtest.Always(policy.AnswerOnce)
	model := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		sandboxtest.CallTool("write", map[string]any{"path": "list.txt", "content": "milk\n"}),
		sandboxtest.Say("It is on the list."),
	}}
	box, err := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges(), Ask: person})
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := box.NewSession(ctx, sandbox.SessionOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	if _, err := session.Say(ctx, "we need milk"); err != nil {
		fmt.Println(err)
		return
	}
	for chunk, err := range box.Run(ctx, session, model, sandbox.RunOptions{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if chunk.Type == "text-delta" {
			fmt.Print(chunk.Delta)
		}
	}
	list, err := dir.ReadFile("list.txt")
	fmt.Printf("\n%q %v\n", list, err)
	for _, p := range person.Prompts() {
		fmt.Println("asked:", p.Requests[0].Title)
	}
	fmt.Println(len(model.Requests()), "requests to the model")
	// Output:
	// It is on the list.
	// "milk\n" <nil>
	// asked: write the new file list.txt
	// 2 requests to the model
}
