package shell_test

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// programs is a runner with the commands where, show, put and lose.
type programs struct{}

func (programs) Commands() []string { return []string{"where", "show", "put", "lose"} }

func (programs) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	switch c.Name {
	case "where":
		fmt.Fprintln(c.Stdout, c.Dir, slices.Contains(c.Env, "V=1"), slices.ContainsFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "W=") }))
	case "show":
		for _, name := range c.Args {
			name = strings.TrimPrefix(name, "/")
			info, err := fs.Stat(c.FS, name)
			data, bad := fs.ReadFile(c.FS, name)
			list, _ := fs.ReadDir(c.FS, path.Dir(name))
			fmt.Fprintf(c.Stdout, "%s %v %v %v\n", data, err == nil && info.Size() == int64(len(data)), bad, slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == path.Base(name) }))
			if err := c.Changing(ctx, []protocol.FileChange{{Path: name, Before: int64(len(data)), Size: 1}}); err == nil {
				fmt.Fprintln(c.Stdout, "it may be written")
			}
		}
		_, err := fs.Stat(c.FS, "dev")
		fmt.Fprintln(c.Stdout, "dev", err == nil)
	case "put":
		if err := c.FS.WriteFile(c.Args[0], []byte("put\n"), 0o644); err != nil {
			fmt.Fprintln(c.Stdout, err)
			return 1, nil
		}
	case "lose":
		var changes []protocol.FileChange
		for _, name := range c.Args {
			changes = append(changes, protocol.FileChange{Path: name, Before: 3, Size: -1})
		}
		if err := c.Changing(ctx, changes); err != nil {
			fmt.Fprintln(c.Stdout, err)
			return 1, nil
		}
		for _, name := range c.Args {
			if err := c.FS.Remove(name); err != nil {
				fmt.Fprintln(c.Stdout, err)
				return 1, nil
			}
		}
	}
	return 0, nil
}

func withPrograms(t *testing.T, policy string, ask sandbox.Asker) (*sandbox.Box, *fsaccess.Folder) {
	t.Helper()
	b, mem, _ := buildWith(t, policy, ask, shell.Bash(shell.Options{Runner: programs{}}))
	return b, mem
}

// A program runs in the shell's working directory and with its exported variables, also in a pipe and by xargs.
func TestProgramsLiveInTheShellsWorld(t *testing.T) {
	b, _ := withPrograms(t, open, nil)
	for script, want := range map[string]string{
		"where":                              "/ false false\n",
		"cd d; where":                        "/d false false\n",
		"export V=1; W=2; where":             "/ true false\n",
		"V=1 where; where":                   "/ true false\n/ false false\n",
		"cd d; export V=1; echo | where":     "/d true false\n",
		"(cd d; where); where":               "/d false false\n/ false false\n",
		"cd d; echo x | xargs where":         "/d false false\n",
		"env V=1 where":                      "/ true false\n",
		"cd d; bash -c where":                "/d false false\n",
		"find d -name e.txt -exec where \\;": "/ false false\n",
	} {
		if out, code, err := run(t, b, script); out != want || code != 0 || err != nil {
			t.Errorf("%s: %q %d %v, want %q", script, out, code, err, want)
		}
	}
}

// What a program writes or removes passes the gate as what the shell's own commands write does.
func TestProgramsWriteThroughTheGate(t *testing.T) {
	const pol = `{"filesystem": {"allowWrite": ["out"]}, "capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "*", "action": "allow"}]}`
	b, mem := withPrograms(t, pol, nil)
	if out, code, err := run(t, b, "mkdir out; put out/x; cat out/x"); out != "put\n" || code != 0 || err != nil {
		t.Errorf("%q %d %v", out, code, err)
	}
	if out, _, _ := run(t, b, "put a.txt"); !strings.Contains(out, "Permission denied") {
		t.Errorf("%q", out)
	}
	if got, _ := mem.ReadFile("a.txt"); string(got) != files["a.txt"] {
		t.Errorf("a.txt is %q", got)
	}
	no, mem := withPrograms(t, open, nil) // nobody is there to agree to a loss
	if out, code, _ := run(t, no, "lose b.txt a.txt"); code != 1 {
		t.Errorf("%q %d", out, code)
	}
	for _, name := range []string{"a.txt", "b.txt"} {
		if _, err := fs.Stat(mem, name); err != nil {
			t.Errorf("%s is lost: %v", name, err)
		}
	}
}

