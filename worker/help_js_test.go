package worker

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/testpage"
)

// built reads a program that make tools has built from testdata.
func built(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "build", "testwasm", name))
	if err != nil {
		t.Fatalf("%v: run make testwasm first", err)
	}
	return b
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// kinds are the pools that everything is shown in.
var kinds = []struct {
	name    string
	trusted bool
}{{"untrusted", false}, {"trusted", true}}

// each runs f in a pool of each kind.
func each(t *testing.T, opts Options, f func(t *testing.T, p *Pool)) {
	t.Helper()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			opts := opts
			opts.Trusted = k.trusted
			f(t, newTestPool(t, opts))
		})
	}
}

// growing calls do with one time limit after the other, until do reports that the program had the time for what comes
// before its end. On a busy machine the shortest limits are over before that.
func growing(first time.Duration, do func(limit time.Duration) (began bool)) {
	for limit := first; !do(limit) && limit < 20*time.Second; limit *= 4 {
	}
}

func newTestPool(t testing.TB, opts Options) *Pool {
	t.Helper()
	p, err := NewPool(testContext(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func compile(t testing.TB, p *Pool, wasm []byte) *Module {
	t.Helper()
	m, err := p.Compile(testContext(t), wasm)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func probe(t testing.TB, p *Pool) *Module { return compile(t, p, built(t, "probe.wasm")) }

// live reports whether the engine has JavaScript Promise Integration.
func live() bool { return !testpage.Has(testpage.NoPromiseIntegration) }
