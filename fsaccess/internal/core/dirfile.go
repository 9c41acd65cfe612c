package core

import (
	"context"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// DirFile is an open folder. ReadDir(-1) returns all entries, sorted. ReadDir(n) returns
// the entries found so far, if the source can list in steps: a browser needs seconds to
// List a folder of 50,000 files, but has the first names at once.
type DirFile struct {
	Info  fs.FileInfo
	List  func() ([]fs.DirEntry, error) // sorted
	Pages func() (Pager, error)         // nil: the first ReadDir takes the whole listing

	mu      sync.Mutex
	read    bool
	entries []fs.DirEntry
	from    Pager
}

// Pager returns the entries of a folder in the order in which they are found: at least one
// and at most n at a time, and io.EOF after the last.
type Pager interface {
	Next(n int) ([]fs.DirEntry, error)
	Release() error
}

func (d *DirFile) Stat() (fs.FileInfo, error) { return d.Info, nil }

func (d *DirFile) Read([]byte) (int, error) { return 0, ErrIsDir }

func (d *DirFile) ReadAt([]byte, int64) (int, error) { return 0, ErrIsDir }

func (d *DirFile) Write([]byte) (int, error) { return 0, ErrBadFD }

func (d *DirFile) WriteAt([]byte, int64) (int, error) { return 0, ErrBadFD }

func (d *DirFile) Truncate(int64) error { return ErrInvalid }

func (d *DirFile) Sync() error { return nil }

func (d *DirFile) Close() error { return d.rewind() }

func (d *DirFile) Seek(off int64, w int) (int64, error) {
	if off != 0 || w != io.SeekStart {
		return 0, ErrInvalid
	}
	return 0, d.rewind()
}

func (d *DirFile) rewind() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.from != nil {
		err = d.from.Release()
	}
	d.read, d.entries, d.from = false, nil, nil
	return err
}

func (d *DirFile) ReadDir(n int) (list []fs.DirEntry, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.from != nil, d.read:
	case n > 0 && d.Pages != nil:
		d.from, err = d.Pages()
	default:
		d.entries, err = d.List()
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

func (d *DirFile) page(n int) ([]fs.DirEntry, error) {
	if n > 0 {
		return d.from.Next(n)
	}
	var rest []fs.DirEntry
	for {
		list, err := d.from.Next(PageSize)
		rest = append(rest, list...)
		if err != nil {
			SortEntries(rest)
			if err == io.EOF {
				err = nil
			}
			return rest, err
		}
	}
}

// FilePager reads an open folder.
type FilePager struct{ fs.ReadDirFile }

func (p FilePager) Release() error { return p.Close() }

func (p FilePager) Next(n int) ([]fs.DirEntry, error) {
	list, err := p.ReadDir(n)
	if len(list) == 0 && err == nil {
		err = io.EOF
	}
	return list, err
}

// Sift returns the entries of p for which keep returns true.
func Sift(p Pager, keep func(fs.DirEntry) bool) Pager { return &sieve{p, keep} }

type sieve struct {
	Pager
	keep func(fs.DirEntry) bool
}

func (s *sieve) Next(n int) ([]fs.DirEntry, error) {
	for {
		list, err := s.Pager.Next(n)
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

// Listed returns the entries of a list, and then those of more, unless it is nil.
func Listed(list []fs.DirEntry, more Pager) Pager { return &listPager{list, more} }

type listPager struct {
	list []fs.DirEntry
	more Pager // may be nil
}

func (p *listPager) Next(n int) ([]fs.DirEntry, error) {
	if len(p.list) == 0 && p.more == nil {
		return nil, io.EOF
	}
	if len(p.list) == 0 {
		return p.more.Next(n)
	}
	n = min(n, len(p.list))
	out := p.list[:n:n]
	p.list = p.list[n:]
	return out, nil
}

func (p *listPager) Release() error {
	if p.more == nil {
		return nil
	}
	return p.more.Release()
}

// PagesOf opens a folder of a core to read it in pages.
func PagesOf(ctx context.Context, c Core, name string) (Pager, error) {
	f, err := c.Open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return FilePager{f}, nil
}

func SortEntries(list []fs.DirEntry) {
	slices.SortFunc(list, func(a, b fs.DirEntry) int {
		if a.Name() < b.Name() {
			return -1
		}
		return 1
	})
}