// A model finds the commands: by help, by --help, and by the names near a wrong one.
func TestCommandsAreFound(t *testing.T) {
	b, _ := withPrograms(t, open, nil)
	for script, want := range map[string]string{
		"grpe x a.txt":       "did you mean grep",
		"whre":               "did you mean where",
		"help":               "xargs",
		"help sort":          "Usage: sort",
		"sort --help":        "Usage: sort",
		"sort --nope":        "--nope",
		"grep --nope x y":    "--nope",
		"sed -Q p":           "'Q'",
		"find . -nope":       "-nope",
		"which sort where":   "/usr/bin/sort\n/usr/bin/where\n",
		"type -t sort where": "file\nfile\n",
	} {
		if out, _, err := run(t, b, script); !strings.Contains(out, want) || err != nil {
			t.Errorf("%s: %q %v, want %q", script, out, err, want)
		}
	}
	if d := shell.Bash(shell.Options{Runner: programs{}}).Description; !strings.Contains(d, ", where") || !strings.Contains(d, "xargs") {
		t.Errorf("the description has not the commands of the runner: %s", d)
	}
	if d := shell.Bash(shell.Options{}).Description; !strings.Contains(d, "xargs") {
		t.Errorf("%q", d)
	}
}

// writing is a runner whose command make lists its changes, makes them, and then one that it did not list.
type writing struct{}

func (writing) Commands() []string { return []string{"make"} }

func (writing) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	if err := c.Changing(ctx, []protocol.FileChange{{Path: "new/x", Before: -1, Size: 3}, {Path: "a.txt", Before: 14, Size: 2}, {Path: "moved", From: "b.txt", Before: -1, Size: 26}, {Path: "empty", Before: 0, Size: -1}}); err != nil {
		fmt.Fprintln(c.Stdout, err)
		return 1, nil
	}
	for _, err := range []error{c.FS.WriteFile("new/x", []byte("new"), 0o644), c.FS.WriteFile("a.txt", []byte("aa"), 0o644), c.FS.Rename("b.txt", "moved"), c.FS.Remove("empty")} {
		if err != nil {
			fmt.Fprintln(c.Stdout, err)
		}
	}
	if err := c.FS.WriteFile("n.csv", nil, 0o644); err == nil {
		fmt.Fprintln(c.Stdout, "n.csv was written")
	}
	return 0, nil
}

// A person sees all changes of a program in one question, and the consent is for no other change.
func TestProgramsListTheirChanges(t *testing.T) {
	for _, agree := range []bool{true, false} {
		asked := 0
		asker := &sandboxtest.Asker{Reply: func(r sandbox.Request) sandbox.Reply {
			if asked++; agree && asked == 1 {
				return sandbox.Reply{Answer: policy.AnswerOnce}
			}
			return sandbox.Reply{}
		}}
		b, mem, _ := buildWith(t, open, asker, shell.Bash(shell.Options{Runner: writing{}}))
		out, code, err := run(t, b, "make")
		if agree != (out == "" && code == 0) || err != nil {
			t.Errorf("agreed %v: %q %d %v", agree, out, code, err)
		}
		for name, want := range map[string]string{"new/x": "new", "a.txt": "aa", "moved": files["b.txt"]} {
			if got, _ := mem.ReadFile(name); (string(got) == want) != agree {
				t.Errorf("agreed %v: %s is %q", agree, name, got)
			}
		}
		if got, _ := mem.ReadFile("n.csv"); string(got) != files["n.csv"] {
			t.Errorf("agreed %v: n.csv is %q", agree, got)
		}
		var said []string
		for _, e := range asker.Requests()[0].Effects {
			said = append(said, e.Text)
		}
		if want := []string{"write the new file new/x (3 bytes)", "change a.txt (14 bytes, then 2 bytes), whose content is lost", "move b.txt to moved", "delete empty (0 bytes)"}; !slices.Equal(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
}

// A program reads the process substitutions that its arguments name, and no others. It can't write them.
func TestProgramsReadSubstitutions(t *testing.T) {
	b, _ := withPrograms(t, open, nil)
	for script, want := range map[string]string{
		"show <(printf one) <(printf two)":          "one true <nil> true\ntwo true <nil> true\ndev true\n",
		"show; cat <(echo x)":                       "dev false\nx\n",
		"cat <(show) <(echo y)":                     "dev false\ny\n",
		"echo a.txt | xargs sh -c 'show <(echo 1)'": "1\n true <nil> true\ndev true\n",
	} {
		if out, _, err := run(t, b, script); out != want || err != nil {
			t.Errorf("%s: %q %v, want %q", script, out, err, want)
		}
	}
}
