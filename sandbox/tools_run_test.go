package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// scripted runs a function in place of a program.
type scripted func(ctx context.Context, c sandbox.Command) (int, error)

func (scripted) Commands() []string { return []string{"prog"} }

func (s scripted) RunCommand(ctx context.Context, c sandbox.Command) (int, error) { return s(ctx, c) }

func runs(t *testing.T, s scripted) *house {
	t.Helper()
	p := parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog", "nope"]}, "filesystem": {"denyRead": ["private"], "allowWrite": ["out"]},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "allow"}, {"permission": "shell.run", "action": "allow"}]}`)
	return build(t, p, nil, map[string]string{"a/in.txt": "in", "b.txt": "b", "private": "secret", "out/old.txt": "old"}, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), sandbox.ToolRun(s))
	})
}

// A program sees and changes only the files that its call named, by any kind of access.
func TestToolRunFiles(t *testing.T) {
	for _, c := range []struct {
		read, write []any
		see         string // all paths that a walk finds
		open        string // the files that can be opened
		make        string // the paths at which a file can be created
	}{
		{nil, nil, ". ", "", ""},
		{[]any{"a"}, nil, ". a a/in.txt ", "a/in.txt ", ""},
		{[]any{"."}, nil, ". a a/in.txt b.txt out out/old.txt ", "a/in.txt b.txt out/old.txt ", ""},
		{nil, []any{"out"}, ". out ", "", "out/new "},
		{[]any{"b.txt"}, []any{"out/new"}, ". b.txt out ", "b.txt ", "out/new "},
		{[]any{"out"}, []any{"out/old.txt"}, ". out out/old.txt ", "out/old.txt ", ""},
	} {
		var see, open, made string
		h := runs(t, func(_ context.Context, cmd sandbox.Command) (int, error) {
			err := fs.WalkDir(cmd.FS, ".", func(name string, _ fs.DirEntry, err error) error {
				see += name + " "
				return err
			})
			for _, name := range []string{"a/in.txt", "b.txt", "private", "out/old.txt", "../x", "/b.txt"} {
				if _, err := fs.ReadFile(cmd.FS, name); err == nil {
					open += name + " "
				}
			}
			for _, name := range []string{"new", "a/new", "out/new", "../new", "private/new"} {
				if err := cmd.FS.WriteFile(name, nil, 0o644); err == nil {
					made += name + " "
				}
			}
			return 0, err
		})
		a := args{"command": "prog"}
		if c.read != nil {
			a["read"] = c.read
		}
		if c.write != nil {
			a["write"] = c.write
		}
		h.ok(t, "tool_run", a)
		if see != c.see || open != c.open || made != c.make {
			t.Errorf("read %v, write %v:\nsees %s, want %s\nopens %s, want %s\nmakes %s, want %s", c.read, c.write, see, c.see, open, c.open, made, c.make)
		}
	}
}

// A program that keeps its folder can't use it after the call.
func TestToolRunFilesEndWithTheCall(t *testing.T) {
	var kept sandbox.Command
	h := runs(t, func(_ context.Context, c sandbox.Command) (int, error) { kept = c; return 0, nil })
	h.ok(t, "tool_run", args{"command": "prog", "read": []any{"b.txt"}, "write": []any{"out"}})
	if _, err := fs.ReadFile(kept.FS, "b.txt"); err == nil {
		t.Error("reads after the end")
	}
	if err := kept.FS.WriteFile("out/late", nil, 0o644); err == nil {
		t.Error("writes after the end")
	}
}

func TestToolRunAnswers(t *testing.T) {
	h := runs(t, func(_ context.Context, c sandbox.Command) (int, error) {
		in, err := io.ReadAll(c.Stdin)
		fmt.Fprintf(c.Stdout, "%s %q %s", c.Name, c.Args, in)
		fmt.Fprint(c.Stderr, "\xff!")
		return 3, err
	})
	m := h.ok(t, "tool_run", args{"command": "prog", "args": []any{"x", "y z"}, "stdin": "hi"})
	if m["exit_code"] != 3.0 || m["output"] != `prog ["x" "y z"] hi` || m["stderr"] != "\uFFFD!" {
		t.Errorf("%v", m)
	}
	h.fails(t, "tool_run", args{"command": "nope"}, protocol.ReasonNotFound)
	broken := errors.New("broken")
	h = runs(t, func(context.Context, sandbox.Command) (int, error) { return 0, broken })
	h.fails(t, "tool_run", args{"command": "prog"}, protocol.ErrExecution)
}

