package fsaccess

import (
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

// everywhere allows to write every path.
func everywhere(t testing.TB) protocol.FSPolicy {
	p, err := protocol.ParsePattern("**")
	must(t, err)
	return protocol.FSPolicy{AllowWrite: []protocol.Pattern{p}}
}

// layer puts a layer over a source.
type layer func(t testing.TB, f FS) FS

func layers() map[string]layer {
	return map[string]layer{
		"journal": func(t testing.TB, f FS) FS {
			return NewJournal(f, NewMemory(MemoryOptions{}), JournalOptions{})
		},
		"guard": func(t testing.TB, f FS) FS {
			return Guard(f, everywhere(t), GuardOptions{})
		},
		"whole stack": func(t testing.TB, f FS) FS {
			return NewOverlay(NewJournal(Guard(f, everywhere(t), GuardOptions{}), NewMemory(MemoryOptions{}), JournalOptions{}), NewMemory(MemoryOptions{}))
		},
		"overlay": func(t testing.TB, f FS) FS {
			return NewOverlay(f, NewMemory(MemoryOptions{}))
		},
	}
}

// everyFS is every source, and every layer over every source.
func everyFS(t testing.TB) map[string]func(testing.TB) FS {
	all := make(map[string]func(testing.TB) FS)
	for name, open := range sources(t) {
		all[name] = open
		for lname, put := range layers() {
			all[lname+" over "+name] = func(t testing.TB) FS { return put(t, open(t)) }
		}
	}
	return all
}
