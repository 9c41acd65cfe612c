package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
	"github.com/bailey-go/bailey/sandbox/web"
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
	case 5:
		return []any{[]any{"a.txt", "d"}, []any{"b.txt", words[r.Intn(len(words))]}, "prog", "read", "https://docs.example/" + words[r.Intn(len(words))], "https://docs.example", 5.0}[r.Intn(7)]
	}
	return words[r.Intn(len(words))]
}

// arguments are names of arguments of all tools.
var arguments = []string{"path", "content", "old_string", "new_string", "replace_all", "version", "offset", "limit", "from", "to", "replace", "step", "a", "b", "pattern", "include", "timeout",
	"todos", "questions", "query", "name", "prompt", "agent", "background", "task", "command", "args", "stdin", "read", "write", "code", "url", "max_results", "text", "count"}

// good are arguments with which a tool gets past its schema. Most of a tool's own are these.
var good = map[string]any{"path": "a.txt", "content": "x\n", "old_string": "one", "new_string": "two", "from": "a.txt", "to": "c.txt", "replace": true, "replace_all": true, "a": "a.txt", "b": "b.txt",
	"pattern": "a*", "include": "*.txt", "offset": 1.0, "limit": 5.0, "step": 1.0, "todos": []any{map[string]any{"id": "1", "content": "x", "status": "pending"}}, "prompt": "x", "name": "x",
	"command": "prog", "args": []any{"a.txt"}, "stdin": "x\n", "read": []any{"a.txt", "d"}, "write": []any{"a.txt"}, "code": "read", "url": "https://docs.example/a", "query": "words", "max_results": 5.0}

// someArguments returns random arguments: most of the tool's own, and few of others, because a call with an
// unknown argument gets no further than the schema.
func someArguments(tool sandbox.Tool, r *rand.Rand) map[string]any {
	a := map[string]any{}
	for _, key := range arguments {
		own := strings.Contains(tool.Parameters, `"`+key+`"`)
		v, ok := good[key]
		switch {
		case !own && r.Intn(100) > 0, own && (!ok && r.Intn(2) == 0 || r.Intn(8) == 0):
		case own && ok && r.Intn(8) > 0:
			if key == "path" && r.Intn(3) == 0 {
				v = "new" // a folder that can be made
			}
			a[key] = v
		default:
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

// page answers for all hosts: an MCP server with one tool, a search engine and a page.
func page(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	answer := func(status int, kind, body string) (*fetch.Response, error) {
		return &fetch.Response{Status: status, Header: map[string]string{"content-type": kind}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
	var call struct {
		ID     any
		Method string
		Params map[string]any
	}
	_ = json.Unmarshal(r.Body, &call) // a request that is no call of MCP has no method
	result := func(v any) (*fetch.Response, error) {
		text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": v})
		if err != nil {
			return nil, err
		}
		return answer(200, "application/json", string(text))
	}
	switch {
	case call.Method == "initialize":
		return result(map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "s", "version": "1"}})
	case call.Method == "tools/list":
		return result(map[string]any{"tools": []any{map[string]any{"name": "post", "description": "Posts a text.",
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{}, "count": map[string]any{}}}}}})
	case call.Method == "tools/call": // the server says the arguments again, as text and as data
		text, err := json.Marshal(call.Params["arguments"])
		if err != nil {
			return nil, err
		}
		return result(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}, "structuredContent": map[string]any{"said": call.Params["arguments"]}})
	case call.Method != "":
		return answer(202, "", "")
	case strings.Contains(r.URL, "search"):
		return answer(200, "application/json", `{"web":{"results":[{"title":"<b>a</b>","url":"https://docs.example/","description":"b"}]}}`)
	}
	return answer(200, "text/html", "<table><tr><td>"+r.URL+"<td><pre>a\n</table><a href=x>y</a><script>z")
}

// program is a command that reads the files that its arguments name, and then writes its input to them.
type program struct{}

func (program) Commands() []string { return []string{"prog"} }

