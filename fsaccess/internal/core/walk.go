package core

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"
)

var ErrStop = errors.New("stop")

// Entry is one line of a listing.
type Entry struct {
	Path    string
	Size    int64
	ModTime time.Time
	Dir     bool
	Link    bool // a symbolic link, which is no folder and cannot be read
}

// Name returns the last element of Path.
func (e Entry) Name() string { return path.Base(e.Path) }

// PageSize is the number of entries that a source returns at once.
const PageSize = 1024

// BadFolder as the size of an entry marks a folder that could not be listed.
const BadFolder = -1

// WalkFailure lists a folder again to get the error, which a packed page cannot contain.
func WalkFailure(ctx context.Context, c Core, name string) error {
	if _, err := c.ReadDir(ctx, name); err != nil {
		return err
	}
	return ErrConflict
}

// WalkCore lists everything below root in pages, depth first. It uses the core's own bulk
// listing if there is one. If yield returns false, it returns errStop.
func WalkCore(ctx context.Context, c Core, root string, page int, yield func([]Entry) bool) error {
	if w, ok := c.(Walker); ok {
		return w.WalkPages(ctx, root, page, yield)
	}
	buf := make([]Entry, 0, page)
	flush := func() error {
		if len(buf) > 0 && !yield(buf) {
			return ErrStop
		}
		buf = buf[:0]
		return nil
	}
	var visit func(dir string, top bool) error
	visit = func(dir string, top bool) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		list, err := c.ReadDir(ctx, dir)
		if err != nil {
			if top {
				return err
			}
			buf = append(buf, Entry{Path: dir, Size: BadFolder, Dir: true})
			return nil
		}
		for _, e := range list {
			fi, err := e.Info()
			if NotExist(err) {
				continue // removed since the listing
			}
			if err != nil {
				return err
			}
			if buf = append(buf, EntryOf(Join(dir, e.Name()), fi)); len(buf) >= page {
				if err := flush(); err != nil {
					return err
				}
			}
			if e.IsDir() {
				if err := visit(Join(dir, e.Name()), false); err != nil {
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

func EntryOf(name string, fi fs.FileInfo) Entry {
	e := Entry{Path: name, ModTime: fi.ModTime(), Dir: fi.IsDir(), Link: IsLink(fi.Mode())}
	if !e.Dir {
		e.Size = fi.Size()
	}
	return e
}

func ListCore(ctx context.Context, c Core, dir string, page int, yield func([]Entry) bool) error {
	if l, ok := c.(Lister); ok {
		return l.ListPages(ctx, dir, page, yield)
	}
	list, err := c.ReadDir(ctx, dir)
	if err != nil {
		return err
	}
	buf := make([]Entry, 0, page)
	for _, e := range list {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		fi, err := e.Info()
		if NotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		if buf = append(buf, EntryOf(Join(dir, e.Name()), fi)); len(buf) == page {
			if !yield(buf) {
				return ErrStop
			}
			buf = buf[:0]
		}
	}
	if len(buf) > 0 && !yield(buf) {
		return ErrStop
	}
	return nil
}
