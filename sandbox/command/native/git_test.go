package native_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/gitlines"
	"github.com/bailey-go/bailey/internal/needs"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command/native"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// git runs git in a folder of the repositories.
func git(t testing.TB, r *native.Runner, folder fsaccess.FS, dir string, args ...string) result {
	t.Helper()
	return call(t, r, sandbox.Command{FS: folder, Dir: path.Join("/", dir), Env: gitlines.Env}, append([]string{"git"}, args...)...)
}

func withGit(t testing.TB) *native.Runner {
	t.Helper()
	r := runner(t)
	if !slices.Contains(r.Commands(), "git") {
		needs.Missing(t, "git is not among the starter tools: make tools says why")
	}
	return r
}

// Each command line has the output and the exit code of the machine's git, except the known differences.
func TestGitAgainstTheMachines(t *testing.T) {
	r := withGit(t)
	m := gitlines.NewMaker(t)
	m.Make()
	list, known := gitlines.Read(t, "../../../internal/gitlines/testdata")
	if testing.Short() { // each third, of all kinds, and all that differ
		short := list[:0:0]
		for i, line := range list {
			if _, differs := known[line.String()]; differs || i%3 == 0 {
				short = append(short, line)
			}
		}
		list = short
	}
	if len(list) < 120 {
		t.Errorf("%d command lines only", len(list))
	}
	want := make([]result, len(list))
	for i, line := range list {
		dir, args := line.Split()
		out, errs, code := m.Run(dir, nil, args...)
		want[i] = result{out: strings.ReplaceAll(strings.ReplaceAll(out, m.Root+"/", "/"), m.Root, "/"), errs: errs, code: code}
	}
	m.Relocate()
	folder, err := fsaccess.OpenDir(m.Root, fsaccess.DirOptions{})
	must(t, err)
	defer folder.Close()
	equal := 0
	for i, line := range list {
		dir, args := line.Split()
		got := git(t, r, folder, dir, args...)
		reason, differs := known[line.String()]
		delete(known, line.String())
		same := got.err == nil && got.out == want[i].out && got.code == want[i].code
		switch {
		case same:
			equal++
			if differs {
				t.Errorf("%s\nis as the machine's now: it is no known difference any more (%s)", line, reason)
			}
		case !differs:
			t.Errorf("%s\n%s\nstderr %s%v", line, difference(got, want[i]), got.errs, got.err)
		}
	}
	for line := range known {
		t.Errorf("a known difference is not in lines.txt: %s", line)
	}
	t.Logf("%d of %d command lines have the output and the exit code of the machine's git", equal, len(list))
}

// difference returns the first line in which two results differ.
func difference(got, want result) string {
	if got.out == want.out {
		return fmt.Sprintf("exit code %d, want %d", got.code, want.code)
	}
	a, b := strings.Split(got.out, "\n"), strings.Split(want.out, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d: %q, want %q (code %d, want %d)", i+1, a[i], strings.Join(b[min(i, len(b)):min(i+1, len(b))], ""), got.code, want.code)
		}
	}
	return fmt.Sprintf("ends after line %d, want %q", len(a), b[len(a)])
}

