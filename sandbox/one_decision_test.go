package sandbox_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// This test makes one decision per path. A random policy over a small folder decides about a path
// in all ways to access it (its doors): the tool, the shell, a program of tool_run and of the
// shell, undo, a plan, and a subagent. The effects are checked in the folder and in the bytes that
// were read, not in the results. The tool's decision is the reference. No door may be wider, and a
// door that names the exact path must decide the same.

// verdict is a decision, derived from its effect.
type verdict int

const (
	denied  verdict = iota // denied, even if the user agrees
	asked                  // allowed if the user agrees
	allowed                // allowed without a question
)

func (v verdict) String() string { return [...]string{"denied", "asked about", "allowed"}[v] }

// try is one operation on one path.
type try struct{ op, at, to string }

func (y try) String() string { return strings.TrimSpace(y.op + " " + y.at + " " + y.to) }

// door is a way to make an operation. It may run a program, which then makes the operation.
type door struct {
	name  string
	ops   string // the operations that it has
	exact bool   // it names the path and no other
	call  func(w *world, b *sandbox.Box, y try) string
	run   func(ctx context.Context, c sandbox.Command, y try) string
}

// world is a folder with two boxes over it: one with a user who always agrees, and one without a
// user.
type world struct {
	source  fsaccess.FS
	folder  *fsaccess.Journal
	policy  *policy.Policy
	boxes   [2]*sandbox.Box
	program func(ctx context.Context, c sandbox.Command)
	files   map[string]string
	dirs    []string
}

func (w *world) Commands() []string { return []string{"prog"} }

func (w *world) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	w.program(ctx, c)
	return 0, nil
}

var yes = sandbox.AskFunc(func(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	out := make([]sandbox.Reply, len(p.Requests))
	for i := range out {
		out[i].Answer = policy.AnswerOnce
	}
	return out, nil
})

