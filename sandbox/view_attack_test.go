package sandbox_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// reach is a way in which a program accesses a path that grants or rules protect.
type reach struct {
	name        string
	read, write []any
	try         func(f fsaccess.FS) string // returns everything that the program learns
}

const hidden = "private/key.txt"

func text(b []byte, err error) string {
	if err != nil {
		return ""
	}
	return string(b)
}

func readers() []reach {
	all, folder, file := []any{"."}, []any{"private"}, []any{hidden}
	opened := func(f fs.File, err error) string {
		if err != nil {
			return ""
		}
		defer f.Close()
		return text(io.ReadAll(f))
	}
	readFile := func(f fsaccess.FS) string { return text(f.ReadFile(hidden)) }
	return []reach{
		{"ReadFile below the folder", all, nil, readFile},
		{"ReadFile below a folder of its own", folder, nil, readFile},
		{"ReadFile of the named file", file, nil, readFile},
		{"ReadFile of one of two names", []any{"pub", hidden}, nil, readFile},
		{"Open", all, nil, func(f fsaccess.FS) string { return opened(f.Open(hidden)) }},
		{"OpenFile to read and write", all, all, func(f fsaccess.FS) string { return opened(f.OpenFile(hidden, os.O_RDWR, 0)) }},
		{"Sub", all, nil, func(f fsaccess.FS) string {
			sub, err := f.Sub("private")
			if err != nil {
				return ""
			}
			return text(fs.ReadFile(sub, "key.txt"))
		}},
		{"ReadDir", all, nil, func(f fsaccess.FS) string {
			list, _ := f.ReadDir("private")
			return names(list)
		}},
		{"ReadDir of an open folder", folder, nil, func(f fsaccess.FS) string {
			dir, err := f.Open("private")
			if err != nil {
				return ""
			}
			defer dir.Close()
			list, _ := dir.(fs.ReadDirFile).ReadDir(100)
			return names(list)
		}},
		{"WalkDir", all, nil, func(f fsaccess.FS) string {
			var out string
			_ = fs.WalkDir(f, ".", func(name string, _ fs.DirEntry, _ error) error { out += name + "\n"; return nil })
			return out
		}},
		{"Walk in pages", all, nil, func(f fsaccess.FS) string {
			var out string
			for e := range fsaccess.Walk(context.Background(), f, ".", fsaccess.WalkOptions{}) {
				out += e.Path + "\n"
			}
			return out
		}},
		{"Glob", all, nil, func(f fsaccess.FS) string {
			list, _ := f.Glob("*/*.txt")
			return strings.Join(list, "\n")
		}},
		{"Stat", all, nil, func(f fsaccess.FS) string {
			if fi, err := f.Stat(hidden); err == nil {
				return fi.Name()
			}
			return ""
		}},
		{"the error of what is there and what is not", all, nil, func(f fsaccess.FS) string {
			_, there := f.ReadFile(hidden)
			_, not := f.ReadFile("private/nothing.txt")
			_, file := f.ReadDir(hidden)
			_, none := f.ReadDir("private/nothing.txt")
			if isThere(there) != isThere(not) || isThere(file) != isThere(none) {
				return "key.txt"
			}
			return ""
		}},
		{"UpdateFile", all, all, func(f fsaccess.FS) string {
			var old string
			_ = fsaccess.WithContext(context.Background(), f).UpdateFile(hidden, 0o644, func(b []byte) ([]byte, error) { old = string(b); return nil, fs.ErrInvalid })
			return old
		}},
		{"moved to where it may be read", all, all, func(f fsaccess.FS) string {
			_ = f.Rename(hidden, "pub/key.txt")
			return text(f.ReadFile("pub/key.txt"))
		}},
		{"its folder moved", all, all, func(f fsaccess.FS) string {
			_ = f.Rename("private", "pub/private")
			return text(f.ReadFile("pub/private/key.txt"))
		}},
	}
}

func isThere(err error) bool {
	return err == nil || !strings.Contains(strings.ToLower(err.Error()), "no such file")
}

