package tools

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/worker"
	"github.com/bailey-go/bailey/worker/tools/internal/catalog"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func open(t testing.TB, pool *worker.Pool, name string) *worker.Module {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("..", "..", "build", "tools", name+".wasm"))
	if err != nil {
		t.Fatalf("%v: run make wasitools first", err)
	}
	m, err := pool.Compile(testContext(t), wasm)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func newPool(t testing.TB, opts worker.Options) *worker.Pool {
	t.Helper()
	p, err := worker.NewPool(testContext(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// The table of the native tests also passes in a worker behind two frames.
func TestCommands(t *testing.T) {
	pool := newPool(t, worker.Options{Spare: 2})
	lists := map[string][]call{"core": append(append(append(append([]call(nil), textCalls...), fileCalls...), byteCalls...), diffCalls...), "data": dataCalls, "web": webCalls, "sqlite3": sqliteCalls, "awk": awkCalls, "jq": jqCalls}
	for name, list := range lists {
		if _, err := os.Stat(filepath.Join("..", "..", "build", "tools", name+".wasm")); err != nil && slices.Contains(catalog.C, name) {
			t.Logf("%s was not built: there is no clang for WASI", name)
			continue
		}
		m := open(t, pool, name)
		for _, c := range list {
			t.Run(strings.Join(c.args, " "), func(t *testing.T) { inBrowser(t, pool, m, c) })
		}
	}
}

func inBrowser(t *testing.T, pool *worker.Pool, m *worker.Module, c call) {
	folder := fsaccess.NewMemory(fsaccess.MemoryOptions{NoMode: true})
	for name, text := range c.files {
		if strings.HasSuffix(name, "/") {
			must(t, folder.MkdirAll(path.Clean(name), 0o755))
			continue
		}
		must(t, folder.MkdirAll(path.Dir(name), 0o755))
		must(t, folder.WriteFile(name, []byte(text), 0o644))
	}
	cmd := pool.Command(testContext(t), m, c.args[0], c.args[1:]...)
	var out, errs bytes.Buffer
	cmd.FS, cmd.Stdin, cmd.Stdout, cmd.Stderr = folder, strings.NewReader(c.in), &out, &errs
	err := cmd.Run()
	var exit *worker.ExitError
	if err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	if out.String() != c.out && !(c.args[0] == "markdown" && strings.Contains(out.String(), "<em>b</em>")) {
		t.Errorf("out %q, want %q", out.String(), c.out)
	}
	if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(errs.String(), c.err) {
		t.Errorf("code %d, want %d; says %q, want %q", code, c.code, errs.String(), c.err)
	}
	for name, want := range c.after {
		got, err := fs.ReadFile(folder, path.Clean(name))
		switch {
		case strings.HasSuffix(name, "/"):
			if info, err := fs.Stat(folder, path.Clean(name)); err != nil || !info.IsDir() {
				t.Errorf("%s is no folder: %v", name, err)
			}
		case want == "-":
			if err == nil {
				t.Errorf("%s is there still", name)
			}
		case err != nil || string(got) != want:
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
}

// One command unpacks an archive that another one packed, and a database survives its program.
func TestRoundTrips(t *testing.T) {
	pool := newPool(t, worker.Options{})
	core := open(t, pool, "core")
	png := make([]byte, 200_000)
	for i := range png {
		png[i] = byte(i * i >> 3)
	}
	folder := fsaccess.NewMemory(fsaccess.MemoryOptions{NoMode: true})
	must(t, folder.MkdirAll("d/e", 0o755))
	must(t, folder.WriteFile("d/e/p.png", png, 0o644))
	must(t, folder.WriteFile("d/t.txt", []byte("text"), 0o644))
	run := func(m *worker.Module, args ...string) string {
		t.Helper()
		cmd := pool.Command(testContext(t), m, args[0], args[1:]...)
		cmd.FS = folder
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, c := range [][][]string{
		{{"tar", "-czf", "a.tgz", "d"}, {"tar", "-xf", "a.tgz", "-C", "out"}},
		{{"zip", "-r", "a.zip", "d"}, {"unzip", "-d", "out", "a.zip"}},
		{{"tar", "-cf", "b.tar", "d"}, {"gzip", "-9", "b.tar"}, {"gunzip", "b.tar.gz"}, {"tar", "-x", "-f", "b.tar", "-C", "out"}},
	} {
		must(t, folder.Mkdir("out", 0o755))
		for _, args := range c {
			run(core, args...)
		}
		if got, err := fs.ReadFile(folder, "out/d/e/p.png"); err != nil || !bytes.Equal(got, png) {
			t.Errorf("%v: %d bytes, %v", c[0], len(got), err)
		}
		run(core, "rm", "-r", "out")
	}
	if got := run(core, "uuid", "-7", "3"); len(got) != 3*37 || got[14] != '7' {
		t.Errorf("uuid says %q", got)
	}
	if _, err := os.Stat(filepath.Join("..", "..", "build", "tools", "sqlite3.wasm")); err != nil {
		return
	}
	sqlite := open(t, pool, "sqlite3")
	run(sqlite, "sqlite3", "t.db", "create table t(a); insert into t values (1),(2),(3)")
	if got := run(sqlite, "sqlite3", "t.db", "select sum(a) from t"); got != "6\n" {
		t.Errorf("sum %q", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStartUp prints the times of the binaries: compilation, the first run, and the median of
// eleven runs that only print the help.
func TestStartUp(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		pool := newPool(t, worker.Options{Trusted: trusted, Spare: 2})
		for _, row := range []struct{ binary, command, option, says string }{{"core", "cat", "--help", "Usage: cat"}, {"data", "yq", "--help", "Usage: yq"}, {"web", "shfmt", "--help", "Usage: shfmt"},
			{"sqlite3", "sqlite3", "--help", "Usage: sqlite3"}, {"awk", "awk", "--version", "awk version"}, {"jq", "jq", "--version", "jq-"}, {"git", "git", "--version", "git version"}} {
			if _, err := os.Stat(filepath.Join("..", "..", "build", "tools", row.binary+".wasm")); err != nil {
				continue
			}
			begin := time.Now()
			m := open(t, pool, row.binary)
			compiled := time.Since(begin)
			var took []time.Duration
			for range 12 {
				begin := time.Now()
				out, err := pool.Command(testContext(t), m, row.command, row.option).Output()
				took = append(took, time.Since(begin))
				if err != nil || !strings.HasPrefix(string(out), row.says) {
					t.Fatalf("%s: %v %q", row.command, err, out)
				}
			}
			first := took[0]
			t.Logf("start-up %-8s trusted=%-5v compile %4d ms, first run %4d ms, median of the next %4d ms", row.binary, trusted, compiled.Milliseconds(), first.Milliseconds(), median(took[1:]).Milliseconds())
		}
	}
}

func median(d []time.Duration) time.Duration {
	for i := range d {
		for j := i; j > 0 && d[j] < d[j-1]; j-- {
			d[j], d[j-1] = d[j-1], d[j]
		}
	}
	return d[len(d)/2]
}
