package fsaccess

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// FromFS returns a read-only folder with the files of any [fs.FS], for example an embedded
// sample, a ZIP archive or an uploaded tree. Put an [Overlay] over it to work on a copy.
func FromFS(fsys fs.FS) *Folder {
	if d, ok := fsys.(doored); ok {
		return &Folder{view: view{c: &readOnly{d.door().rooted()}, dir: ".", ctx: d.door().ctx}}
	}
	return newFolder(&foreign{r: fsys, sh: newShared(), source: "iofs"})
}

// newForeign returns a core for an FS that is not of this package.
func newForeign(fsys FS) core {
	return &foreign{r: fsys, w: fsys, sh: newShared(), source: "foreign"}
}

type foreign struct {
	r      fs.FS
	w      FS // nil: read-only
	sh     *shared
	source string
}

func (f *foreign) base() *shared { return f.sh }

func (f *foreign) features() Features {
	if v, ok := f.r.(FeaturesFS); ok {
		return v.Features()
	}
	ft := Features{Source: f.source, ReadOnly: f.w == nil}
	_, ft.Chmod = f.r.(ChmodFS)
	_, ft.Chtimes = f.r.(ChtimesFS)
	ft.FileMove, ft.DirMove = f.w != nil, f.w != nil
	return ft
}