func names(list []fs.DirEntry) (out string) {
	for _, e := range list {
		out += e.Name() + "\n"
	}
	return out
}

func writers() []reach {
	all, folder := []any{"."}, []any{"private"}
	put := func(f func(fsaccess.FS) error) func(fsaccess.FS) string {
		return func(fsys fsaccess.FS) string { _ = f(fsys); return "" }
	}
	return []reach{
		{"WriteFile over a file", nil, all, put(func(f fsaccess.FS) error { return f.WriteFile(hidden, []byte("x"), 0o644) })},
		{"WriteFile over a file that is read too", all, all, put(func(f fsaccess.FS) error { return f.WriteFile(hidden, []byte("x"), 0o644) })},
		{"a new file below the folder", nil, all, put(func(f fsaccess.FS) error { return f.WriteFile("private/new.txt", []byte("x"), 0o644) })},
		{"a new file below a folder of its own", nil, folder, put(func(f fsaccess.FS) error { return f.WriteFile("private/new.txt", []byte("x"), 0o644) })},
		{"Create", nil, all, put(func(f fsaccess.FS) error {
			w, err := f.Create("private/new.txt")
			if err == nil {
				_, _ = w.(io.Writer).Write([]byte("x"))
				err = w.Close()
			}
			return err
		})},
		{"OpenFile to append", nil, all, put(func(f fsaccess.FS) error {
			w, err := f.OpenFile(hidden, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, _ = w.(io.Writer).Write([]byte("x"))
				err = w.Close()
			}
			return err
		})},
		{"Truncate", nil, all, put(func(f fsaccess.FS) error { return f.Truncate(hidden, 0) })},
		{"Mkdir", nil, all, put(func(f fsaccess.FS) error { return f.Mkdir("private/d", 0o755) })},
		{"MkdirAll", nil, folder, put(func(f fsaccess.FS) error { return f.MkdirAll("private/d/e", 0o755) })},
		{"Remove", nil, all, put(func(f fsaccess.FS) error { return f.Remove(hidden) })},
		{"RemoveAll of its folder", nil, all, put(func(f fsaccess.FS) error { return f.RemoveAll("private") })},
		{"Rename onto it", all, all, put(func(f fsaccess.FS) error { return f.Rename("pub/a.txt", hidden) })},
		{"Rename into its folder", all, all, put(func(f fsaccess.FS) error { return f.Rename("pub/a.txt", "private/a.txt") })},
		{"Rename of a folder into it", all, all, put(func(f fsaccess.FS) error { return f.Rename("pub", "private/pub") })},
		{"Rename away", nil, all, put(func(f fsaccess.FS) error { return f.Rename(hidden, "key.txt") })},
		{"Sub", nil, all, put(func(f fsaccess.FS) error {
			sub, err := f.Sub("private")
			if err == nil {
				err = sub.(fsaccess.FS).WriteFile("new.txt", []byte("x"), 0o644)
			}
			return err
		})},
		{"WriteVersion", nil, all, put(func(f fsaccess.FS) error {
			_, err := fsaccess.WithContext(context.Background(), f).WriteVersion("private/new.txt", []byte("x"), 0o644, fsaccess.Absent)
			return err
		})},
	}
}