// Commands that write are an error that says what to do instead, and leave each byte of the folder as it was.
func TestGitOnlyReads(t *testing.T) {
	r := withGit(t)
	m := gitlines.NewMaker(t)
	m.Git(".", "init", "-q", "-b", "main", "r")
	m.Commit("r", "one", map[string]string{"f": "one\n"})
	m.Put("r", map[string]string{"f": "two\n", "new": "n\n"})
	folder, err := fsaccess.OpenDir(m.Root, fsaccess.DirOptions{})
	must(t, err)
	defer folder.Close()
	before := snapshot(t, m.Root)
	// Most are refused by their name, and the others by the rule that no file is opened for writing.
	for _, line := range []string{
		"commit -am x", "add .", "add -h", "checkout -b x", "switch x", "restore f", "reset --hard", "rm f", "mv f g", "merge x", "rebase x", "cherry-pick x", "revert HEAD", "stash", "stash pop",
		"push", "pull", "fetch", "clone . x", "init x", "gc", "clean -fdx", "apply p", "am p", "bisect start", "submodule update", "update-ref refs/heads/x HEAD", "update-index --refresh", "notes add -m x",
		"worktree add x", "tag t", "tag -d t", "tag -a t -m x", "branch x", "branch -d other", "branch -m y", "branch -D other", "config user.name X", "config --unset user.name", "config --add a.b c", "remote add o x",
		"remote remove o", "symbolic-ref HEAD refs/heads/x", "reflog expire --all --expire=now", "hash-object -w f", "diff --output=out HEAD", "format-patch HEAD", "archive -o x.tar HEAD",
		"filter-branch", "lfs pull", "replace HEAD HEAD", "pack-refs --all", "repack -ad", "prune", "fsck", "svn", "mktag", "commit-graph write", "maintenance run", "sparse-checkout set x", "rerere", "config --global a.b c",
	} {
		got := git(t, r, folder, "r", gitlines.Words(line)...)
		if got.err != nil || got.code == 0 || !strings.Contains(got.errs, "git only reads here") && !strings.Contains(got.errs, "git has neither here") && !strings.Contains(got.errs, "not found") {
			t.Errorf("git %s: %+v", line, got)
		}
		if after := snapshot(t, m.Root); after != before {
			t.Fatalf("git %s changed the folder", line)
		}
	}
	// Reading leaves it as it is too.
	for _, line := range []string{"status", "diff", "log", "describe --dirty --always", "show", "blame f"} {
		if got := git(t, r, folder, "r", gitlines.Words(line)...); got.err != nil || got.code != 0 || got.errs != "" {
			t.Errorf("git %s: %+v", line, got)
		}
	}
	if after := snapshot(t, m.Root); after != before {
		t.Error("reading changed the folder")
	}
}

// snapshot returns the names, times and contents of a folder.
func snapshot(t testing.TB, root string) string {
	var b strings.Builder
	must(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if fi.Mode().IsRegular() {
			data, err = os.ReadFile(p)
		}
		fmt.Fprintf(&b, "%s %v %d %q\n", p, fi.Mode(), len(data), data)
		return err
	}))
	return b.String()
}

// The program has none of WASI's calls that change files.
func TestGitImports(t *testing.T) {
	withGit(t)
	wasm, err := os.ReadFile(filepath.Join(tools, "git.wasm"))
	must(t, err)
	for _, name := range []string{"path_open", "fd_read", "path_readlink"} {
		if !bytes.Contains(wasm, []byte("\x16wasi_snapshot_preview1"+string(rune(len(name)))+name)) {
			t.Errorf("the program does not import %s", name)
		}
	}
	for _, name := range []string{"path_create_directory", "path_remove_directory", "path_unlink_file", "path_rename", "path_symlink", "path_link", "path_filestat_set_times", "fd_filestat_set_times", "fd_filestat_set_size", "fd_allocate", "fd_pwrite", "sock_send"} {
		if bytes.Contains(wasm, []byte("\x16wasi_snapshot_preview1"+string(rune(len(name)))+name+"\x00")) {
			t.Errorf("the program imports %s", name)
		}
	}
}

