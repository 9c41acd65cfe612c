package shell_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// breaks is a runner whose command panics. It stands for faults that are still unknown.
type breaks struct{}

func (breaks) Commands() []string { return []string{"broken"} }
func (breaks) RunCommand(context.Context, sandbox.Command) (int, error) {
	var none []int
	return none[len(none)], nil
}

func withBroken(t testing.TB, bash sandbox.Tool) *sandbox.Box {
	t.Helper()
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	for name, content := range map[string]string{"a.txt": "one\ntwo\n", "broken.sh": "broken | cat\n", "shift.sh": "shift -1 | cat\n"} {
		must(t, mem.WriteFile(name, []byte(content), 0o644))
	}
	p, err := policy.Parse(open, policy.Options{})
	must(t, err)
	b, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Tools: append(sandbox.Standard(), bash), Watch: &sandbox.WatchOptions{Rate: 100_000, Repeats: 100_000}})
	must(t, err)
	return b
}

// faults are scripts that make the interpreter, or a command, panic. The first ones are known
// faults of the interpreter. broken stands for unknown faults.
var faults = []string{"shift -1", "unset ''", "declare -A m=(a b)", "declare -A m=([1+2]=x)", "declare -n r=; echo $r", "broken", "echo $(broken)", "x=$(shift -1)", "f() { broken; }; f", "[[ -n $(broken) ]]", "(( $(broken) + 1 ))"}

// places are the parts of a script in which a fault can run, most of them in a goroutine of its
// own.
var places = []string{
	"X", "(X)", "{ X; }", "echo $(X)", "echo \"`X`\"",
	"{ X; } | cat", "echo ok | { X; }", "echo a | { X; } | cat", "{ X; } |& cat", "(X) | cat | cat",
	"{ X; } &\nwait", "(X) & wait $!", "{ { X; } & wait; } | cat", "{ X; } & { X; } & wait",
	"f() { X; }; f | cat", "if true; then { X; } | cat; fi", "for i in 1 2; do { X; } | cat; done", "while true; do { X; } | cat; break; done",
	"case a in a) { X; } | cat;; esac", "! { X; } | cat", "{ X; } | cat || true", "set -o pipefail; { X; } | cat",
	"trap '{ X; } | cat' EXIT", "trap '{ X; } | cat' ERR; false", "eval '{ X; } | cat'", "eval \"eval '{ X; } | cat'\"", "builtin eval '{ X; } | cat'", "command eval '{ X; } & wait'",
	"echo \"$({ X; } | cat)\"", "echo ${y:-$({ X; } | cat)}", "a=(1 2); echo ${a[$({ X; } | cat)0]}", "a=(1 2); unset 'a[$({ X; } | cat)0]'", "cat <<< \"$({ X; } | cat)\"", "cat <<E\n$({ X; } | cat)\nE",
	"echo $(( $({ X; } | cat) + 1 ))", "time { X; } | cat",
}

// A panic in any part of a script ends only the script. Without containment the first of them
// would end the process of this test: see TestAttackPanicsEndTheProgram.
func TestAttackPanicsOfAScript(t *testing.T) {
	a := attack.Start(t, "05")
	a.NoSwitch("TestAttackPanicsEndTheProgram has it: a process of its own that ends")
	b := withBroken(t, shell.Bash(shell.Options{Runner: breaks{}}))
	n := 0
	for _, place := range places {
		for _, fault := range faults {
			if strings.Contains(place, "'{ X") && strings.Contains(fault, "'") {
				continue
			}
			if n++; runtime.GOOS == "js" && testing.Short() && n%4 != 0 {
				continue
			}
			script := strings.ReplaceAll(place, "X", fault)
			out, code, err := run(t, b, script)
			a.Try(script, false) // it came back
			var e *protocol.Error
			if err == nil && code == 0 && strings.Contains(fault, "broken") && !strings.Contains(place, "wait") {
				t.Errorf("%q: %q, as if nothing had happened", script, out)
			} else if err != nil && !errors.As(err, &e) {
				t.Errorf("%q: %v", script, err)
			}
		}
	}
	for _, script := range []string{"source broken.sh", ". ./shift.sh", "source shift.sh | cat", "alias x='echo $(shift -1 | cat)'; shopt -s expand_aliases\nx"} {
		n++
		_, _, _ = run(t, b, script)
	}
	if out, code, err := run(t, b, "echo still | cat"); out != "still\n" || code != 0 || err != nil {
		t.Errorf("after all of it: %q %d %v", out, code, err)
	}
	t.Logf("%d scripts", n)
	if n < 300 {
		t.Errorf("%d scripts only", n)
	}
}

// Changes that a script made before the panic are kept, and the error describes the fault.
func TestPanicOfAScriptIsSaid(t *testing.T) {
	b := withBroken(t, shell.Bash(shell.Options{Runner: breaks{}}))
	_, _, err := run(t, b, "echo x > made.txt; broken | cat; echo y > never.txt")
	if err == nil || !strings.Contains(err.Error(), "the shell failed and ended the script") || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("%v", err)
	}
	if out, _, _ := run(t, b, "ls"); !strings.Contains(out, "made.txt") || strings.Contains(out, "never.txt") {
		t.Errorf("%q", out)
	}
}

