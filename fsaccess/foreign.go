package fsaccess

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// FromFS returns a read-only folder with the files of any [fs.FS], for example an embedded
// sample, a ZIP archive or an uploaded tree. Put an [Overlay] over it to work on a copy.
func FromFS(fsys fs.FS) *Folder {
	if d, ok := fsys.(doored); ok {
		return &Folder{view: view{c: core.ReadOnly(d.door().rooted()), dir: ".", ctx: d.door().ctx}}
	}
	return newFolder(&foreign{r: fsys, sh: core.NewShared(), source: "iofs"})
}

// newForeign returns a core for an FS that is not of this package.
func newForeign(fsys FS) core.Core {
	return &foreign{r: fsys, w: fsys, sh: core.NewShared(), source: "foreign"}
}

type foreign struct {
	r      fs.FS
	w      FS // nil: read-only
	sh     *core.Shared
	source string
}

func (f *foreign) Base() *core.Shared { return f.sh }

func (f *foreign) Features() core.Features {
	if v, ok := f.r.(featuresFS); ok {
		ft := core.Features(v.Features())
		ft.Watch = false // no method of FS reports changes
		return ft
	}
	ft := core.Features{Source: f.source, ReadOnly: f.w == nil}
	_, ft.Chmod = f.r.(chmodFS)
	_, ft.Chtimes = f.r.(chtimesFS)
	ft.FileMove, ft.DirMove = f.w != nil, f.w != nil
	return ft
}

func (f *foreign) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	if err := core.LinkOn(f.r, name, true); err != nil {
		return nil, err
	}
	if flag == os.O_RDONLY {
		file, err := f.r.Open(name)
		if err != nil {
			return nil, err
		}
		fi, err := file.Stat()
		if err != nil {
			file.Close()
			return nil, err
		}
		if fi.IsDir() {
			file.Close()
			return &core.DirFile{Info: fi,
				List:  func() ([]fs.DirEntry, error) { return f.ReadDir(ctx, name) },
				Pages: func() (core.Pager, error) { return f.pages(name) }}, nil
		}
		return &foreignFile{File: file, f: f, name: name}, nil
	}
	if f.w == nil {
		if _, err := f.Stat(ctx, name); core.NotExist(err) && flag&os.O_CREATE == 0 {
			return nil, err
		}
		return nil, ErrReadOnly
	}
	file, err := f.w.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &foreignFile{File: file, f: f, name: name}, nil
}

func (f *foreign) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	if err := core.LinkOn(f.r, name, false); err != nil {
		return nil, err
	}
	if l, ok := f.r.(fs.ReadLinkFS); ok {
		return l.Lstat(name)
	}
	return fs.Stat(f.r, name)
}

func (f *foreign) ReadDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	if err := core.LinkOn(f.r, name, true); err != nil {
		return nil, err
	}
	list, err := fs.ReadDir(f.r, name)
	if err != nil {
		if fi, serr := fs.Stat(f.r, name); serr == nil && !fi.IsDir() {
			return nil, core.ErrNotDir
		}
		return nil, err
	}
	core.SortEntries(list)
	return list, nil
}

func (f *foreign) pages(name string) (core.Pager, error) {
	if err := core.LinkOn(f.r, name, true); err != nil {
		return nil, err
	}
	file, err := f.r.Open(name)
	if err != nil {
		return nil, err
	}
	if d, ok := file.(fs.ReadDirFile); ok {
		return core.FilePager{ReadDirFile: d}, nil
	}
	file.Close()
	list, err := fs.ReadDir(f.r, name) // an FS that lists without opening
	return core.Listed(list, nil), err
}

func (f *foreign) ReadFile(_ context.Context, name string) ([]byte, error) {
	if err := core.LinkOn(f.r, name, true); err != nil {
		return nil, err
	}
	b, err := fs.ReadFile(f.r, name)
	if err != nil {
		if fi, serr := fs.Stat(f.r, name); serr == nil && fi.IsDir() {
			return nil, core.ErrIsDir
		}
	}
	return b, err
}

func (f *foreign) WriteFile(_ context.Context, name string, data []byte, perm fs.FileMode) error {
	if f.w == nil {
		return ErrReadOnly
	}
	if err := core.LinkOn(f.r, name, true); err != nil {
		return err
	}
	return f.w.WriteFile(name, data, perm)
}

