package fsaccess

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// sum is the SHA-256 of a file, in hexadecimal.
type sum struct{ path, sha256 string }

// hashes returns the hashes of all files below root, in the order of [Walk]. If root is a
// file, it returns the hash of that file. Symbolic links below root are left out. An error
// of one file is yielded with its path, and hashes continues.
func hashes(ctx context.Context, fsys FS, root string) iter.Seq2[sum, error] {
	return func(yield func(sum, error) bool) {
		f := folderOf(ctx, fsys)
		one := func(name string) bool {
			p, err := f.enter(name)
			s := sum{path: name}
			if err == nil {
				s.sha256, _, err = core.HashFile(ctx, f.c, p)
			}
			return yield(s, pathErr("hash", name, err))
		}
		if fi, err := f.Stat(root); err == nil && !fi.IsDir() {
			one(root)
			return
		}
		for e, err := range Walk(ctx, f, root, WalkOptions{}) {
			if err != nil {
				if !yield(sum{path: e.Path}, err) {
					return
				}
				continue
			}
			if !e.Dir && !e.Link && !one(e.Path) {
				return
			}
		}
	}
}

// Progress is the progress of a copy. [Copy] sets the totals before it begins.
type Progress struct {
	Path string // the file that is being copied
	// Files is the number of completed files.
	Files, TotalFiles int
	Bytes, TotalBytes int64
}

// CopyOptions configures [Copy] and [Move].
type CopyOptions struct {
	WalkOptions
	// Overwrite replaces existing files. Without it, an existing file is an error that
	// wraps [fs.ErrExist], before anything is copied.
	Overwrite bool
	// Progress, if set, is called after each piece and each file, from the copying
	// goroutine.
	Progress func(Progress)
}

// Copy copies a file or a tree, byte for byte, within one folder or between two. Each file
// appears whole or not at all, and memory does not grow with the size. If Copy is
// interrupted, the files that were copied stay, and the error contains the path. If the
// tree contains a symbolic link, the error wraps [ErrLink] and nothing is copied, because a
// copy of the link would lead elsewhere. Use Skip to leave links out.
func Copy(ctx context.Context, dst FS, to string, src FS, from string, o CopyOptions) error {
	d, s := folderOf(ctx, dst), folderOf(ctx, src)
	ctx = d.ctx // with the group of dst
	fromPath, err := s.enter(from)
	if err != nil {
		return pathErr("copy", from, err)
	}
	toPath, err := d.enter(to)
	if err != nil {
		return pathErr("copy", to, err)
	}
	fi, err := s.c.Stat(ctx, fromPath)
	if err != nil {
		return pathErr("copy", from, err)
	}
	c := &copying{d: d, s: s, o: o}
	if !fi.IsDir() {
		if sameCore(s.c, d.c) && fromPath == toPath {
			return nil
		}
		c.list = []Entry{{Path: "", Size: fi.Size(), ModTime: fi.ModTime()}}
	} else {
		if sameCore(s.c, d.c) {
			if in, err := core.InsideItself(ctx, s.c, fromPath, toPath); err != nil || in {
				return pathErr("copy", to, errors.Join(err, core.ErrInvalid))
			}
		}
		c.list = append(c.list, Entry{Dir: true})
		for e, err := range Walk(ctx, s, from, o.WalkOptions) {
			if err != nil {
				return err
			}
			if e.Link {
				return pathErr("copy", e.Path, core.LinkAt(e.Path, ""))
			}
			if e.Path = core.Relative(from, e.Path); from == "." {
				e.Path = core.Relative(".", e.Path)
			}
			c.list = append(c.list, e)
		}
	}
	return c.run(ctx, from, to)
}

type copying struct {
	d, s *Folder
	o    CopyOptions
	list []Entry // paths relative to both roots; "" is the root itself
	p    Progress
}

func below(base, rel string) string {
	if rel == "" {
		return base
	}
	return core.Join(base, rel)
}

