package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// without returns options with a defence disabled if off is set.
func without(off bool) func(*sandbox.Options) {
	return func(o *sandbox.Options) {
		if off {
			o.Without("views")
		}
	}
}

// bare gives the house a box over a journal without a guard below it.
func (h *house) bare(t *testing.T, asker sandbox.Asker, more ...func(*sandbox.Options)) {
	t.Helper()
	h.journal = fsaccess.NewJournal(h.mem, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
	o := sandbox.Options{FS: h.journal, Policy: h.Policy(), Ask: asker}
	for _, f := range more {
		f(&o)
	}
	var err error
	h.Box, err = sandbox.New(o)
	must(t, err)
}

// Undo undoes the step that the question showed, whatever happens meanwhile.
func TestAttackUndoOfAnotherStep(t *testing.T) {
	a := attack.Start(t, "09")
	undo := sandbox.ToolCall{Tool: "undo"}
	for _, c := range []struct {
		name   string
		calls  []sandbox.ToolCall
		during func(t *testing.T, h *house) // while the user reads
	}{
		{"two in one answer", []sandbox.ToolCall{undo, undo}, nil},
		{"three in one answer", []sandbox.ToolCall{undo, undo, undo}, nil},
		{"one by its number and one without", []sandbox.ToolCall{{Tool: "undo", Args: args{"step": 3.0}}, undo}, nil},
		{"the user takes the last step back meanwhile", []sandbox.ToolCall{undo}, func(t *testing.T, h *house) { must(t, h.journal.Undo(context.Background())) }},
		{"another file changes meanwhile", []sandbox.ToolCall{undo}, func(t *testing.T, h *house) {
			must(t, h.journal.WriteFile("b.txt", []byte("the user's\n"), 0o644))
		}},
	} {
		for _, off := range []bool{false, true} {
			var h *house
			asker := &sandboxtest.Asker{}
			once := false
			asker.Reply = func(sandbox.Request) sandbox.Reply {
				if c.during != nil && !once {
					once = true
					c.during(t, h)
				}
				return sandbox.Reply{Answer: policy.AnswerOnce}
			}
			h = build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`), asker, nil, without(off), func(o *sandbox.Options) {
				if off {
					o.Without("same") // which stops these, too
				}
			})
			must(t, h.journal.WriteFile("a.txt", []byte("v1\n"), 0o644))
			must(t, h.journal.WriteFile("a.txt", []byte("v2, the user's work\n"), 0o644))
			must(t, h.journal.WriteFile("a.txt", []byte("v3\n"), 0o644))
			h.CallAll(context.Background(), c.calls...)
			shown := ""
			for _, r := range asker.Requests() {
				shown += r.Diff
			}
			lost := !strings.Contains(h.file(t, "a.txt"), "v2") && !strings.Contains(h.file(t, "a.txt"), "v3") && !strings.Contains(shown, "v1")
			lost = lost || c.during != nil && strings.HasPrefix(c.name, "another") && h.file(t, "b.txt") != "the user's\n"
			if off {
				a.Off(c.name, lost)
			} else {
				a.Try(c.name, lost)
			}
		}
	}
}

// Undoing a step that created a file loses the file, so a blanket rule does not permit it.
func TestAttackUndoLosesUnasked(t *testing.T) {
	a := attack.Start(t, "09")
	for _, c := range []struct {
		name string
		make func(h *house) error
	}{
		{"a new file", func(h *house) error { return h.journal.WriteFile("new.txt", []byte("the user's"), 0o644) }},
		{"a new file in a new folder", func(h *house) error {
			if err := h.journal.MkdirAll("d/e", 0o755); err != nil {
				return err
			}
			return h.journal.WriteFile("d/e/new.txt", []byte("the user's"), 0o644)
		}},
		{"a file that was opened new", func(h *house) error {
			f, err := h.journal.Create("new.txt")
			if err != nil {
				return err
			}
			return f.Close()
		}},
	} {
		for _, off := range []bool{false, true} {
			asker := &sandboxtest.Asker{}
			h := build(t, parse(t, open), asker, nil, without(off))
			must(t, c.make(h))
			before := count(t, h.mem)
			h.Call(context.Background(), "undo", args{})
			if off {
				a.Off(c.name, count(t, h.mem) != before)
			} else {
				a.Try(c.name, count(t, h.mem) != before)
				if r := asker.Requests(); len(r) != 1 || !r[0].Destroys {
					t.Errorf("%s: asked %+v", c.name, r)
				}
			}
		}
	}
}

// count returns the number of files.
func count(t *testing.T, f fsaccess.FS) (n int) {
	t.Helper()
	for e, err := range fsaccess.Walk(context.Background(), f, ".", fsaccess.WalkOptions{}) {
		must(t, err)
		if !e.Dir {
			n++
		}
	}
	return n
}

// Undoing the move of a folder moves all its current files, each according to its rules.
func TestAttackUndoOfAMove(t *testing.T) {
	a := attack.Start(t, "10")
	const pol = `{"filesystem": {"allowWrite": ["."], "denyWrite": ["a/*.key", "a/sub/*ocked", "b/kep?.txt"], "denyRead": ["b/*.pem"]},
		"capabilities": {"fs.read": ["."], "fs.write": ["."]},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "allow"}, {"permission": "fs.write", "pattern": "a/ruled.txt", "action": "deny", "source": "manifest"},
			{"permission": "undo", "pattern": "a/own.txt", "action": "deny"}, {"permission": "fs.write", "pattern": "a/asked.txt", "action": "ask"}],
		"send": {"nothing": ["b/unsent/**"]}}`
	for _, path := range []string{"evil.key", "secret.pem", "kept.txt", "ruled.txt", "own.txt", "asked.txt", "sub/locked", "sub/deep/secret.key", "unsent/x.txt", ".git/hooks/post-checkout", ".bashrc"} {
		for _, guarded := range []bool{false, true} {
			for _, off := range []bool{false, true} {
				asker := sandboxtest.Always(policy.AnswerOnce)
				h := build(t, parse(t, pol), asker, map[string]string{"a/readme": "r"}, without(off))
				if !guarded {
					h.bare(t, asker, without(off))
				}
				h.ok(t, "move", args{"from": "a", "to": "b"})
				at := "b/" + path
				must(t, h.mem.MkdirAll(at[:strings.LastIndexByte(at, '/')], 0o755))
				must(t, h.mem.WriteFile(at, []byte("x"), 0o644)) // by another program
				if path == "sub/deep/secret.key" {
					must(t, h.mem.WriteFile("b/sub/deep/secret.pem", []byte("x"), 0o644))
					must(t, h.mem.WriteFile("b/deep.key", []byte("x"), 0o644))
				}
				res := h.Call(context.Background(), "undo", args{"step": 1.0})
				got := h.file(t, "a/"+path) == "x"
				name := fmt.Sprintf("%s, a guard below: %v", path, guarded)
				if off {
					a.Off(name, got)
				} else {
					a.Try(name, got)
					if strings.Contains(res.ErrorText, "secret") {
						t.Errorf("%s: the error tells of a file that may not be read: %s", name, res.ErrorText)
					}
				}
			}
		}
	}
}

// Rules also apply to unreadable files in a folder that is moved or removed.
func TestAttackFoldersOfHiddenFiles(t *testing.T) {
	a := attack.Start(t, "11")
	deny := `{"permission": "*", "pattern": "a/d/secret", "action": "deny", "source": "manifest"}`
	for rules, text := range map[string]string{
		"an absolute deny":  deny,
		"the user's":        `{"permission": "fs.write", "pattern": "a/d/secret", "action": "deny", "source": "user"}`,
		"a rule of folders": `{"permission": "fs.write", "pattern": "**/secret", "action": "deny"}`,
	} {
		for how, fsPolicy := range map[string]string{"denyRead of names": `"denyRead": ["**/secret"]`, "denyRead of the file": `"denyRead": ["a/d/secret"]`, "denyRead of its folder": `"denyRead": ["a/d"]`} {
			pol := `{"filesystem": {"allowWrite": ["."], ` + fsPolicy + `}, "capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"]},
				"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "shell.run", "action": "allow"},` + text + `]}`
			for _, way := range []struct {
				tool string
				args args
				do   func(f fsaccess.FS) error
				lost map[string]string
			}{
				{tool: "delete", args: args{"path": "a"}},
				{tool: "delete", args: args{"path": "a/d"}},
				{tool: "move", args: args{"from": "a", "to": "c"}},
				{tool: "move", args: args{"from": "a/d", "to": "c"}},
				{"tool_run", args{"command": "prog", "write": []any{"."}}, func(f fsaccess.FS) error { return f.RemoveAll("a") }, map[string]string{"a": ""}},
				{"tool_run", args{"command": "prog", "write": []any{"."}}, func(f fsaccess.FS) error { return f.Rename("a", "c") }, map[string]string{"a": "c"}},
			} {
				for _, guarded := range []bool{true, false} {
					for _, off := range []bool{false, true} {
						asker := sandboxtest.Always(policy.AnswerOnce)
						tools := func(o *sandbox.Options) {
							o.Tools = append(sandbox.Standard(), sandbox.ToolRun(scripted(func(ctx context.Context, c sandbox.Command) (int, error) {
								_ = c.Changing(ctx, losing(way.lost))
								return 0, way.do(c.FS)
							})))
						}
						h := build(t, parse(t, pol), asker, map[string]string{"a/x": "r", "a/d/y": "r", "a/d/secret": "s"}, without(off), tools)
						if !guarded {
							h.bare(t, asker, without(off), tools)
						}
						res := h.Call(context.Background(), way.tool, way.args)
						got := h.file(t, "a/d/secret") != "s"
						name := rules + ", " + how + ": " + way.tool + fmt.Sprint(way.args)
						if off {
							a.Off(name, got)
							continue
						}
						a.Try(name, got)
						if strings.Contains(res.ErrorText, "secret") {
							t.Errorf("%s: the error tells of a file that may not be read: %s", name, res.ErrorText)
						}
					}
				}
			}
		}
	}
}

