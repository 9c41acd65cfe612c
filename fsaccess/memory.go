package fsaccess

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// MemoryOptions configures a folder in memory. The zero value is a plain folder without
// limits. The other settings imitate less able platforms, so that programs can be tested
// against them natively.
type MemoryOptions struct {
	MaxBytes int64            // limit of all contents together; over it a write fails with [ErrQuota]; 0 means none
	FoldCase bool             // names that differ only by case are one file, as on macOS and Windows
	NoMove   bool             // a rename copies and then deletes, as in browsers without move()
	Staged   bool             // writes through a handle become visible at Sync or Close, as in browsers
	NoMode   bool             // permission bits and times cannot be set, and links cannot be made, as in browsers
	Now      func() time.Time // the clock, default time.Now
}

// NewMemory returns an empty folder in memory.
func NewMemory(o MemoryOptions) *Folder {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &memory{o: o, sh: core.NewShared()}
	m.root = &memNode{mode: fs.ModeDir | 0o777, mtime: o.Now(), kids: map[string]*memNode{}}
	return newFolder(m)
}

type memory struct {
	o    MemoryOptions
	sh   *core.Shared
	mu   sync.RWMutex // guards the tree and every node
	root *memNode
	used int64
}

type memNode struct {
	name  string // as first written
	mode  fs.FileMode
	mtime time.Time
	data  []byte
	link  string              // the target of a link
	kids  map[string]*memNode // nil for a file
}

func (n *memNode) info(name string) core.Info {
	if n.link != "" {
		return core.NewInfo(name, int64(len(n.link)), n.mode, n.mtime)
	}
	return core.NewInfo(name, int64(len(n.data)), n.mode, n.mtime)
}

func (m *memory) Features() core.Features {
	return core.Features{Source: "memory", Chmod: !m.o.NoMode, Chtimes: !m.o.NoMode, Links: !m.o.NoMode, DirMove: !m.o.NoMove,
		FileMove: !m.o.NoMove, Staged: m.o.Staged, FoldCase: m.o.FoldCase}
}

func (m *memory) Base() *core.Shared { return m.sh }

func (m *memory) key(base string) string {
	if m.o.FoldCase {
		return core.FoldName(base)
	}
	return base
}

// find returns the node of a name. It is called with mu held.
func (m *memory) find(name string) (*memNode, error) {
	n, rest := m.root, name
	if name == "." {
		return n, nil
	}
	for more := true; more; {
		if n.link != "" {
			return nil, core.LinkAt(name[:len(name)-len(rest)-1], n.link)
		}
		var part string
		part, rest, more = strings.Cut(rest, "/")
		if n.kids == nil {
			return nil, core.ErrNotDir
		}
		next := n.kids[m.key(part)]
		if next == nil {
			return nil, core.ErrNotExist
		}
		n = next
	}
	return n, nil
}

// entry is find for a name that is no link itself.
func (m *memory) entry(name string) (*memNode, error) {
	n, err := m.find(name)
	if err == nil && n.link != "" {
		return nil, core.LinkAt(name, n.link)
	}
	return n, err
}

// parent returns the folder that contains, or would contain, name.
func (m *memory) parent(name string) (*memNode, error) {
	p, err := m.entry(core.ParentOf(name))
	if err != nil {
		return nil, err
	}
	if p.kids == nil {
		return nil, core.ErrNotDir
	}
	return p, nil
}

func (m *memory) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err != nil {
		return nil, err
	}
	return n.info(name), nil
}

func (m *memory) ReadDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.entry(name)
	if err != nil {
		return nil, err
	}
	if n.kids == nil {
		return nil, core.ErrNotDir
	}
	list := make([]fs.DirEntry, 0, len(n.kids))
	for _, k := range n.kids {
		if !core.IsSwap(k.name) {
			list = append(list, k.info(k.name))
		}
	}
	core.SortEntries(list)
	return list, nil
}

func (m *memory) ReadFile(_ context.Context, name string) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.entry(name)
	if err != nil {
		return nil, err
	}
	if n.kids != nil {
		return nil, core.ErrIsDir
	}
	return append([]byte{}, n.data...), nil
}