// A program can't access a path that grants, rules or refusals protect from a tool: not by the
// folder above it, not by its own name, and not by any operation of a file system.
func TestAttackProgramsPaths(t *testing.T) {
	a := attack.Start(t, "03")
	const run = `"shell.run": ["prog"]`
	blanket := `{"permission": "*", "action": "allow"}`
	deny := func(permission, pattern, source string) string {
		return `{"permission": "` + permission + `", "pattern": "` + pattern + `", "action": "deny", "source": "` + source + `"}`
	}
	for _, p := range []struct {
		name, policy string
		ways         []reach
		alone        bool // only this file is protected
		before       func(t *testing.T, h *house)
	}{
		{"a grant of one folder", `{"capabilities": {"fs.read": ["pub"], "fs.write": ["."], ` + run + `}, "rules": [` + blanket + `]}`, readers(), false, nil},
		{"a grant of one file", `{"capabilities": {"fs.read": ["pub/a.txt"], "fs.write": ["."], ` + run + `}, "rules": [` + blanket + `]}`, readers(), false, nil},
		{"a grant of names at the top", `{"capabilities": {"fs.read": ["*", "pub"], "fs.write": ["."], ` + run + `}, "rules": [` + blanket + `]}`, readers(), false, nil},
		{"an absolute deny", `{"capabilities": {"fs.read": ["."], "fs.write": ["."], ` + run + `}, "rules": [` + blanket + `,` + deny("fs.read", "private/**", "manifest") + `]}`, readers(), false, nil},
		{"the user's own deny", `{"capabilities": {"fs.read": ["."], "fs.write": ["."], ` + run + `}, "rules": [` + blanket + `,` + deny("fs.read", "private/*.txt", "user") + `]}`, readers(), false, nil},
		{"a deny for this tool", `{"capabilities": {"fs.read": ["."], "fs.write": ["."], ` + run + `}, "rules": [` + blanket + `,` + deny("tool_run", "private/**", "project") + `]}`, readers(), false, nil},
		{"a question about the file", `{"capabilities": {"fs.read": ["."], "fs.write": ["."], ` + run + `}, "rules": [` + blanket + `,{"permission": "fs.read", "pattern": "private/key.txt", "action": "ask"}]}`, readers(), true, nil},
		{"the file was refused before", `{"capabilities": {"fs.read": ["."], "fs.write": ["."], ` + run + `}, "rules": [{"permission": "shell.run", "action": "allow"}, {"permission": "tool_run", "action": "allow"}]}`, readers(), true, func(t *testing.T, h *house) {
			h.fails(t, "read", args{"path": hidden}, protocol.ReasonRejected)
		}},
		{"an absolute deny of writing", `{"capabilities": {"fs.read": ["."], "fs.write": ["."], ` + run + `}, "rules": [` + blanket + `,` + deny("fs.write", "private/**", "manifest") + `]}`, writers(), false, nil},
		{"a grant of writing elsewhere", `{"capabilities": {"fs.read": ["."], "fs.write": ["*", "pub"], ` + run + `}, "filesystem": {"allowWrite": ["."]}, "rules": [` + blanket + `]}`, writers(), false, nil},
		{"the user's own deny of writing", `{"capabilities": {"fs.read": ["."], "fs.write": ["."], ` + run + `}, "rules": [` + blanket + `,` + deny("*", "private/**", "user") + `]}`, writers(), false, nil},
	} {
		for _, way := range p.ways {
			if p.alone && strings.HasPrefix(way.name, "the error of") {
				continue // it may learn whether its neighbours exist
			}
			for _, off := range []bool{false, true} {
				learnt, ran := "", false
				h := build(t, parse(t, p.policy), &sandboxtest.Asker{}, map[string]string{"pub/a.txt": "public", hidden: "SECRET"}, func(o *sandbox.Options) {
					if off {
						o.Without("views")
					}
					o.Tools = append(sandbox.Standard(), sandbox.ToolRun(scripted(func(_ context.Context, c sandbox.Command) (int, error) {
						ran = true
						learnt = way.try(c.FS)
						return 0, nil
					})))
				})
				if p.before != nil {
					p.before(t, h)
				}
				call := args{"command": "prog"}
				if way.read != nil {
					call["read"] = way.read
				}
				if way.write != nil {
					call["write"] = way.write
				}
				h.Call(context.Background(), "tool_run", call)
				list, err := h.mem.ReadDir("private")
				changed := err != nil || names(list) != "key.txt\n" || h.file(t, hidden) != "SECRET"
				got := strings.Contains(learnt, "SECRET") || strings.Contains(learnt, "key.txt") || changed
				if off {
					a.Off(p.name+": "+way.name, got)
					continue
				}
				a.Try(p.name+": "+way.name, got)
				if !ran && len(way.read) == 1 && way.read[0] == "." && way.write == nil {
					t.Errorf("%s: %s: the program did not run: nothing was shown", p.name, way.name)
				}
			}
		}
	}
}