func (program) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	in, err := io.ReadAll(c.Stdin)
	if err != nil {
		return 1, err
	}
	failed := 0
	for _, name := range c.Args {
		if b, err := fs.ReadFile(c.FS, name); err == nil {
			_, _ = c.Stdout.Write(b) // a full output is no fault of the program
		}
		if w, ok := c.FS.(interface {
			WriteFile(name string, data []byte, mode fs.FileMode) error
		}); !ok || w.WriteFile(name, in, 0o644) != nil {
			failed++
		}
	}
	return failed, ctx.Err()
}

// code runs nothing of its own. It calls the tool that the code names, and returns the arguments.
type code struct{}

func (code) RunCode(ctx context.Context, tools *protocol.Toolset, text string, args any) (*protocol.RunResult, error) {
	if t, err := tools.Lookup(text); err == nil {
		v, err := t.Execute(ctx, args)
		return &protocol.RunResult{Success: err == nil, Value: v}, nil
	}
	return &protocol.RunResult{Success: true, Value: args, Console: []protocol.ConsoleRow{{Args: []any{text}}}}, nil
}

// tools are the standard tools, the shell, and those that reach programs, code, the web and an MCP server. Behind each of
// these is a double, because the tool itself is tested: its reading of arguments, its question and its result.
func tools(t testing.TB) []sandbox.Tool {
	t.Helper()
	broker, err := web.NewBroker(web.BrokerOptions{Transport: fetch.TransportFunc(page), Rate: 100_000,
		Credentials: []web.Credential{{Name: "brave", Hosts: []string{"api.search.brave.com"}, Value: "a-key-of-the-test"}}})
	must(t, err)
	client, err := mcpclient.Connect(t.Context(), mcpclient.Options{Name: "board", URL: "https://mcp.example/mcp", Transport: fetch.TransportFunc(page)})
	must(t, err)
	server, err := client.Tools(t.Context())
	must(t, err)
	all := append(sandbox.Standard(), shell.Bash(shell.Options{}), sandbox.ToolRun(program{}), sandbox.CodeRun(code{}), web.Fetch(broker), web.Search(broker, web.Brave("brave")))
	return append(all, server...)
}

func toolOf(t testing.TB, id string) sandbox.Tool {
	t.Helper()
	all := tools(t)
	i := slices.IndexFunc(all, func(tool sandbox.Tool) bool { return tool.ID == id })
	if i < 0 {
		t.Fatalf("there is no tool %s", id)
	}
	return all[i]
}

