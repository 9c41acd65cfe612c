package native_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/bailey-go/bailey/internal/needs"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command/native"
)

const tools = "../../../build/tools"

var commands = map[string]string{"awk": "awk.wasm", "jq": "jq.wasm", "sqlite3": "sqlite3.wasm", "git": "git.wasm"}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runner returns a runner with the starter tools that are C programs.
func runner(t testing.TB) *native.Runner {
	t.Helper()
	return with(t, native.Options{})
}

// compiled is the compiled code of the starter tools, for all tests.
var compiled = sync.OnceValue(wazero.NewCompilationCache)

func with(t testing.TB, o native.Options) *native.Runner {
	t.Helper()
	if _, err := os.Stat(filepath.Join(tools, "awk.wasm")); err != nil {
		needs.Missing(t, "the starter tools are not built: run make tools")
	}
	o.Commands = commands
	if o.Cache == nil {
		o.Cache = compiled()
	}
	o.Fetch = func(_ context.Context, module string) ([]byte, error) {
		return os.ReadFile(filepath.Join(tools, module))
	}
	r, err := native.New(o)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return r
}

// A module whose stored code is damaged is compiled again.
func TestDamagedCache(t *testing.T) {
	dir := t.TempDir()
	// A module whose function _start returns at once.
	wasm := []byte{0, 'a', 's', 'm', 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 10, 1, 6, '_', 's', 't', 'a', 'r', 't', 0, 0, 10, 4, 1, 2, 0, 0x0b}
	for i := range 3 {
		cache, err := wazero.NewCompilationCacheWithDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := native.New(native.Options{Cache: cache, Commands: map[string]string{"a": "a.wasm"}, Fetch: func(context.Context, string) ([]byte, error) { return wasm, nil }})
		if err != nil {
			t.Fatal(err)
		}
		err = r.Start(t.Context())
		exit, err2 := r.RunCommand(t.Context(), sandbox.Command{Name: "a"})
		if err := errors.Join(err, err2, r.Close(), cache.Close(t.Context())); err != nil || exit != 0 {
			t.Errorf("start %d: exit %d, %v", i+1, exit, err)
		}
		files := 0
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			return os.WriteFile(path, []byte("WAZ"), 0o600)
		})
		if err != nil || files != 1 {
			t.Errorf("start %d: %d files, %v", i+1, files, err)
		}
	}
}
