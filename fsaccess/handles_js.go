package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
)

// handles is a folder behind a FileSystemDirectoryHandle: a picked, dropped or restored
// folder, or one of the origin-private file system.
type handles struct {
	root   jsx.Value
	n      *natives
	source string
	sh     *shared
	mode   Mode
	move   bool   // file handles have move()
	dmove  bool   // folder handles have move()
	live   *lives // nil outside a Worker, and outside the origin-private file system
	blind  bool   // for tests: known handles are not checked, see current

	mu   sync.Mutex
	dirs map[string]jsx.Value // known folder handles; a handle stands for a path, not for one certain folder
}

func newHandles(root jsx.Value, source string, mode Mode, scope string) (*Folder, error) {
	n, err := nativeOnce()
	if err != nil {
		return nil, webErr(err)
	}
	h := &handles{root: root, n: n, source: source, mode: mode, sh: newShared(), dirs: make(map[string]jsx.Value)}
	h.move = jsx.Supported("FileSystemFileHandle.prototype.move")
	h.dmove = jsx.Supported("FileSystemDirectoryHandle.prototype.move")
	if source == "opfs" && canSync() {
		h.live = newLives(h.inPlace)
	}
	h.sh.across = webLocks(scope)
	return newFolder(h), nil
}

func (h *handles) base() *shared { return h.sh }

func (h *handles) features() Features {
	return Features{Source: h.source, ReadOnly: h.mode == ReadOnly, Staged: h.live == nil, FileMove: h.move, DirMove: h.dmove && h.source == "opfs",
		Watch: jsx.Supported("FileSystemObserver")}
}

const maxKnownDirs = 4096

// dir returns a folder's handle. It asks the browser only for handles that are not known
// yet.
func (h *handles) dir(ctx context.Context, name string) (jsx.Value, error) {
	if name == "." {
		return h.root, nil
	}
	if v, ok := h.known(name); ok {
		if h.current(ctx, name) {
			return v, nil
		}
		if err := context.Cause(ctx); err != nil {
			return jsx.Value{}, err
		}
		h.forget(topOf(name))
	}
	p, err := h.dir(ctx, parentOf(name))
	if err != nil {
		return jsx.Value{}, err
	}
	base, err := jsName(name)
	if err != nil {
		return jsx.Value{}, err
	}
	v, err := await(ctx, p, "getDirectoryHandle", base)
	if err != nil {
		return v, err
	}
	h.mu.Lock()
	if len(h.dirs) >= maxKnownDirs {
		clear(h.dirs)
	}
	h.dirs[name] = v
	h.mu.Unlock()
	return v, nil
}

// known returns the handle of a folder that was asked for before.
func (h *handles) known(name string) (jsx.Value, bool) {
	if name == "." {
		return h.root, true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	v, ok := h.dirs[name]
	return v, ok
}

// current reports whether a known folder and the folders above it are still folders. A
// handle is a path, and Chromium 156 looks for a symbolic link at the last element only. If
// another program puts a link in a folder's place while the handle is kept (for example by
// a checkout of another branch), the browser follows the link. So current asks for every
// element again, all at once. A page cannot see changes between this check and the use of
// the handle. The origin-private file system has no links.
func (h *handles) current(ctx context.Context, name string) bool {
	if h.source == "opfs" || h.blind {
		return true
	}
	var asked []any
	for dir := name; dir != "."; dir = parentOf(dir) {
		parent, ok := h.known(parentOf(dir))
		if !ok {
			return false
		}
		p, err := jsx.Call(parent, "getDirectoryHandle", baseOf(dir))
		if err != nil {
			return false
		}
		asked = append(asked, p)
	}
	list, err := jsx.ToJS(asked)
	if err == nil {
		_, err = awaitCall(ctx, h.n.all, list)
	}
	return err == nil
}

// forget drops the known handles of a folder that was removed or moved, and of those below
// it.
func (h *handles) forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.dirs {
		if within(name, p) {
			delete(h.dirs, p)
		}
	}
}

