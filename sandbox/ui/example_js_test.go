package ui_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/ui"
)

// The page has an empty element: <section id="ask" hidden></section>. The box shows its questions there.
// In this example the page itself rejects the question, as it does when the user stops the assistant.
func ExampleNew() {
	dom.Document().Get("body").Call("append", dom.Create("section", "", "id", "ask", "hidden", ""))
	ctx := context.Background()
	parent, err := iframe.ElementByID("ask")
	if err != nil {
		fmt.Println(err)
		return
	}
	titles := make(chan string, 1)
	sheet, err := ui.New(parent, ui.Options{OnAsk: func(title string) { titles <- title }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sheet.Close()
	box, err := sandbox.New(sandbox.Options{
		FS:     fsaccess.NewMemory(fsaccess.MemoryOptions{}),
		Policy: policy.AskBeforeChanges(),
		Ask:    sheet,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		fmt.Println(<-titles)
		stop()
	}()
	res := box.Call(ctx, "write", map[string]any{"path": "notes.md", "content": "Call Anna.\n"})
	fmt.Println(string(res.Code))
	// Output:
	// Write the new file notes.md?
	// ABORTED
}
