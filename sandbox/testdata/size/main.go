// Command size is a page that has a box over a folder and a store of sessions, and no shell, no
// provider and no MCP. `make lint` measures its size, so that the box stays small.
package main

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

type model struct{ sandbox.Model }

func main() {
	ctx := context.Background()
	dir, err := fsaccess.OPFS(ctx, "size")
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := sandbox.IndexedStore(ctx, "size")
	if err != nil {
		fmt.Println(err)
		return
	}
	box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewJournal(dir, dir, fsaccess.JournalOptions{}), Policy: policy.AskBeforeChanges(), Sessions: store, Tools: sandbox.Standard()})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := box.NewSession(ctx, sandbox.SessionOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for c, err := range box.Run(ctx, s, model{}, sandbox.RunOptions{}) {
		fmt.Println(c.Type, err)
	}
}