// Standard error is kept up to 1 MiB. A program that writes more continues to run.
func TestToolRunKeepsTheBeginning(t *testing.T) {
	const most = 1 << 20
	for _, n := range []int{most - 1, most, most + 1} {
		h := runs(t, func(_ context.Context, c sandbox.Command) (int, error) {
			for _, part := range []string{strings.Repeat("x", n-1), "y"} {
				if k, err := io.WriteString(c.Stderr, part); k != len(part) || err != nil {
					return 1, err
				}
			}
			return 0, nil
		})
		m := h.ok(t, "tool_run", args{"command": "prog"})
		text, _ := m["stderr"].(string)
		if len(text) != min(n, most) || strings.HasSuffix(text, "y") != (n <= most) || m["exit_code"] != 0.0 {
			t.Errorf("%d written: %d kept, %v", n, len(text), m["exit_code"])
		}
	}
}

// A runner asks once about all files that its command removes or moves away, and then makes these
// changes. The consent covers no other change.
func TestToolRunLoses(t *testing.T) {
	const pol = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"]}, "rules": [{"permission": "*", "action": "allow"}]}`
	var beside error
	lost := map[string]string{"docs/a.txt": "", "docs/b.txt": "docs/c.txt", "docs/old": ""}
	asker := sandboxtest.Always(policy.AnswerOnce)
	h := build(t, parse(t, pol), asker, map[string]string{"docs/a.txt": "a", "docs/b.txt": "b", "docs/old/x.txt": "x", "docs/kept.txt": "kept"}, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), sandbox.ToolRun(scripted(func(ctx context.Context, c sandbox.Command) (int, error) {
			if err := c.Changing(ctx, losing(lost)); err != nil {
				return 0, err
			}
			beside = c.FS.Remove("docs/kept.txt")
			return 0, errors.Join(c.FS.Remove("docs/a.txt"), c.FS.Rename("docs/b.txt", "docs/c.txt"), c.FS.RemoveAll("docs/old"))
		})))
	})
	h.ok(t, "tool_run", args{"command": "prog", "write": []any{"docs"}})
	if got := h.file(t, "docs/a.txt") + h.file(t, "docs/b.txt") + h.file(t, "docs/old/x.txt"); strings.Count(got, "no such file") != 3 || h.file(t, "docs/c.txt") != "b" {
		t.Errorf("it was not done: %s", got)
	}
	if beside == nil || h.file(t, "docs/kept.txt") != "kept" {
		t.Errorf("a file beside them went too: %v", beside)
	}
	if n := len(asker.Requests()); n != 1 {
		t.Fatalf("%d questions", n)
	}
	r := asker.Requests()[0]
	var said string
	for _, e := range r.Effects {
		said += e.Text + "\n"
	}
	for _, want := range []string{"delete docs/a.txt\n", "move docs/b.txt to docs/c.txt\n", "delete docs/old with all that is in it\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("the question does not say %q: %s", want, said)
		}
	}
	if !r.Destroys {
		t.Error("the question does not say that something is lost")
	}
	for name, lost := range map[string]map[string]string{
		"outside of what it writes": {"other.txt": ""}, "the way there": {"docs/kept.txt": "other.txt"}, "no path": {"../x": ""}, "the folder": {".": ""},
	} {
		asked := len(asker.Requests())
		h.lose(t, lost, protocol.ErrCapabilityDenied)
		if len(asker.Requests()) != asked {
			t.Errorf("%s: the user was asked", name)
		}
	}
}