// A tool that walks a tree can't access a protected file, even by the file's own name.
func TestAttackTreesOfTools(t *testing.T) {
	a := attack.Start(t, "03")
	const without = `{"capabilities": {"fs.read": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}` // the control: nothing is denied
	for _, text := range []string{
		without,
		`{"capabilities": {"fs.read": ["pub"]}, "rules": [{"permission": "*", "action": "allow"}]}`,
		`{"capabilities": {"fs.read": ["pub/*"]}, "rules": [{"permission": "*", "action": "allow"}]}`,
		`{"capabilities": {"fs.read": ["."]}, "filesystem": {"denyRead": ["private"], "allowRead": ["private/open.txt"]}, "rules": [{"permission": "*", "action": "allow"}]}`,
	} {
		h := build(t, parse(t, text), nil, map[string]string{"pub/a.txt": "public", hidden: "SECRET", "private/open.txt": "x"})
		for _, path := range []string{hidden, "private", "."} {
			for tool, call := range map[string]args{
				"grep": {"pattern": "SEC", "path": path}, "glob": {"pattern": "**", "path": path}, "ls": {"path": path},
			} {
				res := h.Call(context.Background(), tool, call)
				told := sandboxText(res)
				got := strings.Contains(told, "SECRET") || res.Err() == nil && strings.Contains(told, "key.txt")
				if name := tool + " " + path + " under " + text; text == without {
					a.Off(name, got)
				} else {
					a.Try(name, got)
				}
			}
		}
	}
}

func sandboxText(r sandbox.ToolResult) string {
	return fmt.Sprint(r.Data) + r.ErrorText
}

// A program of a subagent has the subagent's grants, and no more.
func TestAttackSubagentsPrograms(t *testing.T) {
	a := attack.Start(t, "03")
	p := parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`)
	for _, way := range append(readers(), writers()...) {
		for _, off := range []bool{false, true} {
			learnt := ""
			h := build(t, p, nil, map[string]string{"pub/a.txt": "public", hidden: "SECRET"}, func(o *sandbox.Options) {
				if off {
					o.Without("views")
				}
				o.Agents = []sandbox.Agent{{Name: "reader", Grants: []protocol.Grant{{Capability: protocol.FSRead, Scope: []string{"pub"}},
					{Capability: protocol.FSWrite, Scope: []string{"pub", "*"}}, {Capability: protocol.ShellRun}, {Capability: protocol.Stream}}}}
				o.Tools = append(sandbox.Standard(), sandbox.ToolRun(scripted(func(_ context.Context, c sandbox.Command) (int, error) {
					learnt = way.try(c.FS)
					_, _ = io.WriteString(c.Stdout, learnt)
					return 0, nil
				})))
			})
			call := args{"command": "prog"}
			if way.read != nil {
				call["read"] = way.read
			}
			if way.write != nil {
				call["write"] = []any{"pub", "private"}
			}
			m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
				sandboxtest.CallTool("task", args{"subagent_type": "reader", "prompt": "look"}),
				{Calls: []sandbox.ToolCall{{Tool: "tool_run", Args: call}}},
				sandboxtest.Say("done"),
				sandboxtest.Say("done"),
			}}
			_, err := h.talk(t, h.session(t), m, "go")
			must(t, err)
			sent := ""
			for _, part := range m.Requests()[2].Messages[len(m.Requests()[2].Messages)-1].Parts {
				sent += part.Text
			}
			list, err := h.mem.ReadDir("private")
			got := strings.Contains(learnt+sent, "SECRET") || strings.Contains(learnt, "key.txt") || err != nil || names(list) != "key.txt\n" || h.file(t, hidden) != "SECRET"
			if off {
				a.Off(way.name, got)
			} else {
				a.Try(way.name, got)
			}
		}
	}
}

// A program can't move content from a place with a stricter "send" level to one with a wider level.
func TestAttackProgramsSends(t *testing.T) {
	a := attack.Start(t, "03")
	const pol = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}],
		"send": {"default": "nothing", "contents": ["out/open/**"]}}`
	for name, c := range map[string]struct {
		read, write []any
		try         func(f fsaccess.FS) error
	}{
		"written below what is named": {[]any{"unsent.txt"}, []any{"out"}, func(f fsaccess.FS) error {
			data, err := f.ReadFile("unsent.txt")
			if err == nil {
				err = f.WriteFile("out/open/copy.txt", data, 0o644)
			}
			return err
		}},
		"created below what is named": {[]any{"unsent.txt"}, []any{"out"}, func(f fsaccess.FS) error {
			w, err := f.Create("out/open/copy.txt")
			if err == nil {
				_, _ = w.(io.Writer).Write([]byte("UNSENT"))
				err = w.Close()
			}
			return err
		}},
		"moved within what is written": {nil, []any{"."}, func(f fsaccess.FS) error { return f.Rename("unsent.txt", "out/open/copy.txt") }},
	} {
		for _, off := range []bool{false, true} {
			h := build(t, parse(t, pol), &sandboxtest.Asker{}, map[string]string{"unsent.txt": "UNSENT", "out/open/a.txt": "a"}, func(o *sandbox.Options) {
				if off {
					o.Without("views")
				}
				o.Tools = append(sandbox.Standard(), sandbox.ToolRun(scripted(func(_ context.Context, cmd sandbox.Command) (int, error) { return 0, c.try(cmd.FS) })))
			})
			call := args{"command": "prog", "write": c.write}
			if c.read != nil {
				call["read"] = c.read
			}
			h.Call(context.Background(), "tool_run", call)
			got := h.file(t, "out/open/copy.txt") == "UNSENT"
			if off {
				a.Off(name, got)
			} else {
				a.Try(name, got)
			}
		}
	}
}

