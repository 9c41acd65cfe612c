//go:build !js

package gitlines

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Maker makes repositories below a folder with the machine's git.
type Maker struct {
	t    testing.TB
	Root string
	tick int
}

// NewMaker returns a maker. It skips the test if the machine has no git.
func NewMaker(t testing.TB) *Maker {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here to compare with")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &Maker{t: t, Root: root}
}

// Copy copies a folder below Root to another name and returns a maker whose Root is the copy.
func (m *Maker) Copy(from, to string) *Maker {
	m.t.Helper()
	c := *m
	c.Root = filepath.Join(m.Root, to)
	if err := os.CopyFS(c.Root, os.DirFS(filepath.Join(m.Root, from))); err != nil {
		m.t.Fatal(err)
	}
	return &c
}

// Git runs the machine's git in a folder below Root and returns its output. Each call has a later time.
func (m *Maker) Git(dir string, args ...string) string {
	m.t.Helper()
	out, errs, code := m.Run(dir, nil, args...)
	if code != 0 {
		m.t.Fatalf("git %v in %s: exit code %d, %s%s", args, dir, code, out, errs)
	}
	return out
}

// Run runs the machine's git with further variables and returns its output, its messages and its exit code.
func (m *Maker) Run(dir string, env []string, args ...string) (out, errs string, code int) {
	m.t.Helper()
	m.tick++
	at := fmt.Sprintf("%d +0%d00", 1700000000+3600*m.tick, m.tick%3)
	cmd := exec.Command("git", args...)
	cmd.Dir = filepath.Join(m.Root, dir)
	cmd.Env = append(append([]string{"PATH=" + os.Getenv("PATH"), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Bob", "GIT_COMMITTER_EMAIL=bob@example.org",
		"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at, "GIT_ALLOW_PROTOCOL=file"}, Env...), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// Put writes files below Root. A text "-" removes the file.
func (m *Maker) Put(dir string, files map[string]string) {
	m.t.Helper()
	for name, text := range files {
		name = filepath.Join(m.Root, dir, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if text == "-" {
			err = os.Remove(name)
		} else if err == nil {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// Commit writes files and commits all changes.
func (m *Maker) Commit(dir, message string, files map[string]string) {
	m.t.Helper()
	m.Put(dir, files)
	m.Git(dir, "add", "-A")
	m.Git(dir, "commit", "-q", "--allow-empty", "-m", message)
}

// Age sets the time of each file of a work tree and of its index to the past, so that no file is as new as its index.
func (m *Maker) Age(dir string) {
	m.t.Helper()
	at := time.Unix(1700000000, 0)
	err := filepath.Walk(filepath.Join(m.Root, dir), func(p string, fi os.FileInfo, err error) error {
		if err == nil && fi.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && fi.Mode().IsRegular() {
			err = os.Chtimes(p, at, at)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.Git(dir, "update-index", "-q", "--refresh")
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d of the file\n", i)
	}
	return b.String()
}

// Make makes all repositories of the command lines: main, packed (the same, packed), changed (with changes in its work tree), conflict,
// detached, empty, bare.git and super (with submodules).
func (m *Maker) Make() {
	t := m.t
	t.Helper()
	m.Git(".", "init", "-q", "-b", "main", "main")
	m.Git("main", "config", "user.name", "Ada")
	m.Git("main", "config", "alias.st", "status --short")
	m.Git("main", "config", "alias.last", "log -1 --format=%s")
	m.Commit("main", "first\n\nA body of the message\nin two lines.", map[string]string{
		"a.txt": lines(1, 40), "src/main.c": "#include <stdio.h>\n\nint main(void)\n{\n\tputs(\"hi\");\n\treturn 0;\n}\n", "src/util.c": "int add(int a, int b)\n{\n\treturn a + b;\n}\n",
		"README.md": "# Title\n\nSome text.\n", ".gitignore": "*.o\nbuild/\n!keep.o\n/only-top\n", "crlf.txt": "one\r\ntwo\r\nthree\r\n", "bin.dat": "\x00\x01\x02\xff\xfe" + strings.Repeat("\x00", 300),
		"dir with space/file name.txt": "spaces\n", "ünïcode/näme – 日本.txt": "unicode ä\n", "tab\there.txt": "tab\n", "empty.txt": "", "no-newline.txt": "no newline at the end",
		".gitattributes": "*.md diff=markdown\n*.dat binary\n", ".mailmap": "Ada Lovelace <ada@example.org> <ada@example.org>\n"})
	m.Git("main", "tag", "-a", "v1.0", "-m", "version one")
	m.Commit("main", "change some lines", map[string]string{"a.txt": strings.Replace(lines(1, 40), "line 20 of", "line twenty of", 1) + "line 41 is new\n", "src/util.c": "int add(int a, int b)\n{\n\treturn b + a;\n}\n\nint sub(int a, int b)\n{\n\treturn a - b;\n}\n"})
	m.Git("main", "mv", "src/util.c", "src/math.c")
	m.Git("main", "mv", "README.md", "docs.md")
	m.Commit("main", "rename files\n\nSigned-off-by: Ada <ada@example.org>", map[string]string{"docs.md": "# Title\n\nSome text.\nAnd more.\n"})
	m.Git("main", "tag", "light")
	m.Git("main", "checkout", "-q", "-b", "topic")
	m.Commit("main", "topic: add a file", map[string]string{"topic.txt": "topic\n", "bin.dat": "\x00\x01\x02\xff\xfd" + strings.Repeat("\x00", 310)})
	m.Commit("main", "topic: change a line", map[string]string{"a.txt": strings.NewReplacer("line 20 of", "line twenty of", "line 5 of", "line five of").Replace(lines(1, 40)) + "line 41 is new\n"})
	m.Git("main", "checkout", "-q", "main")
	if err := os.Chmod(filepath.Join(m.Root, "main/src/main.c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.txt", filepath.Join(m.Root, "main/link")); err != nil {
		t.Fatal(err)
	}
	m.Commit("main", "a mode and a link", map[string]string{"src/main.c": "#include <stdio.h>\n\nint main(void)\n{\n\tputs(\"hello\");\n\tputs(\"world\");\n\treturn 0;\n}\n"})
	m.Git("main", "merge", "-q", "--no-ff", "-m", "Merge branch 'topic'", "topic")
	m.Git("main", "rm", "-q", "crlf.txt")
	m.Commit("main", "remove a file: ünïcode in the subject 日本", map[string]string{"new/deep/er/file.txt": "deep\n"})
	m.Git("main", "remote", "add", "origin", "https://example.org/x.git")
	m.Git("main", "update-ref", "refs/remotes/origin/main", "HEAD~2")
	m.Git("main", "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	m.Git("main", "branch", "-q", "--set-upstream-to=origin/main", "main")
	m.Git("main", "notes", "add", "-m", "a note", "HEAD~1")
	m.Put("main", map[string]string{"a.txt": "stashed\n"})
	m.Git("main", "stash", "push", "-q", "-m", "a stash")
	m.Put("main", map[string]string{"x.o": "object\n", "build/out": "built\n", "untracked.txt": "new\n", "untracked dir/f": "f\n", "keep.o": "kept\n"})
	m.Age("main")

	m.Git(".", "clone", "-q", "main", "packed")
	m.Git("packed", "config", "pack.threads", "1")
	for i := range 12 {
		m.Commit("packed", fmt.Sprintf("packed %d", i), map[string]string{"a.txt": lines(1, 40+i*3), fmt.Sprintf("n%d.txt", i%5): lines(i, i*7+3)})
	}
	m.Git("packed", "tag", "v2.0")
	m.Git("packed", "gc", "-q", "--aggressive")
	m.Git("packed", "commit-graph", "write", "--reachable", "--changed-paths")
	m.Age("packed")

	m.Git(".", "clone", "-q", "main", "changed")
	m.Age("changed")
	m.Put("changed", map[string]string{"a.txt": strings.Replace(lines(1, 40), "line 9 of", "line nine of", 1), "staged.txt": "staged\n", "untracked.txt": "u\n", "docs.md": "-", "src/main.c": "int main(void) { return 1; }\n", "no-newline.txt": "now with a newline\n"})
	m.Git("changed", "add", "staged.txt", "src/main.c")
	m.Git("changed", "mv", "topic.txt", "moved.txt")
	m.Git("changed", "rm", "-q", "--cached", "empty.txt")
	m.Put("changed", map[string]string{"src/main.c": "int main(void) { return 2; }\n", "bin.dat": "\x00changed"})
	m.Put("changed", map[string]string{"intent.txt": "intent\n"})
	m.Git("changed", "add", "-N", "intent.txt")

	m.Git(".", "clone", "-q", "main", "conflict")
	m.Git("conflict", "checkout", "-q", "-b", "other", "HEAD~1")
	m.Commit("conflict", "other", map[string]string{"a.txt": "other\n" + lines(2, 40)})
	m.Git("conflict", "checkout", "-q", "main")
	m.Commit("conflict", "mine", map[string]string{"a.txt": "mine\n" + lines(2, 40), "docs.md": "# Mine\n"})
	m.Run("conflict", nil, "merge", "-q", "other")

	m.Git(".", "clone", "-q", "main", "detached")
	m.Git("detached", "checkout", "-q", "HEAD~2")
	m.Age("detached")

	m.Git(".", "init", "-q", "-b", "main", "empty")
	m.Put("empty", map[string]string{"f": "f\n"})

	m.Git(".", "clone", "-q", "--bare", "main", "bare.git")

	m.Git(".", "init", "-q", "-b", "main", "super")
	m.Commit("super", "start", map[string]string{"f": "f\n"})
	m.Git("super", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../packed", "lib")
	m.Git("super", "update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(m.Git("main", "rev-parse", "HEAD"))+",away")
	m.Git("super", "commit", "-q", "-m", "submodules")
	if err := os.MkdirAll(filepath.Join(m.Root, "super/away"), 0o755); err != nil {
		t.Fatal(err)
	}
	m.Git("super/lib", "checkout", "-q", "HEAD~1")
	m.Age("super")

	m.Git("main", "worktree", "add", "-q", "../tree", "topic")
	m.Age("tree")
}

// Relocate writes the paths of the work tree of main as they are where Root is /.
func (m *Maker) Relocate() {
	m.t.Helper()
	for _, name := range []string{"tree/.git", "main/.git/worktrees/tree/gitdir"} {
		name = filepath.Join(m.Root, name)
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, bytes.ReplaceAll(data, []byte(m.Root), nil), 0o644)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// Sample makes the repository r of the sample: loose and packed objects, a rename, a merge, binary and Windows' lines, names in
// Unicode, ignored files, and changes in the work tree.
func (m *Maker) Sample() {
	m.t.Helper()
	m.Git(".", "init", "-q", "-b", "main", "--template=", "r")
	m.Commit("r", "first", map[string]string{"a.txt": lines(1, 30), "src/f.c": "int f(void)\n{\n\treturn 1;\n}\n", "bin": "\x00\x01\xff", "crlf.txt": "a\r\nb\r\n", "ä日本.txt": "u\n", ".gitignore": "*.o\n"})
	m.Git("r", "tag", "-a", "v1", "-m", "one")
	for i := range 8 {
		m.Commit("r", fmt.Sprintf("change %d", i), map[string]string{"a.txt": lines(i, 30+i)})
	}
	m.Git("r", "mv", "src/f.c", "src/g.c")
	m.Commit("r", "rename", nil)
	m.Git("r", "repack", "-q", "-a", "-d")
	m.Git("r", "prune-packed", "-q")
	m.Git("r", "pack-refs", "--all")
	m.Git("r", "checkout", "-q", "-b", "topic")
	m.Commit("r", "topic", map[string]string{"topic.txt": "t\n", "bin": "\x00\x02\xfe"})
	m.Git("r", "checkout", "-q", "main")
	m.Commit("r", "main", map[string]string{"crlf.txt": "a\r\nc\r\n"})
	m.Git("r", "merge", "-q", "--no-ff", "-m", "merge", "topic")
	m.Put("r", map[string]string{"new.txt": "n\n", "x.o": "o", "a.txt": "changed\n" + lines(2, 37), "staged": "s\n"})
	m.Git("r", "add", "staged")
}
