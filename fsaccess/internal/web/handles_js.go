package web

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// modeRead and modeWrite are the browser's words for the access to a folder.
const (
	modeRead  = "read"
	ModeWrite = "readwrite"
)

// Handles is a folder behind a FileSystemDirectoryHandle: a picked, dropped or restored
// folder, or one of the origin-private file system.
type Handles struct {
	Root   jsx.Value
	n      *natives
	source string
	sh     *core.Shared
	mode   string // modeRead or modeWrite
	move   bool   // file handles have move()
	dmove  bool   // folder handles have move()
	Live   *lives // nil outside a Worker, and outside the origin-private file system
	Blind  bool   // for tests: known handles are not checked, see current

	mu   sync.Mutex
	dirs map[string]jsx.Value // known folder handles; a handle stands for a path, not for one certain folder
}

// NewHandles returns the folder behind a handle. scope names its locks across tabs.
func NewHandles(root jsx.Value, source, mode, scope string) (*Handles, error) {
	n, err := nativeOnce()
	if err != nil {
		return nil, WebErr(err)
	}
	h := &Handles{Root: root, n: n, source: source, mode: mode, sh: core.NewShared(), dirs: make(map[string]jsx.Value)}
	h.move = jsx.Supported("FileSystemFileHandle.prototype.move")
	h.dmove = jsx.Supported("FileSystemDirectoryHandle.prototype.move")
	if source == "opfs" && canSync() {
		h.Live = newLives(h.inPlace)
	}
	h.sh.Across = webLocks(scope)
	return h, nil
}

func (h *Handles) Base() *core.Shared { return h.sh }

func (h *Handles) Features() core.Features {
	return core.Features{Source: h.source, ReadOnly: h.mode == modeRead, Staged: h.Live == nil, FileMove: h.move, DirMove: h.dmove && h.source == "opfs",
		Watch: jsx.Supported("FileSystemObserver")}
}

const maxKnownDirs = 4096