const allowAll = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "*", "action": "allow"}]}`

// box returns a function that runs a script of bash over a folder.
func box(t testing.TB, r *native.Runner, folder fsaccess.FS, text string) func(script string) (string, float64) {
	t.Helper()
	p, err := policy.Parse(text, policy.Options{})
	must(t, err)
	b, err := sandbox.New(sandbox.Options{FS: folder, Policy: p, Ask: asker{}, Tools: append(sandbox.Standard(), shell.Bash(shell.Options{Runner: r}), sandbox.ToolRun(r)), Watch: &sandbox.WatchOptions{Rate: 100_000, Repeats: 100_000}})
	must(t, err)
	return func(script string) (string, float64) {
		res := b.Call(t.Context(), "bash", map[string]any{"command": script, "timeout": 60_000.0})
		must(t, res.Err())
		m, _ := res.Data.(map[string]any)
		out, _ := m["output"].(string)
		code, _ := m["exit_code"].(float64)
		return out, code
	}
}

type asker struct{}

func (asker) Ask(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	out := make([]sandbox.Reply, len(p.Requests))
	for i := range out {
		out[i].Answer = policy.AnswerOnce
	}
	return out, nil
}

// git is a command of the shell like any other: in its folder, in a pipe and with its variables.
func TestGitInBash(t *testing.T) {
	r := withGit(t)
	m := gitlines.NewMaker(t)
	m.Git(".", "init", "-q", "-b", "main", "r")
	m.Commit("r", "one", map[string]string{"f": "one\n", "d/g": "g\n"})
	m.Commit("r", "two \x1b[31mred\x1b]0;title\a", map[string]string{"f": "two\n"})
	m.Put("r", map[string]string{"new": "n\n"})
	folder, err := fsaccess.OpenDir(m.Root, fsaccess.DirOptions{})
	must(t, err)
	defer folder.Close()
	run := box(t, r, folder, allowAll)
	for script, want := range map[string]string{
		"cd r && git status --short":                                           "?? new\n",
		"git -C r log --format=%s | tail -n 1":                                 "one\n",
		"cd r/d; git rev-parse --show-prefix; git ls-files":                    "d/\ng\n",
		"cd r; git diff HEAD~1 --stat | tail -1":                               " 1 file changed, 1 insertion(+), 1 deletion(-)\n",
		"cd r; for f in $(git ls-files); do echo \"<$f>\"; done":               "<d/g>\n<f>\n",
		"cd r; git show HEAD:f > ../copy; cat ../copy":                         "two\n",
		"cd r; git log -z --format=%h | tr '\\0' '\\n' | wc -l":                "2\n",
		"cd r; git ls-files | xargs -n1 git blame -s | wc -l":                  "2\n",
		"cd r; export GIT_DIR=.git; cd .; git rev-parse --git-dir":             ".git\n",
		"cd r; GIT_DIR=nowhere git rev-parse --git-dir 2>/dev/null || echo $?": "128\n",
		"command -v git; type -t git":                                          "/usr/bin/git\nfile\n",
		"gti status 2>&1 | grep -o 'did you mean git'":                         "did you mean git\n",
		"help | grep -o '\\bgit\\b'":                                           "git\n",
		"cd r; git commit -m x 2>&1 | grep -o 'git only reads here'":           "git only reads here\n",
		"cd r; git stauts 2>&1 | tail -1":                                      "\tstatus\n",
	} {
		if out, _ := run(script); out != want {
			t.Errorf("%s: %q, want %q", script, out, want)
		}
	}
	// Escape sequences in a message are treated as those that the shell itself prints.
	got, _ := run("git -C r log -1 --format=%s")
	if want, _ := run(`printf 'two \x1b[31mred\x1b]0;title\a\n'`); got != want || !strings.Contains(got, "red") {
		t.Errorf("%q, and the shell prints %q", got, want)
	}
}

// git names what the policy denies, and does not take it for deleted.
func TestGitNamesWhatIsDenied(t *testing.T) {
	r := withGit(t)
	m := gitlines.NewMaker(t)
	m.Git(".", "init", "-q", "-b", "main", "r")
	m.Commit("r", "one", map[string]string{"f": "one\n", "out/secret": "s\n"})
	m.Put("r", map[string]string{"f": "two\n"})
	folder, err := fsaccess.OpenDir(m.Root, fsaccess.DirOptions{})
	must(t, err)
	defer folder.Close()
	run := box(t, r, folder, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "filesystem": {"denyRead": ["r/out"]}, "rules": [{"permission": "*", "action": "allow"}]}`)
	for _, script := range []string{"git status --short", "git diff --no-index out/secret f", "git -c include.path=/r/out/secret log", "git config -f out/secret --list", "git -C out log"} {
		if out, _ := run("cd r; " + script + " 2>&1"); !strings.Contains(out, "Permission denied") && !strings.Contains(out, "Could not access") || !strings.Contains(out, "out") || strings.Contains(out, "D out") {
			t.Errorf("%s: %s", script, out)
		}
	}
}