// A question about a folder has the number of files in it that it does not name.
func TestQuestionsCountUnreadFiles(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "and 1 file that may not be read\n", 3: "and 3 files that may not be read\n"} {
		files := map[string]string{"a/x.txt": "r", "a/y.txt": "r"}
		for i := range n {
			files[fmt.Sprintf("a/d/%d.secret", i)] = "s"
		}
		for tool, call := range map[string]args{"delete": {"path": "a"}, "move": {"from": "a", "to": "c"}} {
			asker := sandboxtest.Always(policy.AnswerReject)
			h := build(t, parse(t, `{"filesystem": {"allowWrite": ["."], "denyRead": ["**/*.secret"]}, "capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`), asker, files)
			h.Call(context.Background(), tool, call)
			got := asker.Requests()[0].Diff
			if !strings.HasSuffix(got, want) || strings.Contains(got, "secret") || n == 0 && strings.Contains(got, "may not") || tool == "delete" && !strings.Contains(got, "- a/x.txt\n- a/y.txt\n") {
				t.Errorf("%s of %d hidden files: %q", tool, n, got)
			}
		}
	}
}

// The history names no file that may not be read, whoever changed the file.
func TestAttackHistoryNamesHiddenFiles(t *testing.T) {
	count := attack.Start(t, "11")
	pol := parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "filesystem": {"denyRead": ["hr/*-salary"], "allowWrite": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`)
	for name, c := range map[string]sandbox.ToolCall{
		"the last difference":        {Tool: "diff"},
		"a difference by its number": {Tool: "diff", Args: args{"step": 1.0}},
		"the last undo":              {Tool: "undo"},
		"an undo by its number":      {Tool: "undo", Args: args{"step": 1.0}},
	} {
		attempt := func(off bool) bool {
			h := build(t, pol, nil, map[string]string{"hr/list": "x"})
			h.bare(t, nil, func(o *sandbox.Options) { o.Policy = pol }, without(off))
			must(t, h.journal.WriteFile("hr/kim-salary", []byte("y"), 0o644)) // the user's own
			res := h.Call(t.Context(), c.Tool, c.Args)
			return strings.Contains(fmt.Sprint(res.Data, res.ErrorText), "kim")
		}
		count.Try(name, attempt(false))
		count.Off(name, attempt(true))
	}
}