// lose runs a command that asks about these files, and checks its error.
func (h *house) lose(t *testing.T, lost map[string]string, want error) {
	t.Helper()
	b, err := sandbox.New(sandbox.Options{FS: h.journal, Policy: h.Policy(), Ask: h.asker, Tools: []sandbox.Tool{sandbox.ToolRun(scripted(func(ctx context.Context, c sandbox.Command) (int, error) {
		return 0, c.Changing(ctx, losing(lost))
	}))}})
	must(t, err)
	if err := b.Call(context.Background(), "tool_run", args{"command": "prog", "write": []any{"docs"}}).Err(); !errors.Is(err, want) {
		t.Errorf("%d files: %v, want %v", len(lost), err, want)
	}
}

// losing returns the changes of files that are removed (""), or moved.
func losing(lost map[string]string) (out []protocol.FileChange) {
	for _, from := range slices.Sorted(maps.Keys(lost)) {
		if to := lost[from]; to != "" {
			out = append(out, protocol.FileChange{Path: to, From: from, Before: -1})
		} else {
			out = append(out, protocol.FileChange{Path: from, Before: -1, Size: -1})
		}
	}
	return out
}

// A question is about at most 1,000 files.
func TestToolRunLosesSoMany(t *testing.T) {
	const most = 1000
	for _, n := range []int{most - 1, most, most + 1} {
		lost := map[string]string{}
		for i := range n {
			lost[fmt.Sprintf("docs/%d.txt", i)] = ""
		}
		asker := sandboxtest.Always(policy.AnswerOnce)
		h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"]}, "rules": [{"permission": "*", "action": "allow"}]}`), asker, nil)
		if n <= most {
			h.lose(t, lost, nil)
		} else {
			h.lose(t, lost, protocol.ErrResourceLimit)
		}
		if asked := len(asker.Requests()) == 1 && len(asker.Requests()[0].Effects) == n; asked != (n <= most) {
			t.Errorf("%d files: asked %v", n, asked)
		}
	}
}

// listing returns a command that asks about its changes and then makes them, and others that it did not list.
func listing(changes []protocol.FileChange, do func(f fsaccess.FS) error) scripted {
	return func(ctx context.Context, c sandbox.Command) (int, error) {
		if err := c.Changing(ctx, changes); err != nil {
			return 0, err
		}
		return 0, do(c.FS)
	}
}

// Before a program's changes are made the user sees each of them, with sizes. After a no there is none.
func TestToolRunListsChanges(t *testing.T) {
	const pol = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"]}, "rules": [{"permission": "shell.run", "action": "allow"}, {"permission": "fs.read", "action": "allow"}]}`
	changes := []protocol.FileChange{{Path: "docs/new", Dir: true, Before: -1}, {Path: "docs/new/a.txt", Before: -1, Size: 12}, {Path: "docs/b.txt", Before: 1, Size: 20_000},
		{Path: "docs/old.txt", Before: 3, Size: -1}, {Path: "docs/d.txt", From: "docs/c.txt", Before: -1, Size: 1}, {Path: "docs/l", Link: "b.txt", Before: -1, Size: 5}, {Path: "docs/h", Same: "docs/b.txt", Before: -1}}
	for _, agree := range []bool{true, false} {
		asker, asked := &sandboxtest.Asker{}, 0
		asker.Reply = func(r sandbox.Request) sandbox.Reply {
			if asked++; asked > 1 && !agree {
				return sandbox.Reply{Answer: policy.AnswerReject}
			}
			return sandbox.Reply{Answer: policy.AnswerOnce}
		}
		h := build(t, parse(t, pol), asker, map[string]string{"docs/b.txt": "b", "docs/c.txt": "c", "docs/old.txt": "old"}, func(o *sandbox.Options) {
			o.Tools = append(sandbox.Standard(), sandbox.ToolRun(listing(changes, func(f fsaccess.FS) error {
				return errors.Join(f.Mkdir("docs/new", 0o755), f.WriteFile("docs/new/a.txt", []byte("123456789012"), 0o644), f.Remove("docs/old.txt"), f.Rename("docs/c.txt", "docs/d.txt"))
			})))
		})
		err := h.Call(t.Context(), "tool_run", args{"command": "prog", "read": []any{"docs"}, "write": []any{"docs"}}).Err()
		if agree && err != nil || !agree && !errors.Is(err, protocol.ErrCapabilityDenied) {
			t.Errorf("agreed %v: %v", agree, err)
		}
		if made := h.file(t, "docs/new/a.txt") == "123456789012" && h.file(t, "docs/d.txt") == "c" && h.file(t, "docs/old.txt") != "old"; made != agree {
			t.Errorf("agreed %v, made %v", agree, made)
		}
		if n := len(asker.Requests()); n != 2 {
			t.Fatalf("%d questions", n)
		}
		var said []string
		for _, e := range asker.Requests()[1].Effects {
			said = append(said, e.Text)
		}
		if want := []string{"make the folder docs/new", "write the new file docs/new/a.txt (12 bytes)", "change docs/b.txt (1 byte, then 20 kB)", "delete docs/old.txt (3 bytes)", "move docs/c.txt to docs/d.txt",
			"make docs/l a link to b.txt", "make docs/h another name of docs/b.txt"}; !slices.Equal(said, want) {
			t.Errorf("%q\nwant %q", said, want)
		}
	}
}

