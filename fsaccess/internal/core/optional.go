package core

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"time"
)

// This file has every optional interface of a [Core] and of a [Replacement], and the
// functions that use the interface or do without it. A layer forwards each interface to the
// folder below, or TestLayersForward of package fsaccess has the reason why it does not.
// The dynamic type decides, so a layer has a method even if the folder below lacks it.
type (
	// Chmodder sets permission bits.
	Chmodder interface {
		Chmod(ctx context.Context, name string, mode fs.FileMode) error
	}

	// Chtimer sets the times of a file or folder.
	Chtimer interface {
		Chtimes(ctx context.Context, name string, atime, mtime time.Time) error
	}

	// Linker makes symbolic links and reads their targets. It follows none.
	Linker interface {
		// Symlink makes a link. The target is text, and is not checked here: see [LeadsInside].
		Symlink(ctx context.Context, target, name string) error
		ReadLink(ctx context.Context, name string) (string, error)
	}

	// FileWriter has a short way to replace a whole file.
	FileWriter interface {
		WriteFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error
	}

	// Walker lists a whole tree in packed pages.
	Walker interface {
		WalkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error
	}

	// Lister lists one folder in packed pages.
	Lister interface {
		ListPages(ctx context.Context, dir string, page int, yield func([]Entry) bool) error
	}

	// Pusher is a core whose platform reports changes.
	Pusher interface {
		// Push sends the paths that change below root. An empty list means that the
		// platform cannot name all changed paths.
		Push(ctx context.Context, root string, told chan<- []string) (stop func(), err error)
	}

	// Closer holds resources, such as an open os.Root. Release is idempotent.
	Closer interface{ Release() error }

	// ManyReader reads many small files at once. For a nil content the caller reads that
	// file by itself.
	ManyReader interface {
		ReadMany(ctx context.Context, files []Entry) ([][]byte, error)
		// Keeping returns a context in which a walk keeps the data that ReadMany will need.
		Keeping(ctx context.Context) context.Context
	}

	// SmallReader reads a small file together with its size. For a file of more than max
	// bytes it returns only the information.
	SmallReader interface {
		ReadSmall(ctx context.Context, name string, max int64) (fs.FileInfo, []byte, error)
	}

	// BlobCopier copies a file from another core without passing the bytes through Go. If
	// it cannot, ok is false.
	BlobCopier interface {
		CopyBlob(ctx context.Context, src Core, from, to string) (n int64, ok bool, err error)
	}

	// NewBeginner has a short way to begin a file that is known not to exist. Before the
	// commit, the file may be visible and empty.
	NewBeginner interface {
		BeginNew(ctx context.Context, name string) (Replacement, error)
	}

	// ReadReplacer reads a file of at most max bytes while it writes the next content to a
	// swap file. A file that does not exist is not made.
	ReadReplacer interface {
		ReadReplace(ctx context.Context, name string, data []byte, max int64) (fs.FileInfo, []byte, *Pending, error)
	}

	// Overlapper is a core in which preparing a replacement takes time, runs in another
	// process, and changes nothing if the file exists.
	Overlapper interface{ Overlaps() bool }

	// FreshKeeper makes a new file only together with its content.
	FreshKeeper interface{ KeepsFresh() bool }

	// WriteChecker checks whether a file may be written, without touching it.
	WriteChecker interface {
		MayWrite(ctx context.Context, name string) error
	}

	// CreateChecker checks whether a file may be made, without making it.
	CreateChecker interface {
		MayCreate(ctx context.Context, name string) error
	}

	// Asker is a core with a guard in it. Asked returns a context in which that guard does
	// not repeat the question that it asked when the file was opened.
	Asker interface {
		Asked(ctx context.Context) context.Context
	}

	// Committer is a replacement that can take its whole content during the commit.
	Committer interface {
		CommitWith(ctx context.Context, data []byte) error
	}
)

// WriteWhole replaces a whole file.
func WriteWhole(ctx context.Context, c Core, name string, data []byte, perm fs.FileMode) error {
	if w, ok := c.(FileWriter); ok {
		return w.WriteFile(ctx, name, data, perm)
	}
	r, err := c.Replace(ctx, name, perm)
	if err != nil {
		return err
	}
	defer r.Abort()
	if _, err := r.Write(data); err != nil {
		return err
	}
	return r.Commit(ctx)
}

// MayWrite returns the error with which opening a file for writing would fail, as far as is
// known without a write.
func MayWrite(ctx context.Context, c Core, name string, flag int) error {
	if w, ok := c.(WriteChecker); ok {
		return w.MayWrite(ctx, name)
	}
	if c.Features().ReadOnly {
		return ErrReadOnly
	}
	if c.Features().Staged {
		return nil // opening would cost a copy; the write itself returns the error
	}
	f, err := c.Open(ctx, name, flag&^(os.O_CREATE|os.O_EXCL|os.O_TRUNC), 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// MayCreate returns the error with which making a file would fail, as far as is known.
func MayCreate(ctx context.Context, c Core, name string) error {
	if m, ok := c.(CreateChecker); ok {
		return m.MayCreate(ctx, name)
	}
	if c.Features().ReadOnly {
		return ErrReadOnly
	}
	return NeedDir(ctx, c, ParentOf(name))
}

// Asked returns the context of the [Asker] in c, or ctx.
func Asked(ctx context.Context, c Core) context.Context {
	if a, ok := c.(Asker); ok {
		return a.Asked(ctx)
	}
	return ctx
}

// KeepsFresh reports whether c makes a new file only together with its content.
func KeepsFresh(c Core) bool {
	k, ok := c.(FreshKeeper)
	return ok && k.KeepsFresh()
}

// Push sends the paths below root that change in c and that name keeps, under the name that
// it returns. If no [Pusher] is in c, the error is [ErrUnsupported].
func Push(ctx context.Context, c Core, root string, told chan<- []string, name func(string) (as string, keep bool)) (stop func(), err error) {
	p, ok := c.(Pusher)
	if !ok {
		return nil, ErrUnsupported
	}
	below := make(chan []string, max(1, cap(told)))
	end, err := p.Push(ctx, root, below)
	if err != nil {
		return nil, err
	}
	stopped := make(chan struct{})
	go func() {
		for {
			var names []string
			select {
			case names = <-below:
			case <-stopped:
				return
			}
			kept := make([]string, 0, len(names))
			for _, n := range names {
				if as, keep := name(n); keep {
					kept = append(kept, as)
				}
			}
			if len(kept) == 0 && len(names) > 0 {
				continue // an empty list would mean that any path may have changed
			}
			select {
			case told <- kept:
			case <-stopped:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { end(); close(stopped) }), nil
}

// SameName keeps a name, for [Push].
func SameName(name string) (string, bool) { return name, true }

// ManyBytes is the number of bytes that a caller reads at once with [ReadMany].
const ManyBytes = 8 << 20

// ReadMany reads many small files at once. A nil content, or no content at all, means that
// the caller reads the file by itself.
func ReadMany(ctx context.Context, c Core, files []Entry) ([][]byte, error) {
	if m, ok := c.(ManyReader); ok {
		return m.ReadMany(ctx, files)
	}
	return nil, nil
}

// Keeping returns the context of the [ManyReader] in c, or ctx.
func Keeping(ctx context.Context, c Core) context.Context {
	if m, ok := c.(ManyReader); ok {
		return m.Keeping(ctx)
	}
	return ctx
}
