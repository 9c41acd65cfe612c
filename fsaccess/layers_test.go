package fsaccess

import "testing"

// everyFS is every source, and every layer over every source.
func everyFS(t testing.TB) map[string]func(testing.TB) FS {
	all := make(map[string]func(testing.TB) FS)
	for name, open := range sources(t) {
		all[name] = open
	}
	return all
}
