//go:build !js

package fsaccess

import (
	"context"
	"io/fs"
	"slices"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/protocol"
)

// teller is a folder whose platform reports the given paths.
type teller struct {
	core.Core
	lists [][]string
	root  string // the root of the last Push
}

func (p *teller) Features() core.Features {
	ft := p.Core.Features()
	ft.Watch = true
	return ft
}

func (p *teller) Push(_ context.Context, root string, told chan<- []string) (func(), error) {
	p.root = root
	for _, l := range p.lists {
		told <- l
	}
	return func() {}, nil
}

// Every layer that reports Watch passes the platform's notifications on, under its own
// names, and without the names that it hides.
func TestLayersPassNotifications(t *testing.T) {
	hidden, err := protocol.ParsePattern("d/hidden")
	must(t, err)
	m := NewMemory(MemoryOptions{})
	must(t, m.MkdirAll("d/open", 0o755))
	put := map[string]func(f *Folder) FS{
		"journal": func(f *Folder) FS { return NewJournal(f, NewMemory(MemoryOptions{}), JournalOptions{}) },
		"guard": func(f *Folder) FS {
			return Guard(f, protocol.FSPolicy{DenyRead: []protocol.Pattern{hidden}}, GuardOptions{})
		},
		"read-only": func(f *Folder) FS { return newFolder(core.ReadOnly(f.c)) },
		"sub":       func(f *Folder) FS { s, _ := f.Sub("d"); return s.(FS) },
		"over a sub": func(f *Folder) FS {
			s, _ := f.Sub("d")
			return NewJournal(s.(FS), NewMemory(MemoryOptions{}), JournalOptions{})
		},
		"another own": func(f *Folder) FS { return struct{ FS }{f} },
		"own, told":   func(f *Folder) FS { return ownWatch{f} },
		"overlay":     func(f *Folder) FS { return NewOverlay(f, NewMemory(MemoryOptions{})) },
	}
	want := map[string][]string{"guard": {"d/open/a"}, "over a sub": {"hidden", "open/a"}, "another own": nil, "own, told": nil, "overlay": nil}
	for name, layer := range put {
		below := &teller{Core: m.c, lists: [][]string{{"d/hidden"}, {"d/open/a"}}}
		f := viewOf(layer(newFolder(below)))
		p, ok := f.c.(core.Pusher)
		if ok != f.c.Features().Watch {
			t.Errorf("%s: reports Watch %v, and notifies %v", name, f.c.Features().Watch, ok)
			continue
		}
		if !ok {
			continue
		}
		told := make(chan []string, 8)
		stop, err := p.Push(t.Context(), ".", told)
		must(t, err)
		expect, special := want[name]
		if !special {
			expect = []string{"d/hidden", "d/open/a"}
		}
		var got []string
		for len(got) < len(expect) {
			got = append(got, <-told...)
		}
		stop()
		if !slices.Equal(got, expect) || len(told) > 0 {
			t.Errorf("%s: told %q, want %q", name, got, expect)
		}
	}
}

// ownWatch is an FS of another package that claims notifications.
type ownWatch struct{ FS }

func (ownWatch) Features() Features { return Features{Watch: true} }

func (o ownWatch) Open(name string) (fs.File, error) { return o.FS.Open(name) }
