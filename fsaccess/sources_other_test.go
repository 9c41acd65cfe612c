//go:build !js

package fsaccess

import "testing"

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
