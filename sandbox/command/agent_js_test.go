package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/agentlines"
	"github.com/bailey-go/bailey/internal/needs"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/sandbox/shell"
	"github.com/bailey-go/bailey/worker"
)

// differsInPage are the command lines that differ from bash in a page, and natively with a runner, with the reasons. Those of agent_differs.txt are
// further ones.
var differsInPage = map[string]string{
	`awk 'BEGIN { "echo hi" | getline x; print x }'`:            "a program in WASI starts no other",
	`awk '{ print | "sort" }' names.txt`:                        "a program in WASI starts no other",
	`awk '{print > "out_" NR ".txt"}' names.txt; cat out_1.txt`: "POSIX leaves this open: there the name ends at the first space, and mawk takes all of it",
	`split -l 3 names.txt && ls x*; split -n 2 names.txt p_; ls p_*; split -a 3 -d -l 5 names.txt num; ls num*; split -b 20 --additional-suffix=.part names.txt z; ls z*; cat z*.part | cmp - names.txt && echo joined; split -C 12 names.txt c_; wc -l c_* | tail -1; seq 10 | split -l 4 - s_; tail -n 1 s_ac; split -n l/2 names.txt l_; wc -l < l_aa; split -n r/2 names.txt r_; head -2 r_aa; split --filter='wc -l' -l 4 names.txt`: "split is a program in a page, and starts no other for --filter",
	"echo 'bad' | jq .; echo $?": agentlines.Depends + "jq 1.7 ends with 5 after JSON that can't be read, older ones with 2 or 4",
}

// The shell of a page, with the starter tools, answers the command lines that agents type as the machine's bash did: a sample, and all of
// them without -short.
func TestAgentsCommandLines(t *testing.T) {
	tools := filepath.Join("..", "..", "build", "tools")
	for _, name := range []string{"core", "awk", "jq"} {
		if _, err := os.Stat(filepath.Join(tools, name+".wasm")); err != nil {
			needs.Missing(t, "run make wasitools first; it needs clang for WASI")
		}
	}
	o, err := command.Catalogue(t.Context(), func(_ context.Context, name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(tools, name))
	}, "tools.json")
	must(t, err)
	pool, err := worker.NewPool(t.Context(), worker.Options{Spare: 2})
	must(t, err)
	defer pool.Close()
	runner, err := command.New(pool, o)
	must(t, err)
	defer runner.Close()
	const dir = "../shell/testdata"
	known := agentlines.Differs(t, dir)
	for script, reason := range known {
		if strings.HasPrefix(reason, "awk and jq are WASI programs") {
			delete(known, script)
		}
	}
	for script, reason := range differsInPage {
		known[script] = reason
	}
	every := 1
	if testing.Short() {
		every = 12
	}
	agentlines.Recorded(t, dir, shell.Bash(shell.Options{Runner: runner}), known, every)
}
