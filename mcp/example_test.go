package mcp_test

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// This example serves a folder. The policy limits the files that the client can read. For standard
// input the transport is &sdk.StdioTransport{}. Here the client and the server are connected in
// memory.
func ExampleNewServer() {
	ctx := context.Background()
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = dir.WriteFile("notes.md", []byte("Call Anna.\n"), 0o644)
	_ = dir.WriteFile("diary.md", []byte("Dear diary.\n"), 0o644)
	pol, err := policy.Parse(`{
		"capabilities": {"fs.read": ["."], "stream.send": true},
		"filesystem": {"denyRead": ["diary.md"]},
		"rules": [{"permission": "fs.read", "action": "allow"}]
	}`, policy.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	box, err := sandbox.New(sandbox.Options{FS: dir, Policy: pol})
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := mcp.NewServer(box, mcp.Options{Tools: []string{"read"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	near, there := sdk.NewInMemoryTransports()
	served, err := server.Connect(ctx, there, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := sdk.NewClient(&sdk.Implementation{Name: "someone", Version: "1"}, nil).Connect(ctx, near, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range []string{"notes.md", "diary.md"} {
		res, err := client.CallTool(ctx, &sdk.CallToolParams{Name: "read", Arguments: map[string]any{"path": path}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(res.IsError, res.Content[0].(*sdk.TextContent).Text)
	}
	_ = client.Close()
	_ = served.Wait()
	// Output:
	// false {"content":"Call Anna.\n","version":"d2adbedae965bb048130e86175e27a60"}
	// true error not allowed: call read: read "diary.md": the policy does not let this be read
}
