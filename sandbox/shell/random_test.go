package shell_test

import (
	"context"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// words are arguments that commands and tools may stumble over.
var words = []string{"", "''", "-1", "0", "1", "2", "-n", "-c", "-f", "-d", "-k", "-t", "-w", "-s", "-l", "-i", "-e", "-v", "-A", "-B", "-C", "-m", "-r", "-u", "-z", "-I", "-p", "-a", "+1", "+0", "-0",
	"99999999999999999999", "9223372036854775807", "-9223372036854775808", "1-", "-3", "5-2", "0-", "1,2", ",", "a-z", "z-a", "[", "]", `\\`, `'\'`, "a.txt", "b.txt", "n.csv", "d", "empty", ".", "/", "x", "x=", "=x", "'x['", "'x[1]'", "'x[1]=2'",
	"s/a/b/", "s/", "'s/a/b'", "y/ab/c/", "1d", "'$d'", "'1,'", "',1p'", "'/a/,/b/d'", `'a\'`, "'{'", "'}'", "'b x'", "':x'", `'s/\(a\)/\2/'`, `'s/a/&\1/'`, "%s", "%d", "%x", "%*d", "%", "'%-'", "'%5$s'", "é", "'[:alpha:]'", "'[:'", "'[a'", "'[=a=]'", "'a*3'", "'[a*3]'",
	"--", "-", "-nope", "-size", "+5k", "-name", "-maxdepth", "!", "-not", "-empty", "-path", "'**'", "+%Y", "+%", "'+%N'", "-print", "-type", "f", "1.5", "nan", "inf", "-inf", "1e308", "1e-400", "-10"}

// values are arguments of tools.
func value(r *rand.Rand) any {
	switch r.Intn(8) {
	case 0:
		return r.Intn(2) == 0
	case 1:
		return float64(r.Intn(2_000_000) - 1_000_000)
	case 2:
		return strings.Repeat(words[r.Intn(len(words))]+"a", 1<<r.Intn(16))
	case 3:
		return []any{words[r.Intn(len(words))], nil, map[string]any{"a": 1.0}}
	case 4:
		return []string{"a.txt", "b.txt", "d", ".", "d/e.txt", "new/x.md", "../x", "/a", "a\x00b"}[r.Intn(9)]
	}
	return words[r.Intn(len(words))]
}

// randomCall calls a tool with random arguments, or a script of random commands.
func randomCall(b *sandbox.Box, r *rand.Rand) (res protocol.ToolResult, what string, own bool) {
	tools := []string{"read", "write", "edit", "delete", "move", "mkdir", "diff", "undo", "glob", "grep", "list", "todo", "bash"}
	if r.Intn(2) == 0 {
		tool := tools[r.Intn(len(tools))]
		a := map[string]any{}
		for _, key := range []string{"path", "content", "old_string", "new_string", "replace_all", "version", "offset", "limit", "from", "to", "replace", "step", "a", "b", "pattern", "include", "command", "timeout"} {
			if r.Intn(3) == 0 {
				a[key] = value(r)
			}
		}
		if tool == "bash" {
			a = map[string]any{"command": value(r), "timeout": 1000.0}
		}
		return b.Call(context.Background(), tool, a), tool, true
	}
	commands := append(shell.Commands(), "shift", "unset", "local", "read", "mapfile", "printf", "echo", "test", "getopts", "set", "shopt", "trap", "alias", "type", "command", "builtin", "eval", "source", "exec", "return", "break", "let", "pushd", "popd", "dirs", "cd", "wait")
	c := commands[r.Intn(len(commands))]
	parts := []string{c}
	for k := r.Intn(5); k > 0; k-- {
		parts = append(parts, words[r.Intn(len(words))])
	}
	script := "set -- a b; x=(1 2); " + strings.Join(parts, " ")
	script += []string{"", " < b.txt", " | cat", " &\nwait", " < a.txt | sort"}[r.Intn(5)]
	return b.Call(context.Background(), "bash", map[string]any{"command": script, "timeout": 1000.0}), script, slices.Contains(shell.Commands(), c)
}

// random makes n calls from a seed. A panic of a tool or of a command of ours is an error; so are more than 256 MiB in use.
func random(t *testing.T, seed int64, n int) {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	var b *sandbox.Box
	for i := range n {
		if i%100 == 0 {
			b, _ = build(t, open, sandboxtest.Always(protocol.AnswerOnce))
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapInuse > 256<<20 {
				t.Fatalf("seed %d: %d MiB in use after %d calls", seed, m.HeapInuse>>20, i)
			}
		}
		res, what, own := randomCall(b, r)
		if own && (strings.Contains(res.ErrorText, "the tool failed") || strings.Contains(res.ErrorText, "the shell failed")) {
			t.Errorf("seed %d: %q: %s", seed, what, res.ErrorText)
		}
	}
}

// Random calls of the standard tools and of the shell, in the browser's build too. The longest time in which nothing else of
// the program had a turn is told, and not judged: the machine may be busy.
func TestRandomCallsHold(t *testing.T) {
	n := 20_000 // make soak
	switch {
	case testing.Short():
		n = 200
	case runtime.GOOS != "js":
		n = 2_000
	}
	ctx, stop := context.WithCancel(t.Context())
	longest := make(chan time.Duration)
	go func() {
		var most time.Duration
		for last := time.Now(); jsx.Yield(ctx) == nil; last = time.Now() {
			most = max(most, time.Since(last))
		}
		longest <- most
	}()
	random(t, 17, n)
	stop()
	t.Logf("%d calls; the longest pause was %v", n, <-longest)
}

func FuzzRandomCalls(f *testing.F) {
	for seed := range int64(4) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) { random(t, seed, 20) })
}
