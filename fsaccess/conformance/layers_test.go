package conformance

import (
	"maps"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

func memory(o fsaccess.MemoryOptions) *fsaccess.Folder { return fsaccess.NewMemory(o) }

// folders is every source, and every layer over every source.
func folders() map[string]func(testing.TB) fsaccess.FS {
	all := map[string]func(testing.TB) fsaccess.FS{
		"memory": func(testing.TB) fsaccess.FS { return memory(fsaccess.MemoryOptions{}) },
		"browserlike": func(testing.TB) fsaccess.FS {
			return memory(fsaccess.MemoryOptions{NoMove: true, Staged: true, NoMode: true})
		},
		"folding": func(testing.TB) fsaccess.FS { return memory(fsaccess.MemoryOptions{FoldCase: true}) },
	}
	maps.Copy(all, platform())
	for name, open := range maps.Clone(all) {
		for layer, put := range layers() {
			all[layer+" over "+name] = func(tb testing.TB) fsaccess.FS { return put(tb, open(tb)) }
		}
	}
	return all
}

func layers() map[string]func(testing.TB, fsaccess.FS) fsaccess.FS {
	guard := func(tb testing.TB, f fsaccess.FS) fsaccess.FS {
		everywhere, err := protocol.ParsePattern("**")
		if err != nil {
			tb.Fatal(err)
		}
		return fsaccess.Guard(f, protocol.FSPolicy{AllowWrite: []protocol.Pattern{everywhere}}, fsaccess.GuardOptions{})
	}
	empty := func() fsaccess.FS { return memory(fsaccess.MemoryOptions{}) }
	return map[string]func(testing.TB, fsaccess.FS) fsaccess.FS{
		"guard": guard,
		"journal": func(_ testing.TB, f fsaccess.FS) fsaccess.FS {
			return fsaccess.NewJournal(f, empty(), fsaccess.JournalOptions{})
		},
		"overlay": func(_ testing.TB, f fsaccess.FS) fsaccess.FS { return fsaccess.NewOverlay(f, empty()) },
		"stack": func(tb testing.TB, f fsaccess.FS) fsaccess.FS {
			return fsaccess.NewOverlay(fsaccess.NewJournal(guard(tb, f), empty(), fsaccess.JournalOptions{}), empty())
		},
	}
}