// A long list of changes that lose nothing is cut, and ends with the number of the others.
func TestToolRunCutsTheList(t *testing.T) {
	const pol = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"]}, "rules": [{"permission": "shell.run", "action": "allow"}]}`
	const most = 500
	for _, n := range []int{most - 1, most, most + 1, most + 7} {
		var changes []protocol.FileChange
		for i := range n {
			changes = append(changes, protocol.FileChange{Path: fmt.Sprintf("docs/%d/a.txt", i), Before: -1, Size: 10})
		}
		asker := sandboxtest.Always(policy.AnswerOnce)
		h := build(t, parse(t, pol), asker, nil, func(o *sandbox.Options) {
			o.Tools = append(sandbox.Standard(), sandbox.ToolRun(listing(changes, func(fsaccess.FS) error { return nil })))
		})
		h.ok(t, "tool_run", args{"command": "prog", "write": []any{"docs"}})
		list := asker.Requests()[len(asker.Requests())-1].Effects
		last := list[len(list)-1].Text
		want := fmt.Sprintf("write the new file docs/%d/a.txt (10 bytes)", n-1)
		if n > most+1 {
			want = fmt.Sprintf("write %d more files in docs, of which %d are new (%d bytes)", n-most, n-most, 10*(n-most))
		} else if n > most {
			want = "write 1 more files in docs/500, of which 1 are new (10 bytes)"
		}
		if len(list) != min(n, most+1) || last != want {
			t.Errorf("%d changes: %d effects, the last: %s; want %s", n, len(list), last, want)
		}
	}
}

// Changes below several folders that the call declares are of each of them, and of no folder above.
func TestManyChangesBelowSeveralFolders(t *testing.T) {
	const pol = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"]}, "rules": [{"permission": "shell.run", "action": "allow"}]}`
	var changes []protocol.FileChange
	for i := range 510 {
		changes = append(changes, protocol.FileChange{Path: fmt.Sprintf("%s/%d/x.txt", []string{"a", "b"}[i%2], i), Before: -1, Size: 10})
	}
	changes = append(changes, protocol.FileChange{Path: "c/x.txt", Before: -1, Size: 10})
	asker := sandboxtest.Always(policy.AnswerOnce)
	h := build(t, parse(t, pol), asker, nil, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), sandbox.ToolRun(listing(changes, func(fsaccess.FS) error { return nil })))
	})
	h.ok(t, "tool_run", args{"command": "prog", "write": []any{"a", "b", "c/x.txt"}})
	list := asker.Requests()[len(asker.Requests())-1].Effects
	var said []string
	for _, e := range list[500:] {
		said = append(said, e.Text)
	}
	if got := strings.Join(said, "; "); got != "write 5 more files in a, of which 5 are new (50 bytes); write 5 more files in b, of which 5 are new (50 bytes); write the new file c/x.txt (10 bytes)" {
		t.Errorf("the question ends with %s", got)
	}
	if res := h.Call(t.Context(), "tool_run", args{"command": "prog", "write": []any{"a", "c/x.txt"}}); res.Err() == nil {
		t.Error("changes below a folder that the call does not declare are allowed")
	}
}

// typed is a runner of code whose StripTypes knows one kind of type, ": number". It keeps what it ran.
type typed struct {
	ran *[]string
	run func(code string) *protocol.RunResult
}