// everything permits all that the tools can ask for.
const everything = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"], "code.run": true, "stream.send": true,
	"net.fetch": ["docs.example", "api.search.brave.com", "mcp.example"]}, "rules": [{"permission": "*", "action": "allow"}]}`

// house returns a box with all tools.
func house(t testing.TB) *sandbox.Box {
	t.Helper()
	b, _, _ := buildWith(t, everything, sandboxtest.Always(policy.AnswerOnce), tools(t)...)
	return b
}

// mostInUse bounds the memory in use after a call, in bytes.
const mostInUse = 256 << 20

// holds makes a call, and reports whether it has no error. It fails the test if the call panics or if more than 256 MiB
// are in use after it.
func holds(t testing.TB, b *sandbox.Box, tool string, args any, own bool) (succeeded bool) {
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
	return res.ErrorText == ""
}

// builds counts the boxes that random has built. Building one is the test's own work, and no pause of a call.
var builds atomic.Int64

// random makes n calls of a tool from a seed, and returns the number of those without an error. Files count as read, so
// that edits get further.
func random(t *testing.T, tool sandbox.Tool, seed int64, n int) (succeeded int) {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	var b *sandbox.Box
	for i := range n {
		if i%25 == 0 {
			builds.Add(1)
			b = house(t)
			for _, name := range []string{"a.txt", "b.txt", "d/e.txt"} {
				b.Call(context.Background(), "read", map[string]any{"path": name})
			}
			b.Call(context.Background(), "write", map[string]any{"path": "a.txt", "content": "one\ntwo\n"})
			must(t, jsx.Yield(t.Context())) // the time of building ends here
		}
		done := false
		if tool.ID != "bash" {
			done = holds(t, b, tool.ID, someArguments(tool, r), true)
		} else if r.Intn(4) == 0 {
			done = holds(t, b, "bash", map[string]any{"command": value(r), "timeout": 1000.0}, true)
		} else {
			script, own := someScript(r)
			done = holds(t, b, "bash", map[string]any{"command": script, "timeout": 1000.0}, own)
		}
		if done {
			succeeded++
		}
		must(t, jsx.Yield(t.Context())) // a pause is that of one call
	}
	return succeeded
}

// Random calls of each tool, also in the browser's build. In make soak the page takes another seed each time, which is
// logged. The test prints the longest time without a turn for the rest of the program as a figure, pause-ms. It is not
// checked, because the machine may be busy.
func TestRandomCallsHold(t *testing.T) {
	n, seed := 20_000, time.Now().UnixNano() // make soak
	switch {
	case runtime.GOOS != "js":
		n, seed = 2_000, 17
	case testing.Short():
		n, seed = 200, 17
	}
	t.Logf("seed %d", seed)
	longestOfAll, slowest := time.Duration(0), ""
	all := tools(t)
	for _, tool := range all {
		share := n / 2 // of the shell, which has its commands
		if tool.ID != "bash" {
			share = n / 2 / (len(all) - 1)
		}
		t.Run(tool.ID, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			longest := make(chan time.Duration)
			last, built := time.Now(), builds.Load()
			go func() {
				var most time.Duration
				for err := error(nil); err == nil; {
					err = jsx.Yield(ctx) // ends the loop, and the last time before it counts too
					now, n := time.Now(), builds.Load()
					if n == built {
						most = max(most, now.Sub(last))
					}
					last, built = now, n
				}
				longest <- most
			}()
			succeeded := random(t, tool, seed, share)
			stop()
			most := <-longest
			t.Logf("%d calls from seed %d, of which %d succeed, the longest pause was %v", share, seed, succeeded, most)
			// This box has no skills, no model and nobody to answer questions of the model.
			if never := slices.Contains([]string{"skill", "task", "question"}, tool.ID); succeeded == 0 && !never && share >= 50 {
				t.Error("no call succeeds: the test shows nothing")
			}
			if most > longestOfAll {
				longestOfAll, slowest = most, tool.ID
			}
		})
	}
	t.Logf("figure: pause-ms %.1f (%s, seed %d)", float64(longestOfAll.Microseconds())/1000, slowest, seed)
}

// fuzz makes calls of one tool: random ones from a seed, and one with the fuzzer's text as its arguments. Which lines a call
// reaches also depends on how its goroutines run, so that an input is never small enough: give -fuzzminimizetime 10x, as
// make soak does. With the default of a minute for each input, nothing else is done.
func fuzz(f *testing.F, id string) {
	for seed := range int64(4) {
		f.Add(seed, `{"path":"a.txt","content":"x","old_string":"one","new_string":"two","from":"a.txt","to":"c.txt","pattern":"o+","a":"a.txt","b":"b.txt","command":"cat a.txt | sort","code":"read","args":["a.txt"],"read":["a.txt"],"write":["b.txt"],"url":"https://docs.example/x","query":"x","text":"x"}`)
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
		b := house(t)
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
func FuzzToolRun(f *testing.F)    { fuzz(f, "tool_run") }
func FuzzCodeRun(f *testing.F)    { fuzz(f, "code_run") }
func FuzzWebFetch(f *testing.F)   { fuzz(f, "web_fetch") }
func FuzzWebSearch(f *testing.F)  { fuzz(f, "web_search") }
func FuzzMCP(f *testing.F)        { fuzz(f, "board_post") }

// Each tool has its fuzz target above.
func TestEachToolHasAFuzzTarget(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("the sources are not there")
	}
	source, err := os.ReadFile("random_test.go")
	must(t, err)
	for _, tool := range tools(t) {
		if !strings.Contains(string(source), `{ fuzz(f, "`+tool.ID+"\") }\n") {
			t.Errorf("%s has none", tool.ID)
		}
	}
}
