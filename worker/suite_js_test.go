package worker

import (
	"bytes"
	"errors"
	"testing"

	"github.com/bailey-go/bailey/internal/wasisuite"
)

// The programs of the wasi-testsuite pass, in a pool of each kind and with files of each kind.
func TestWASISuite(t *testing.T) {
	cases := wasisuite.Read(t, "..")
	for _, mode := range []FileMode{SnapshotFiles, LazyFiles} {
		if mode == LazyFiles && !live() {
			continue
		}
		t.Run([]string{"", "snapshot", "lazy"}[mode], func(t *testing.T) {
			each(t, Options{}, func(t *testing.T, p *Pool) {
				for _, c := range cases {
					t.Run(c.Name, func(t *testing.T) {
						var out, errs bytes.Buffer
						cmd := p.Command(testContext(t), compile(t, p, c.Wasm), c.Name, c.Args...)
						cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Files = c.Environ(), &out, &errs, mode
						if dir := c.Folder(t); dir != nil {
							cmd.FS = dir
						}
						exit, err := 0, cmd.Run()
						if e := (*ExitError)(nil); errors.As(err, &e) && e.Exited() {
							exit, err = e.ExitCode(), nil
						}
						c.Check(t, nil, exit, out.Bytes(), errs.Bytes(), err)
					})
				}
			})
		})
	}
}
