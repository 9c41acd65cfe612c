package fsaccess

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// MemoryOptions configures a folder in memory. The zero value is a plain folder without
// limits. The other settings imitate less able platforms, so that programs can be tested
// against them natively.
type MemoryOptions struct {
	MaxBytes int64            // limit of all contents together; over it a write fails with [ErrQuota]; 0 means none
	FoldCase bool             // names that differ only by case are one file, as on macOS and Windows
	NoMove   bool             // a rename copies and then deletes, as in browsers without move()
	Staged   bool             // writes through a handle become visible at Sync or Close, as in browsers
	NoMode   bool             // permission bits and times cannot be set, as in browsers
	Now      func() time.Time // the clock, default time.Now
}

// NewMemory returns an empty folder in memory.
func NewMemory(o MemoryOptions) *Folder {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &memory{o: o, sh: newShared()}
	m.root = &memNode{mode: fs.ModeDir | 0o777, mtime: o.Now(), kids: map[string]*memNode{}}
	return newFolder(m)
}

type memory struct {
	o    MemoryOptions
	sh   *shared
	mu   sync.RWMutex // guards the tree and every node
	root *memNode
	used int64
}

type memNode struct {
	name  string // as first written
	mode  fs.FileMode
	mtime time.Time
	data  []byte
	kids  map[string]*memNode // nil for a file
}

func (n *memNode) info(name string) Info {
	return Info{name: baseOf(name), size: int64(len(n.data)), mode: n.mode, mtime: n.mtime}
}

func (m *memory) features() Features {
	return Features{Source: "memory", Chmod: !m.o.NoMode, Chtimes: !m.o.NoMode, DirMove: !m.o.NoMove,
		FileMove: !m.o.NoMove, Staged: m.o.Staged, FoldCase: m.o.FoldCase}
}

func (m *memory) base() *shared { return m.sh }

func (m *memory) key(base string) string {
	if m.o.FoldCase {
		return foldName(base)
	}
	return base
}

// find returns the node of a name. It is called with mu held.
func (m *memory) find(name string) (*memNode, error) {
	n := m.root
	if name == "." {
		return n, nil
	}
	for more := true; more; {
		var part string
		part, name, more = strings.Cut(name, "/")
		if n.kids == nil {
			return nil, errNotDir
		}
		next := n.kids[m.key(part)]
		if next == nil {
			return nil, errNotExist
		}
		n = next
	}
	return n, nil
}

// parent returns the folder that contains, or would contain, name.
func (m *memory) parent(name string) (*memNode, error) {
	p, err := m.find(parentOf(name))
	if err != nil {
		return nil, err
	}
	if p.kids == nil {
		return nil, errNotDir
	}
	return p, nil
}

func (m *memory) stat(_ context.Context, name string) (fs.FileInfo, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err != nil {
		return nil, err
	}
	return n.info(name), nil
}

func (m *memory) readDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err != nil {
		return nil, err
	}
	if n.kids == nil {
		return nil, errNotDir
	}
	list := make([]fs.DirEntry, 0, len(n.kids))
	for _, k := range n.kids {
		if !isSwap(k.name) {
			list = append(list, k.info(k.name))
		}
	}
	sortEntries(list)
	return list, nil
}

func (m *memory) readFile(_ context.Context, name string) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err != nil {
		return nil, err
	}
	if n.kids != nil {
		return nil, errIsDir
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

func (m *memory) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, errExist
	case err == nil && n.kids != nil:
		if writable(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0 {
			return nil, errIsDir
		}
		return &dirFile{info: n.info(name), list: func() ([]fs.DirEntry, error) { return m.readDir(ctx, name) }}, nil
	case err == errNotExist && flag&os.O_CREATE != 0:
		if n, err = m.create(name, perm); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	if m.o.Staged && writable(flag) {
		return newStaged(ctx, m, name, flag, perm, func() (File, error) { return &memFile{m: m, n: n, name: name}, nil }, n.info(name))
	}
	if flag&os.O_TRUNC != 0 && len(n.data) > 0 {
		_ = m.room(-int64(len(n.data)))
		n.data, n.mtime = nil, m.o.Now()
	}
	return &memFile{m: m, n: n, name: name, flag: flag, cursor: cursor{append: flag&os.O_APPEND != 0}}, nil
}

func (m *memory) create(name string, perm fs.FileMode) (*memNode, error) {
	p, err := m.parent(name)
	if err != nil {
		return nil, err
	}
	n := &memNode{name: baseOf(name), mode: perm, mtime: m.o.Now()}
	if m.o.NoMode {
		n.mode = 0o666
	}
	p.kids[m.key(n.name)] = n
	p.mtime = n.mtime
	return n, nil
}

func (m *memory) replace(_ context.Context, name string, perm fs.FileMode) (replacement, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err == nil && n.kids != nil {
		return nil, errIsDir
	}
	if err != nil && err != errNotExist {
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

func (r *memReplacement) commit(context.Context) error {
	if r.done {
		return fs.ErrClosed
	}
	r.done = true
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	n, err := r.m.find(r.name)
	if err == nil && n.kids != nil {
		return errIsDir
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

func (r *memReplacement) abort() { r.done, r.data = true, nil }

func (m *memory) mkdir(_ context.Context, name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(name); err == nil {
		return errExist
	} else if err != errNotExist {
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

func (m *memory) remove(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	if err != nil {
		return err
	}
	for _, k := range n.kids {
		if !isSwap(k.name) { // hidden swap files of a killed program are removed too
			return errNotEmpty
		}
	}
	m.drop(name, n)
	return nil
}

func (m *memory) removeAll(_ context.Context, name string) error {
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
	delete(p.kids, m.key(baseOf(name)))
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

func (m *memory) rename(ctx context.Context, from, to string) error {
	if m.o.NoMove {
		return copyRename(ctx, m, from, to)
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
	if old := p.kids[m.key(baseOf(to))]; old != nil && old != n {
		_ = m.room(-old.total())
	}
	q, _ := m.parent(from)
	delete(q.kids, m.key(baseOf(from)))
	n.name = baseOf(to)
	p.kids[m.key(n.name)] = n
	p.mtime, q.mtime = m.o.Now(), m.o.Now()
	return nil
}

func (m *memory) chmod(_ context.Context, name string, mode fs.FileMode) error {
	return m.adjust(name, func(n *memNode) { n.mode = n.mode.Type() | mode })
}

func (m *memory) chtimes(_ context.Context, name string, _, mtime time.Time) error {
	if mtime.IsZero() { // as in package os, it stays unchanged
		return m.adjust(name, func(*memNode) {})
	}
	return m.adjust(name, func(n *memNode) { n.mtime = mtime })
}

func (m *memory) adjust(name string, do func(*memNode)) error {
	if m.o.NoMode {
		return errUnsupported
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	if err == nil {
		do(n)
	}
	return err
}

func sortEntries(list []fs.DirEntry) {
	slices.SortFunc(list, func(a, b fs.DirEntry) int {
		if a.Name() < b.Name() {
			return -1
		}
		return 1
	})
}

func writable(flag int) bool { return flag&(os.O_WRONLY|os.O_RDWR) != 0 }
func readable(flag int) bool { return flag&os.O_WRONLY == 0 }
