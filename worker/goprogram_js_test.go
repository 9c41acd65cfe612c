package worker

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// TestGoProgram runs testdata/gowasi, which checks the features that a Go program uses.
func TestGoProgram(t *testing.T) {
	for _, mode := range []FileMode{SnapshotFiles, LazyFiles} {
		if mode == LazyFiles && !live() {
			continue
		}
		each(t, Options{ClockResolution: time.Millisecond}, func(t *testing.T, p *Pool) {
			expectsOfGo(t, p, compile(t, p, built(t, "gowasi.wasm")), mode)
		})
	}
}

// The same program, built with GOOS=js, in a worker whose file functions are those of Node.js.
func TestGoJSProgram(t *testing.T) {
	for _, mode := range []FileMode{SnapshotFiles, LazyFiles} {
		p := newTestPool(t, Options{Trusted: true})
		expectsOfGo(t, p, goJS(t, p), mode)
	}
}

func goJS(t testing.TB, p *Pool) *Module {
	t.Helper()
	m, err := p.CompileJS(testContext(t), built(t, "gojs.wasm"), string(built(t, "wasm_exec.js")))
	must(t, err)
	t.Cleanup(func() { m.Close() })
	return m
}

func expectsOfGo(t *testing.T, p *Pool, m *Module, mode FileMode) {
	dir, ro := newMemFS(), newMemFS()
	must(t, dir.Mkdir("work", 0o755))
	must(t, dir.WriteFile("work/here.txt", []byte("here"), 0o644))
	must(t, dir.WriteFile("top.txt", []byte("top"), 0o644))
	must(t, ro.WriteFile("f", []byte("read only"), 0o644))
	cmd := p.Command(testContext(t), m, "gowasi", "one", "ü")
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Files = []string{"KEY=value"}, "/work", strings.NewReader("in"), mode
	cmd.FS, cmd.Mounts = dir, map[string]fs.FS{"/ro": onlyRead{ro}}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("%v", err)
	}
	ok := 0
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "ok ") {
			ok++
		} else {
			t.Error(strings.TrimSpace(line))
		}
	}
	if ok < 30 {
		t.Errorf("%d cases passed", ok)
	}
	if got, want := tree(t, dir), "top.txt=top work/ work/here.txt=here work/w.txt=writ"; got != want {
		t.Errorf("written back %s, want %s", got, want)
	}
}

func TestGoJSRunaways(t *testing.T) {
	p := newTestPool(t, Options{Trusted: true, Limits: Limits{Time: 5 * time.Minute, Output: 1 << 20, Memory: 64 << 20}})
	m := goJS(t, p)
	never, stop := io.Pipe()
	defer stop.Close()
	for _, tt := range []struct {
		arg  string
		in   io.Reader
		want error
		out  string
		says string // on standard error
	}{
		{arg: "spin", want: protocol.ErrTimeout, out: "before\n"},
		{arg: "sleep", want: protocol.ErrTimeout},
		{arg: "cat", in: never, want: protocol.ErrTimeout},
		{arg: "flood", want: protocol.ErrOutputTooLarge, out: strings.Repeat("x", 1000)},
		{arg: "panic", want: protocol.ErrExecution, says: "it is broken"},
		{arg: "grow", want: protocol.ErrExecution, says: "out of memory"},
		{arg: "recurse", want: protocol.ErrExecution},
	} {
		var (
			cmd  *Cmd
			out  []byte
			err  error
			exit *ExitError
		)
		growing(3*time.Second, func(limit time.Duration) bool {
			cmd = p.Command(testContext(t), m, "gojs", tt.arg)
			cmd.Stdin = tt.in
			if tt.want == protocol.ErrTimeout {
				cmd.Limits.Time = limit
			}
			out, err = cmd.Output()
			return tt.want != protocol.ErrTimeout || strings.HasPrefix(string(out), tt.out)
		})
		if !errors.Is(err, tt.want) || !strings.HasPrefix(string(out), tt.out) || !errors.As(err, &exit) || !strings.Contains(string(exit.Stderr)+exit.Reason, tt.says) {
			t.Errorf("%s: %v, %.40q, want %v", tt.arg, err, out, tt.want)
		}
		if n := cmd.ProcessState.Stats().Memory; tt.arg == "grow" && (n > 64<<20 || n < 32<<20) {
			t.Errorf("%d bytes of memory", n)
		}
		cmd = p.Command(testContext(t), m, "gojs", "cat")
		cmd.Stdin = strings.NewReader("next")
		if out, err := cmd.Output(); string(out) != "next" || err != nil {
			t.Errorf("after %s: %q %v", tt.arg, out, err)
		}
	}
}

// The program waits for input, and for the reader of its output, in every engine.
func TestGoJSStreams(t *testing.T) {
	p := newTestPool(t, Options{Trusted: true})
	m := goJS(t, p)
	cmd := p.Command(testContext(t), m, "gojs", "cat")
	in, err := cmd.StdinPipe()
	must(t, err)
	out := piped(t, cmd)
	must(t, cmd.Start())
	for _, s := range []string{"one", "two", strings.Repeat("much ", 1_000_000)} {
		go in.Write([]byte(s))
		got := make([]byte, len(s))
		if _, err := io.ReadFull(out, got); err != nil || string(got) != s {
			t.Fatalf("%.20q came back as %.20q: %v", s, got, err)
		}
	}
	in.Close()
	if rest, err := io.ReadAll(out); len(rest) > 0 || err != nil {
		t.Errorf("%q %v", rest, err)
	}
	must(t, cmd.Wait())
}

func TestCompileJS(t *testing.T) {
	trusted, glue := newTestPool(t, Options{Trusted: true}), string(built(t, "wasm_exec.js"))
	for name, tt := range map[string]struct {
		p    *Pool
		wasm []byte
		glue string
		want error
		says string
	}{
		"untrusted":    {newTestPool(t, Options{}), built(t, "gojs.wasm"), glue, protocol.ErrCapabilityDenied, "trusted"},
		"WASI":         {trusted, built(t, "gowasi.wasm"), glue, protocol.ErrInvalidParams, "wasi_snapshot_preview1"},
		"plain":        {trusted, assemble(onePage, nil, false), glue, protocol.ErrInvalidParams, ""},
		"no glue":      {trusted, built(t, "gojs.wasm"), "", protocol.ErrInvalidParams, "wasm_exec.js"},
		"much glue":    {trusted, built(t, "gojs.wasm"), glue + strings.Repeat(" ", maxGlue-len(glue)+1), protocol.ErrInvalidParams, "wasm_exec.js"},
		"no module":    {trusted, []byte("x"), glue, protocol.ErrInvalidParams, ""},
		"large module": {trusted, make([]byte, maxModule+1), glue, protocol.ErrResourceLimit, "limit"},
	} {
		if _, err := tt.p.CompileJS(testContext(t), tt.wasm, tt.glue); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := compile(t, trusted, built(t, "gojs.wasm"))
	if err := trusted.Command(testContext(t), m, "x").Run(); err == nil || !strings.Contains(err.Error(), "CompileJS") {
		t.Errorf("compiled as another: %v", err)
	}
	most, err := trusted.CompileJS(testContext(t), built(t, "gojs.wasm"), glue+strings.Repeat(" ", maxGlue-len(glue)))
	if err != nil {
		t.Fatalf("as much glue as may be: %v", err)
	}
	most.Close()
}
