package computer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bailey-go/bailey/environment/computer"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// This example reads a file of a folder. With Options.Engine there is also code_run, and with
// Options.Tools there are the WASI programs.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	_ = os.WriteFile(filepath.Join(dir, "notes.md"), []byte("Call Anna.\n"), 0o644)
	pol, err := policy.Parse(`{"capabilities": {"fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := computer.New(computer.Options{Dir: dir, Box: sandbox.Options{Policy: pol}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	res := c.Box.Call(context.Background(), "grep", map[string]any{"pattern": "Anna"})
	fmt.Println(res.Err())
	res = c.Box.Call(context.Background(), "tool_run", map[string]any{"command": "perl"})
	fmt.Println(res.Err() != nil)
	// Output:
	// <nil>
	// true
}