// Replace collects the content and passes it on in one WriteFile. An FS of another package
// promises no more atomicity than that.
func (f *foreign) Replace(ctx context.Context, name string, perm fs.FileMode) (core.Replacement, error) {
	if f.w == nil {
		return nil, ErrReadOnly
	}
	if fi, err := f.Stat(ctx, name); err == nil && fi.IsDir() {
		return nil, core.ErrIsDir
	}
	return &foreignReplacement{f: f, name: name, perm: perm}, nil
}

type foreignReplacement struct {
	f    *foreign
	name string
	perm fs.FileMode
	data []byte
}

func (r *foreignReplacement) Write(p []byte) (int, error) {
	r.data = append(r.data, p...)
	return len(p), nil
}

func (r *foreignReplacement) Commit(ctx context.Context) error {
	return r.f.WriteFile(ctx, r.name, r.data, r.perm)
}

func (r *foreignReplacement) Abort() { r.data = nil }

// write changes the entry at each name, or the link there. No element before the last may
// be a link.
func (f *foreign) write(do func(FS) error, names ...string) error {
	if f.w == nil {
		return ErrReadOnly
	}
	for _, name := range names {
		if err := core.LinkOn(f.r, name, false); err != nil {
			return err
		}
	}
	return do(f.w)
}

func (f *foreign) Mkdir(_ context.Context, name string, perm fs.FileMode) error {
	return f.write(func(w FS) error { return w.Mkdir(name, perm) }, name)
}

func (f *foreign) Remove(_ context.Context, name string) error {
	return f.write(func(w FS) error { return w.Remove(name) }, name)
}

func (f *foreign) RemoveAll(_ context.Context, name string) error {
	return f.write(func(w FS) error { return w.RemoveAll(name) }, name)
}

func (f *foreign) Rename(_ context.Context, from, to string) error {
	return f.write(func(w FS) error { return w.Rename(from, to) }, from, to)
}

func (f *foreign) Chmod(_ context.Context, name string, mode fs.FileMode) error {
	if err := core.LinkOn(f.r, name, true); err != nil {
		return err
	}
	if c, ok := f.r.(chmodFS); ok && f.w != nil {
		return c.Chmod(name, mode)
	}
	return core.ErrUnsupported
}

func (f *foreign) Chtimes(_ context.Context, name string, atime, mtime time.Time) error {
	if err := core.LinkOn(f.r, name, true); err != nil {
		return err
	}
	if c, ok := f.r.(chtimesFS); ok && f.w != nil {
		return c.Chtimes(name, atime, mtime)
	}
	return core.ErrUnsupported
}

// foreignFile adds the methods that an fs.File may lack, as far as the existing methods
// allow.
type foreignFile struct {
	fs.File
	f    *foreign
	name string
}

func (x *foreignFile) Seek(off int64, whence int) (int64, error) {
	if s, ok := x.File.(io.Seeker); ok {
		return s.Seek(off, whence)
	}
	return 0, core.ErrUnsupported
}

func (x *foreignFile) ReadAt(p []byte, off int64) (int, error) {
	if r, ok := x.File.(io.ReaderAt); ok {
		return r.ReadAt(p, off)
	}
	// Read from another open file, so that the offset of this one does not change.
	g, err := x.f.r.Open(x.name)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	if _, err := io.CopyN(io.Discard, g, off); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(g, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

func (x *foreignFile) Write(p []byte) (int, error) {
	if w, ok := x.File.(io.Writer); ok {
		return w.Write(p)
	}
	return 0, core.ErrBadFD
}

func (x *foreignFile) WriteAt(p []byte, off int64) (int, error) {
	if w, ok := x.File.(io.WriterAt); ok {
		return w.WriteAt(p, off)
	}
	return 0, core.ErrBadFD
}

func (x *foreignFile) Truncate(size int64) error {
	if t, ok := x.File.(interface{ Truncate(int64) error }); ok {
		return t.Truncate(size)
	}
	return core.ErrInvalid
}

func (x *foreignFile) Sync() error {
	if s, ok := x.File.(interface{ Sync() error }); ok {
		return s.Sync()
	}
	return nil
}

func (x *foreignFile) ReadDir(int) ([]fs.DirEntry, error) { return nil, core.ErrNotDir }