// in calls do with the handle of a folder. If the handle turns out to be out of date, it
// looks the folder up again, once.
func (h *handles) in(ctx context.Context, dir string, do func(d jsx.Value) error) error {
	for try := 0; ; try++ {
		d, err := h.dir(ctx, dir)
		if err != nil {
			return err
		}
		err = do(d)
		if try > 0 || dir == "." || !notExist(err) && !errors.Is(err, ErrConflict) {
			return err
		}
		// The name may be missing, or the folder. Only a missing folder is a new error.
		h.forget(topOf(dir))
		if _, derr := h.dir(ctx, dir); derr != nil {
			return derr
		}
	}
}

// hiddenHere reports whether a name is a swap file: one of this package, or one of
// Chromium. Chromium lists its own, a.crswap beside a, while a is written and after a tab
// was killed.
func hiddenHere(base string) bool { return isSwap(base) || strings.HasSuffix(base, ".crswap") }

// jsName returns a path's last element, if it can be passed to JavaScript. A byte order
// mark at the beginning of a string is lost on the way, so "\ufeffa" would open "a". The
// names of Chromium's swap files are reserved for Chromium.
func jsName(name string) (string, error) {
	base := baseOf(name)
	if strings.HasPrefix(base, "\ufeff") || strings.HasSuffix(base, ".crswap") {
		return "", ErrBadName
	}
	return base, nil
}

func topOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}

// entry returns the handle of a file, or reports that the name is a folder.
func (h *handles) entry(ctx context.Context, name string) (file jsx.Value, isDir bool, err error) {
	if name == "." {
		return jsx.Value{}, true, nil
	}
	base, err := jsName(name)
	if err != nil {
		return file, false, err
	}
	err = h.in(ctx, parentOf(name), func(d jsx.Value) error {
		isDir = false
		file, err = await(ctx, d, "getFileHandle", base)
		if errors.Is(err, errNotDir) { // a type mismatch: it is no file
			isDir = true
			return nil
		}
		return err
	})
	return file, isDir, err
}

func (h *handles) file(ctx context.Context, name string) (handle, file jsx.Value, err error) {
	handle, isDir, err := h.entry(ctx, name)
	if err != nil {
		return handle, file, err
	}
	if isDir {
		return handle, file, errIsDir
	}
	file, err = await(ctx, handle, "getFile")
	return handle, file, err
}

func fileInfo(name string, file jsx.Value) (Info, error) {
	size, err := numberOf(file, "size")
	if err != nil {
		return Info{}, err
	}
	mod, err := numberOf(file, "lastModified")
	return Info{name: baseOf(name), size: int64(size), mode: 0o666, mtime: millis(mod)}, err
}

func dirInfoOf(name string) Info {
	return Info{name: baseOf(name), mode: fs.ModeDir | 0o777}
}

func (h *handles) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	_, f, err := h.file(ctx, name)
	if errors.Is(err, errIsDir) {
		return dirInfoOf(name), nil
	}
	if err != nil {
		return nil, err
	}
	fi, err := fileInfo(name, f)
	if err != nil {
		return nil, err
	}
	return h.asWritten(ctx, name, fi)
}

// asWritten returns the information of a file with the size that its access handle has, if
// the file is open for writing here. The browser's size for the name may be older.
func (h *handles) asWritten(ctx context.Context, name string, fi Info) (Info, error) {
	v := h.live.find(name)
	if v == nil || v.isHeld() {
		return fi, v.drop()
	}
	now, err := v.stat(ctx, name)
	return now, errors.Join(err, v.drop())
}

// maxBlob is the maximum number of bytes of a file that are held in memory at once. For a
// larger file ReadFile returns [ErrTooLarge], and the caller must read an open File.
const maxBlob = 1 << 30

// dirEntry is an entry of a listing whose size is read only by Info.
type dirEntry struct {
	line Info
	ctx  context.Context
	h    core
	path string
}

func (d dirEntry) Info() (fs.FileInfo, error) {
	if d.line.IsDir() {
		return d.line, nil
	}
	fi, err := d.h.stat(d.ctx, d.path)
	return fi, pathErr("stat", d.path, err)
}