// Dir returns a folder's handle. It asks the browser only for handles that are not known
// yet.
func (h *Handles) Dir(ctx context.Context, name string) (jsx.Value, error) {
	if name == "." {
		return h.Root, nil
	}
	if v, ok := h.known(name); ok {
		if h.current(ctx, name) {
			return v, nil
		}
		if err := context.Cause(ctx); err != nil {
			return jsx.Value{}, err
		}
		h.Forget(topOf(name))
	}
	p, err := h.Dir(ctx, core.ParentOf(name))
	if err != nil {
		return jsx.Value{}, err
	}
	base, err := jsName(name)
	if err != nil {
		return jsx.Value{}, err
	}
	v, err := Await(ctx, p, "getDirectoryHandle", base)
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
func (h *Handles) known(name string) (jsx.Value, bool) {
	if name == "." {
		return h.Root, true
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
func (h *Handles) current(ctx context.Context, name string) bool {
	if h.source == "opfs" || h.Blind {
		return true
	}
	var asked []any
	for dir := name; dir != "."; dir = core.ParentOf(dir) {
		parent, ok := h.known(core.ParentOf(dir))
		if !ok {
			return false
		}
		p, err := jsx.Call(parent, "getDirectoryHandle", core.BaseOf(dir))
		if err != nil {
			return false
		}
		asked = append(asked, p)
	}
	list, err := jsx.ToJS(asked)
	if err == nil {
		_, err = AwaitCall(ctx, h.n.all, list)
	}
	return err == nil
}

// Forget drops the known handles of a folder that was removed or moved, and of those below
// it.
func (h *Handles) Forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.dirs {
		if core.Within(name, p) {
			delete(h.dirs, p)
		}
	}
}

// in calls do with the handle of a folder. If the handle turns out to be out of date, it
// looks the folder up again, once.
func (h *Handles) in(ctx context.Context, dir string, do func(d jsx.Value) error) error {
	for try := 0; ; try++ {
		d, err := h.Dir(ctx, dir)
		if err != nil {
			return err
		}
		err = do(d)
		if try > 0 || dir == "." || !core.NotExist(err) && !errors.Is(err, core.ErrConflict) {
			return err
		}
		// The name may be missing, or the folder. Only a missing folder is a new error.
		h.Forget(topOf(dir))
		if _, derr := h.Dir(ctx, dir); derr != nil {
			return derr
		}
	}
}

// hiddenHere reports whether a name is a swap file: one of this package, or one of
// Chromium. Chromium lists its own, a.crswap beside a, while a is written and after a tab
// was killed.
func hiddenHere(base string) bool { return core.IsSwap(base) || strings.HasSuffix(base, ".crswap") }

// jsName returns a path's last element, if it can be passed to JavaScript. A byte order
// mark at the beginning of a string is lost on the way, so "\ufeffa" would open "a". The
// names of Chromium's swap files are reserved for Chromium.
func jsName(name string) (string, error) {
	base := core.BaseOf(name)
	if strings.HasPrefix(base, "\ufeff") || strings.HasSuffix(base, ".crswap") {
		return "", core.ErrBadName
	}
	return base, nil
}

func topOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}

// entry returns the handle of a file, or reports that the name is a folder.
func (h *Handles) entry(ctx context.Context, name string) (file jsx.Value, isDir bool, err error) {
	if name == "." {
		return jsx.Value{}, true, nil
	}
	base, err := jsName(name)
	if err != nil {
		return file, false, err
	}
	err = h.in(ctx, core.ParentOf(name), func(d jsx.Value) error {
		isDir = false
		file, err = Await(ctx, d, "getFileHandle", base)
		if errors.Is(err, core.ErrNotDir) { // a type mismatch: it is no file
			isDir = true
			return nil
		}
		return err
	})
	return file, isDir, err
}

func (h *Handles) File(ctx context.Context, name string) (handle, file jsx.Value, err error) {
	handle, isDir, err := h.entry(ctx, name)
	if err != nil {
		return handle, file, err
	}
	if isDir {
		return handle, file, core.ErrIsDir
	}
	file, err = Await(ctx, handle, "getFile")
	return handle, file, err
}

func fileInfo(name string, file jsx.Value) (core.Info, error) {
	size, err := NumberOf(file, "size")
	if err != nil {
		return core.Info{}, err
	}
	mod, err := NumberOf(file, "lastModified")
	return core.NewInfo(name, int64(size), 0o666, millis(mod)), err
}

func dirInfoOf(name string) core.Info {
	return core.NewInfo(name, 0, fs.ModeDir|0o777, time.Time{})
}

func (h *Handles) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	_, f, err := h.File(ctx, name)
	if errors.Is(err, core.ErrIsDir) {
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
func (h *Handles) asWritten(ctx context.Context, name string, fi core.Info) (core.Info, error) {
	v := h.Live.find(name)
	if v == nil || v.isHeld() {
		return fi, v.drop()
	}
	now, err := v.stat(ctx, name)
	return now, errors.Join(err, v.drop())
}

// maxBlob is the maximum number of bytes of a file that are held in memory at once. For a
// larger file ReadFile returns [core.ErrTooLarge], and the caller must read an open File.
const maxBlob = 1 << 30

// dirEntry is an entry of a listing whose size is read only by Info.
type dirEntry struct {
	line core.Info
	ctx  context.Context
	h    core.Core
	path string
}

func (d dirEntry) Info() (fs.FileInfo, error) {
	if d.line.IsDir() {
		return d.line, nil
	}
	fi, err := d.h.Stat(d.ctx, d.path)
	return fi, core.PathErr("stat", d.path, err)
}

func (d dirEntry) Name() string { return d.line.Name() }

func (d dirEntry) IsDir() bool { return d.line.IsDir() }

func (d dirEntry) Type() fs.FileMode { return d.line.Type() }

func (d dirEntry) String() string { return fs.FormatDirEntry(d) }

// children returns the entries of a folder: an array of handles, their names, and which are
// folders.
func (h *Handles) children(ctx context.Context, name string) (list jsx.Value, names []string, isDir []bool, err error) {
	d, err := h.Dir(ctx, name)
	if err != nil {
		return list, nil, nil, err
	}
	gather := func() (jsx.Value, error) {
		values, err := jsx.Call(d, "values")
		if err != nil {
			return jsx.Value{}, WebErr(err)
		}
		if jsx.Nullish(h.n.gather) {
			return gatherSlowly(ctx, values)
		}
		return AwaitCall(ctx, h.n.gather, values)
	}
	if list, err = gather(); err != nil && name != "." {
		h.Forget(topOf(name))
		if d, err = h.Dir(ctx, name); err == nil {
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
		r, err := Await(ctx, values, "next")
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

func (h *Handles) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
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
	core.SortEntries(out)
	return out, nil
}

func (h *Handles) lineOf(ctx context.Context, dir, base string, isDir bool) dirEntry {
	e := dirEntry{line: core.NewInfo(base, 0, 0o666, time.Time{}), ctx: ctx, h: h, path: core.Join(dir, base)}
	if isDir {
		e.line = dirInfoOf(base)
	}
	return e
}

func (h *Handles) Overlaps() bool { return true }

// ReadSmall reads a file of at most max bytes together with its size and time. For a larger
// File it returns only the size and time.
func (h *Handles) ReadSmall(ctx context.Context, name string, max int64) (fs.FileInfo, []byte, error) {
	_, f, err := h.File(ctx, name)
	if errors.Is(err, core.ErrIsDir) {
		return dirInfoOf(name), nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if v := h.Live.find(name); v != nil {
		fi, err := fileInfo(name, f)
		if err == nil {
			fi, err = h.asWritten(ctx, name, fi)
		}
		if err != nil || fi.Size() > max {
			return fi, nil, errors.Join(err, v.drop())
		}
		data, err := h.readLive(ctx, name, v)
		fi = core.NewInfo(name, int64(len(data)), fi.Mode(), fi.ModTime())
		return fi, data, err
	}
	fi, data, err := readUpTo(ctx, name, f, max)
	return fi, data, err
}

func (h *Handles) Mkdir(ctx context.Context, name string, _ fs.FileMode) error {
	if h.mode == modeRead {
		return core.ErrReadOnly
	}
	if _, _, err := h.entry(ctx, name); err == nil {
		return core.ErrExist
	} else if !core.NotExist(err) {
		return err
	}
	return h.in(ctx, core.ParentOf(name), func(d jsx.Value) error {
		_, err := Await(ctx, d, "getDirectoryHandle", core.BaseOf(name), map[string]any{"create": true})
		return err
	})
}

func (h *Handles) Remove(ctx context.Context, name string) error {
	err := h.removeEntry(ctx, name, false)
	if errors.Is(err, core.ErrNotEmpty) && h.sweep(ctx, name) {
		err = h.removeEntry(ctx, name, false)
	}
	return err
}

// sweep removes swap files that a killed tab left in a folder that is otherwise empty. It
// reports whether the folder is empty now.
func (h *Handles) sweep(ctx context.Context, name string) bool {
	_, names, _, err := h.children(ctx, name)
	if err != nil {
		return false
	}
	for _, n := range names {
		if !hiddenHere(n) {
			return false
		}
	}
	d, err := h.Dir(ctx, name)
	for _, n := range names {
		if err == nil {
			_, err = Await(ctx, d, "removeEntry", n)
		}
	}
	return err == nil
}

func (h *Handles) RemoveAll(ctx context.Context, name string) error {
	return h.removeEntry(ctx, name, true)
}

func (h *Handles) removeEntry(ctx context.Context, name string, recursive bool) error {
	if h.mode == modeRead {
		return core.ErrReadOnly
	}
	base, err := jsName(name)
	if err != nil {
		return err
	}
	release, err := h.Live.hold(name)
	if err != nil {
		return err
	}
	defer release()
	err = h.in(ctx, core.ParentOf(name), func(d jsx.Value) error {
		_, err := Await(ctx, d, "removeEntry", base, map[string]any{"recursive": recursive})
		return err
	})
	h.Forget(name)
	if err == nil {
		h.Live.removed(name)
	}
	return err
}

// Rename uses move() if the browser has it and the new name is free. Browsers differ in the
// effect of move() on an existing file.
func (h *Handles) Rename(ctx context.Context, from, to string) error {
	if h.mode == modeRead {
		return core.ErrReadOnly
	}
	defer h.Forget(to)
	defer h.Forget(from)
	release, err := h.Live.hold(from)
	if err != nil {
		return err
	}
	defer release()
	over, err := h.Live.hold(to)
	if err != nil {
		return err
	}
	defer over()
	place := h.Live.park(from)
	if err := h.renameEntry(ctx, from, to); err != nil {
		place(from)
		return err
	}
	place(to)
	return nil
}

func (h *Handles) renameEntry(ctx context.Context, from, to string) error {
	if ok, err := h.tryMove(ctx, from, to); ok || err != nil {
		return err
	}
	return core.CopyRename(ctx, h, from, to)
}

func (h *Handles) tryMove(ctx context.Context, from, to string) (moved bool, err error) {
	if !h.move {
		return false, nil
	}
	if _, _, err := h.entry(ctx, to); !core.NotExist(err) {
		return false, nil
	}
	handle, isDir, err := h.entry(ctx, from)
	if err != nil {
		return false, err
	}
	if isDir {
		if !h.dmove || h.source != "opfs" {
			return false, nil
		}
		if handle, err = h.Dir(ctx, from); err != nil {
			return false, err
		}
	}
	parent, err := h.Dir(ctx, core.ParentOf(to))
	if err != nil {
		return false, err
	}
	if h.source != "opfs" {
		// A symbolic link may have the name. The browser shows links to no page, and
		// Chromium never answers a move onto a link whose target is a file of a .git
		// folder. It makes no file in a link's place, so making one shows whether the name
		// is free.
		free, err := Await(ctx, parent, "getFileHandle", core.BaseOf(to), map[string]any{"create": true})
		if err != nil {
			return false, err
		}
		if made, err := Await(ctx, free, "getFile"); err != nil {
			return false, err
		} else if size, err := NumberOf(made, "size"); err != nil || size != 0 {
			return false, err // another program has just made it; replace it like any existing file
		}
		if _, err := Await(ctx, parent, "removeEntry", core.BaseOf(to)); err != nil {
			return false, err
		}
	}
	if _, err := Await(ctx, handle, "move", parent, core.BaseOf(to)); err != nil {
		if context.Cause(ctx) != nil {
			return false, err
		}
		// For any failure, copying is still possible, but only if move() has left the old
		// name alone.
		h.Forget(from)
		if _, _, serr := h.entry(ctx, from); serr == nil {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

func (h *Handles) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	if h.mode == modeRead && (core.Writable(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0) {
		return nil, core.ErrReadOnly
	}
	_, f, err := h.File(ctx, name)
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, core.ErrExist
	case errors.Is(err, core.ErrIsDir):
		if flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL {
			return nil, core.ErrExist
		}
		if core.Writable(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0 {
			return nil, core.ErrIsDir
		}
		return &core.DirFile{Info: dirInfoOf(name),
			List:  func() ([]fs.DirEntry, error) { return h.ReadDir(ctx, name) },
			Pages: func() (core.Pager, error) { return h.pages(ctx, name) }}, nil
	case core.NotExist(err) && flag&os.O_CREATE != 0:
		if err := h.create(ctx, name); err != nil {
			return nil, err
		}
		if _, f, err = h.File(ctx, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	fi, err := fileInfo(name, f)
	if err != nil {
		return nil, err
	}
	if h.Live != nil && core.Writable(flag) {
		return h.Live.NewFile(ctx, name, flag, fi.ModTime(), func() (core.File, error) { return h.openBlob(ctx, name) })
	}
	if !core.Writable(flag) {
		if flag&os.O_TRUNC != 0 && fi.Size() > 0 {
			if err := core.WriteWhole(ctx, h, name, nil, perm); err != nil {
				return nil, err
			}
			return h.Open(ctx, name, os.O_RDONLY, 0)
		}
		if v := h.Live.find(name); v != nil {
			return &liveFile{ctx: ctx, v: v, path: name, flag: flag, byName: func() (core.File, error) { return h.openBlob(ctx, name) }}, nil
		}
		return &blobFile{ctx: ctx, blob: f, info: fi}, nil
	}
	return core.NewStaged(ctx, h, name, flag, perm, func() (core.File, error) { return &blobFile{ctx: ctx, blob: f, info: fi}, nil }, fi)
}

// openBlob opens the present content of a file for reading.
func (h *Handles) openBlob(ctx context.Context, name string) (core.File, error) {
	_, f, err := h.File(ctx, name)
	if err != nil {
		return nil, err
	}
	fi, err := fileInfo(name, f)
	return &blobFile{ctx: ctx, blob: f, info: fi}, err
}

// MayWrite does not open the file: opening it in place would lock out others.
func (h *Handles) MayWrite(context.Context, string) error {
	if h.mode == modeRead {
		return core.ErrReadOnly
	}
	return nil
}

func (h *Handles) create(ctx context.Context, name string) error {
	_, err := h.created(ctx, name)
	return err
}

// created returns the handle of a file, and makes the file if it does not exist.
func (h *Handles) created(ctx context.Context, name string) (file jsx.Value, err error) {
	base, err := jsName(name)
	if err != nil {
		return file, err
	}
	err = h.in(ctx, core.ParentOf(name), func(d jsx.Value) (err error) {
		file, err = Await(ctx, d, "getFileHandle", base, map[string]any{"create": true})
		if errors.Is(err, core.ErrNotDir) {
			err = core.ErrIsDir
		}
		return err
	})
	return file, err
}

// PullAtOnce is the number of names that are requested together. Chromium 156 reports 100
// at a time and takes longer the more requests wait: 50,000 names take 2 s with 64
// requests, and 3 s with 128.
const PullAtOnce = 64

// handlePages lists a folder in the order in which the browser finds its entries. The
// browser's iterator ends only after the last name, so an unfinished iterator is simply
// dropped.
type handlePages struct {
	h     *Handles
	ctx   context.Context
	name  string
	pull  jsx.Value // the iterator's next, bound
	began bool
	err   error // permanent
}

func (h *Handles) pages(ctx context.Context, name string) (core.Pager, error) {
	p := &handlePages{h: h, ctx: ctx, name: name}
	return p, p.start()
}

func (p *handlePages) start() error {
	d, err := p.h.Dir(p.ctx, p.name)
	if err != nil {
		return err
	}
	values, err := jsx.Call(d, "values")
	if err != nil {
		return WebErr(err)
	}
	next, err := jsx.Get(values, "next")
	if err == nil {
		p.pull, err = jsx.Call(next, "bind", values)
	}
	return WebErr(err)
}

func (p *handlePages) Release() error {
	p.pull, p.err = jsx.Value{}, fs.ErrClosed
	return nil
}

func (p *handlePages) Next(n int) ([]fs.DirEntry, error) {
	for {
		if p.err != nil {
			return nil, p.err
		}
		list, err := p.some(min(n, PullAtOnce))
		if err != nil && !p.began && p.name != "." {
			// The handle of the folder may be out of date.
			p.h.Forget(topOf(p.name))
			if p.start() == nil {
				list, err = p.some(min(n, PullAtOnce))
			}
		}
		p.began = true
		if err != nil {
			p.err = err
			return nil, err
		}
		if len(list) > 0 {
			return list, nil
		}
	}
}

// some waits for n steps of the iterator and returns their entries. A step is an object
// with a handle as its value, and a flag for the end. The values are extracted inside the
// browser.
func (p *handlePages) some(n int) ([]fs.DirEntry, error) {
	nat := p.h.n
	promises, err := jsx.Invoke(nat.arrayFrom, map[string]any{"length": n}, p.pull)
	if err != nil {
		return nil, WebErr(err)
	}
	steps, err := AwaitCall(p.ctx, nat.all, promises)
	if err != nil {
		return nil, err
	}
	parts, err := nat.flatMap.Call(steps, nat.objectValues)
	if err != nil {
		return nil, WebErr(err)
	}
	handles, err := nat.filter.Call(parts, nat.isObject)
	if err != nil {
		return nil, WebErr(err)
	}
	names, isDir, err := nat.described(handles)
	if err != nil {
		return nil, err
	}
	if len(names) < n {
		p.err = io.EOF
	}
	out := make([]fs.DirEntry, 0, len(names))
	for i, base := range names {
		if !hiddenHere(base) {
			out = append(out, p.h.lineOf(p.ctx, p.name, base, isDir[i]))
		}
	}
	return out, nil
}

func (h *Handles) ReadFile(ctx context.Context, name string) ([]byte, error) {
	_, f, err := h.File(ctx, name)
	if err != nil {
		return nil, err
	}
	if v := h.Live.find(name); v != nil {
		return h.readLive(ctx, name, v)
	}
	return readBlob(ctx, f)
}

func (h *Handles) readLive(ctx context.Context, name string, v *live) ([]byte, error) {
	f := &liveFile{ctx: ctx, v: v, path: name, byName: func() (core.File, error) { return h.openBlob(ctx, name) }}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if fi.Size() > maxBlob {
		return nil, core.ErrTooLarge
	}
	data := make([]byte, fi.Size())
	n, err := f.ReadAt(data, 0)
	if err == io.EOF {
		err = nil
	}
	return data[:n], err
}

// readBlob returns the content of a blob, with one promise and one copy.
func readBlob(ctx context.Context, b jsx.Value) ([]byte, error) {
	size, err := NumberOf(b, "size")
	if err != nil {
		return nil, err
	}
	if size > maxBlob {
		return nil, core.ErrTooLarge
	}
	buf, err := Await(ctx, b, "arrayBuffer")
	if err != nil {
		return nil, err
	}
	return jsx.Bytes(buf, int(size))
}

// inPlace returns the access handle of a file. The browser locks the file for all others.
func (h *Handles) inPlace(ctx context.Context, name string) (bytesInPlace, error) {
	file, isDir, err := h.entry(ctx, name)
	if err != nil {
		return nil, err
	}
	if isDir {
		return nil, core.ErrIsDir
	}
	v, err := Await(ctx, file, "createSyncAccessHandle")
	if err != nil {
		return nil, err
	}
	return accessHandle{v}, nil
}

// observed returns the paths of some records, or nil if a record does not name its path.
func observed(records jsx.Value, root string) []string {
	n, err := jsx.Length(records)
	if err != nil {
		return nil
	}
	var names []string
	for i := range n {
		r, err := jsx.Index(records, i)
		if err != nil {
			return nil
		}
		kind, err := StringOf(r, "type")
		if err != nil || kind == "unknown" || kind == "errored" {
			return nil
		}
		for _, prop := range []string{"relativePathComponents", "relativePathMovedFrom"} {
			p, ok := pathOf(r, prop, root)
			if ok {
				names = append(names, p)
			} else if prop == "relativePathComponents" {
				return nil
			}
		}
	}
	return names
}

func pathOf(record jsx.Value, prop, root string) (string, bool) {
	list, err := jsx.Get(record, prop)
	if err != nil || jsx.Nullish(list) {
		return "", false
	}
	n, err := jsx.Length(list)
	if err != nil {
		return "", false
	}
	p := root
	for i := range n {
		v, err := jsx.Index(list, i)
		if err != nil {
			return "", false
		}
		s, err := jsx.String(v, 4096)
		if err != nil {
			return "", false
		}
		p = core.Join(p, s)
	}
	return p, core.CleanName(p) == nil
}
