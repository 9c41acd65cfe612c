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

// WriteFS is a file system that a program may change; one without these methods is
// mounted read-only. They are those of package os. Every folder of fsaccess has them, its
// layers too, so that a guard and a journal hold for programs as for everyone.
type WriteFS interface {
	fs.FS
	WriteFile(name string, data []byte, perm fs.FileMode) error
	Mkdir(name string, perm fs.FileMode) error
	Remove(name string) error
	Rename(oldname, newname string) error
}

// UpdateFS is a [WriteFS] that looks at a file and writes it with nobody in between, as
// every folder of fsaccess does. What a program wrote is then compared and swapped file by
// file; elsewhere somebody may slip in between the comparison and the write. Removing and
// renaming have no such method: they are compared just before.
type UpdateFS interface {
	WriteFS
	// UpdateFile replaces the content of a file, which is nil if it is not there, by
	// what edit makes of it. If edit fails nothing is written and the error is edit's.
	UpdateFile(name string, perm fs.FileMode, edit func(old []byte) ([]byte, error)) error
}

// FileMode is how a program gets its files.
type FileMode uint8

const (
	// AutoFiles copies small folders (up to 1,000 entries and 8 MiB) and is lazy with
	// others, if the browser can.
	AutoFiles FileMode = iota
	// SnapshotFiles copies everything before the start.
	SnapshotFiles
	// LazyFiles asks for folders and files as the program opens them. It needs
	// JavaScript Promise Integration; elsewhere the command fails with
	// [errors.ErrUnsupported].
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
	copied   []entry // a snapshot
	base     map[string]baseEntry
}

// baseEntry is a file or folder as the program was shown it.
type baseEntry struct {
	dir   bool
	data  []byte // of a file that was read
	known bool   // data is it
	size  int64
	mtime time.Time
}

// shown is what the program was shown, by name.
func (m *mount) shown() map[string]baseEntry {
	for _, e := range m.copied {
		m.base[e.path] = e.baseEntry
	}
	m.copied = nil
	return m.base
}

// files are the mounts of a run.
type files struct {
	mounts []*mount
	limits Limits
	bytes  int64
	count  int
}

// newFiles checks the mounts of a command. The longest names come last, as a C library
// looks for the longest that fits.
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

// pack writes the message that makes the trees, and decides which mounts are lazy.
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
	parent int // which row has its folder, from 1; 0 is the folder that is listed
	baseEntry
}

// packEntries writes a listing: how many, all names in one string, a row for each, and
// the bytes of the files that are known. One string is read in one go.
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

// snapshot reads a whole tree, folders before what is in them.
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

// newEntry is what a program is shown of d. Links, what is no file, and a name that no
// program can say are not: the file that a link leads to has another name, by which the
// rules of the folder are asked.
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

// entryInfo describes a file or a folder; anything else is not ok.
func entryInfo(d fs.DirEntry) (fs.FileInfo, bool) {
	info, err := d.Info()
	return info, err == nil && (info.IsDir() || info.Mode().IsRegular())
}

// link is the error of a name that a program made up and that leads through a link: those are
// not shown. The folders of fsaccess follow none; os.DirFS does, and tells of them.
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

// list answers a program that opens a folder of a lazy mount.
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

// read answers a program that reads a file of a lazy mount.
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
