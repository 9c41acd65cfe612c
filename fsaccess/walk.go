package fsaccess

import (
	"context"
	"io/fs"
	"iter"
	"path"
	"time"
)

// Entry is one line of a listing, with the facts that most callers need. A listing reads
// them for all files at once, which is faster than a Stat for each.
type Entry struct {
	Path    string
	Size    int64
	ModTime time.Time
	Dir     bool
	Link    bool // a symbolic link, which is no folder and cannot be read
}

// Name returns the last element of Path.
func (e Entry) Name() string { return path.Base(e.Path) }

// pageSize is the number of entries that a source returns at once.
const pageSize = 1024

// WalkOptions limits a walk. The zero value visits everything.
type WalkOptions struct {
	// Skip, if set, reports whether to leave out an entry and, for a folder, all below it.
	Skip func(Entry) bool
	// Depth is the number of levels below the root that are visited. 0 means all.
	Depth int
	// Limit is the maximum number of entries. 0 means no limit.
	Limit int
	// Gitignore leaves out .git and the entries that the .gitignore files of the tree
	// exclude. It ignores a .gitignore file of more than 1 MiB, a line of more than 1 KiB
	// and a pattern with more than four "**".
	Gitignore bool
}

// Walk yields all entries below root, each folder before its entries, and names in order.
// It reads ahead by pages, so memory stays small for any size of tree. If a folder cannot
// be listed, Walk yields an error with the path of the folder and continues.
func Walk(ctx context.Context, fsys FS, root string, o WalkOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f := folderOf(ctx, fsys)
		p, err := f.enter(root)
		if err != nil {
			yield(Entry{Path: root}, pathErr("walk", root, err))
			return
		}
		w := &walkFilter{o: o, ignore: newIgnorer(ctx, f.c, o.Gitignore), root: p}
		prefix := f.dir
		failed := func(at string, err error) bool {
			return yield(Entry{Path: relative(prefix, at)}, pathErr("walk", relative(prefix, at), err))
		}
		var cut error
		err = walkCore(ctx, f.c, p, pageSize, func(page []Entry) bool {
			for _, e := range page {
				if cut = context.Cause(ctx); cut != nil {
					return false
				}
				if e.Size == badFolder {
					if !w.hidden(e.Path) && !failed(e.Path, walkFailure(ctx, f.c, e.Path)) {
						return false
					}
					continue
				}
				if !w.wants(e) {
					continue
				}
				e.Path = relative(prefix, e.Path)
				if !yield(e, nil) {
					return false
				}
				if w.n++; o.Limit > 0 && w.n >= o.Limit {
					return false
				}
			}
			return true
		})
		if cut != nil {
			err = cut
		}
		if err != nil && err != errStop {
			yield(Entry{Path: root}, pathErr("walk", root, err))
		}
	}
}

// badFolder as the size of an entry marks a folder that could not be listed.
const badFolder = -1

// walkFailure lists a folder again to get the error, which a packed page cannot contain.
func walkFailure(ctx context.Context, c core, name string) error {
	if _, err := c.readDir(ctx, name); err != nil {
		return err
	}
	return ErrConflict
}

func relative(prefix, name string) string {
	if prefix == "." {
		return name
	}
	if name == prefix {
		return "."
	}
	return name[len(prefix)+1:]
}

type walkFilter struct {
	o      WalkOptions
	ignore *ignorer
	root   string
	skip   string // everything below this folder is left out
	n      int
}

func (w *walkFilter) hidden(name string) bool {
	return w.skip != "" && within(w.skip, name)
}

func (w *walkFilter) wants(e Entry) bool {
	if w.hidden(e.Path) {
		return false
	}
	w.skip = ""
	if w.o.Depth > 0 && depth(w.root, e.Path) > w.o.Depth ||
		w.ignore.skips(e.Path, e.Dir) || w.o.Skip != nil && w.o.Skip(e) {
		if e.Dir {
			w.skip = e.Path
		}
		return false
	}
	return true
}

