package computer

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/needs"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

const (
	tools  = "../../build/tools"
	engine = "../../node_modules/quickjs-wasi/quickjs.wasm"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(boxtest.Cached(m))
}

// Without a folder of compiled programs there is a note, and all works.
func TestUnsafeCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	for cache, want := range map[string]int{dir: 1, "none": 0, "": 0} {
		c, _ := computer(t, everything, func(o *Options) { o.Cache, o.Tools = cache, "" })
		if notes := c.Notes(); len(notes) != want || want == 1 && !strings.Contains(notes[0], "mode 0777") {
			t.Errorf("%q: %q", cache, notes)
		}
		if got, err := call(t, c, "code_run", map[string]any{"code": "return 6 * 7"}); err != nil || got["value"] != 42.0 {
			t.Errorf("%q: %v %v", cache, got, err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
}

const everything = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "code.run": true, "shell.run": ["bash", "sqlite3", "sort", "cat", "perl"], "net.fetch": ["api.example.com"]},
	"filesystem": {"denyRead": ["private"], "allowWrite": ["."]},
	"network": {"allowedDomains": ["api.example.com"]},
	"rules": [{"permission": "*", "action": "allow"}]}`

// few is a folder with the tools that are C programs. The others are programs in Go, which take seconds to compile.
var few string

func fewer(t testing.TB) error {
	t.Helper()
	text, err := os.ReadFile(tools + "/tools.json")
	if err != nil {
		return err
	}
	var all map[string][]map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	few = t.TempDir()
	var some []map[string]any
	for _, b := range all["binaries"] {
		name, _ := b["file"].(string)
		if name != "awk.wasm" && name != "jq.wasm" && name != "sqlite3.wasm" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(tools, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(few, name), data, 0o644)
		}
		if err != nil {
			return err
		}
		some = append(some, b)
	}
	if text, err = json.Marshal(map[string]any{"binaries": some}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(few, "tools.json"), text, 0o644)
}

// computer returns a computer over a new folder with some files.
func computer(t testing.TB, pol string, change func(*Options)) (*Computer, string) {
	t.Helper()
	for _, need := range []string{tools + "/tools.json", engine} {
		if _, err := os.Stat(need); err != nil {
			needs.Missing(t, "%s is not there: run make tools", need)
		}
	}
	p, err := policy.Parse(pol, policy.Options{})
	if err == nil {
		err = fewer(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "b 2\na 1\n", "private/key": "secret", "old.txt": "old"} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Dir: dir, Tools: few, Engine: engine, Box: sandbox.Options{Policy: p, Ask: sandboxtest.Always(policy.AnswerOnce),
		AnswerModel: func(_ context.Context, q []sandbox.ModelQuestion) ([][]string, error) {
			return make([][]string, len(q)), nil
		}}}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, dir
}

func call(t testing.TB, c *Computer, tool string, args map[string]any) (map[string]any, error) {
	t.Helper()
	res := c.Box.Call(t.Context(), tool, args)
	m, _ := res.Data.(map[string]any)
	return m, res.Err()
}

// Every tool of the page is here, and Available says so.
func TestTools(t *testing.T) {
	c, dir := computer(t, everything, nil)
	for _, a := range c.Box.Available() {
		net := a.Tool == "web_fetch" || a.Tool == "web_search"
		if a.Here == net {
			t.Errorf("%+v", a)
		}
	}
	for _, s := range []struct {
		tool string
		args map[string]any
		key  string
		want any
	}{
		{"read", map[string]any{"path": "a.txt"}, "content", nil},
		{"write", map[string]any{"path": "w.txt", "content": "x"}, "", nil},
		{"edit", map[string]any{"path": "w.txt", "old_string": "x", "new_string": "y"}, "", nil},
		{"glob", map[string]any{"pattern": "*.txt"}, "", nil},
		{"grep", map[string]any{"pattern": "a 1"}, "", nil},
		{"tool_run", map[string]any{"command": "sqlite3", "args": []any{":memory:", "select 6 * 7"}}, "output", "42\n"},
		{"bash", map[string]any{"command": "cat a.txt | sort; sqlite3 :memory: 'select 1'"}, "output", "a 1\nb 2\n1\n"},
		{"code_run", map[string]any{"code": `const r = await callTool("read", { path: "a.txt" }); return r.content.length > 3`}, "value", true},
	} {
		got, err := call(t, c, s.tool, s.args)
		if err != nil || s.want != nil && got[s.key] != s.want {
			t.Errorf("%s: %v %v, want %v", s.tool, got, err, s.want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "w.txt")); err != nil || string(data) != "y" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := call(t, c, "undo", map[string]any{}); err != nil {
		t.Errorf("undo: %v", err)
	}
}

func perl(t testing.TB) {
	t.Helper()
	if err := confine.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("NOT TESTED: perl is not installed")
	}
}

func run(code string) map[string]any {
	return map[string]any{"command": "perl", "args": []any{"-e", code}, "read": []any{"."}, "write": []any{"."}}
}

func TestProgramOfTheMachine(t *testing.T) {
	perl(t)
	c, dir := computer(t, everything, func(o *Options) {
		o.Secrets = []Secret{{Name: "API_KEY", Value: "the-value-of-the-key", Hosts: []string{"api.example.com"}}}
	})
	got, err := call(t, c, "tool_run", run(`open(F, "a.txt"); print <F>; open(O, ">new.txt"); print O "made"; unlink "old.txt"; print "[", -e "private/key" ? "seen" : "hidden", " $ENV{API_KEY}]"; exit 3`))
	out, _ := got["output"].(string)
	if err != nil || got["exit_code"] != 3.0 || !strings.HasPrefix(out, "b 2\na 1\n[hidden bailey-") || strings.Contains(out, "the-value") {
		t.Errorf("%v %v", got, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "new.txt")); err != nil || string(data) != "made" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "old.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("old.txt is still there: %v", err)
	}
	if got, err := call(t, c, "bash", map[string]any{"command": "perl -ne 'print uc' < a.txt | sort; X=1 perl -e 'print $ENV{X}'"}); err != nil || got["output"] != "" && !strings.HasPrefix(got["output"].(string), "A 1\nB 2\n") {
		t.Errorf("bash: %v %v", got, err)
	}
	if _, err := call(t, c, "undo", map[string]any{}); err != nil {
		t.Errorf("a program's changes can't be undone: %v", err)
	}
}

// Without a grant of its own name no program of the machine runs.
func TestProgramsNeedTheirNames(t *testing.T) {
	perl(t)
	for _, grant := range []string{`["bash", "sqlite3"]`, `["*"]`} {
		c, _ := computer(t, strings.Replace(everything, `["bash", "sqlite3", "sort", "cat", "perl"]`, grant, 1), nil)
		if _, err := call(t, c, "tool_run", run(`print 1`)); err == nil {
			t.Errorf("%s: perl ran", grant)
		}
		if got, err := call(t, c, "bash", map[string]any{"command": "perl -e 'print 1'; /usr/bin/perl -e 'print 1'"}); err == nil && got["exit_code"] == 0.0 {
			t.Errorf("%s: perl ran in bash: %v", grant, got)
		}
	}
}

func TestAttackProgramOfTheMachine(t *testing.T) {
	count := attack.Start(t, "machine")
	perl(t)
	outside := filepath.Join(t.TempDir(), "outside")
	for _, a := range []struct {
		name, code string
		succeeded  func(dir string, out string) bool
		off        []confine.Layer
	}{
		{"a file that the policy denies", `open(F, "private/key"); print <F>`, func(_, out string) bool { return strings.Contains(out, "secret") }, nil},
		{"the folder itself", `open(F, "DIR/private/key"); print <F>`, func(_, out string) bool { return strings.Contains(out, "secret") }, nil},
		{"a link that leads out", `symlink("` + outside + `", "link"); print 1`, func(dir, _ string) bool { _, err := os.Lstat(filepath.Join(dir, "link")); return err == nil }, nil},
		{"a folder in the place of a file", `unlink "a.txt"; symlink("..", "a.txt")`, func(dir, _ string) bool {
			fi, err := os.Lstat(filepath.Join(dir, "a.txt"))
			return err != nil || !fi.Mode().IsRegular()
		}, nil},
		{"a fifo", `require POSIX; POSIX::mkfifo("f", 0666)`, func(dir, _ string) bool { _, err := os.Lstat(filepath.Join(dir, "f")); return err == nil }, nil},
		{"the variables of the caller", `print join ",", %ENV`, func(_, out string) bool { return strings.Contains(out, "BAILEY_SECRET") }, []confine.Layer{confine.Environment}},
	} {
		t.Setenv("BAILEY_SECRET", "x")
		try := func(off []confine.Layer) bool {
			c, dir := computer(t, everything, func(o *Options) { o.off, o.Tools, o.Engine = off, "", "" })
			got, err := call(t, c, "tool_run", run(strings.ReplaceAll(a.code, "DIR", dir)))
			out, _ := got["output"].(string)
			_ = err
			return a.succeeded(dir, out)
		}
		count.Try(a.name, try(nil))
		if a.off != nil {
			ok := try(a.off)
			count.Off(a.name, ok)
			if !ok {
				t.Errorf("%s: with its layer off it did not succeed", a.name)
			}
		}
	}
}

// A program that does not end is ended with all that it started, and changes nothing.
func TestProgramEnds(t *testing.T) {
	perl(t)
	c, dir := computer(t, everything, func(o *Options) { o.Time, o.Tools, o.Engine = time.Second, "", "" })
	_, err := call(t, c, "tool_run", run(`open(O, ">new.txt"); print O "x"; close O; $| = 1; print "started"; if (!fork) { exec "sleep", "100" } sleep 100`))
	if !errors.Is(err, protocol.ErrTimeout) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new.txt")); err == nil {
		t.Error("its changes were written back")
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "bailey-run-*"))
	if i := slices.IndexFunc(left, func(p string) bool { return strings.HasPrefix(p, os.TempDir()) }); i >= 0 {
		t.Logf("folders of runs: %v", left) // others may run
	}
}