func (r typed) RunCode(_ context.Context, _ *protocol.Toolset, code string, _ any) (*protocol.RunResult, error) {
	*r.ran = append(*r.ran, code)
	return r.run(code), nil
}

func (r typed) StripTypes(_ context.Context, code string) (string, error) {
	switch code {
	case "no TypeScript":
		return "", &protocol.RunError{Code: protocol.ErrInvalidParams, Name: "SyntaxError", Message: "unexpected (line 3)"}
	case "no library":
		return "", errors.New("guests/typescript.js is not there")
	}
	return strings.ReplaceAll(code, ": number", "        "), nil
}

// code_run takes TypeScript by its name, and code without a language that is no JavaScript.
func TestCodeRunLanguages(t *testing.T) {
	syntax := &protocol.RunResult{Error: &protocol.RunError{Code: protocol.ErrInvalidParams, Name: "SyntaxError", Message: "unexpected :"}}
	javascript := func(code string) *protocol.RunResult {
		if strings.Contains(code, ":") || strings.HasPrefix(code, "no ") {
			return syntax
		}
		return &protocol.RunResult{Success: true, Value: 1.0}
	}
	pretends := func(stats protocol.Stats) func(string) *protocol.RunResult {
		return func(string) *protocol.RunResult {
			res := *syntax
			res.Stats = stats
			return &res
		}
	}
	for _, c := range []struct {
		name, language, code string
		run                  func(string) *protocol.RunResult
		ran                  int
		want                 string // a part of the output
	}{
		{"JavaScript", "", "x", javascript, 1, "value:1"},
		{"TypeScript", "", "x: number", javascript, 2, "language:typescript"},
		{"TypeScript by its name", "typescript", "x: number", javascript, 1, "language:typescript"},
		{"JavaScript by its name", "javascript", "x: number", javascript, 1, "unexpected :"},
		{"JavaScript with an error", "", "x: y", javascript, 1, "unexpected :"},
		{"neither", "", "no TypeScript", javascript, 1, "unexpected :"},
		{"neither, by its name", "typescript", "no TypeScript", javascript, 0, "unexpected (line 3)"},
		{"no library", "", "no library", javascript, 1, "unexpected :"},
		{"no library, by its name", "typescript", "no library", javascript, 0, "guests/typescript.js is not there"},
		{"another language", "python", "x", javascript, 0, "INVALID_PARAMS"},
		// Code that ran says that it could not be parsed, so that it runs twice.
		{"pretends after a call", "", "x: number", pretends(protocol.Stats{ToolCalls: 1}), 1, "unexpected :"},
		{"pretends after a row", "", "x: number", pretends(protocol.Stats{ConsoleCalls: 1}), 1, "unexpected :"},
		{"pretends at once", "", "x: number", pretends(protocol.Stats{}), 2, "unexpected :"},
	} {
		var ran []string
		p := parse(t, `{"capabilities": {"code.run": true}, "rules": [{"permission": "code.run", "action": "allow"}]}`)
		h := build(t, p, nil, nil, func(o *sandbox.Options) {
			o.Tools = []sandbox.Tool{sandbox.CodeRun(typed{&ran, c.run})}
		})
		a := args{"code": c.code}
		if c.language != "" {
			a["language"] = c.language
		}
		res := h.Call(t.Context(), "code_run", a)
		if got := fmt.Sprint(res.Data, res.Err()); len(ran) != c.ran || !strings.Contains(got, c.want) {
			t.Errorf("%s: ran %q, want %d times: %s, want %s", c.name, ran, c.ran, got, c.want)
		}
	}
}

// plainRunner is a runner without StripTypes.
type plainRunner struct{ sandbox.CodeRunner }

func TestCodeRunWithoutTypes(t *testing.T) {
	for _, c := range []struct {
		runner sandbox.CodeRunner
		want   bool
	}{{plainRunner{}, false}, {typed{}, true}} {
		tool := sandbox.CodeRun(c.runner)
		if got := strings.Contains(tool.Parameters, "typescript") && strings.Contains(tool.Description, "TypeScript"); got != c.want {
			t.Errorf("%T: %s", c.runner, tool.Parameters)
		}
	}
}