// A command of a runner has no more access in the shell than the shell's own commands.
func TestAttackShellsPrograms(t *testing.T) {
	a := attack.Start(t, "03")
	blanket := `{"permission": "*", "action": "allow"}`
	for _, c := range []struct{ name, policy string }{
		{"a grant of one folder", `{"capabilities": {"fs.read": ["pub"], "shell.run": ["*"]}, "rules": [` + blanket + `]}`},
		{"an absolute deny", `{"capabilities": {"fs.read": ["."], "shell.run": ["*"]}, "rules": [` + blanket + `, {"permission": "fs.read", "pattern": "private/**", "action": "deny", "source": "manifest"}]}`},
		{"a deny for this tool", `{"capabilities": {"fs.read": ["."], "shell.run": ["*"]}, "rules": [` + blanket + `, {"permission": "bash", "pattern": "private/**", "action": "deny", "source": "user"}]}`},
		{"denyRead", `{"capabilities": {"fs.read": ["."], "shell.run": ["*"]}, "filesystem": {"denyRead": ["private"]}, "rules": [` + blanket + `]}`},
	} {
		for _, way := range readers() {
			for _, off := range []bool{false, true} {
				learnt := ""
				h := build(t, parse(t, c.policy), nil, map[string]string{"pub/a.txt": "public", hidden: "SECRET"}, func(o *sandbox.Options) {
					if off {
						o.Without("views")
					}
					o.Tools = append(sandbox.Standard(), shell.Bash(shell.Options{Runner: scripted(func(_ context.Context, cmd sandbox.Command) (int, error) {
						learnt = way.try(cmd.FS)
						return 0, nil
					})}))
				})
				out := h.ok(t, "bash", args{"command": "cat private/key.txt; prog"})
				got := strings.Contains(learnt+fmt.Sprint(out), "SECRET") || strings.Contains(learnt, "key.txt")
				if off {
					a.Off(c.name+": "+way.name, got)
				} else {
					a.Try(c.name+": "+way.name, got)
				}
			}
		}
	}
}

