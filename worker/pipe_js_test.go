package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/protocol"
)

// counting is an endless text that counts the bytes read from it.
type counting struct{ n int64 }

func (c *counting) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = "endless\n"[(c.n+int64(i))%8]
	}
	c.n += int64(len(b))
	return len(b), nil
}

// In a pipeline each command reads the output of the one before it, and no command runs far
// ahead.
func TestPipeline(t *testing.T) {
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		text := strings.Repeat("some line\n", 100_000)
		first := p.Command(testContext(t), m, "probe", "cat")
		first.Stdin = strings.NewReader(text)
		second := p.Command(testContext(t), m, "probe", "upper")
		second.Stdin = piped(t, first)
		third := p.Command(testContext(t), m, "probe", "cat")
		third.Stdin = piped(t, second)
		var out bytes.Buffer
		third.Stdout = &out
		for _, c := range []*Cmd{first, second, third} {
			must(t, c.Start())
		}
		for _, c := range []*Cmd{first, second, third} {
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		}
		if out.String() != strings.ToUpper(text) {
			t.Errorf("%d bytes, want %d", out.Len(), len(text))
		}
	})
}

func piped(t testing.TB, c *Cmd) io.Reader {
	t.Helper()
	r, err := c.StdoutPipe()
	must(t, err)
	return r
}

// When head ends, the command before it ends too, after a bounded part of an endless text.
func TestPipelineEndsEarly(t *testing.T) {
	if !live() {
		t.Skip("this engine needs all of the input before the start, so nothing endless can be read")
	}
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		endless := &counting{}
		first := p.Command(testContext(t), m, "probe", "cat")
		first.Stdin = endless
		second := p.Command(testContext(t), m, "probe", "head", "3")
		second.Stdin = piped(t, first)
		must(t, first.Start())
		out, err := second.Output()
		if err != nil || string(out) != "endless\nendless\nendless\n" {
			t.Errorf("%q %v", out, err)
		}
		if err := first.Wait(); !errors.Is(err, io.ErrClosedPipe) || !errors.Is(err, protocol.ErrAborted) {
			t.Errorf("the first: %v", err)
		}
		if endless.n > 8<<20 {
			t.Errorf("%d bytes were read of it", endless.n)
		}
	})
}

// If the reader takes nothing, the program is blocked, and the page's memory does not grow.
func TestBackPressure(t *testing.T) {
	if !live() {
		t.Skip("this engine can't hold a program: its output is bounded by Limits.Output")
	}
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		var cmd *Cmd
		growing(time.Second, func(limit time.Duration) bool {
			cmd = p.Command(testContext(t), m, "probe", "flood")
			cmd.Limits.Time = limit
			r := piped(t, cmd)
			must(t, cmd.Start())
			_, _ = io.ReadFull(r, make([]byte, 1000))
			if err := cmd.Wait(); !errors.Is(err, protocol.ErrTimeout) {
				t.Errorf("%v", err)
			}
			return cmd.ProcessState.Stats().Output >= 1<<20
		})
		if n := cmd.ProcessState.Stats().Output; n < 1<<20 || n > 3<<20 {
			t.Errorf("%d bytes came, of which a thousand were read; the window is %d", n, credit)
		}
	})
}

// In a pipeline of three whose last command does not read, the data on its way is bounded for
// each stage.
func TestPipelineIsBounded(t *testing.T) {
	if !live() {
		t.Skip("this engine can't hold a program: Limits.Input and Limits.Output bound what it takes and gives")
	}
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		var endless *counting
		growing(2*time.Second, func(limit time.Duration) bool {
			endless = &counting{}
			var in io.Reader = endless
			var cmds []*Cmd
			for range 3 {
				c := p.Command(testContext(t), m, "probe", "cat")
				c.Limits.Time = limit
				c.Stdin = in
				in = piped(t, c)
				cmds = append(cmds, c)
			}
			for _, c := range cmds {
				must(t, c.Start())
			}
			for _, c := range cmds {
				_ = c.Wait()
			}
			return endless.n >= 2*credit
		})
		// A stage holds its input, the window of its output, and the pipe after it. Each may
		// exceed its size by one piece.
		const stage = feedSize + feedSize/2 + credit + pipeSize + 4*feedSize
		if endless.n > 3*stage || endless.n < 2*credit {
			t.Errorf("%d bytes were read, want %d to %d", endless.n, 2*credit, 3*stage)
		}
	})
}

