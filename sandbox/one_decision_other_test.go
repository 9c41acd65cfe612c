//go:build !js

package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
)

// linked returns a folder of the operating system with links that lead within it.
func linked(t testing.TB) fsaccess.FS {
	root := t.TempDir()
	for name, to := range map[string]string{"link": "private", "link.txt": "private/k.txt"} {
		must(t, os.Symlink(to, filepath.Join(root, name)))
	}
	dir, err := fsaccess.OpenDir(root, fsaccess.DirOptions{})
	must(t, err)
	t.Cleanup(func() { dir.Close() })
	return dir
}
