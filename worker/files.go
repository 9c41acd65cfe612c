package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// WriteFS is a file system that a program may change. Its methods are those of package os. A
// file system without them is mounted read-only. Every folder of fsaccess implements WriteFS,
// and so do its layers, so that a guard and a journal also apply to programs.
//
// It may also have a method UpdateFile(name string, perm fs.FileMode, edit func(old []byte)
// ([]byte, error)) error that compares and replaces a file in one step, as every folder of
// fsaccess has. The changes of a program are then written back without a gap between the
// comparison and the write. Without it another writer may change the file in this gap.
// Removing and renaming have no such method: the file is compared just before.
//
// A program may make symbolic and hard links and follow them, as its tree is its own. Links
// that are left at its end are made by the methods Symlink and Link of [os.Root], if the file
// system has them. Otherwise nothing is written back, and the error names the link and wraps
// [errors.ErrUnsupported]. A symbolic link that may lead out of the folder is refused likewise.
type WriteFS interface {
	fs.FS
	WriteFile(name string, data []byte, perm fs.FileMode) error
	Mkdir(name string, perm fs.FileMode) error
	Remove(name string) error
	Rename(oldname, newname string) error
}

// updateFS is a [WriteFS] with UpdateFile.
type updateFS interface {
	WriteFS
	// UpdateFile replaces the content of a file by the result of edit. old is nil if the file
	// does not exist. If edit returns an error, nothing is written and UpdateFile returns that
	// error.
	UpdateFile(name string, perm fs.FileMode, edit func(old []byte) ([]byte, error)) error
}

// FileMode is how a program gets its files.
type FileMode uint8

const (
	// AutoFiles copies small folders before the start (up to 1,000 entries and 8 MiB). Larger
	// folders are lazy if the browser has JavaScript Promise Integration. It is the default.
	AutoFiles FileMode = iota
	// SnapshotFiles copies all files before the start.
	SnapshotFiles
	// LazyFiles requests folders and files from the host when the program opens them. It needs
	// JavaScript Promise Integration. Without it [Cmd.Wait] returns [errors.ErrUnsupported].
	LazyFiles
)

const (
	autoEntries = 1000
	autoBytes   = 8 << 20
)

// mount is one file system of a run.
type mount struct {
	guest    string
	fsys     fs.FS
	readOnly bool
	lazy     bool
	copied   []entry // the entries of a snapshot
	base     map[string]baseEntry
}

// baseEntry is the state of a file or folder that the program was shown.
type baseEntry struct {
	dir   bool
	data  []byte // content of a file that the program has read
	known bool   // data is valid
	size  int64
	mtime time.Time
}

// shown returns the entries that the program was shown, by name.
func (m *mount) shown() map[string]baseEntry {
	for _, e := range m.copied {
		m.base[e.path] = e.baseEntry
	}
	m.copied = nil
	return m.base
}

// files are the mounts of a run, with the counts of copied entries and bytes.
type files struct {
	mounts []*mount
	limits Limits
	bytes  int64
	count  int
}

// newFiles checks the mounts of a command and returns them sorted, so that the longer of two
// nested paths comes later. A C library picks the longest path that fits.
func newFiles(root fs.FS, more map[string]fs.FS, l Limits) (*files, error) {
	f := &files{limits: l}
	add := func(guest string, fsys fs.FS) {
		_, ok := fsys.(WriteFS)
		f.mounts = append(f.mounts, &mount{guest: guest, fsys: fsys, readOnly: !ok, base: map[string]baseEntry{}})
	}
	if root != nil {
		add("/", root)
	}
	names := make([]string, 0, len(more))
	for name := range more {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if more[name] == nil || !path.IsAbs(name) || path.Clean(name) != name || (name == "/" && root != nil) || strings.Contains(name, "\x00") {
			return nil, fmt.Errorf("worker: Cmd.Mounts: %q: want a clean absolute path that is not taken, and a file system", name)
		}
		add(name, more[name])
	}
	if len(f.mounts) > 100 {
		return nil, errors.New("worker: Cmd.Mounts: at most 100")
	}
	return f, nil
}

var errTooMany = errors.New("too many for a copy")

// pack decides which mounts are lazy, and returns the message from which the worker builds the
// trees.
func (f *files) pack(ctx context.Context, mode FileMode, canWait bool) ([]byte, error) {
	var p jsx.Packer
	p.U32(uint32(len(f.mounts)))
	for _, m := range f.mounts {
		var list []entry
		var err error
		switch {
		case mode == LazyFiles && !canWait:
			return nil, fmt.Errorf("worker: Cmd.Files: this browser has no JavaScript Promise Integration, so files can't be lazy: %w", errors.ErrUnsupported)
		case mode == LazyFiles:
			m.lazy = true
		case mode == AutoFiles && canWait:
			small := f.limits.narrow(Limits{Entries: autoEntries, Snapshot: autoBytes})
			if list, err = f.snapshot(ctx, m, small); errors.Is(err, errTooMany) {
				m.lazy, err = true, nil
			}
		default:
			list, err = f.snapshot(ctx, m, f.limits)
		}
		if err != nil {
			if errors.Is(err, errTooMany) {
				return nil, protocol.Errorf(protocol.ErrResourceLimit, "mount", m.guest, "%w: the limits are %d entries and %d bytes; mount less, raise Limits.Snapshot and Limits.Entries, or use LazyFiles",
					err, f.limits.Entries, f.limits.Snapshot)
			}
			return nil, fmt.Errorf("worker: mount %s: %w", m.guest, err)
		}
		flags := uint8(0)
		if m.readOnly {
			flags |= 1
		}
		if m.lazy {
			flags |= 2
		}
		p.String(m.guest)
		p.U8(flags)
		if !m.lazy {
			m.copied = list
			packEntries(&p, list)
		}
	}
	return p.Packed(), nil
}