func (c *copying) run(ctx context.Context, from, to string) error {
	for _, e := range c.list {
		if !e.Dir {
			c.p.TotalFiles++
			c.p.TotalBytes += e.Size
		}
		name := below(to, e.Path)
		fi, err := c.d.Stat(name)
		switch {
		case core.NotExist(err) || errors.Is(err, core.ErrNotDir):
		case err != nil:
			return err
		case fi.IsDir() != e.Dir:
			return pathErr("copy", name, core.ErrExist)
		case !e.Dir && !c.o.Overwrite:
			return pathErr("copy", name, core.ErrExist)
		}
	}
	for _, e := range c.list {
		name := below(to, e.Path)
		if e.Dir {
			if name == "." {
				continue
			}
			if err := c.d.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			continue
		}
		if err := c.file(ctx, below(from, e.Path), name); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) file(ctx context.Context, from, to string) error {
	a, err := c.s.enter(from)
	if err != nil {
		return pathErr("copy", from, err)
	}
	c.p.Path = to
	start := c.p.Bytes
	n := int64(0)
	err = c.d.change("copy", to, func(b string) error {
		n, err = core.CopyFile(ctx, c.s.c, a, c.d.c, b, func(k int) {
			c.p.Bytes += int64(k)
			c.tell()
		})
		return err
	})
	c.p.Bytes = start + n
	if err == nil {
		c.p.Files++
		c.tell()
	}
	return err
}

func (c *copying) tell() {
	if c.o.Progress != nil {
		c.o.Progress(c.p)
	}
}

// Move moves a file or a tree. Within one folder it is a rename. Between two folders it is
// a copy. The old tree is removed only after the hashes of all copied files were compared.
// A move between two folders does not accept Skip, Depth, Limit or Gitignore, because files
// that are not copied would be lost. The error then wraps [fs.ErrInvalid].
func Move(ctx context.Context, dst FS, to string, src FS, from string, o CopyOptions) error {
	d, s := folderOf(ctx, dst), folderOf(ctx, src)
	ctx = d.ctx // with the group of dst
	if sameCore(d.c, s.c) {
		a, err := s.enter(from)
		if err != nil {
			return pathErr("move", from, err)
		}
		b, err := d.enter(to)
		if err != nil {
			return pathErr("move", to, err)
		}
		if _, err := d.c.Stat(ctx, b); err == nil && !o.Overwrite && a != b && !core.FoldEqual(a, b) {
			return pathErr("move", to, core.ErrExist)
		}
		top := &Folder{view{c: d.c, dir: ".", ctx: ctx}}
		return top.Rename(a, b)
	}
	if o.Skip != nil || o.Depth > 0 || o.Limit > 0 || o.Gitignore {
		return pathErr("move", from, core.ErrInvalid) // files that are not copied would be lost
	}
	if err := Copy(ctx, dst, to, src, from, o); err != nil {
		return err
	}
	if err := sameTree(ctx, d, to, s, from); err != nil {
		return err
	}
	return s.RemoveAll(from)
}

// sameTree compares two trees by their hashes.
func sameTree(ctx context.Context, d *Folder, to string, s *Folder, from string) error {
	for sum, err := range hashes(ctx, s, from) {
		if err != nil {
			return err
		}
		name := to
		if sum.path != from {
			name = core.Join(to, core.Relative(from, sum.path))
		}
		p, err := d.enter(name)
		if err != nil {
			return pathErr("move", name, err)
		}
		hash, _, err := core.HashFile(ctx, d.c, p)
		if err == nil && hash != sum.sha256 {
			err = ErrConflict
		}
		if err != nil {
			return pathErr("move", name, err)
		}
	}
	return nil
}

// sameCore reports whether two cores are the same folder.
func sameCore(a, b core.Core) bool {
	if a == b {
		return true
	}
	x, ok1 := a.(*foreign)
	y, ok2 := b.(*foreign)
	return ok1 && ok2 && reflect.TypeOf(x.r).Comparable() && x.r == y.r
}

// ZIPOptions configures [ExportZIP].
type ZIPOptions struct {
	WalkOptions
	// Store leaves files uncompressed, which is much faster. Formats that are compressed
	// already, such as PNG, are always stored.
	Store bool
	// Progress, if set, is called after each written piece, from the goroutine of
	// ExportZIP. TotalFiles and TotalBytes are 0.
	Progress func(Progress)
}

// ExportZIP writes everything below the folder root to w as a ZIP archive. It writes a
// stream, so memory does not grow with the size. Symbolic links are left out. If a file
// changes while it is read, the error wraps [ErrConflict].
func ExportZIP(ctx context.Context, fsys FS, root string, w io.Writer, o ZIPOptions) error {
	f := folderOf(ctx, fsys)
	z := zip.NewWriter(w)
	var p Progress
	for e, err := range Walk(ctx, f, root, o.WalkOptions) {
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: core.Relative(root, e.Path), Modified: e.ModTime, Method: zip.Deflate}
		if e.Link {
			continue
		}
		if e.Dir {
			h.Name += "/"
			h.SetMode(os.ModeDir | 0o755)
			if _, err := z.CreateHeader(h); err != nil {
				return pathErr("zip", e.Path, err)
			}
			continue
		}
		if h.SetMode(0o644); o.Store || compressed(e.Path) {
			h.Method = zip.Store
		}
		if err := zipFile(ctx, f, z, h, e, &p, o.Progress); err != nil {
			return pathErr("zip", e.Path, err)
		}
	}
	return z.Close()
}

func zipFile(ctx context.Context, f *Folder, z *zip.Writer, h *zip.FileHeader, e Entry, p *Progress, tell func(Progress)) error {
	in, err := f.Open(e.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	p.Path = e.Path
	n, err := core.Pump(ctx, out, in, func(k int) {
		p.Bytes += int64(k)
		if tell != nil {
			tell(*p)
		}
	})
	if err == nil && n != e.Size {
		err = ErrConflict // the file changed while it was read
	}
	p.Files++
	return err
}

func compressed(name string) bool {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	return slices.Contains(strings.Fields("zip gz tgz bz2 xz zst br 7z rar jpg jpeg png gif webp avif heic mp3 m4a ogg opus flac mp4 mkv webm mov woff woff2 docx xlsx pptx odt ods odp epub jar apk pdf"), ext)
}