func (f *foreign) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	if err := linkOn(f.r, name, true); err != nil {
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
			return &dirFile{info: fi,
				list:  func() ([]fs.DirEntry, error) { return f.readDir(ctx, name) },
				pages: func() (pager, error) { return f.pages(name) }}, nil
		}
		return &foreignFile{File: file, f: f, name: name}, nil
	}
	if f.w == nil {
		if _, err := f.stat(ctx, name); notExist(err) && flag&os.O_CREATE == 0 {
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

func (f *foreign) stat(_ context.Context, name string) (fs.FileInfo, error) {
	if err := linkOn(f.r, name, false); err != nil {
		return nil, err
	}
	if l, ok := f.r.(fs.ReadLinkFS); ok {
		return l.Lstat(name)
	}
	return fs.Stat(f.r, name)
}

func (f *foreign) readDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	if err := linkOn(f.r, name, true); err != nil {
		return nil, err
	}
	list, err := fs.ReadDir(f.r, name)
	if err != nil {
		if fi, serr := fs.Stat(f.r, name); serr == nil && !fi.IsDir() {
			return nil, errNotDir
		}
		return nil, err
	}
	sortEntries(list)
	return list, nil
}

func (f *foreign) pages(name string) (pager, error) {
	if err := linkOn(f.r, name, true); err != nil {
		return nil, err
	}
	file, err := f.r.Open(name)
	if err != nil {
		return nil, err
	}
	if d, ok := file.(fs.ReadDirFile); ok {
		return filePager{d}, nil
	}
	file.Close()
	list, err := fs.ReadDir(f.r, name) // an FS that lists without opening
	return &listPager{list: list}, err
}

func (f *foreign) readFile(_ context.Context, name string) ([]byte, error) {
	if err := linkOn(f.r, name, true); err != nil {
		return nil, err
	}
	b, err := fs.ReadFile(f.r, name)
	if err != nil {
		if fi, serr := fs.Stat(f.r, name); serr == nil && fi.IsDir() {
			return nil, errIsDir
		}
	}
	return b, err
}

func (f *foreign) writeFile(_ context.Context, name string, data []byte, perm fs.FileMode) error {
	if f.w == nil {
		return ErrReadOnly
	}
	if err := linkOn(f.r, name, true); err != nil {
		return err
	}
	return f.w.WriteFile(name, data, perm)
}

// replace collects the content and passes it on in one WriteFile. An FS of another package
// promises no more atomicity than that.
func (f *foreign) replace(ctx context.Context, name string, perm fs.FileMode) (replacement, error) {
	if f.w == nil {
		return nil, ErrReadOnly
	}
	if fi, err := f.stat(ctx, name); err == nil && fi.IsDir() {
		return nil, errIsDir
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
func (r *foreignReplacement) commit(ctx context.Context) error {
	return r.f.writeFile(ctx, r.name, r.data, r.perm)
}
func (r *foreignReplacement) abort() { r.data = nil }

// write changes the entry at each name, or the link there. No element before the last may
// be a link.
func (f *foreign) write(do func(FS) error, names ...string) error {
	if f.w == nil {
		return ErrReadOnly
	}
	for _, name := range names {
		if err := linkOn(f.r, name, false); err != nil {
			return err
		}
	}
	return do(f.w)
}

func (f *foreign) mkdir(_ context.Context, name string, perm fs.FileMode) error {
	return f.write(func(w FS) error { return w.Mkdir(name, perm) }, name)
}
func (f *foreign) remove(_ context.Context, name string) error {
	return f.write(func(w FS) error { return w.Remove(name) }, name)
}
func (f *foreign) removeAll(_ context.Context, name string) error {
	return f.write(func(w FS) error { return w.RemoveAll(name) }, name)
}
func (f *foreign) rename(_ context.Context, from, to string) error {
	return f.write(func(w FS) error { return w.Rename(from, to) }, from, to)
}

func (f *foreign) chmod(_ context.Context, name string, mode fs.FileMode) error {
	if err := linkOn(f.r, name, true); err != nil {
		return err
	}
	if c, ok := f.r.(ChmodFS); ok && f.w != nil {
		return c.Chmod(name, mode)
	}
	return errUnsupported
}
func (f *foreign) chtimes(_ context.Context, name string, atime, mtime time.Time) error {
	if err := linkOn(f.r, name, true); err != nil {
		return err
	}
	if c, ok := f.r.(ChtimesFS); ok && f.w != nil {
		return c.Chtimes(name, atime, mtime)
	}
	return errUnsupported
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
	return 0, errUnsupported
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
	return 0, errBadFD
}

func (x *foreignFile) WriteAt(p []byte, off int64) (int, error) {
	if w, ok := x.File.(io.WriterAt); ok {
		return w.WriteAt(p, off)
	}
	return 0, errBadFD
}

func (x *foreignFile) Truncate(size int64) error {
	if t, ok := x.File.(interface{ Truncate(int64) error }); ok {
		return t.Truncate(size)
	}
	return errInvalid
}

func (x *foreignFile) Sync() error {
	if s, ok := x.File.(interface{ Sync() error }); ok {
		return s.Sync()
	}
	return nil
}

func (x *foreignFile) ReadDir(int) ([]fs.DirEntry, error) { return nil, errNotDir }

// readOnly is a core without its changes.
type readOnly struct{ core }

func (r *readOnly) features() Features {
	ft := r.core.features()
	ft.ReadOnly, ft.Chmod, ft.Chtimes = true, false, false
	return ft
}

func (r *readOnly) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	if flag != os.O_RDONLY {
		if _, err := r.core.stat(ctx, name); err != nil && flag&os.O_CREATE == 0 {
			return nil, err
		}
		return nil, ErrReadOnly
	}
	return r.core.open(ctx, name, flag, perm)
}

func (r *readOnly) replace(context.Context, string, fs.FileMode) (replacement, error) {
	return nil, ErrReadOnly
}
func (r *readOnly) mkdir(context.Context, string, fs.FileMode) error { return ErrReadOnly }
func (r *readOnly) remove(context.Context, string) error             { return ErrReadOnly }
func (r *readOnly) removeAll(context.Context, string) error          { return ErrReadOnly }
func (r *readOnly) rename(context.Context, string, string) error     { return ErrReadOnly }

func (r *readOnly) walkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error {
	return walkCore(ctx, r.core, root, page, yield)
}

// subCore is a core with one of its folders as the root.
type subCore struct {
	c   core
	dir string
}

func (s *subCore) p(name string) string { return join(s.dir, name) }

func (s *subCore) features() Features                        { return s.c.features() }
func (s *subCore) keepsFresh() bool                          { return keepsFresh(s.c) }
func (s *subCore) asked(ctx context.Context) context.Context { return asked(ctx, s.c) }
func (s *subCore) mayCreate(ctx context.Context, name string) error {
	return mayCreate(ctx, s.c, s.p(name))
}
func (s *subCore) base() *shared { return s.c.base().below(s.dir) }
func (s *subCore) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	return s.c.open(ctx, s.p(name), flag, perm)
}
func (s *subCore) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	fi, err := s.c.stat(ctx, s.p(name))
	if err == nil && name == "." {
		fi = Info{name: ".", size: fi.Size(), mode: fi.Mode(), mtime: fi.ModTime()}
	}
	return fi, err
}
func (s *subCore) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	return s.c.readDir(ctx, s.p(name))
}
func (s *subCore) readFile(ctx context.Context, name string) ([]byte, error) {
	return s.c.readFile(ctx, s.p(name))
}
func (s *subCore) writeFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error {
	return writeWhole(ctx, s.c, s.p(name), data, perm)
}
func (s *subCore) replace(ctx context.Context, name string, perm fs.FileMode) (replacement, error) {
	return s.c.replace(ctx, s.p(name), perm)
}
func (s *subCore) mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	return s.c.mkdir(ctx, s.p(name), perm)
}
func (s *subCore) remove(ctx context.Context, name string) error { return s.c.remove(ctx, s.p(name)) }
func (s *subCore) removeAll(ctx context.Context, name string) error {
	return s.c.removeAll(ctx, s.p(name))
}
func (s *subCore) rename(ctx context.Context, from, to string) error {
	return s.c.rename(ctx, s.p(from), s.p(to))
}
func (s *subCore) chmod(ctx context.Context, name string, mode fs.FileMode) error {
	if c, ok := s.c.(chmodder); ok {
		return c.chmod(ctx, s.p(name), mode)
	}
	return errUnsupported
}
func (s *subCore) chtimes(ctx context.Context, name string, atime, mtime time.Time) error {
	if c, ok := s.c.(chtimer); ok {
		return c.chtimes(ctx, s.p(name), atime, mtime)
	}
	return errUnsupported
}
func (s *subCore) walkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error {
	cut := len(s.dir) + 1
	return walkCore(ctx, s.c, s.p(root), page, func(list []Entry) bool {
		for i := range list {
			list[i].Path = list[i].Path[cut:]
		}
		return yield(list)
	})
}

var errStop = errors.New("stop")