func TestWriteFails(t *testing.T) {
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		full := errors.New("the disk is full")
		for name, w := range map[string]io.Writer{"error": writer(func([]byte) (int, error) { return 0, full }), "panic": writer(func([]byte) (int, error) { panic(full) })} {
			cmd := p.Command(testContext(t), m, "probe", "flood")
			cmd.Stdout = w
			if err := cmd.Run(); !strings.Contains(fmt.Sprint(err), "killed") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// plain exports add(i32, i32) i32, big(i64) i64, spin, and calls(f64), which passes its
// argument to the host's env.twice and returns the result.
var plain = join([]byte("\x00asm\x01\x00\x00\x00"),
	section(1, 4, 0x60, 2, 0x7f, 0x7f, 1, 0x7f, 0x60, 1, 0x7e, 1, 0x7e, 0x60, 1, 0x7c, 1, 0x7c, 0x60, 0, 0),
	section(2, join([]byte{1}, vec("env"), vec("twice"), []byte{0, 2})...),
	section(3, 4, 0, 1, 2, 3),
	section(7, join([]byte{4}, vec("add"), []byte{0, 1}, vec("big"), []byte{0, 2}, vec("calls"), []byte{0, 3}, vec("spin"), []byte{0, 4})...),
	section(10, 4, 7, 0, 0x20, 0, 0x20, 1, 0x6a, 0x0b, 7, 0, 0x20, 0, 0x42, 1, 0x7c, 0x0b, 6, 0, 0x20, 0, 0x10, 0, 0x0b, 7, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b))

func TestCall(t *testing.T) {
	if !live() {
		t.Skip("this engine can't call functions of the host: TestWithoutJSPI")
	}
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := compile(t, p, plain)
		funcs := map[string]func(ctx context.Context, args []any) (any, error){"env.twice": func(_ context.Context, args []any) (any, error) { return args[0].(float64) * 2, nil }}
		for _, tt := range []struct {
			name string
			args []any
			want any
		}{{"add", []any{2, int32(40)}, int32(42)}, {"big", []any{int64(1) << 60}, int64(1)<<60 + 1}, {"calls", []any{1.25}, 2.5}} {
			got, err := p.Call(testContext(t), m, tt.name, tt.args, CallOptions{Funcs: funcs})
			if err != nil || len(got) != 1 || got[0] != tt.want {
				t.Errorf("%s: %v, %v", tt.name, got, err)
			}
		}
		if _, err := p.Call(testContext(t), m, "spin", nil, CallOptions{Funcs: funcs, Limits: Limits{Time: time.Second}}); !errors.Is(err, protocol.ErrTimeout) {
			t.Errorf("spin: %v", err)
		}
		no := errors.New("no")
		funcs["env.twice"] = func(context.Context, []any) (any, error) { return nil, no }
		if _, err := p.Call(testContext(t), m, "calls", []any{1.0}, CallOptions{Funcs: funcs}); err == nil || !strings.Contains(err.Error(), "no") {
			t.Errorf("a host function that fails: %v", err)
		}
		funcs["env.twice"] = func(context.Context, []any) (any, error) { panic("x") }
		if _, err := p.Call(testContext(t), m, "calls", []any{1.0}, CallOptions{Funcs: funcs}); !errors.Is(err, protocol.ErrExecution) {
			t.Errorf("a host function that panics: %v", err)
		}
		if _, err := p.Call(testContext(t), m, "add", []any{1, 2}, CallOptions{}); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("without what it imports: %v", err)
		}
		if _, err := p.Call(testContext(t), m, "nope", nil, CallOptions{Funcs: funcs}); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("no such function: %v", err)
		}
		if err := p.Command(testContext(t), m, "x").Run(); err == nil {
			t.Error("it was run as a command")
		}
	})
}