// A program's limits hold for git: time, output, memory and bytes read, each below and above its value.
func TestGitLimits(t *testing.T) {
	withGit(t)
	m := gitlines.NewMaker(t)
	m.Git(".", "init", "-q", "-b", "main", "r")
	big := strings.Repeat("0123456789abcdef\n", 1<<16) // 1.1 MB
	m.Commit("r", "one", map[string]string{"big": big})
	folder, err := fsaccess.OpenDir(m.Root, fsaccess.DirOptions{})
	must(t, err)
	defer folder.Close()
	show := []string{"cat-file", "blob", "HEAD:big"}
	n := int64(len(big))
	for _, o := range []native.Options{{Output: n}, {Output: n + 1}, {}} {
		if got := git(t, with(t, o), folder, "r", show...); got.err != nil || got.out != big {
			t.Errorf("output of at most %d: %d bytes, %v", o.Output, len(got.out), got.err)
		}
	}
	if got := git(t, with(t, native.Options{Output: n - 1}), folder, "r", show...); protocol.CodeOf(got.err) != protocol.ErrOutputTooLarge {
		t.Errorf("output of one byte too much: %v", got.err)
	}
	if got := git(t, with(t, native.Options{Read: 100}), folder, "r", show...); protocol.CodeOf(got.err) != protocol.ErrResourceLimit {
		t.Errorf("bytes read: %v", got.err)
	}
	if got := git(t, with(t, native.Options{Memory: 3 << 20}), folder, "r", show...); got.err == nil && got.code == 0 {
		t.Errorf("memory: %d bytes, %v", len(got.out), got.err)
	}
	// Standard input never ends, so that only the end of the context ends the program.
	ctx, stop := context.WithCancelCause(t.Context())
	ended := protocol.Errorf(protocol.ErrTimeout, "test", "", "stopped")
	_, err = runner(t).RunCommand(ctx, sandbox.Command{Name: "git", Args: []string{"cat-file", "--batch"}, FS: folder, Dir: "/r", Stdout: &bytes.Buffer{}, Stdin: endless{func() { stop(ended) }}})
	if protocol.CodeOf(err) != protocol.ErrTimeout {
		t.Errorf("a git that was stopped: %v", err)
	}
	if got := git(t, with(t, native.Options{Time: time.Millisecond}), folder, "r", "blame", "-C", "-C", "-C", "big"); protocol.CodeOf(got.err) != protocol.ErrTimeout {
		t.Errorf("time: %v", got.err)
	}
}

// endless is an input of empty lines. It calls stop in each read.
type endless struct{ stop func() }

func (e endless) Read(p []byte) (int, error) {
	e.stop()
	p[0] = '\n'
	return 1, nil
}

// The sample for browsers is that of the machine's git. GITLINES_MAKE=1 makes it anew.
func TestGitSample(t *testing.T) {
	r := withGit(t)
	const dir = "../../../internal/gitlines/testdata"
	if os.Getenv("GITLINES_MAKE") != "" {
		makeSample(t, dir)
	}
	files, wants := gitlines.Sample(t, dir)
	m := gitlines.NewMaker(t)
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{NoMode: true})
	for name, text := range files {
		if strings.HasSuffix(name, "/") {
			must(t, mem.MkdirAll(path.Clean(name), 0o755))
			must(t, os.MkdirAll(filepath.Join(m.Root, name), 0o755))
			continue
		}
		must(t, mem.MkdirAll(path.Dir(name), 0o755))
		must(t, mem.WriteFile(name, []byte(text), 0o644))
		m.Put(".", map[string]string{name: text})
	}
	for _, w := range wants {
		args := gitlines.Words(w.Line)
		if out, errs, code := m.Run("r", nil, args...); out != w.Output() || code != w.Code {
			t.Errorf("%s: the machine's git says %q %d, and the sample %q %d\n%s", w.Line, out, code, w.Output(), w.Code, errs)
		}
		if got := git(t, r, mem, "r", args...); got.err != nil || got.out != w.Output() || got.code != w.Code {
			t.Errorf("%s: %s %v\n%s", w.Line, difference(got, result{out: w.Output(), code: w.Code}), got.err, got.errs)
		}
	}
	if len(wants) < 40 {
		t.Errorf("%d command lines only", len(wants))
	}
}