func depth(root, name string) int {
	n := 1
	for i := range name {
		if name[i] == '/' {
			n++
		}
	}
	if root != "." {
		n -= depth(".", root)
	}
	return n
}

// walkCore lists everything below root in pages, depth first. It uses the core's own bulk
// listing if there is one. If yield returns false, it returns errStop.
func walkCore(ctx context.Context, c core, root string, page int, yield func([]Entry) bool) error {
	if w, ok := c.(walker); ok {
		return w.walkPages(ctx, root, page, yield)
	}
	buf := make([]Entry, 0, page)
	flush := func() error {
		if len(buf) > 0 && !yield(buf) {
			return errStop
		}
		buf = buf[:0]
		return nil
	}
	var visit func(dir string, top bool) error
	visit = func(dir string, top bool) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		list, err := c.readDir(ctx, dir)
		if err != nil {
			if top {
				return err
			}
			buf = append(buf, Entry{Path: dir, Size: badFolder, Dir: true})
			return nil
		}
		for _, e := range list {
			fi, err := e.Info()
			if notExist(err) {
				continue // removed since the listing
			}
			if err != nil {
				return err
			}
			if buf = append(buf, entryOf(join(dir, e.Name()), fi)); len(buf) >= page {
				if err := flush(); err != nil {
					return err
				}
			}
			if e.IsDir() {
				if err := visit(join(dir, e.Name()), false); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := visit(root, true); err != nil {
		return err
	}
	return flush()
}

func entryOf(name string, fi fs.FileInfo) Entry {
	e := Entry{Path: name, ModTime: fi.ModTime(), Dir: fi.IsDir(), Link: isLink(fi.Mode())}
	if !e.Dir {
		e.Size = fi.Size()
	}
	return e
}

// folderOf returns any FS as a Folder bound to ctx.
func folderOf(ctx context.Context, fsys FS) *Folder {
	v := viewOf(fsys)
	v.ctx = ctx
	return &Folder{view: v}
}

// List returns the entries of one folder with sizes and times, sorted by name.
func List(ctx context.Context, fsys FS, dir string) ([]Entry, error) {
	var out []Entry
	for e, err := range ListPages(ctx, fsys, dir, pageSize) {
		if err != nil {
			return nil, err
		}
		out = append(out, e...)
	}
	return out, nil
}

// ListPages returns the entries of one folder in pages of at most page entries, for
// programs that show only a part of a folder at once.
func ListPages(ctx context.Context, fsys FS, dir string, page int) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		f := folderOf(ctx, fsys)
		p, err := f.enter(dir)
		if err != nil {
			yield(nil, pathErr("list", dir, err))
			return
		}
		err = listCore(ctx, f.c, p, max(1, page), func(es []Entry) bool {
			out := make([]Entry, len(es))
			for i, e := range es {
				e.Path = relative(f.dir, e.Path)
				out[i] = e
			}
			return yield(out, nil)
		})
		if err != nil && err != errStop {
			yield(nil, pathErr("list", dir, err))
		}
	}
}

// lister is a core with a packed listing of one folder.
type lister interface {
	listPages(ctx context.Context, dir string, page int, yield func([]Entry) bool) error
}

func listCore(ctx context.Context, c core, dir string, page int, yield func([]Entry) bool) error {
	if l, ok := c.(lister); ok {
		return l.listPages(ctx, dir, page, yield)
	}
	list, err := c.readDir(ctx, dir)
	if err != nil {
		return err
	}
	buf := make([]Entry, 0, page)
	for _, e := range list {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		fi, err := e.Info()
		if notExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		if buf = append(buf, entryOf(join(dir, e.Name()), fi)); len(buf) == page {
			if !yield(buf) {
				return errStop
			}
			buf = buf[:0]
		}
	}
	if len(buf) > 0 && !yield(buf) {
		return errStop
	}
	return nil
}
