// Command size is a page that serves a box over a MessagePort. Its size is measured.
package main

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func main() {
	ctx := context.Background()
	dir, err := fsaccess.OPFS(ctx, "size")
	if err != nil {
		fmt.Println(err)
		return
	}
	box, err := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges()})
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := mcp.NewServer(box, mcp.Options{Tools: []string{"read", "grep"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(server.Run(ctx, mcp.Port(js.Global().Get("port"))))
}
