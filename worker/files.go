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
	base     map[string]baseEntry // what the program was shown
}

// baseEntry is a file or folder as the program was shown it.
type baseEntry struct {
	dir   bool
	data  []byte // of a file that was read
	known bool   // data is it
	size  int64
	mtime time.Time
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
		var rows jsx.Packer
		n, err := 0, error(nil)
		switch {
		case mode == LazyFiles && !canWait:
			return nil, fmt.Errorf("worker: Cmd.Files: this browser has no JavaScript Promise Integration, so files can't be lazy: %w", errors.ErrUnsupported)
		case mode == LazyFiles:
			m.lazy = true
		case mode == AutoFiles && canWait:
			small := f.limits.narrow(Limits{Entries: autoEntries, Snapshot: autoBytes})
			if n, err = f.snapshot(ctx, m, &rows, small); errors.Is(err, errTooMany) {
				m.lazy, err = true, nil
			}
		default:
			n, err = f.snapshot(ctx, m, &rows, f.limits)
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
			clear(m.base)
		}
		p.String(m.guest)
		p.U8(flags)
		if !m.lazy {
			p.U32(uint32(n))
			p.Append(rows.Packed())
		}
	}
	return p.Packed(), nil
}

// snapshot packs a whole tree, folders before what is in them.
func (f *files) snapshot(ctx context.Context, m *mount, rows *jsx.Packer, l Limits) (n int, err error) {
	bytes := int64(0)
	err = fs.WalkDir(m.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		info, ok := entryInfo(m.fsys, name, d)
		if !ok {
			return nil // a link that leads nowhere, or what is no file
		}
		if n++; f.count+n > l.Entries {
			return errTooMany
		}
		var data []byte
		if !info.IsDir() {
			if bytes += info.Size(); f.bytes+bytes > l.Snapshot {
				return errTooMany
			}
			if data, err = fs.ReadFile(m.fsys, name); err != nil {
				return err
			}
			if bytes += int64(len(data)) - info.Size(); f.bytes+bytes > l.Snapshot {
				return errTooMany
			}
		}
		m.entry(rows, name, name, info, data, true)
		if !info.IsDir() {
			rows.Bytes(data)
		}
		return nil
	})
	if err == nil {
		f.bytes += bytes
		f.count += n
	}
	return n, err
}

// entryInfo is what is behind a directory entry: of a link to a file, the file.
func entryInfo(fsys fs.FS, name string, d fs.DirEntry) (fs.FileInfo, bool) {
	if d.Type()&fs.ModeSymlink != 0 {
		info, err := fs.Stat(fsys, name)
		return info, err == nil && info.Mode().IsRegular()
	}
	info, err := d.Info()
	return info, err == nil && (info.IsDir() || info.Mode().IsRegular())
}

// entry packs what a program is shown, under a name that is relative to the folder that is
// listed, and remembers it.
func (m *mount) entry(rows *jsx.Packer, shown, name string, info fs.FileInfo, data []byte, known bool) {
	kind := uint8(0)
	if info.IsDir() {
		kind = 1
	}
	rows.String(shown)
	rows.U8(kind)
	rows.F64(float64(info.ModTime().UnixMicro()) / 1000)
	size := info.Size()
	if known {
		size = int64(len(data))
	}
	rows.F64(float64(size))
	m.base[name] = baseEntry{dir: info.IsDir(), data: data, known: known && !info.IsDir(), size: size, mtime: info.ModTime()}
}

// list answers a program that opens a folder of a lazy mount.
func (f *files) list(m *mount, dir string) ([]byte, error) {
	name := dir
	if name == "" {
		name = "."
	}
	entries, err := fs.ReadDir(m.fsys, name)
	if err != nil {
		return nil, err
	}
	var p, rows jsx.Packer
	n := 0
	for _, d := range entries {
		info, ok := entryInfo(m.fsys, path.Join(name, d.Name()), d)
		if !ok {
			continue
		}
		if n++; f.count+n > mostLimits.Entries {
			return nil, errTooMany
		}
		full := path.Join(dir, d.Name())
		m.entry(&rows, d.Name(), full, info, nil, false)
	}
	f.count += n
	p.U32(uint32(n))
	p.Append(rows.Packed())
	return p.Packed(), nil
}

// read answers a program that reads a file of a lazy mount.
func (f *files) read(m *mount, name string) ([]byte, error) {
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