// Without containment a panic in a pipe or in the background ends the process.
func TestAttackPanicsEndTheProgram(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("there are no processes to end")
	}
	if script := os.Getenv("BAILEY_SCRIPT"); script != "" {
		_, _, err := run(t, withBroken(t, shell.BashWithout("contain", shell.Options{Runner: breaks{}})), script)
		if err != nil && strings.Contains(err.Error(), "the shell failed") {
			t.Fatal("the panic was contained")
		}
		// The script may continue while the panic runs the deferred calls of its goroutine, so
		// the process waits for its own end.
		<-t.Context().Done()
	}
	a := attack.Start(t, "05")
	for _, script := range []string{"broken | cat", "broken & wait", "f() { broken; }; f | cat"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestAttackPanicsEndTheProgram$", "-test.timeout", "1m")
		cmd.Env = append(os.Environ(), "BAILEY_SCRIPT="+script)
		out, err := cmd.CombinedOutput()
		ended := err != nil && strings.Contains(string(out), "panic: ") && !strings.Contains(string(out), "test timed out")
		a.Off(script, ended)
		if !ended {
			t.Errorf("%q with the defence off: %v\n%s", script, err, out)
		}
	}
}

// Without the limits a deep script ends the process. The stack is small here, as in a browser.
func TestAttackDepthEndsTheProgram(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("there are no processes to end")
	}
	if script := os.Getenv("BAILEY_SCRIPT"); script != "" {
		debug.SetMaxStack(8 << 20)
		bash := shell.Bash(shell.Options{})
		if os.Getenv("BAILEY_OFF") != "" {
			bash = shell.BashWithout("bounds", shell.Options{})
		}
		b, _, _ := buildWith(t, open, nil, bash)
		_, _, _ = run(t, b, script)
		return
	}
	a := attack.Start(t, "05")
	for name, script := range map[string]string{
		"sum": "echo $((1" + strings.Repeat("+1", 32000) + "))", "minus": "((" + strings.Repeat("- ", 32000) + "1))", "complement": "((" + strings.Repeat("~", 65000) + "1))",
		"powers": "((1" + strings.Repeat("**1", 21000) + "))", "functions": strings.Repeat("f()", 21000) + "{ :; }",
	} {
		attempt := func(off string) (bool, string) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestAttackDepthEndsTheProgram$")
			cmd.Env = append(os.Environ(), "BAILEY_SCRIPT="+script, "BAILEY_OFF="+off)
			out, err := cmd.CombinedOutput()
			return err != nil, string(out[:min(len(out), 300)])
		}
		ended, out := attempt("")
		a.Try(name+": "+out, ended)
		ended, out = attempt("yes")
		a.Off(name, ended && strings.Contains(out, "stack"))
	}
}

// This test lists each goroutine that the interpreter starts. A new one must be contained
// first.
func TestInterpreterStartsNoOtherGoroutines(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("the sources are not there")
	}
	files, err := filepath.Glob("internal/interp/*.go")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	expansions, err := filepath.Glob("internal/expand/*.go")
	if err != nil || len(expansions) < 5 {
		t.Fatal(expansions, err)
	}
	files = append(files, expansions...)
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "mvdan.cc/sh/v3").Output()
	must(t, err)
	for _, pkg := range []string{"syntax", "pattern"} {
		more, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), pkg, "*.go"))
		must(t, err)
		files = append(files, more...)
	}
	var found []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			starts := ast.Node(nil)
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = n
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Go" || s.Sel.Name == "AfterFunc") {
					starts = n
				}
			}
			if starts == nil {
				return true
			}
			contained := false
			ast.Inspect(starts, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == "contain" {
					contained = true
				}
				return true
			})
			if contained {
				found = append(found, filepath.Base(name)+" contained")
			} else {
				found = append(found, filepath.Base(name))
			}
			return false
		})
	}
	// stdin.go's closes a pipe when the context ends.
	if got := strings.Join(found, ", "); got != "runner.go contained, runner.go contained, stdin.go" {
		t.Errorf("goroutines are started in: %s", got)
	}
}

// The copy must be compared with upstream when the module is updated.
func TestCopyIsOfTheVersionInUse(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("the sources are not there")
	}
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "mvdan.cc/sh/v3").Output()
	must(t, err)
	for _, copied := range []string{"internal/interp", "internal/expand"} {
		readme, err := os.ReadFile(copied + "/README.md")
		must(t, err)
		if v := strings.TrimSpace(string(version)); v == "" || !strings.Contains(string(readme), "version "+v+" ") {
			t.Errorf("go.mod has mvdan.cc/sh %s: compare it with %s, carry over what changed, and name the version in its README.md", v, copied)
		}
	}
}