// A program can't lose the user's content under a rule or an answer that does not permit exactly
// that loss, whether its runner asks or not.
func TestAttackProgramsLose(t *testing.T) {
	a := attack.Start(t, "08")
	const caps = `"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"]}`
	policies := []struct{ name, text string }{
		{"a blanket rule", `{` + caps + `, "rules": [{"permission": "*", "action": "allow"}]}`},
		{"a rule for the capability", `{` + caps + `, "rules": [{"permission": "shell.run", "action": "allow"}, {"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "pattern": "docs/**", "action": "allow"}]}`},
		{"a rule for the tool", `{` + caps + `, "rules": [{"permission": "*", "action": "allow"}, {"permission": "tool_run", "action": "allow"}]}`},
		{"a rule for the tool on all", `{` + caps + `, "rules": [{"permission": "*", "action": "allow"}, {"permission": "tool_run", "pattern": ".", "action": "allow"}]}`},
		{"a rule for the tool that is not about losing", `{` + caps + `, "rules": [{"permission": "*", "action": "allow"}, {"permission": "tool_run", "pattern": "docs/**", "capability": "fs.write", "action": "allow"}]}`},
	}
	all, docs := []any{"."}, []any{"docs"}
	for _, p := range policies {
		for _, way := range []struct {
			name        string
			read, write []any
			do          func(f fsaccess.FS) error
			lost        map[string]string
		}{
			{"Remove", nil, docs, func(f fsaccess.FS) error { return f.Remove("docs/a.txt") }, map[string]string{"docs/a.txt": ""}},
			{"Remove of what it read", all, all, func(f fsaccess.FS) error { return f.Remove("docs/a.txt") }, map[string]string{"docs/a.txt": ""}},
			{"RemoveAll", nil, docs, func(f fsaccess.FS) error { return f.RemoveAll("docs") }, map[string]string{"docs": ""}},
			{"RemoveAll of its parent's view", all, all, func(f fsaccess.FS) error { return f.RemoveAll("docs") }, map[string]string{"docs": ""}},
			{"Rename away", docs, docs, func(f fsaccess.FS) error { return f.Rename("docs/a.txt", "docs/z.txt") }, map[string]string{"docs/a.txt": "docs/z.txt"}},
			{"Rename of the folder", all, all, func(f fsaccess.FS) error { return f.Rename("docs", "gone") }, map[string]string{"docs": "gone"}},
			{"Rename of a new file over one", docs, docs, func(f fsaccess.FS) error {
				return cmp.Or(f.WriteFile("docs/new.txt", nil, 0o644), f.Rename("docs/new.txt", "docs/a.txt"))
			}, map[string]string{"docs/new.txt": "docs/a.txt"}},
			{"WriteFile over what it may not read", nil, docs, func(f fsaccess.FS) error { return f.WriteFile("docs/a.txt", nil, 0o644) }, map[string]string{"docs/a.txt": ""}},
			{"WriteFile over one named file", nil, []any{"docs/a.txt"}, func(f fsaccess.FS) error { return f.WriteFile("docs/a.txt", nil, 0o644) }, map[string]string{"docs/a.txt": ""}},
			{"Create over what it may not read", nil, docs, func(f fsaccess.FS) error {
				w, err := f.Create("docs/a.txt")
				if err == nil {
					err = w.Close()
				}
				return err
			}, map[string]string{"docs/a.txt": ""}},
			{"Truncate of what it may not read", nil, docs, func(f fsaccess.FS) error { return f.Truncate("docs/a.txt", 0) }, map[string]string{"docs/a.txt": ""}},
			{"Remove in a Sub", nil, docs, func(f fsaccess.FS) error {
				sub, err := f.Sub("docs")
				if err == nil {
					err = sub.(fsaccess.FS).Remove("a.txt")
				}
				return err
			}, map[string]string{"docs/a.txt": ""}},
		} {
			for _, runner := range []string{"does not ask", "goes on after a no", "asks about another file"} {
				for _, off := range []bool{false, true} {
					asker := &sandboxtest.Asker{}
					h := build(t, parse(t, p.text), asker, map[string]string{"docs/a.txt": "a", "docs/b.txt": "b", "docs/free.txt": "free"}, func(o *sandbox.Options) {
						if off {
							o.Without("views")
						}
						o.Tools = append(sandbox.Standard(), sandbox.ToolRun(scripted(func(ctx context.Context, c sandbox.Command) (int, error) {
							switch runner {
							case "goes on after a no":
								_ = c.Changing(ctx, losing(way.lost))
							case "asks about another file":
								asker.Reply = func(sandbox.Request) sandbox.Reply { return sandbox.Reply{Answer: policy.AnswerOnce} }
								_ = c.Changing(ctx, losing(map[string]string{"docs/free.txt": ""}))
							}
							return 0, way.do(c.FS)
						})))
					})
					call := args{"command": "prog", "write": way.write}
					if way.read != nil {
						call["read"] = way.read
					}
					h.Call(context.Background(), "tool_run", call)
					got := h.file(t, "docs/a.txt") != "a" || h.file(t, "docs/b.txt") != "b"
					name := p.name + ": " + way.name + ": the runner " + runner
					if off {
						a.Off(name, got)
					} else {
						a.Try(name, got)
					}
				}
			}
		}
	}
}