func makeWorld(t testing.TB, r *rand.Rand, source fsaccess.FS, off bool) *world {
	w := &world{source: source, policy: randomPolicy(t, r), files: map[string]string{}, dirs: []string{"a", "a/d", "b", "private", ".git"}}
	for _, p := range []string{"a/x.txt", "a/y.key", "a/d/x.txt", "b/x.txt", "private/k.txt", "top.txt", ".git/config"} {
		w.files[p] = "content of " + p + "\n"
	}
	w.folder = fsaccess.NewJournal(source, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
	for i := range w.boxes {
		o := sandbox.Options{FS: w.folder, Policy: w.policy, Watch: &sandbox.WatchOptions{Rate: 10_000, Repeats: 100_000},
			Tools: append(sandbox.Standard(), sandbox.ToolRun(w), shell.Bash(shell.Options{Runner: w}))}
		if i == 0 {
			o.Ask = yes
		}
		if off {
			o.Without("views")
		}
		var err error
		w.boxes[i], err = sandbox.New(o)
		must(t, err)
	}
	return w
}

func randomPolicy(t testing.TB, r *rand.Rand) *policy.Policy {
	patterns := []string{".", "a", "b", "private", "a/d", "a/*", "*", "?", "*/*", "a/**", "**/*.txt", "**/*.key", "a/x.txt", "private/k.txt", "top.txt", "private/**"}
	pick := func(most int) []string {
		var out []string
		for range r.IntN(most + 1) {
			out = append(out, strconv.Quote(patterns[r.IntN(len(patterns))]))
		}
		return out
	}
	list := func(most int) string { return "[" + strings.Join(pick(most), ",") + "]" }
	grant := func() string {
		if r.IntN(2) == 0 {
			return `["."]`
		}
		return list(3)
	}
	rules := []string{`{"permission": "shell.run", "action": "allow"}`}
	for range r.IntN(5) {
		permission := []string{"*", "fs.read", "fs.write"}[r.IntN(3)]
		pattern := ""
		if r.IntN(3) > 0 {
			pattern = `, "pattern": ` + strconv.Quote(patterns[r.IntN(len(patterns))])
		}
		source := []string{"", `, "source": "manifest"`, `, "source": "user"`}[r.IntN(3)]
		rules = append(rules, fmt.Sprintf(`{"permission": %q, "action": %q%s%s}`, permission, []string{"allow", "allow", "ask", "deny"}[r.IntN(4)], pattern, source))
	}
	text := `{"capabilities": {"fs.read": ` + grant() + `, "fs.write": ` + grant() + `, "shell.run": ["*"], "stream.send": true}, "filesystem": {"denyRead": ` + list(2) +
		`, "allowRead": ` + list(1) + `, "allowWrite": ` + grant() + `, "denyWrite": ` + list(2) + `}, "rules": [` + strings.Join(rules, ",") + `]}`
	p, err := policy.Parse(text, policy.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// reset restores the folder.
func (w *world) reset(t testing.TB) {
	list, err := w.source.ReadDir(".")
	must(t, err)
	for _, e := range list {
		if e.Type()&os.ModeSymlink == 0 {
			must(t, w.source.RemoveAll(e.Name()))
		}
	}
	for _, d := range w.dirs {
		must(t, w.source.MkdirAll(d, 0o755))
	}
	for p, text := range w.files {
		must(t, w.source.WriteFile(p, []byte(text), 0o644))
	}
}

// now returns the content of the whole folder.
func (w *world) now(t testing.TB) map[string]string {
	out := map[string]string{}
	var look func(dir string)
	look = func(dir string) {
		list, err := w.source.ReadDir(dir)
		must(t, err)
		for _, e := range list {
			at := path.Join(dir, e.Name())
			switch {
			case e.IsDir():
				out[at] = "a folder"
				look(at)
			case e.Type().IsRegular():
				data, err := w.source.ReadFile(at)
				must(t, err)
				out[at] = string(data)
			}
		}
	}
	look(".")
	return out
}

// decide returns the verdict of a door on an operation.
func (w *world) decide(t testing.TB, d door, y try) verdict {
	v := denied
	for i, box := range w.boxes {
		before := w.now(t)
		told := ""
		w.program = func(ctx context.Context, c sandbox.Command) { told += d.run(ctx, c, y) }
		told += d.call(w, box, y)
		did := y.op == "read" && strings.Contains(told, strings.TrimSpace(w.files[y.at])) && w.files[y.at] != ""
		if after := w.now(t); !maps.Equal(before, after) {
			did = did || y.op != "read"
			w.reset(t)
		}
		if did {
			v = []verdict{asked, allowed}[i]
		}
	}
	return v
}

func answer(r sandbox.ToolResult) string { return fmt.Sprint(r.Data) }

func calls(tool string, a func(y try) args) func(*world, *sandbox.Box, try) string {
	return func(_ *world, b *sandbox.Box, y try) string {
		return answer(b.Call(context.Background(), tool, a(y)))
	}
}

// direct makes an operation in the way of a program.
func direct(ctx context.Context, c sandbox.Command, y try) string {
	f := c.FS
	switch y.op {
	case "read":
		return text(f.ReadFile(y.at))
	case "write":
		_ = f.WriteFile(y.at, []byte("new\n"), 0o644)
	case "mkdir":
		_ = f.Mkdir(y.at, 0o755)
	case "remove":
		if c.Changing != nil {
			_ = c.Changing(ctx, losing(map[string]string{y.at: ""}))
		}
		_ = f.RemoveAll(y.at)
	case "move":
		if c.Changing != nil {
			_ = c.Changing(ctx, losing(map[string]string{y.at: y.to}))
		}
		_ = f.Rename(y.at, y.to)
	}
	return ""
}

// theTool is the reference for all other doors.
var theTool = door{"the tool", "read write mkdir remove move", true, func(w *world, b *sandbox.Box, y try) string {
	switch y.op {
	case "read":
		return answer(b.Call(context.Background(), "read", args{"path": y.at}))
	case "write":
		a := args{"path": y.at, "content": "new\n"}
		if text, ok := w.files[y.at]; ok {
			a["version"] = string(fsaccess.VersionOf([]byte(text)))
		}
		b.Call(context.Background(), "write", a)
	case "mkdir":
		b.Call(context.Background(), "mkdir", args{"path": y.at})
	case "remove":
		b.Call(context.Background(), "delete", args{"path": y.at})
	case "move":
		b.Call(context.Background(), "move", args{"from": y.at, "to": y.to})
	}
	return ""
}, nil}

func doors() []door {
	script := func(y try) args {
		return args{"command": map[string]string{"read": "cat " + y.at, "write": "printf 'new\\n' >> " + y.at, "mkdir": "mkdir " + y.at, "remove": "rm -r " + y.at, "move": "mv " + y.at + " " + y.to}[y.op]}
	}
	run := func(read, write func(y try) []any) func(y try) args {
		return func(y try) args {
			a := args{"command": "prog"}
			if y.op == "read" || y.op == "write" {
				a["read"] = read(y)
			}
			if y.op != "read" {
				a["write"] = write(y)
			}
			return a
		}
	}
	itself := func(y try) []any { return []any{y.at} }
	both := func(y try) []any {
		if y.to == "" {
			return []any{y.at}
		}
		return []any{y.at, y.to}
	}
	above := func(y try) []any { return []any{path.Dir(y.at)} }
	all := func(try) []any { return []any{"."} }
	return []door{
		{"the shell", "read write mkdir remove move", true, calls("bash", script), nil},
		{"a search", "read", true, calls("grep", func(y try) args { return args{"pattern": ".", "path": y.at} }), nil},
		{"a search above", "read", false, calls("grep", func(y try) args { return args{"pattern": ".", "path": path.Dir(y.at)} }), nil},
		{"a program for the path", "read", true, calls("tool_run", run(itself, both)), direct},
		{"a program that changes the path", "write mkdir remove move", false, calls("tool_run", run(itself, both)), direct},
		{"a program for the folder above", "read write mkdir remove", false, calls("tool_run", run(above, above)), direct},
		{"a program for all", "read write mkdir remove move", false, calls("tool_run", run(all, all)), direct},
		{"a program of the shell", "read write mkdir remove move", false, calls("bash", func(try) args { return args{"command": "prog"} }), direct},
	}
}

// undoes makes an operation by undoing a step of the user with the inverse effect.
var undoes = door{"undo", "remove move", false, func(w *world, b *sandbox.Box, y try) string {
	ctx := context.Background()
	list, err := w.folder.History(ctx)
	if err == nil && len(list) > 0 {
		b.Call(ctx, "undo", args{"step": float64(list[0].ID)})
	}
	return ""
}, nil}

// undo compares undo with the tool for one operation. The user's own step makes the operation
// possible.
func (w *world) undo(t testing.TB, y try) verdict {
	v := denied
	for i := range w.boxes {
		switch y.op {
		case "remove":
			must(t, w.source.RemoveAll(y.at))
			must(t, w.folder.WriteFile(y.at, []byte(w.files[y.at]), 0o644))
		case "move":
			must(t, w.source.Rename(y.at, y.to))
			must(t, w.folder.Rename(y.to, y.at))
		}
		before := w.now(t)
		undoes.call(w, w.boxes[i], y)
		if !maps.Equal(before, w.now(t)) {
			v = []verdict{asked, allowed}[i]
		}
		w.reset(t)
	}
	return v
}

// plan reports whether the operation is made in a dry run that is then applied.
func (w *world) plan(t testing.TB, y try) bool {
	ctx := context.Background()
	p, err := w.boxes[0].Plan(ctx)
	must(t, err)
	before := w.now(t)
	theTool.call(w, p.Box, y)
	if !maps.Equal(before, w.now(t)) {
		t.Errorf("a dry run of %s changed the folder", y)
	}
	_, _ = p.Apply(ctx)
	if maps.Equal(before, w.now(t)) {
		return false
	}
	w.reset(t)
	return true
}

// subagent compares a subagent's reads by the tool and by a program.
func (w *world) subagent(t testing.TB, r *rand.Rand, y try, off bool) (byTool, byProgram bool) {
	scope := []string{[]string{"a", "b", "a/*", "*", "private", "a/x.txt"}[r.IntN(6)]}
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		sandboxtest.CallTool("task", args{"subagent_type": "reader", "prompt": "look"}),
		{Calls: []sandbox.ToolCall{{Tool: "read", Args: args{"path": y.at}}}},
		{Calls: []sandbox.ToolCall{{Tool: "tool_run", Args: args{"command": "prog", "read": []any{"."}}}}},
		sandboxtest.Say("done"), sandboxtest.Say("done"),
	}}
	o := sandbox.Options{FS: w.folder, Policy: w.policy, Ask: yes, Tools: append(sandbox.Standard(), sandbox.ToolRun(w)),
		Agents: []sandbox.Agent{{Name: "reader", Grants: []protocol.Grant{{Capability: protocol.FSRead, Scope: scope}, {Capability: protocol.ShellRun}, {Capability: protocol.Stream}}}}}
	if off {
		o.Without("views")
	}
	b, err := sandbox.New(o)
	must(t, err)
	told := ""
	w.program = func(ctx context.Context, c sandbox.Command) { told += direct(ctx, c, y) }
	s, err := b.NewSession(context.Background(), sandbox.SessionOptions{})
	must(t, err)
	defer s.Close()
	_, err = s.Say(context.Background(), "go")
	must(t, err)
	for _, err := range b.Run(context.Background(), s, m, sandbox.RunOptions{}) {
		must(t, err)
	}
	if len(m.Requests()) < 3 {
		t.Fatalf("the subagent made %d requests", len(m.Requests()))
	}
	last := m.Requests()[2].Messages
	for _, part := range last[len(last)-1].Parts {
		byTool = byTool || strings.Contains(part.Text, strings.TrimSpace(w.files[y.at]))
	}
	return byTool, strings.Contains(told, strings.TrimSpace(w.files[y.at]))
}

// tries returns the operations of a round.
func tries() []try {
	out := []try{{"write", "a/new.txt", ""}, {"write", "private/new.key", ""}, {"mkdir", "a/e", ""}, {"mkdir", "private/e", ""}, {"remove", "a", ""}, {"remove", "private", ""},
		{"move", "a", "c"}, {"move", "private/k.txt", "a/k.txt"}, {"move", "a/x.txt", "private/x.txt"}, {"move", "b", "private/b"}}
	for _, p := range []string{"a/x.txt", "a/y.key", "a/d/x.txt", "private/k.txt", "top.txt", ".git/config"} {
		out = append(out, try{"read", p, ""}, try{"write", p, ""}, try{"remove", p, ""})
	}
	return out
}

// decisions compares n decisions, and returns those that were wider than the tool's, or different.
func decisions(t testing.TB, seed uint64, n int, off bool, report func(wrong string)) {
	r := rand.New(rand.NewPCG(seed, 17))
	ways := doors()
	for round := 0; n > 0; round++ {
		var source fsaccess.FS = fsaccess.NewMemory(fsaccess.MemoryOptions{})
		if round%64 == 63 {
			source = linked(t)
		}
		w := makeWorld(t, r, source, off)
		w.reset(t)
		list := tries()
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, y := range list[:8] {
			if y.op == "write" && w.policy.FS.Check(protocol.OpRead, y.at) != nil {
				continue // the tool must be able to read a file that it changes, while the shell appends without reading
			}
			measure := w.decide(t, theTool, y)
			check := func(name string, v verdict, exact bool) {
				if n--; v > measure || exact && v != measure {
					report(fmt.Sprintf("%s: by %s it is %s, by the tool %s, under %s", y, name, v, measure, policy.Format(w.policy)))
				}
			}
			for _, d := range ways {
				if strings.Contains(d.ops, y.op) {
					v := w.decide(t, d, y)
					check(d.name, v, d.exact && !(d.name == "the shell" && y.op == "write"))
				}
			}
			// A folder that may be neither read nor written is invisible below the guard, so the
			// tool moves nothing to it.
			found := w.policy.FS.MayTraverse(path.Dir(y.to)) || w.policy.FS.Check(protocol.OpWrite, path.Dir(y.to)) == nil
			if y.op == "remove" && w.files[y.at] != "" || y.op == "move" && found {
				check("undo", w.undo(t, y), false)
			}
			if y.op != "read" {
				n--
				if done := w.plan(t, y); done != (measure != denied) {
					report(fmt.Sprintf("%s: in a plan it is done: %v, by the tool it is %s, under %s", y, done, measure, policy.Format(w.policy)))
				}
			}
			if y.op == "read" && r.IntN(8) == 0 {
				n--
				if byTool, byProgram := w.subagent(t, r, y, off); byProgram && !byTool {
					report(fmt.Sprintf("%s: a subagent reads by a program what it does not by the tool, under %s", y, policy.Format(w.policy)))
				}
			}
		}
	}
}

// TestAttackOneDecisionForOnePath compares 20,000 decisions, with -short too, and in a page with -short 300 of them. make
// soak compares 1,000,000 (DECISIONS). With the defence off, a fifth of them is compared.
func TestAttackOneDecisionForOnePath(t *testing.T) {
	n, controls := 20_000, 4000
	if testing.Short() && runtime.GOOS == "js" {
		n, controls = 300, 300
	}
	if s := os.Getenv("DECISIONS"); s != "" {
		var err error
		n, err = strconv.Atoi(s)
		must(t, err)
	}
	a := attack.Start(t, "views")
	wrong := 0
	decisions(t, 1, n, false, func(s string) {
		if wrong++; wrong <= 5 {
			a.Try(s, true)
		}
	})
	for range n - wrong {
		a.Try("", false)
	}
	off := 0
	decisions(t, 1, controls, true, func(string) { off++ })
	for i := range controls {
		a.Off("", i < off)
	}
}
