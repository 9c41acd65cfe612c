package fsaccess

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
)

// Overlay is a working copy of a folder. Reads come from the folder below (lower) unless a
// path was changed, changes go to a second folder (upper), and [Overlay.Apply] copies the
// wanted changes to lower. Upper may outlive the program: an Overlay opened again over the
// same lower and upper shows the same changes. Upper must not be inside lower, and it
// serves one overlay. It contains:
//
//	files/…      new contents
//	meta/<hash>  the version of a path in lower when it was first changed or removed
type Overlay struct {
	*Folder
	o *overlay
}

// NewOverlay returns an overlay over lower that stores changes in upper. If lower is not an
// [FS], it is read-only, and Apply returns [ErrReadOnly].
func NewOverlay(lower fs.FS, upper FS) *Overlay {
	ctx := context.Background()
	var c core
	if l, ok := lower.(FS); ok {
		v := viewOf(l)
		c, ctx = v.rooted(), v.ctx
	} else {
		c = &foreign{r: lower, sh: newShared(), source: "iofs"}
	}
	up := viewOf(upper).rooted()
	o := &overlay{low: c, up: &subCore{up, "files"}, store: up, sh: newShared(), meta: make(map[string]*origin)}
	return &Overlay{&Folder{view{c: o, dir: ".", ctx: ctx}}, o}
}

type overlay struct {
	low, up core
	store   core
	sh      *shared

	mu     sync.RWMutex
	loaded bool
	meta   map[string]*origin
}

// origin is the state of a path in the lower folder when the overlay first changed it.
type origin struct {
	Path string `json:"path"`
	// Gone hides the lower folder's entry at this path and everything below it.
	Gone bool               `json:"gone,omitempty"`
	Base Version            `json:"base,omitempty"` // version of a file
	Tree map[string]Version `json:"tree,omitzero"`  // versions of the files of a removed folder
}

func (o *overlay) base() *shared { return o.sh }

func (o *overlay) features() Features {
	l, u := o.low.features(), o.up.features()
	return Features{Source: l.Source, ReadOnly: u.ReadOnly, Chmod: u.Chmod, Chtimes: u.Chtimes, Staged: true,
		FoldCase: l.FoldCase}
}

func metaName(name string) string { return "meta/" + hashOf([]byte(name))[:40] }

// load reads the meta files that an earlier run left in the upper folder.
func (o *overlay) load(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.loaded {
		return nil
	}
	if err := mkdirs(ctx, o.store, "files"); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	list, err := o.store.readDir(ctx, "meta")
	if err != nil && !notExist(err) {
		return err
	}
	for _, e := range list {
		data, err := o.store.readFile(ctx, "meta/"+e.Name())
		if err != nil {
			return err
		}
		m := new(origin)
		if json.Unmarshal(data, m) != nil || cleanName(m.Path) != nil || metaName(m.Path) != "meta/"+e.Name() {
			return ErrCorrupt
		}
		o.meta[m.Path] = m
	}
	o.loaded = true
	return nil
}

func (o *overlay) note(ctx context.Context, m *origin) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := (journalStore{o.store}).write(ctx, metaName(m.Path), data); err != nil {
		return err
	}
	o.mu.Lock()
	o.meta[m.Path] = m
	o.mu.Unlock()
	return nil
}

func (o *overlay) unnote(ctx context.Context, name string) error {
	if err := o.store.remove(ctx, metaName(name)); err != nil && !notExist(err) {
		return err
	}
	o.mu.Lock()
	delete(o.meta, name)
	o.mu.Unlock()
	return nil
}

func (o *overlay) of(name string) *origin {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.meta[name]
}

// hidden reports whether the lower folder's entry of this name is hidden.
func (o *overlay) hidden(name string) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for {
		if m := o.meta[name]; m != nil && m.Gone {
			return true
		}
		if name == "." {
			return false
		}
		name = parentOf(name)
	}
}

// side returns the folder that contains the visible entry of a name, and its information.
func (o *overlay) side(ctx context.Context, name string) (core, fs.FileInfo, error) {
	if err := o.load(ctx); err != nil {
		return nil, nil, err
	}
	fi, err := o.up.stat(ctx, name)
	if err == nil && name != "." {
		return o.up, fi, nil
	}
	if err != nil && (!notExist(err) || o.hidden(name)) {
		return nil, nil, err
	}
	fi, err = o.low.stat(ctx, name)
	return o.low, fi, err
}

func (o *overlay) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	_, fi, err := o.side(ctx, name)
	return fi, err
}

func (o *overlay) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	_, fi, err := o.side(ctx, name)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, errNotDir
	}
	list, err := o.up.readDir(ctx, name)
	if err != nil && !notExist(err) {
		return nil, err
	}
	if o.hidden(name) {
		return list, nil
	}
	low, err := o.low.readDir(ctx, name)
	if err != nil && !notExist(err) && !errors.Is(err, errNotDir) {
		return nil, err
	}
	above := make(map[string]bool, len(list))
	for _, e := range list {
		above[e.Name()] = true
	}
	for _, e := range low {
		if m := o.of(join(name, e.Name())); !above[e.Name()] && (m == nil || !m.Gone) {
			list = append(list, e)
		}
	}
	sortEntries(list)
	return list, nil
}

func (o *overlay) readFile(ctx context.Context, name string) ([]byte, error) {
	c, fi, err := o.side(ctx, name)
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return nil, errIsDir
	}
	return c.readFile(ctx, name)
}

func (o *overlay) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	c, fi, err := o.side(ctx, name)
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, errExist
	case err == nil && fi.IsDir():
		if writable(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0 {
			return nil, errIsDir
		}
		return &dirFile{info: fi,
			list:  func() ([]fs.DirEntry, error) { return o.readDir(ctx, name) },
			pages: func() (pager, error) { return o.pages(ctx, name) }}, nil
	case notExist(err) && flag&os.O_CREATE != 0:
		if err := writeWhole(ctx, o, name, nil, perm); err != nil {
			return nil, err
		}
		if c, fi, err = o.side(ctx, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	if flag&os.O_TRUNC != 0 && !writable(flag) {
		if err := writeWhole(ctx, o, name, nil, perm); err != nil {
			return nil, err
		}
		c = o.up
	}
	read := func() (File, error) { return c.open(ctx, name, os.O_RDONLY, 0) }
	if !writable(flag) {
		return read()
	}
	return newStaged(ctx, o, name, flag, perm, read, fi)
}
