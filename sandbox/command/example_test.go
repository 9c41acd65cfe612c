package command_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/sandbox/shell"
	"github.com/bailey-go/bailey/worker"
)

// This example makes modules into commands for the tool tool_run. The shell can use the same
// runner.
func ExampleNew() {
	tools := func(pool *worker.Pool, fetch func(context.Context, string) ([]byte, error)) ([]sandbox.Tool, error) {
		runner, err := command.New(pool, command.Options{
			Commands: map[string]string{"jq": "jq.wasm", "sqlite3": "sqlite3.wasm"},
			Fetch:    fetch, // called when a command is used for the first time
		})
		if err != nil {
			return nil, fmt.Errorf("commands: %w", err)
		}
		return append(sandbox.Standard(), sandbox.ToolRun(runner), shell.Bash(shell.Options{Runner: runner})), nil
	}
	_ = tools
}
