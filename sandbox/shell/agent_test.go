//go:build !js

package shell_test

import (
	"testing"

	"github.com/bailey-go/bailey/internal/agentlines"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// The command lines of testdata/agent.txt behave as in bash with GNU tools: output, exit code and files. The differences of
// testdata/agent_differs.txt are known.
func TestAgentsCommandLines(t *testing.T) {
	agentlines.Compare(t, "testdata", shell.Bash(shell.Options{}), agentlines.Differs(t, "testdata"))
}
