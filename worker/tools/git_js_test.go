package tools

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/gitlines"
	"github.com/bailey-go/bailey/internal/needs"
	"github.com/bailey-go/bailey/worker"
)

// The sample of git's command lines has the answers of the machine's git in a page, too.
func TestGitSample(t *testing.T) {
	if _, err := os.Stat(filepath.Join("..", "..", "build", "tools", "git.wasm")); err != nil {
		needs.Missing(t, "git was not built: there is no clang for WASI")
	}
	files, wants := gitlines.Sample(t, filepath.Join("..", "..", "internal", "gitlines", "testdata"))
	folder := fsaccess.NewMemory(fsaccess.MemoryOptions{NoMode: true})
	for name, text := range files {
		if strings.HasSuffix(name, "/") {
			must(t, folder.MkdirAll(path.Clean(name), 0o755))
			continue
		}
		must(t, folder.MkdirAll(path.Dir(name), 0o755))
		must(t, folder.WriteFile(name, []byte(text), 0o644))
	}
	pool := newPool(t, worker.Options{Spare: 2})
	m := open(t, pool, "git")
	for _, w := range wants {
		cmd := pool.Command(testContext(t), m, "git", gitlines.Words(w.Line)...)
		var out, errs bytes.Buffer
		cmd.FS, cmd.Stdout, cmd.Stderr, cmd.Env = folder, &out, &errs, append(gitlines.Env, "PWD=/r")
		err := cmd.Run()
		var exit *worker.ExitError
		if err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
			t.Fatalf("%s: %v\n%s", w.Line, err, errs.String())
		}
		if code := cmd.ProcessState.ExitCode(); out.String() != w.Output() || code != w.Code {
			t.Errorf("%s: %q %d, want %q %d\n%s", w.Line, out.String(), code, w.Output(), w.Code, errs.String())
		}
	}
}
