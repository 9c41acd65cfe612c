package native_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command/native"
)

// a result of a command.
type result struct {
	out, errs string
	code      int
	err       error
}

func call(t testing.TB, r *native.Runner, c sandbox.Command, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	c.Name, c.Args, c.Stdout, c.Stderr = args[0], args[1:], &out, &errs
	code, err := r.RunCommand(t.Context(), c)
	return result{out.String(), errs.String(), code, err}
}

func folder(t testing.TB, files map[string]string) *fsaccess.Folder {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	for name, text := range files {
		must(t, mem.MkdirAll(path.Dir(name), 0o755))
		must(t, mem.WriteFile(name, []byte(text), 0o644))
	}
	return mem
}

func TestOptionsAreChecked(t *testing.T) {
	fetch := func(context.Context, string) ([]byte, error) { return nil, nil }
	good := map[string]string{"awk": "awk.wasm"}
	for name, o := range map[string]native.Options{
		"no commands":   {Fetch: fetch},
		"no fetch":      {Commands: good},
		"empty module":  {Commands: map[string]string{"awk": ""}, Fetch: fetch},
		"small memory":  {Commands: good, Fetch: fetch, Memory: 64<<10 - 1},
		"large memory":  {Commands: good, Fetch: fetch, Memory: 4<<30 - 64<<10 + 1},
		"negative time": {Commands: good, Fetch: fetch, Time: -1},
		"long time":     {Commands: good, Fetch: fetch, Time: time.Hour + 1},
		"much output":   {Commands: good, Fetch: fetch, Output: 1<<30 + 1},
		"much to write": {Commands: good, Fetch: fetch, Write: 1<<30 + 1},
		"much to read":  {Commands: good, Fetch: fetch, Read: 1<<50 + 1},
	} {
		if r, err := native.New(o); err == nil {
			t.Errorf("%s: no error", name)
			must(t, r.Close())
		} else if !strings.HasPrefix(err.Error(), "native: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []native.Options{{Memory: 64 << 10}, {Memory: 4<<30 - 64<<10}, {Time: time.Millisecond}, {Time: time.Hour}, {Output: 1}, {Output: 1 << 30}, {Write: 1}, {Write: 1 << 30}, {Read: 1}, {Read: 1 << 50}} {
		o.Commands, o.Fetch = good, fetch
		r, err := native.New(o)
		must(t, err)
		must(t, r.Close())
	}
}

// The limit of output ends the program, and what it printed until then is there.
func TestOutputLimit(t *testing.T) {
	r := with(t, native.Options{Output: 1000})
	for _, n := range []int{999, 1000, 1001} {
		got := call(t, r, sandbox.Command{}, "awk", fmt.Sprintf(`BEGIN { for (i = 0; i < %d; i++) printf "x" }`, n))
		over := n > 1000
		if errors.Is(got.err, protocol.ErrOutputTooLarge) != over || len(got.out) != min(n, 1000) {
			t.Errorf("%d bytes: %v, %d", n, got.err, len(got.out))
		}
	}
}

// The limits of reading and writing end the program, and nothing is written back.
func TestFileLimits(t *testing.T) {
	r := with(t, native.Options{Read: 1000, Write: 1000})
	for _, n := range []int{999, 1000, 1001} {
		mem := folder(t, map[string]string{"in": strings.Repeat("x", n)})
		got := call(t, r, sandbox.Command{FS: mem}, "awk", "{ print length }", "in")
		if over := n > 1000; errors.Is(got.err, protocol.ErrResourceLimit) != over || !over && got.out != fmt.Sprintln(n) {
			t.Errorf("reading %d bytes: %v %q", n, got.err, got.out)
		}
		got = call(t, r, sandbox.Command{FS: mem}, "awk", fmt.Sprintf(`BEGIN { for (i = 0; i < %d; i++) printf "x" > "out" }`, n))
		data, err := mem.ReadFile("out")
		if over := n > 1000; errors.Is(got.err, protocol.ErrResourceLimit) != over || errors.Is(err, fs.ErrNotExist) != over || !over && len(data) != n {
			t.Errorf("writing %d bytes: %v, %v, %d", n, got.err, err, len(data))
		}
	}
}

// A program gets no more memory than the limit.
func TestMemoryLimit(t *testing.T) {
	grow := `BEGIN { s = "x"; while (length(s) < 4000000) s = s s; print length(s) }`
	if got := call(t, with(t, native.Options{Memory: 64 << 20}), sandbox.Command{}, "awk", grow); got.err != nil || got.out != "4194304\n" {
		t.Errorf("%+v", got)
	}
	if got := call(t, with(t, native.Options{Memory: 8 << 20}), sandbox.Command{}, "awk", grow); got.err == nil && got.code == 0 {
		t.Errorf("%+v", got)
	}
}

// A program that does not end is ended by the limit of time, and by its caller.
func TestTimeLimit(t *testing.T) {
	endless := []string{"awk", "BEGIN { while (1) x++ }"}
	r := with(t, native.Options{Time: 50 * time.Millisecond})
	if got := call(t, r, sandbox.Command{}, endless...); !errors.Is(got.err, protocol.ErrTimeout) {
		t.Errorf("%v", got.err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	began := make(chan struct{})
	go func() {
		<-began
		stop(errors.New("the caller ends it"))
	}()
	first := &firstRead{began: began}
	_, err := runner(t).RunCommand(ctx, sandbox.Command{Name: "awk", Args: []string{"{ while (1) x++ }"}, Stdin: first})
	if err == nil || err.Error() != "the caller ends it" {
		t.Errorf("%v", err)
	}
}

// firstRead closes began when the program first reads.
type firstRead struct {
	began chan struct{}
	done  bool
}

func (f *firstRead) Read(p []byte) (int, error) {
	if f.done {
		return 0, io.EOF
	}
	f.done = true
	close(f.began)
	return copy(p, "a\n"), nil
}

// A program's files: paths from its working folder, changes after its end, and a question before a file is lost.
func TestFiles(t *testing.T) {
	r := runner(t)
	mem := folder(t, map[string]string{"d/a": "one\n", "b": "two\n"})
	if got := call(t, r, sandbox.Command{FS: mem, Dir: "/d"}, "awk", `{ print FILENAME ":" $0; print "new" > "c" } END { print "more" >> "../b" }`, "a", "../b"); got.err != nil || got.out != "a:one\n../b:two\n" {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string]string{"d/a": "one\n", "d/c": "new\nnew\n", "b": "two\nmore\n"} {
		if data, err := mem.ReadFile(name); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if got := call(t, r, sandbox.Command{FS: mem, Env: []string{"A=1", "A=2", "=x", "B"}}, "awk", `BEGIN { print ENVIRON["A"] }`); got.out != "2\n" {
		t.Errorf("%+v", got)
	}
	if got := call(t, r, sandbox.Command{FS: mem}, "awk", "{ print }", "no"); got.err != nil || got.code != 2 || !strings.Contains(got.errs, "can't open file no") {
		t.Errorf("%+v", got)
	}
	if got := call(t, r, sandbox.Command{}, "nope"); got.err == nil {
		t.Errorf("%+v", got)
	}
}

// A database is changed in place. Its journal, which the program makes and removes, is no file that was lost.
func TestDatabase(t *testing.T) {
	r, mem := runner(t), folder(t, nil)
	for _, row := range []struct{ sql, out string }{{"create table t(a); insert into t values (1),(2)", ""}, {"update t set a = a + 1; select sum(a) from t", "5\n"}, {"delete from t; vacuum; select count(*) from t", "0\n"}} {
		if got := call(t, r, sandbox.Command{FS: mem}, "sqlite3", "t.db", row.sql); got.err != nil || got.code != 0 || got.out != row.out {
			t.Errorf("%s: %+v", row.sql, got)
		}
	}
	list, err := mem.ReadDir(".")
	must(t, err)
	if len(list) != 1 || list[0].Name() != "t.db" {
		t.Errorf("%v", list)
	}
}

// A file that changes while the program runs is not written over, and neither is any other.
func TestConflict(t *testing.T) {
	r, mem := runner(t), folder(t, map[string]string{"a": "one\n", "b": "old\n"})
	in := &changes{do: func() { must(t, mem.WriteFile("b", []byte("someone else's\n"), 0o644)) }}
	got := call(t, r, sandbox.Command{FS: mem, Stdin: in}, "awk", `BEGIN { print "mine" >> "b"; print "mine" > "c"; fflush("b") } { }`)
	var e *protocol.Error
	if !errors.As(got.err, &e) || e.Reason != protocol.ReasonStale {
		t.Errorf("%+v", got)
	}
	if data, _ := mem.ReadFile("b"); string(data) != "someone else's\n" {
		t.Errorf("%q", data)
	}
	if _, err := mem.Stat("c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("c: %v", err)
	}
}

// changes is an input whose first read changes the folder.
type changes struct{ do func() }

func (c *changes) Read([]byte) (int, error) {
	if c.do != nil {
		c.do()
		c.do = nil
	}
	return 0, io.EOF
}
