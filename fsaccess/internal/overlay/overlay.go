package overlay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// New returns an overlay over low that stores its changes in store.
func New(low, store core.Core) *Overlay {
	return &Overlay{low: low, up: core.Sub(store, "files"), store: store, sh: core.NewShared(), meta: make(map[string]*origin)}
}

// Overlay is a working copy of a folder.
type Overlay struct {
	low, up core.Core
	store   core.Core
	sh      *core.Shared

	mu     sync.RWMutex
	loaded bool
	meta   map[string]*origin
}

// origin is the state of a path in the lower folder when the overlay first changed it.
type origin struct {
	Path string `json:"path"`
	// Gone hides the lower folder's entry at this path and everything below it.
	Gone bool                    `json:"gone,omitempty"`
	Base core.Version            `json:"base,omitempty"` // version of a file
	Tree map[string]core.Version `json:"tree,omitzero"`  // versions of the files of a removed folder
}

func (o *Overlay) Base() *core.Shared { return o.sh }

func (o *Overlay) Features() core.Features {
	l, u := o.low.Features(), o.up.Features()
	return core.Features{Source: l.Source, ReadOnly: u.ReadOnly, Chmod: u.Chmod, Chtimes: u.Chtimes, Staged: true,
		FoldCase: l.FoldCase}
}

func metaName(name string) string { return "meta/" + core.HashOf([]byte(name))[:40] }

// load reads the meta files that an earlier run left in the upper folder.
func (o *Overlay) load(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.loaded {
		return nil
	}
	if err := core.Mkdirs(ctx, o.store, "files"); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	list, err := o.store.ReadDir(ctx, "meta")
	if err != nil && !core.NotExist(err) {
		return err
	}
	for _, e := range list {
		data, err := o.store.ReadFile(ctx, "meta/"+e.Name())
		if err != nil {
			return err
		}
		m := new(origin)
		if json.Unmarshal(data, m) != nil || core.CleanName(m.Path) != nil || metaName(m.Path) != "meta/"+e.Name() {
			return core.ErrCorrupt
		}
		o.meta[m.Path] = m
	}
	o.loaded = true
	return nil
}

func (o *Overlay) note(ctx context.Context, m *origin) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := core.WriteDeep(ctx, o.store, metaName(m.Path), data); err != nil {
		return err
	}
	o.mu.Lock()
	o.meta[m.Path] = m
	o.mu.Unlock()
	return nil
}

func (o *Overlay) unnote(ctx context.Context, name string) error {
	if err := o.store.Remove(ctx, metaName(name)); err != nil && !core.NotExist(err) {
		return err
	}
	o.mu.Lock()
	delete(o.meta, name)
	o.mu.Unlock()
	return nil
}

func (o *Overlay) of(name string) *origin {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.meta[name]
}

// hidden reports whether the lower folder's entry of this name is hidden.
func (o *Overlay) hidden(name string) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for {
		if m := o.meta[name]; m != nil && m.Gone {
			return true
		}
		if name == "." {
			return false
		}
		name = core.ParentOf(name)
	}
}

// side returns the folder that contains the visible entry of a name, and its information.
func (o *Overlay) side(ctx context.Context, name string) (core.Core, fs.FileInfo, error) {
	if err := o.load(ctx); err != nil {
		return nil, nil, err
	}
	fi, err := o.up.Stat(ctx, name)
	if err == nil && name != "." {
		return o.up, fi, nil
	}
	if err != nil && (!core.NotExist(err) || o.hidden(name)) {
		return nil, nil, err
	}
	fi, err = o.low.Stat(ctx, name)
	return o.low, fi, err
}

func (o *Overlay) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	_, fi, err := o.side(ctx, name)
	return fi, err
}

func (o *Overlay) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	_, fi, err := o.side(ctx, name)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, core.ErrNotDir
	}
	list, err := o.up.ReadDir(ctx, name)
	if err != nil && !core.NotExist(err) {
		return nil, err
	}
	if o.hidden(name) {
		return list, nil
	}
	low, err := o.low.ReadDir(ctx, name)
	if err != nil && !core.NotExist(err) && !errors.Is(err, core.ErrNotDir) {
		return nil, err
	}
	above := make(map[string]bool, len(list))
	for _, e := range list {
		above[e.Name()] = true
	}
	for _, e := range low {
		if m := o.of(core.Join(name, e.Name())); !above[e.Name()] && (m == nil || !m.Gone) {
			list = append(list, e)
		}
	}
	core.SortEntries(list)
	return list, nil
}

func (o *Overlay) ReadFile(ctx context.Context, name string) ([]byte, error) {
	c, fi, err := o.side(ctx, name)
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return nil, core.ErrIsDir
	}
	return c.ReadFile(ctx, name)
}