// entry is a row of a listing.
type entry struct {
	path   string
	parent int // the row of its folder, counted from 1; 0 is the listed folder itself
	baseEntry
}

// packEntries writes a listing: the number of entries, all names in one string, a row for each
// entry, and the content of the known files. The names are one string because the worker can
// decode that at once.
func packEntries(p *jsx.Packer, list []entry) {
	names, bytes := 0, 0
	for _, e := range list {
		names += len(e.path) - strings.LastIndexByte(e.path, '/')
		bytes += len(e.data)
	}
	p.Grow(8 + names + 21*len(list) + bytes)
	p.U32(uint32(len(list)))
	p.U32(uint32(names))
	for _, e := range list {
		p.Text(e.path[strings.LastIndexByte(e.path, '/')+1:])
		p.U8(0)
	}
	for _, e := range list {
		kind := uint8(0)
		if e.dir {
			kind = 1
		}
		p.U32(uint32(e.parent))
		p.U8(kind)
		p.F64(float64(e.mtime.UnixMicro()) / 1000)
		p.F64(float64(e.size))
	}
	for _, e := range list {
		p.Append(e.data)
	}
}

// snapshot reads a whole tree. A folder comes before its entries.
func (f *files) snapshot(ctx context.Context, m *mount, l Limits) (list []entry, err error) {
	all := int64(0)
	var walk func(dir string, row int) error
	walk = func(dir string, row int) error {
		entries, err := fs.ReadDir(m.fsys, dir)
		if err != nil {
			return err
		}
		if len(entries) <= l.Entries {
			list = slices.Grow(list, len(entries))
		}
		for _, d := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			e, ok := newEntry(m.fsys, dir, d)
			if !ok {
				continue
			}
			if f.count+len(list) >= l.Entries {
				return errTooMany
			}
			e.parent = row
			if e.dir {
				list = append(list, e)
				if err := walk(e.path, len(list)); err != nil {
					return err
				}
				continue
			}
			if f.bytes+all+e.size > l.Snapshot {
				return errTooMany
			}
			if e.data, err = fs.ReadFile(m.fsys, e.path); err != nil {
				return err
			}
			e.size, e.known = int64(len(e.data)), true
			if all += e.size; f.bytes+all > l.Snapshot {
				return errTooMany
			}
			list = append(list, e)
		}
		return nil
	}
	if err := walk(".", 0); err != nil {
		return nil, err
	}
	f.bytes += all
	f.count += len(list)
	return list, nil
}

// newEntry returns the entry that a program is shown for d. It reports false for a link, for a
// file that is not regular, and for a name with a NUL byte, which no program can pass. Links
// are left out because the rules of the folder apply to the target's own name.
func newEntry(fsys fs.FS, dir string, d fs.DirEntry) (e entry, ok bool) {
	e.path = d.Name()
	if dir != "." {
		e.path = dir + "/" + e.path
	}
	info, ok := entryInfo(d)
	if !ok || strings.IndexByte(e.path, 0) >= 0 {
		return e, false
	}
	e.dir, e.mtime = info.IsDir(), info.ModTime()
	if e.size = info.Size(); e.dir {
		e.size = 0
	}
	return e, true
}

// entryInfo describes d and reports whether it is a file or a folder.
func entryInfo(d fs.DirEntry) (fs.FileInfo, bool) {
	info, err := d.Info()
	return info, err == nil && (info.IsDir() || info.Mode().IsRegular())
}

// link returns an error if name leads through a link. Links are not shown, so a program can
// only have guessed such a name. The folders of fsaccess follow no links. os.DirFS does, and
// implements [fs.ReadLinkFS].
func (m *mount) link(name string) error {
	l, ok := m.fsys.(fs.ReadLinkFS)
	if !ok {
		return nil
	}
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		if info, err := l.Lstat(name[:i]); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &fs.PathError{Op: "open", Path: name[:i], Err: fs.ErrNotExist}
		}
	}
	return nil
}

// list returns the listing of a folder of a lazy mount, when the program opens it.
func (f *files) list(m *mount, dir string) ([]byte, error) {
	if dir == "" {
		dir = "."
	}
	if err := m.link(dir); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(m.fsys, dir)
	if err != nil {
		return nil, err
	}
	var list []entry
	for _, d := range entries {
		e, ok := newEntry(m.fsys, dir, d)
		if !ok {
			continue
		}
		if f.count+len(list) >= mostLimits.Entries {
			return nil, errTooMany
		}
		list = append(list, e)
		m.base[e.path] = e.baseEntry
	}
	f.count += len(list)
	var p jsx.Packer
	packEntries(&p, list)
	return p.Packed(), nil
}

// read returns the content of a file of a lazy mount, when the program reads it.
func (f *files) read(m *mount, name string) ([]byte, error) {
	if err := m.link(name); err != nil {
		return nil, err
	}
	info, err := fs.Stat(m.fsys, name)
	if err != nil {
		return nil, err
	}
	if f.bytes += info.Size(); f.bytes > f.limits.Snapshot {
		return nil, errTooMany
	}
	data, err := fs.ReadFile(m.fsys, name)
	if err == nil {
		m.base[name] = baseEntry{data: data, known: true, size: int64(len(data)), mtime: info.ModTime()}
	}
	return data, err
}
