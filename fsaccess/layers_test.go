package fsaccess

import (
	"errors"
	"os"
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

// A file of a sub-folder that may not be written is not opened for writing. Without the
// check, the program wrote it all and read the refusal at Close.
func TestSubChecksBeforeOpening(t *testing.T) {
	m := NewMemory(MemoryOptions{})
	must(t, m.MkdirAll("d", 0o755))
	must(t, m.WriteFile("d/f", []byte("old"), 0o644))
	d, err := Guard(m, protocol.FSPolicy{AllowRead: everywhere(t).AllowWrite}, GuardOptions{}).Sub("d")
	must(t, err)
	j := NewJournal(d.(*Folder), NewMemory(MemoryOptions{}), JournalOptions{})
	f, err := j.OpenFile("f", os.O_WRONLY, 0)
	if !errors.Is(err, ErrDenied) {
		t.Errorf("opened for writing: %v", err)
	}
	if err == nil {
		must(t, f.Close())
	}
}