// room counts bytes that are about to be added. It is called with mu held.
func (m *memory) room(add int64) error {
	if m.o.MaxBytes > 0 && add > 0 && m.used+add > m.o.MaxBytes {
		return ErrQuota
	}
	m.used += add
	return nil
}

func (m *memory) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	switch {
	case err == nil && n.link != "" && flag&(os.O_CREATE|os.O_EXCL) != os.O_CREATE|os.O_EXCL:
		return nil, core.LinkAt(name, n.link)
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, core.ErrExist
	case err == nil && n.kids != nil:
		if core.Writable(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0 {
			return nil, core.ErrIsDir
		}
		return &core.DirFile{Info: n.info(name), List: func() ([]fs.DirEntry, error) { return m.ReadDir(ctx, name) }}, nil
	case err == core.ErrNotExist && flag&os.O_CREATE != 0:
		if n, err = m.create(name, perm); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	if m.o.Staged && core.Writable(flag) {
		return core.NewStaged(ctx, m, name, flag, perm, func() (core.File, error) { return &memFile{m: m, n: n, name: name}, nil }, n.info(name))
	}
	if flag&os.O_TRUNC != 0 && len(n.data) > 0 {
		_ = m.room(-int64(len(n.data)))
		n.data, n.mtime = nil, m.o.Now()
	}
	return &memFile{m: m, n: n, name: name, flag: flag, Cursor: core.Cursor{Append: flag&os.O_APPEND != 0}}, nil
}

func (m *memory) create(name string, perm fs.FileMode) (*memNode, error) {
	p, err := m.parent(name)
	if err != nil {
		return nil, err
	}
	n := &memNode{name: core.BaseOf(name), mode: perm, mtime: m.o.Now()}
	if m.o.NoMode {
		n.mode = 0o666
	}
	p.kids[m.key(n.name)] = n
	p.mtime = n.mtime
	return n, nil
}

func (m *memory) Replace(_ context.Context, name string, perm fs.FileMode) (core.Replacement, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.entry(name)
	if err == nil && n.kids != nil {
		return nil, core.ErrIsDir
	}
	if err != nil && err != core.ErrNotExist {
		return nil, err
	}
	if _, err := m.parent(name); err != nil {
		return nil, err
	}
	return &memReplacement{m: m, name: name, perm: perm}, nil
}

type memReplacement struct {
	m    *memory
	name string
	perm fs.FileMode
	data []byte
	done bool
}

func (r *memReplacement) Write(p []byte) (int, error) {
	if max := r.m.o.MaxBytes; max > 0 && int64(len(r.data)+len(p)) > max {
		return 0, ErrQuota
	}
	r.data = append(r.data, p...)
	return len(p), nil
}

func (r *memReplacement) Commit(context.Context) error {
	if r.done {
		return fs.ErrClosed
	}
	r.done = true
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	n, err := r.m.entry(r.name)
	if err == nil && n.kids != nil {
		return core.ErrIsDir
	}
	if errors.Is(err, core.ErrLink) {
		return err
	}
	add := int64(len(r.data))
	if err == nil {
		add -= int64(len(n.data))
	}
	if err := r.m.room(add); err != nil {
		return err
	}
	if err != nil {
		if n, err = r.m.create(r.name, r.perm); err != nil {
			return err
		}
	}
	// Handles that are open on the old content see the new one, as with any file that is
	// written in place. No handle sees a mixture.
	n.data, n.mtime = r.data, r.m.o.Now()
	return nil
}

func (r *memReplacement) Abort() { r.done, r.data = true, nil }

func (m *memory) Mkdir(_ context.Context, name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(name); err == nil {
		return core.ErrExist
	} else if err != core.ErrNotExist {
		return err
	}
	n, err := m.create(name, perm)
	if err != nil {
		return err
	}
	if m.o.NoMode {
		n.mode = 0o777
	}
	n.mode |= fs.ModeDir
	n.kids = map[string]*memNode{}
	return nil
}

func (m *memory) Remove(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	if err != nil {
		return err
	}
	for _, k := range n.kids {
		if !core.IsSwap(k.name) { // hidden swap files of a killed program are removed too
			return core.ErrNotEmpty
		}
	}
	m.drop(name, n)
	return nil
}

func (m *memory) RemoveAll(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	if err != nil {
		return err
	}
	m.drop(name, n)
	return nil
}

func (m *memory) drop(name string, n *memNode) {
	p, _ := m.parent(name)
	delete(p.kids, m.key(core.BaseOf(name)))
	p.mtime = m.o.Now()
	_ = m.room(-n.total())
}

func (n *memNode) total() int64 {
	sum := int64(len(n.data))
	for k := range maps.Values(n.kids) {
		sum += k.total()
	}
	return sum
}

func (m *memory) Rename(ctx context.Context, from, to string) error {
	if m.o.NoMove {
		return core.CopyRename(ctx, m, from, to)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(from)
	if err != nil {
		return err
	}
	p, err := m.parent(to)
	if err != nil {
		return err
	}
	if old := p.kids[m.key(core.BaseOf(to))]; old != nil && old != n {
		_ = m.room(-old.total())
	}
	q, _ := m.parent(from)
	delete(q.kids, m.key(core.BaseOf(from)))
	n.name = core.BaseOf(to)
	p.kids[m.key(n.name)] = n
	p.mtime, q.mtime = m.o.Now(), m.o.Now()
	return nil
}

func (m *memory) Chmod(_ context.Context, name string, mode fs.FileMode) error {
	return m.adjust(name, func(n *memNode) { n.mode = n.mode.Type() | mode })
}

func (m *memory) Chtimes(_ context.Context, name string, _, mtime time.Time) error {
	if mtime.IsZero() { // as in package os, it stays unchanged
		return m.adjust(name, func(*memNode) {})
	}
	return m.adjust(name, func(n *memNode) { n.mtime = mtime })
}

func (m *memory) adjust(name string, do func(*memNode)) error {
	if m.o.NoMode {
		return core.ErrUnsupported
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.entry(name)
	if err == nil {
		do(n)
	}
	return err
}

func (m *memory) Symlink(_ context.Context, target, name string) error {
	if m.o.NoMode {
		return core.ErrUnsupported
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(name); err == nil {
		return core.ErrExist
	} else if err != core.ErrNotExist {
		return err
	}
	n, err := m.create(name, fs.ModeSymlink|0o777)
	if err == nil {
		n.link = target
	}
	return err
}

func (m *memory) ReadLink(_ context.Context, name string) (string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err == nil && n.link == "" {
		err = core.ErrInvalid
	}
	if err != nil {
		return "", err
	}
	return n.link, nil
}

// memFile is an open file. It follows its node even if that is renamed or removed.
type memFile struct {
	m    *memory
	n    *memNode
	name string
	flag int
	core.Cursor
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	return f.n.info(f.name), nil
}

func (f *memFile) length() (int64, error) {
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	return int64(len(f.n.data)), nil
}

func (f *memFile) Read(p []byte) (int, error) { return f.Cursor.ReadWith(p, f.ReadAt) }

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if !core.Readable(f.flag) {
		return 0, core.ErrBadFD
	}
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	if off >= int64(len(f.n.data)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(p []byte) (int, error) { return f.Cursor.WriteWith(p, f.length, f.WriteAt) }

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if !core.Writable(f.flag) {
		return 0, core.ErrBadFD
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if err := f.resize(max(int64(len(f.n.data)), off+int64(len(p)))); err != nil {
		return 0, err
	}
	return copy(f.n.data[off:], p), nil
}

func (f *memFile) resize(size int64) error {
	old := int64(len(f.n.data))
	if err := f.m.room(size - old); err != nil {
		return err
	}
	if size > old {
		f.n.data = append(f.n.data, make([]byte, size-old)...)
	}
	f.n.data = f.n.data[:size]
	f.n.mtime = f.m.o.Now()
	return nil
}

func (f *memFile) Truncate(size int64) error {
	if !core.Writable(f.flag) {
		return core.ErrInvalid
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.resize(size)
}

func (f *memFile) Seek(off int64, whence int) (int64, error) {
	return f.Cursor.SeekWith(off, whence, f.length)
}

func (f *memFile) ReadDir(int) ([]fs.DirEntry, error) { return nil, core.ErrNotDir }

func (f *memFile) Sync() error { return nil }

func (f *memFile) Close() error { return nil }
