//go:build !js

package conformance

import (
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
)

func zeroUmask(t *testing.T) {
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
}

func platform() map[string]func(testing.TB) fsaccess.FS {
	return map[string]func(testing.TB) fsaccess.FS{
		"os": func(tb testing.TB) fsaccess.FS {
			d, err := fsaccess.OpenDir(tb.TempDir(), fsaccess.DirOptions{NoSync: true})
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(func() { d.Close() })
			return d
		},
	}
}