func TestWithoutJSPI(t *testing.T) {
	if live() {
		t.Skip("this engine has JSPI")
	}
	each(t, Options{Limits: Limits{Input: 1000}}, func(t *testing.T, p *Pool) {
		if f := p.Features(); f.LiveInput || f.LazyFiles || f.HostFuncs || !strings.Contains(f.Missing, "Promise Integration") {
			t.Errorf("%+v", f)
		}
		m := probe(t, p)
		cmd := p.Command(testContext(t), m, "probe", "cat")
		cmd.FS, cmd.Files = fsaccess.NewMemory(fsaccess.MemoryOptions{}), LazyFiles
		if err := cmd.Run(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("lazy files: %v", err)
		}
		for n, ok := range map[int]bool{1000: true, 1001: false} {
			cmd := p.Command(testContext(t), m, "probe", "cat")
			cmd.Stdin = io.MultiReader(strings.NewReader(strings.Repeat("x", n)))
			if out, err := cmd.Output(); (err == nil) != ok || ok && len(out) != n || !ok && !errors.Is(err, protocol.ErrResourceLimit) {
				t.Errorf("%d bytes of input: %d, %v", n, len(out), err)
			}
		}
		funcs := map[string]func(ctx context.Context, args []any) (any, error){"env.twice": func(context.Context, []any) (any, error) { return 1.0, nil }}
		if _, err := p.Call(testContext(t), compile(t, p, plain), "add", []any{1, 2}, CallOptions{Funcs: funcs}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("host functions: %v", err)
		}
	})
}

// The directives that the page's own policy needs, and the error that names a missing one.
func TestStrictPages(t *testing.T) {
	const base = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' HASHES; connect-src 'self'"
	hashes := strings.Join(frame.ScriptHashes(), " ")
	for _, tt := range []struct {
		name, policy string
		trusted, ok  bool
	}{
		{"untrusted", strings.Replace(base, "HASHES", hashes, 1) + "; worker-src blob:", false, true},
		{"untrusted, Trusted Types", strings.Replace(base, "HASHES", hashes, 1) + "; worker-src blob:; require-trusted-types-for 'script'; trusted-types bailey", false, true},
		{"untrusted without hashes", strings.Replace(base, "HASHES", "", 1) + "; worker-src blob:", false, false},
		{"untrusted without workers", strings.Replace(base, "HASHES", hashes, 1), false, false},
		{"trusted", strings.Replace(base, "HASHES", "", 1) + "; worker-src blob:", true, true},
		{"trusted, Trusted Types", strings.Replace(base, "HASHES", "", 1) + "; worker-src blob:; require-trusted-types-for 'script'; trusted-types bailey", true, true},
		{"trusted without workers", strings.Replace(base, "HASHES", "", 1), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testpage.Run(t, testpage.Page{Header: map[string]string{"Content-Security-Policy": tt.policy}}, func(t *testing.T) {
				violations := 0
				scope := jsx.NewScope(jsx.ScopeOptions{})
				defer scope.Close()
				page, err := jsx.Get(jsx.Global(), "document")
				must(t, err)
				_, err = scope.Listen(page, "securitypolicyviolation", func(jsx.Value) { violations++ })
				must(t, err)
				p, err := NewPool(testContext(t), Options{Trusted: tt.trusted, ReadyTimeout: 15 * time.Second})
				if !tt.ok {
					if !errors.Is(err, ErrBlocked) || !strings.Contains(err.Error(), "worker-src blob:") {
						t.Errorf("%v, want ErrBlocked", err)
					}
					return
				}
				must(t, err)
				defer p.Close()
				m := compile(t, p, built(t, "probe.wasm"))
				out, err := p.Command(testContext(t), m, "probe", "hello").Output()
				if err != nil || string(out) != "0 probe\n1 hello\n" {
					t.Errorf("%q %v", out, err)
				}
				if violations != 0 {
					t.Errorf("%d violations", violations)
				}
			})
		})
	}
}
