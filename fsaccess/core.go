package fsaccess

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// core is the interface of a source or a layer: the few operations from which Folder makes
// an FS. Names are clean and valid. Errors are bare, and Folder adds the name. Each call
// has its context. A core takes no lock, because Folder takes it once, at the bottom.
type core interface {
	features() Features
	// base returns the state shared by all users of one source: locks and own writes.
	base() *shared
	open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error)
	stat(ctx context.Context, name string) (fs.FileInfo, error)
	readDir(ctx context.Context, name string) ([]fs.DirEntry, error) // sorted
	readFile(ctx context.Context, name string) ([]byte, error)
	// replace starts a new content for a file. The content becomes visible at commit, all
	// at once.
	replace(ctx context.Context, name string, perm fs.FileMode) (replacement, error)
	mkdir(ctx context.Context, name string, perm fs.FileMode) error
	remove(ctx context.Context, name string) error
	removeAll(ctx context.Context, name string) error
	// rename is called after checkRename: the old name exists, and the new name is free or
	// is a file that a file may replace.
	rename(ctx context.Context, from, to string) error
}

// replacement is the next content of a file.
type replacement interface {
	io.Writer
	commit(ctx context.Context) error
	abort() // idempotent, harmless after commit
}

// Optional interfaces of a core.
type (
	chmodder interface {
		chmod(ctx context.Context, name string, mode fs.FileMode) error
	}
	chtimer interface {
		chtimes(ctx context.Context, name string, atime, mtime time.Time) error
	}
	// fileWriter is a core with a short way to replace a whole file.
	fileWriter interface {
		writeFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error
	}
	// walker is a core that can list a whole tree in packed pages.
	walker interface {
		walkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error
	}
	// pusher is a core whose platform reports changes.
	pusher interface {
		// push sends the paths that change below root. An empty list means that the
		// platform cannot name all changed paths.
		push(ctx context.Context, root string, told chan<- []string) (stop func(), err error)
	}
	closer interface{ close() error }
)

func writeWhole(ctx context.Context, c core, name string, data []byte, perm fs.FileMode) error {
	if w, ok := c.(fileWriter); ok {
		return w.writeFile(ctx, name, data, perm)
	}
	r, err := c.replace(ctx, name, perm)
	if err != nil {
		return err
	}
	defer r.abort()
	if _, err := r.Write(data); err != nil {
		return err
	}
	return r.commit(ctx)
}

// checkRename makes the checks that package os promises for Rename, the same for every
// source, so that a rename can lose no file. done reports that nothing is left to do.
func checkRename(ctx context.Context, c core, from, to string) (done bool, err error) {
	if from == "." || to == "." {
		return false, errInvalid
	}
	oi, err := c.stat(ctx, from)
	if err != nil {
		// As in the kernel, an error of the new name's folder takes precedence over a
		// missing old name.
		if notExist(err) && needDir(ctx, c, parentOf(from)) == nil {
			if perr := needDir(ctx, c, parentOf(to)); perr != nil {
				return false, perr
			}
		}
		return false, err
	}
	ni, nerr := c.stat(ctx, to)
	if nerr == nil && ni.IsDir() {
		if from == to {
			return false, errExist
		}
		if same, err := sameEntry(ctx, c, from, to); err != nil || !same {
			return false, errors.Join(err, errExist)
		}
		return false, nil
	}
	if from == to {
		return true, nil
	}
	if nerr != nil {
		if err := needDir(ctx, c, parentOf(to)); err != nil {
			return false, err
		}
	}
	if oi.IsDir() {
		if inside, err := insideItself(ctx, c, from, to); err != nil || inside {
			return false, errors.Join(err, errInvalid)
		}
	}
	if nerr == nil {
		if oi.IsDir() {
			return false, errNotDir
		}
		return false, nil
	}
	if !notExist(nerr) {
		return false, nerr
	}
	return false, nil
}

// needDir returns the reason why name cannot have an entry below it, or nil.
func needDir(ctx context.Context, c core, name string) error {
	if name == "." {
		return nil
	}
	fi, err := c.stat(ctx, name)
	if err != nil {
		return err
	}
	if isLink(fi.Mode()) {
		return linkAt(name, "")
	}
	if !fi.IsDir() {
		return errNotDir
	}
	return nil
}

// sameEntry reports whether two names that differ at most by case are one entry. In that
// case both names exist, but their folder lists only one of them.
func sameEntry(ctx context.Context, c core, a, b string) (bool, error) {
	if parentOf(a) != parentOf(b) || !foldEqual(a, b) {
		return false, nil
	}
	list, err := c.readDir(ctx, parentOf(a))
	if notExist(err) || errors.Is(err, errNotDir) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	unlisted := ""
	for _, n := range []string{a, b} {
		if !slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == baseOf(n) }) {
			unlisted = n
		}
	}
	if unlisted == "" {
		return a == b, nil
	}
	if _, err := c.stat(ctx, unlisted); err != nil {
		if notExist(err) {
			err = nil
		}
		return false, err
	}
	return true, nil
}

// insideItself reports whether to is below from, also in another spelling. A folder moved
// into itself would be lost.
func insideItself(ctx context.Context, c core, from, to string) (bool, error) {
	if within(from, to) {
		return true, nil
	}
	if foldEqual(from, to) || !within(foldName(from), foldName(to)) {
		return false, nil
	}
	var head string
	n := depth(".", from)
	for part := range parts(to) {
		if n--; n < 0 {
			break
		}
		head = path.Join(head, part)
	}
	a, err := spelled(ctx, c, from)
	if err != nil {
		return false, err
	}
	b, err := spelled(ctx, c, head)
	return a == b, err
}

// spelled returns a name as the file system spells it. A missing element is returned as
// passed.
func spelled(ctx context.Context, c core, name string) (string, error) {
	out := "."
	for part := range parts(name) {
		list, err := c.readDir(ctx, out)
		if err != nil && !notExist(err) && !errors.Is(err, errNotDir) {
			return "", err
		}
		near := part
		for _, e := range list {
			if e.Name() == part {
				near = part
				break
			}
			if foldEqual(e.Name(), part) {
				near = e.Name()
			}
		}
		out = join(out, near)
	}
	return out, nil
}

// view is a core together with a folder of it and a context. Folder embeds it, so every
// layer that embeds Folder has it too.
type view struct {
	c   core
	dir string
	ctx context.Context
}

func (v *view) door() view { return *v }

type doored interface{ door() view }

// viewOf returns the core of any FS. For an FS of another package it makes one.
func viewOf(fsys FS) view {
	if d, ok := fsys.(doored); ok {
		return d.door()
	}
	return view{c: newForeign(fsys), dir: ".", ctx: context.Background()}
}

// rooted returns a core whose "." is the view's folder.
func (v view) rooted() core {
	if v.dir == "." {
		return v.c
	}
	return &subCore{v.c, v.dir}
}

func bind(ctx context.Context, fsys FS) FS {
	v := viewOf(fsys)
	v.ctx = ctx
	return &Folder{view: v}
}