// An answer for the session about one command does not apply to another, and consent to write does
// not permit removal.
func TestAttackAnswersOfCommands(t *testing.T) {
	a := attack.Start(t, "08")
	const pol = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "shell.run", "action": "allow"}]}`
	for _, answer := range []policy.Answer{policy.AnswerSession, policy.AnswerProject} {
		for _, pattern := range []string{"", "out", "out/**", "**"} {
			for _, second := range []struct {
				name, command, write string
				lose                 bool
			}{
				{"another command writes", "rm", "out", false},
				{"another command writes a file of it", "rm", "out/a.txt", false},
				{"another command in capitals", "FORMAT", "out", false},
				{"another command that begins so", "format2", "out", false},
				{"another command removes", "rm", "out", true},
				{"the command itself removes", "format", "out", true},
			} {
				for _, off := range []bool{false, true} {
					said := 0
					asker := &sandboxtest.Asker{Reply: func(sandbox.Request) sandbox.Reply {
						if said++; said == 1 {
							return sandbox.Reply{Answer: answer, Pattern: pattern}
						}
						if off {
							return sandbox.Reply{Answer: policy.AnswerOnce}
						}
						return sandbox.Reply{}
					}}
					h := build(t, parse(t, pol), asker, map[string]string{"out/a.txt": "a"}, func(o *sandbox.Options) {
						o.Tools = append(sandbox.Standard(), sandbox.ToolRun(named{"format rm FORMAT format2", func(ctx context.Context, c sandbox.Command) (int, error) {
							switch {
							case c.Name == "format" && said == 1 && len(c.Args) == 0:
								return 0, nil
							case second.lose:
								_ = c.Changing(ctx, losing(map[string]string{"out/a.txt": ""}))
								return 0, c.FS.Remove("out/a.txt")
							}
							return 0, c.FS.WriteFile("out/new.txt", nil, 0o644)
						}}))
					})
					h.ok(t, "tool_run", args{"command": "format", "write": []any{"out"}})
					h.ok(t, "tool_run", args{"command": "format", "write": []any{"out"}}) // the answer holds for itself
					h.Call(context.Background(), "tool_run", args{"command": second.command, "args": []any{"x"}, "write": []any{second.write}})
					list, _ := h.mem.ReadDir("out")
					name, got := string(answer)+" on "+pattern+": "+second.name, names(list) != "a.txt\n"
					if off { // the control: a second consent, as if the first had been for both
						a.Off(name, got)
						continue
					}
					a.Try(name, got)
					if said != 2 {
						t.Errorf("%s on %q: %s: %d questions", answer, pattern, second.name, said)
					}
				}
			}
		}
	}
}

// named is a runner with commands of these names.
type named struct {
	names string
	run   scripted
}

func (n named) Commands() []string { return strings.Fields(n.names) }

func (n named) RunCommand(ctx context.Context, c sandbox.Command) (int, error) { return n.run(ctx, c) }
