package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// words are arguments on which commands and tools may fail.
var words = []string{"", "''", "-1", "0", "1", "2", "-n", "-c", "-f", "-d", "-k", "-t", "-w", "-s", "-l", "-i", "-e", "-v", "-A", "-B", "-C", "-m", "-r", "-u", "-z", "-I", "-p", "-a", "+1", "+0", "-0",
	"99999999999999999999", "9223372036854775807", "-9223372036854775808", "1-", "-3", "5-2", "0-", "1,2", ",", "a-z", "z-a", "[", "]", `\\`, `'\'`, "a.txt", "b.txt", "n.csv", "d", "empty", ".", "/", "x", "x=", "=x", "'x['", "'x[1]'", "'x[1]=2'",
	"s/a/b/", "s/", "'s/a/b'", "y/ab/c/", "1d", "'$d'", "'1,'", "',1p'", "'/a/,/b/d'", `'a\'`, "'{'", "'}'", "'b x'", "':x'", `'s/\(a\)/\2/'`, `'s/a/&\1/'`, "%s", "%d", "%x", "%*d", "%", "'%-'", "'%5$s'", "é", "'[:alpha:]'", "'[:'", "'[a'", "'[=a=]'", "'a*3'", "'[a*3]'",
	"--", "-", "-nope", "-size", "+5k", "-name", "-maxdepth", "!", "-not", "-empty", "-path", "'**'", "+%Y", "+%", "'+%N'", "-print", "-type", "f", "1.5", "nan", "inf", "-inf", "1e308", "1e-400", "-10"}

// value returns a random argument for a tool.
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

// arguments are names of arguments of all tools.
var arguments = []string{"path", "content", "old_string", "new_string", "replace_all", "version", "offset", "limit", "from", "to", "replace", "step", "a", "b", "pattern", "include", "timeout",
	"todos", "questions", "query", "name", "prompt", "agent", "background", "task"}

// someArguments returns random arguments, each present with a probability of about a third. The
// tool's own are present most often.
func someArguments(tool sandbox.Tool, r *rand.Rand) map[string]any {
	a := map[string]any{}
	for _, key := range arguments {
		most := 8
		if strings.Contains(tool.Parameters, `"`+key+`"`) {
			most = 2
		}
		if r.Intn(most) == 0 {
			a[key] = value(r)
		}
	}
	return a
}

// someScript returns a script with a random command, and whether the command is one of the
// shell's own.
func someScript(r *rand.Rand) (script string, own bool) {
	commands := append(shell.Commands(), "shift", "unset", "local", "read", "mapfile", "printf", "echo", "test", "getopts", "set", "shopt", "trap", "alias", "type", "command", "builtin", "eval", "source", "exec", "return", "break", "let", "pushd", "popd", "dirs", "cd", "wait")
	c := commands[r.Intn(len(commands))]
	parts := []string{c}
	for k := r.Intn(5); k > 0; k-- {
		parts = append(parts, words[r.Intn(len(words))])
	}
	script = "set -- a b; x=(1 2); " + strings.Join(parts, " ")
	script += []string{"", " < b.txt", " | cat", " &\nwait", " < a.txt | sort"}[r.Intn(5)]
	return script, slices.Contains(shell.Commands(), c)
}

// tools are the standard tools and the shell.
func tools() []sandbox.Tool { return append(sandbox.Standard(), shell.Bash(shell.Options{})) }

func toolOf(t testing.TB, id string) sandbox.Tool {
	t.Helper()
	i := slices.IndexFunc(tools(), func(tool sandbox.Tool) bool { return tool.ID == id })
	if i < 0 {
		t.Fatalf("there is no tool %s", id)
	}
	return tools()[i]
}

// mostInUse bounds the memory in use after a call, in bytes.
const mostInUse = 256 << 20

// holds makes a call. It fails the test if the call panics or if more than 256 MiB are in use
// after it.
func holds(t testing.TB, b *sandbox.Box, tool string, args any, own bool) {
	t.Helper()
	res := b.Call(context.Background(), tool, args)
	if own && (strings.Contains(res.ErrorText, "the tool failed") || strings.Contains(res.ErrorText, "the shell failed")) {
		t.Errorf("%s with %.300q: %s", tool, fmt.Sprint(args), res.ErrorText)
	}
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapInuse > mostInUse {
		runtime.GC() // what is no longer used is not in use
		if runtime.ReadMemStats(&m); m.HeapInuse > mostInUse {
			t.Errorf("%s with %.300q: %d MiB in use", tool, fmt.Sprint(args), m.HeapInuse>>20)
		}
	}
}