func (o *Overlay) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	c, fi, err := o.side(ctx, name)
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, core.ErrExist
	case err == nil && fi.IsDir():
		if core.Writable(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0 {
			return nil, core.ErrIsDir
		}
		return &core.DirFile{Info: fi,
			List:  func() ([]fs.DirEntry, error) { return o.ReadDir(ctx, name) },
			Pages: func() (core.Pager, error) { return o.pages(ctx, name) }}, nil
	case core.NotExist(err) && flag&os.O_CREATE != 0:
		if err := core.WriteWhole(ctx, o, name, nil, perm); err != nil {
			return nil, err
		}
		if c, fi, err = o.side(ctx, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	if flag&os.O_TRUNC != 0 && !core.Writable(flag) {
		if err := core.WriteWhole(ctx, o, name, nil, perm); err != nil {
			return nil, err
		}
		c = o.up
	}
	read := func() (core.File, error) { return c.Open(ctx, name, os.O_RDONLY, 0) }
	if !core.Writable(flag) {
		return read()
	}
	return core.NewStaged(ctx, o, name, flag, perm, read, fi)
}

// pages is readDir as entries are found: first the few changed ones, then the rest.
func (o *Overlay) pages(ctx context.Context, name string) (core.Pager, error) {
	list, err := o.up.ReadDir(ctx, name)
	if err != nil && !core.NotExist(err) {
		return nil, err
	}
	if o.hidden(name) {
		return core.Listed(list, nil), nil
	}
	fi, err := o.low.Stat(ctx, name)
	if core.NotExist(err) || errors.Is(err, core.ErrNotDir) || err == nil && !fi.IsDir() {
		return core.Listed(list, nil), nil
	}
	if err != nil {
		return nil, err
	}
	low, err := core.PagesOf(ctx, o.low, name)
	if err != nil {
		return nil, err
	}
	above := make(map[string]bool, len(list))
	for _, e := range list {
		above[e.Name()] = true
	}
	return core.Listed(list, core.Sift(low, func(e fs.DirEntry) bool {
		m := o.of(core.Join(name, e.Name()))
		return !above[e.Name()] && (m == nil || !m.Gone)
	})), nil
}

// entries is readDir with sizes and times, from the packed listings of both folders.
func (o *Overlay) entries(ctx context.Context, dir string) ([]core.Entry, error) {
	_, fi, err := o.side(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, core.ErrNotDir
	}
	list := func(c core.Core) (out []core.Entry, err error) {
		err = core.ListCore(ctx, c, dir, core.PageSize, func(page []core.Entry) bool {
			out = append(out, page...)
			return true
		})
		return out, err
	}
	up, err := list(o.up)
	if err != nil && !core.NotExist(err) {
		return nil, err
	}
	if o.hidden(dir) {
		return up, nil
	}
	low, err := list(o.low)
	if err != nil && !core.NotExist(err) && !errors.Is(err, core.ErrNotDir) {
		return nil, err
	}
	above := make(map[string]bool, len(up))
	for _, e := range up {
		above[e.Path] = true
	}
	for _, e := range low {
		if m := o.of(e.Path); !above[e.Path] && (m == nil || !m.Gone) {
			up = append(up, e)
		}
	}
	slices.SortFunc(up, func(a, b core.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return up, nil
}

func (o *Overlay) ListPages(ctx context.Context, dir string, page int, yield func([]core.Entry) bool) error {
	entries, err := o.entries(ctx, dir)
	if err != nil {
		return err
	}
	for list := range slices.Chunk(entries, page) {
		if !yield(list) {
			return core.ErrStop
		}
	}
	return nil
}

func (o *Overlay) WalkPages(ctx context.Context, root string, page int, yield func([]core.Entry) bool) error {
	buf := make([]core.Entry, 0, page)
	var visit func(dir string) error
	visit = func(dir string) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		entries, err := o.entries(ctx, dir)
		if err != nil && dir == root {
			return err
		}
		if err != nil {
			entries = []core.Entry{{Path: dir, Size: core.BadFolder, Dir: true}}
		}
		for _, e := range entries {
			if buf = append(buf, e); len(buf) >= page {
				if !yield(buf) {
					return core.ErrStop
				}
				buf = buf[:0]
			}
			if e.Dir && e.Size != core.BadFolder {
				if err := visit(e.Path); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := visit(root); err != nil {
		return err
	}
	if len(buf) > 0 && !yield(buf) {
		return core.ErrStop
	}
	return nil
}

func (o *Overlay) Keeping(ctx context.Context) context.Context {
	return core.Keeping(core.Keeping(ctx, o.low), o.up)
}

// ReadMany reads each file from the folder that contains it.
func (o *Overlay) ReadMany(ctx context.Context, files []core.Entry) ([][]byte, error) {
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	above := map[string]bool{} // paths in the folders of files that the upper folder has
	asked := map[string]bool{}
	var parts [2][]core.Entry
	var at [2][]int
	for i, e := range files {
		if dir := core.ParentOf(e.Path); !asked[dir] {
			asked[dir] = true
			list, err := o.up.ReadDir(ctx, dir)
			if err != nil && !core.NotExist(err) {
				return nil, err
			}
			for _, x := range list {
				above[core.Join(dir, x.Name())] = true
			}
		}
		k := 0
		if !above[e.Path] {
			if o.hidden(e.Path) {
				continue // removed since it was listed
			}
			k = 1
		}
		parts[k], at[k] = append(parts[k], e), append(at[k], i)
	}
	out := make([][]byte, len(files))
	for k, c := range []core.Core{o.up, o.low} {
		if len(parts[k]) == 0 {
			continue
		}
		read, err := core.ReadMany(ctx, c, parts[k])
		if err != nil || len(read) != len(parts[k]) {
			continue // the caller reads these one by one
		}
		for n, i := range at[k] {
			out[i] = read[n]
		}
	}
	return out, nil
}
