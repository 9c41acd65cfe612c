package fsaccess

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
)

// dirFile is an open folder. ReadDir(-1) returns all entries, sorted. ReadDir(n) returns
// the entries found so far, if the source can list in steps: a browser needs seconds to
// list a folder of 50,000 files, but has the first names at once.
type dirFile struct {
	info  fs.FileInfo
	list  func() ([]fs.DirEntry, error) // sorted
	pages func() (pager, error)         // nil: the first ReadDir takes the whole listing

	mu      sync.Mutex
	read    bool
	entries []fs.DirEntry
	from    pager
}

// pager returns the entries of a folder in the order in which they are found: at least one
// and at most n at a time, and io.EOF after the last.
type pager interface {
	next(n int) ([]fs.DirEntry, error)
	close() error
}

func (d *dirFile) Stat() (fs.FileInfo, error)         { return d.info, nil }
func (d *dirFile) Read([]byte) (int, error)           { return 0, errIsDir }
func (d *dirFile) ReadAt([]byte, int64) (int, error)  { return 0, errIsDir }
func (d *dirFile) Write([]byte) (int, error)          { return 0, errBadFD }
func (d *dirFile) WriteAt([]byte, int64) (int, error) { return 0, errBadFD }
func (d *dirFile) Truncate(int64) error               { return errInvalid }
func (d *dirFile) Sync() error                        { return nil }
func (d *dirFile) Close() error                       { return d.rewind() }

func (d *dirFile) Seek(off int64, w int) (int64, error) {
	if off != 0 || w != io.SeekStart {
		return 0, errInvalid
	}
	return 0, d.rewind()
}

func (d *dirFile) rewind() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.from != nil {
		err = d.from.close()
	}
	d.read, d.entries, d.from = false, nil, nil
	return err
}

func (d *dirFile) ReadDir(n int) (list []fs.DirEntry, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.from != nil, d.read:
	case n > 0 && d.pages != nil:
		d.from, err = d.pages()
	default:
		d.entries, err = d.list()
		d.read = err == nil
	}
	if err != nil {
		return nil, err
	}
	if d.from != nil {
		return d.page(n)
	}
	if n <= 0 || n > len(d.entries) {
		if n > 0 && len(d.entries) == 0 {
			return nil, io.EOF
		}
		n = len(d.entries)
	}
	list = d.entries[:n:n]
	d.entries = d.entries[n:]
	return list, nil
}

func (d *dirFile) page(n int) ([]fs.DirEntry, error) {
	if n > 0 {
		return d.from.next(n)
	}
	var rest []fs.DirEntry
	for {
		list, err := d.from.next(pageSize)
		rest = append(rest, list...)
		if err != nil {
			sortEntries(rest)
			if err == io.EOF {
				err = nil
			}
			return rest, err
		}
	}
}

// filePager reads an open folder.
type filePager struct{ fs.ReadDirFile }

func (p filePager) close() error { return p.Close() }

func (p filePager) next(n int) ([]fs.DirEntry, error) {
	list, err := p.ReadDir(n)
	if len(list) == 0 && err == nil {
		err = io.EOF
	}
	return list, err
}

// sieve drops the entries for which keep returns false.
type sieve struct {
	pager
	keep func(fs.DirEntry) bool
}

func (s *sieve) next(n int) ([]fs.DirEntry, error) {
	for {
		list, err := s.pager.next(n)
		kept := make([]fs.DirEntry, 0, len(list)) // the list may belong to the pager
		for _, e := range list {
			if s.keep(e) {
				kept = append(kept, e)
			}
		}
		if len(kept) > 0 || err != nil {
			return kept, err
		}
	}
}

// listPager returns the entries of a list, and then those of another pager.
type listPager struct {
	list []fs.DirEntry
	more pager // may be nil
}

func (p *listPager) next(n int) ([]fs.DirEntry, error) {
	if len(p.list) == 0 && p.more == nil {
		return nil, io.EOF
	}
	if len(p.list) == 0 {
		return p.more.next(n)
	}
	n = min(n, len(p.list))
	out := p.list[:n:n]
	p.list = p.list[n:]
	return out, nil
}

func (p *listPager) close() error {
	if p.more == nil {
		return nil
	}
	return p.more.close()
}

// pagesOf opens a folder of a core to read it in pages.
func pagesOf(ctx context.Context, c core, name string) (pager, error) {
	f, err := c.open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return filePager{f}, nil
}