// random makes n calls of a tool from a seed. Files count as read, so that edits get further.
func random(t *testing.T, tool sandbox.Tool, seed int64, n int) {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	var b *sandbox.Box
	for i := range n {
		if i%100 == 0 {
			b, _ = build(t, open, sandboxtest.Always(policy.AnswerOnce))
			for _, name := range []string{"a.txt", "b.txt", "d/e.txt"} {
				b.Call(context.Background(), "read", map[string]any{"path": name})
			}
			b.Call(context.Background(), "write", map[string]any{"path": "a.txt", "content": "one\ntwo\n"})
		}
		if tool.ID != "bash" {
			holds(t, b, tool.ID, someArguments(tool, r), true)
		} else if r.Intn(4) == 0 {
			holds(t, b, "bash", map[string]any{"command": value(r), "timeout": 1000.0}, true)
		} else {
			script, own := someScript(r)
			holds(t, b, "bash", map[string]any{"command": script, "timeout": 1000.0}, own)
		}
	}
}

// Random calls of each standard tool and of the shell, also in the browser's build. The test
// prints the longest time without a turn for the rest of the program. It is not checked,
// because the machine may be busy.
func TestRandomCallsHold(t *testing.T) {
	n := 20_000 // make soak
	switch {
	case runtime.GOOS != "js":
		n = 2_000
	case testing.Short():
		n = 200
	}
	for _, tool := range tools() {
		share := n / 2 // of the shell, which has its commands
		if tool.ID != "bash" {
			share = n / 2 / len(sandbox.Standard())
		}
		t.Run(tool.ID, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			longest := make(chan time.Duration)
			go func() {
				var most time.Duration
				for last := time.Now(); jsx.Yield(ctx) == nil; last = time.Now() {
					most = max(most, time.Since(last))
				}
				longest <- most
			}()
			random(t, tool, 17, share)
			stop()
			t.Logf("%d calls; the longest pause was %v", share, <-longest)
		})
	}
}

// fuzz makes calls of one tool: random ones from a seed, and one with the fuzzer's text as its arguments. Which lines a call
// reaches also depends on how its goroutines run, so that an input is never small enough: give -fuzzminimizetime 10x, as
// make soak does. With the default of a minute for each input, nothing else is done.
func fuzz(f *testing.F, id string) {
	for seed := range int64(4) {
		f.Add(seed, `{"path":"a.txt","content":"x","old_string":"one","new_string":"two","from":"a.txt","to":"c.txt","pattern":"o+","a":"a.txt","b":"b.txt","command":"cat a.txt | sort"}`)
	}
	f.Fuzz(func(t *testing.T, seed int64, text string) {
		tool := toolOf(t, id)
		random(t, tool, seed, 10)
		var args map[string]any
		if json.Unmarshal([]byte(text), &args) != nil || args == nil {
			return
		}
		if id == "bash" {
			args["timeout"] = 1000.0
		}
		b, _ := build(t, open, sandboxtest.Always(policy.AnswerOnce))
		b.Call(context.Background(), "read", map[string]any{"path": "a.txt"})
		holds(t, b, id, args, id != "bash") // a fault of the interpreter's ends the script alone
	})
}

func FuzzRead(f *testing.F)       { fuzz(f, "read") }
func FuzzWrite(f *testing.F)      { fuzz(f, "write") }
func FuzzEdit(f *testing.F)       { fuzz(f, "edit") }
func FuzzGlob(f *testing.F)       { fuzz(f, "glob") }
func FuzzGrep(f *testing.F)       { fuzz(f, "grep") }
func FuzzDelete(f *testing.F)     { fuzz(f, "delete") }
func FuzzMove(f *testing.F)       { fuzz(f, "move") }
func FuzzMkdir(f *testing.F)      { fuzz(f, "mkdir") }
func FuzzDiff(f *testing.F)       { fuzz(f, "diff") }
func FuzzUndo(f *testing.F)       { fuzz(f, "undo") }
func FuzzTodo(f *testing.F)       { fuzz(f, "todo") }
func FuzzQuestion(f *testing.F)   { fuzz(f, "question") }
func FuzzSkill(f *testing.F)      { fuzz(f, "skill") }
func FuzzToolSearch(f *testing.F) { fuzz(f, "tool_search") }
func FuzzTask(f *testing.F)       { fuzz(f, "task") }
func FuzzBash(f *testing.F)       { fuzz(f, "bash") }

// Each standard tool has its fuzz target above.
func TestEachToolHasAFuzzTarget(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("the sources are not there")
	}
	source, err := os.ReadFile("random_test.go")
	must(t, err)
	for _, tool := range tools() {
		if !strings.Contains(string(source), `{ fuzz(f, "`+tool.ID+"\") }\n") {
			t.Errorf("%s has none", tool.ID)
		}
	}
}