// codeOf is a runner whose code is calls of tools.
type codeOf func(ctx context.Context, tools *protocol.Toolset) string

func (c codeOf) RunCode(ctx context.Context, tools *protocol.Toolset, _ string, _ any) (*protocol.RunResult, error) {
	return &protocol.RunResult{Success: true, Value: c(ctx, tools)}, nil
}

// The names of Casys PML are names of our tools in code too: the same rules, questions and refusals.
func TestAttackOtherSystemsNamesInCode(t *testing.T) {
	count := attack.Start(t, "20")
	count.NoSwitch("the names are those of our tools, whose gate has its own controls")
	call := func(ctx context.Context, tools *protocol.Toolset, id string, a args) string {
		tool, err := tools.Lookup(id)
		if err != nil {
			return "none"
		}
		if _, err := tool.Execute(ctx, map[string]any(a)); err != nil {
			return string(protocol.CodeOf(err))
		}
		return "ok"
	}
	mine := sandbox.Tool{Tool: protocol.Tool{ID: "filesystem_write_file", Server: "filesystem", Untrusted: true},
		Run: func(context.Context, *sandbox.Call) (any, error) { return nil, nil }}
	for _, c := range []struct {
		name   string
		more   []sandbox.Tool
		id     string
		a      args
		answer policy.Answer
		want   string
		asked  string // the tool of the question
	}{
		{"read", nil, "filesystem_read_file", args{"path": "a"}, policy.AnswerReject, "ok", ""},
		{"a write is asked about as write", nil, "filesystem_write_file", args{"path": "b", "content": "x"}, policy.AnswerOnce, "ok", "write"},
		{"a no", nil, "filesystem_write_file", args{"path": "b", "content": "x"}, policy.AnswerReject, "CAPABILITY_DENIED", "write"},
		{"a denied file", nil, "filesystem_read_file", args{"path": "private"}, policy.AnswerOnce, "CAPABILITY_DENIED", ""},
		{"a protected file", nil, "filesystem_write_file", args{"path": ".git/hooks/x", "content": "x"}, policy.AnswerOnce, "CAPABILITY_DENIED", ""},
		{"a rule for write", nil, "filesystem_write_file", args{"path": "no", "content": "x"}, policy.AnswerOnce, "CAPABILITY_DENIED", ""},
		{"out of the folder", nil, "filesystem_read_file", args{"path": "../a"}, policy.AnswerOnce, "INVALID_PARAMS", ""},
		{"wrong arguments", nil, "filesystem_read_file", args{"path": 1.0}, policy.AnswerOnce, "INVALID_PARAMS", ""},
		{"no bash", nil, "shell_run_command", args{"command": "ls"}, policy.AnswerOnce, "none", ""},
		{"no web_fetch", nil, "fetch_fetch", args{"url": "https://example.org"}, policy.AnswerOnce, "none", ""},
		{"a server of that name", []sandbox.Tool{mine}, "filesystem_read_file", args{"path": "a"}, policy.AnswerOnce, "none", ""},
	} {
		var got string
		runner := codeOf(func(ctx context.Context, tools *protocol.Toolset) string {
			got = call(ctx, tools, c.id, c.a)
			return got
		})
		p := parse(t, `{"capabilities": {"code.run": true, "fs.read": ["."], "fs.write": ["."]}, "filesystem": {"denyRead": ["private"], "allowWrite": ["."]},
			"rules": [{"permission": "code.run", "action": "allow"}, {"permission": "fs.read", "action": "allow"}, {"permission": "write", "pattern": "no", "action": "deny"}]}`)
		asker := sandboxtest.Always(c.answer)
		h := build(t, p, asker, map[string]string{"a": "a", "private": "p"}, func(o *sandbox.Options) {
			o.Tools = append(append(sandbox.Standard(), sandbox.CodeRun(runner)), c.more...)
		})
		h.ok(t, "code_run", args{"code": "x"})
		asked := ""
		for _, r := range asker.Requests() {
			asked += r.Tool
		}
		count.Try(fmt.Sprintf("%s: %s, asked about %q", c.name, got, asked), got != c.want || asked != c.asked)
	}
}