func (d dirEntry) Name() string      { return d.line.name }
func (d dirEntry) IsDir() bool       { return d.line.IsDir() }
func (d dirEntry) Type() fs.FileMode { return d.line.Type() }
func (d dirEntry) String() string    { return fs.FormatDirEntry(d) }

// children returns the entries of a folder: an array of handles, their names, and which are
// folders.
func (h *handles) children(ctx context.Context, name string) (list jsx.Value, names []string, isDir []bool, err error) {
	d, err := h.dir(ctx, name)
	if err != nil {
		return list, nil, nil, err
	}
	gather := func() (jsx.Value, error) {
		values, err := jsx.Call(d, "values")
		if err != nil {
			return jsx.Value{}, webErr(err)
		}
		if jsx.Nullish(h.n.gather) {
			return gatherSlowly(ctx, values)
		}
		return awaitCall(ctx, h.n.gather, values)
	}
	if list, err = gather(); err != nil && name != "." {
		h.forget(topOf(name))
		if d, err = h.dir(ctx, name); err == nil {
			list, err = gather()
		}
	}
	if err != nil {
		return list, nil, nil, err
	}
	names, isDir, err = h.n.described(list)
	return list, names, isDir, err
}

// gatherSlowly is Array.fromAsync for browsers without it.
func gatherSlowly(ctx context.Context, values jsx.Value) (jsx.Value, error) {
	list, err := jsx.NewGlobal("Array")
	if err != nil {
		return list, err
	}
	for {
		r, err := await(ctx, values, "next")
		if err != nil {
			return list, err
		}
		done, err := jsx.Get(r, "done")
		if err != nil {
			return list, err
		}
		if end, err := jsx.Bool(done); err != nil || end {
			return list, err
		}
		v, err := jsx.Get(r, "value")
		if err != nil {
			return list, err
		}
		if _, err := jsx.Call(list, "push", v); err != nil {
			return list, err
		}
	}
}

func (h *handles) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	_, names, isDir, err := h.children(ctx, name)
	if err != nil {
		return nil, err
	}
	out := make([]fs.DirEntry, 0, len(names))
	for i, n := range names {
		if hiddenHere(n) {
			continue
		}
		out = append(out, h.lineOf(ctx, name, n, isDir[i]))
	}
	sortEntries(out)
	return out, nil
}

func (h *handles) lineOf(ctx context.Context, dir, base string, isDir bool) dirEntry {
	e := dirEntry{line: Info{name: base, mode: 0o666}, ctx: ctx, h: h, path: join(dir, base)}
	if isDir {
		e.line = dirInfoOf(base)
	}
	return e
}

func (h *handles) overlaps() bool { return true }

// readSmall reads a file of at most max bytes together with its size and time. For a larger
// file it returns only the size and time.
func (h *handles) readSmall(ctx context.Context, name string, max int64) (fs.FileInfo, []byte, error) {
	_, f, err := h.file(ctx, name)
	if errors.Is(err, errIsDir) {
		return dirInfoOf(name), nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if v := h.live.find(name); v != nil {
		fi, err := fileInfo(name, f)
		if err == nil {
			fi, err = h.asWritten(ctx, name, fi)
		}
		if err != nil || fi.size > max {
			return fi, nil, errors.Join(err, v.drop())
		}
		data, err := h.readLive(ctx, name, v)
		fi.size = int64(len(data))
		return fi, data, err
	}
	fi, data, err := readUpTo(ctx, name, f, max)
	return fi, data, err
}

func (h *handles) mkdir(ctx context.Context, name string, _ fs.FileMode) error {
	if h.mode == ReadOnly {
		return ErrReadOnly
	}
	if _, _, err := h.entry(ctx, name); err == nil {
		return errExist
	} else if !notExist(err) {
		return err
	}
	return h.in(ctx, parentOf(name), func(d jsx.Value) error {
		_, err := await(ctx, d, "getDirectoryHandle", baseOf(name), map[string]any{"create": true})
		return err
	})
}
