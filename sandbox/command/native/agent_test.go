package native_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/agentlines"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// differs are the command lines that differ from bash with mawk and jq, with the reasons.
var differs = map[string]string{
	`awk 'BEGIN { "echo hi" | getline x; print x }'`:            "a program in WASI starts no other",
	`awk '{ print | "sort" }' names.txt`:                        "a program in WASI starts no other",
	`awk '{print > "out_" NR ".txt"}' names.txt; cat out_1.txt`: "POSIX leaves this open: there the name ends at the first space, and mawk takes all of it",
	"echo 'bad' | jq .; echo $?":                                agentlines.Depends + "jq 1.7 ends with 5 after JSON that can't be read, older ones with 2 or 4",
}

// With awk and jq of the starter tools the shell answers like bash where its own commands do not (TestAgentsCommandLines of
// package shell has all other lines).
func TestAgentsCommandLines(t *testing.T) {
	const dir = "../../shell/testdata"
	known := agentlines.Differs(t, dir)
	for script, reason := range known {
		if strings.HasPrefix(reason, "awk and jq are WASI programs") {
			delete(known, script)
		}
	}
	for script, reason := range differs {
		known[script] = reason
	}
	agentlines.Compare(t, dir, shell.Bash(shell.Options{Runner: runner(t)}), known, "awk", "jq")
}
