//go:build !js

package fsaccess

import (
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/osdir"
)

// plantLinks puts links into the folder "granted" of a source that can have them, and gives
// the names that pass through one.
func plantLinks(t testing.TB, disk FS) []string {
	f, ok := disk.(*Folder)
	if !ok {
		return nil
	}
	d, ok := f.c.(*osdir.Dir)
	if !ok {
		return nil
	}
	for name, to := range map[string]string{"l-up": "..", "l-outside": "../outside", "l-inside": "a", "l-self": ".", "l-twice": "l-up", "a/l-deep": "../../outside", "L-OUTSIDE": "l-outside"} {
		must(t, d.Root.Symlink(to, "granted/"+name))
	}
	return []string{"l-up/canary", "l-up/outside/canary", "l-outside/canary", "l-outside/new", "l-inside/file", "l-inside/new", "l-self/a/file", "l-self/l-self/l-up/canary",
		"l-twice/canary", "a/l-deep/canary", "a/l-deep/new/deep", "l-inside/l-deep/canary", "L-OUTSIDE/canary"}
}

func platformSources() map[string]func(testing.TB) FS {
	return map[string]func(testing.TB) FS{
		"os": func(t testing.TB) FS {
			d, err := OpenDir(t.TempDir(), DirOptions{NoSync: true})
			must(t, err)
			t.Cleanup(func() { d.Close() })
			return d
		},
	}
}