func makeSample(t *testing.T, dir string) {
	m := gitlines.NewMaker(t)
	m.Sample()
	text, err := os.ReadFile(filepath.Join(dir, "sample_lines.txt"))
	must(t, err)
	var wants []gitlines.Want
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		out, _, code := m.Run("r", nil, gitlines.Words(line)...)
		wants = append(wants, gitlines.Want{Line: line, Out: gitlines.Runes(out), Code: code})
	}
	data, err := json.MarshalIndent(wants, "", " ")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "sample.json"), append(data, '\n'), 0o644))
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	must(t, filepath.WalkDir(filepath.Join(m.Root, "r"), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(m.Root, p)
		name = filepath.ToSlash(name)
		if d.IsDir() {
			_, err = w.Create(name + "/")
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(data)
		}
		return err
	}))
	must(t, w.Close())
	must(t, os.WriteFile(filepath.Join(dir, "sample.zip"), b.Bytes(), 0o644))
}

// A delta of a few bytes that stands for 96 MiB, and an object that claims 100 GB, end git with an error and hold no more memory than
// the program may.
func TestGitBombs(t *testing.T) {
	withGit(t)
	m := gitlines.NewMaker(t)
	m.Git(".", "init", "-q", "-b", "main", "r")
	const size, copies = 1 << 16, 1536
	base := make([]byte, size)
	delta := append(varint(size), varint(size*copies)...)
	for range copies {
		delta = append(delta, 0x80) // copy 64 KiB from 0
	}
	var pack bytes.Buffer
	pack.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x02")
	put := func(kind byte, n int, ref, data []byte) {
		b := kind<<4 | byte(n&15)
		for n >>= 4; n > 0; n >>= 7 {
			pack.WriteByte(b | 0x80)
			b = byte(n & 0x7f)
		}
		pack.WriteByte(b)
		pack.Write(ref)
		z := zlib.NewWriter(&pack)
		_, _ = z.Write(data)
		_ = z.Close()
	}
	put(3, len(base), nil, base)
	id := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", size), base...))
	put(7, len(delta), id[:], delta)
	sum := sha1.Sum(pack.Bytes())
	pack.Write(sum[:])
	if pack.Len() > 1000 {
		t.Fatalf("the pack has %d bytes", pack.Len())
	}
	m.Put("r", map[string]string{".git/objects/pack/pack-1.pack": pack.String()})
	m.Git("r", "index-pack", ".git/objects/pack/pack-1.pack")
	whole := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", size*copies), make([]byte, size*copies)...))
	bomb := hex.EncodeToString(whole[:])
	var loose bytes.Buffer
	z := zlib.NewWriter(&loose)
	_, _ = z.Write([]byte("blob 100000000000\x00x"))
	_ = z.Close()
	m.Put("r", map[string]string{".git/objects/12/34567890123456789012345678901234567890": loose.String()})
	folder, err := fsaccess.OpenDir(m.Root, fsaccess.DirOptions{})
	must(t, err)
	defer folder.Close()
	if got := git(t, runner(t), folder, "r", "cat-file", "-s", bomb); got.out != fmt.Sprintf("%d\n", size*copies) {
		t.Fatalf("the bomb is none: %+v", got)
	}
	small := with(t, native.Options{Memory: 64 << 20})
	for _, args := range [][]string{{"cat-file", "blob", bomb}, {"cat-file", "-p", "1234567890123456789012345678901234567890"}, {"diff", bomb, hex.EncodeToString(id[:])}} {
		if got := git(t, small, folder, "r", args...); got.err != nil || got.code != 128 || !strings.Contains(got.errs, "fatal: ") || got.out != "" {
			t.Errorf("git %v: %d bytes, %q, exit code %d, %v", args, len(got.out), got.errs, got.code, got.err)
		}
	}
}

// varint is a size in a delta.
func varint(n int) (b []byte) {
	for ; n > 0x7f; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
