package web

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// blobFile is a file open for reading. A File object is the content at the moment of
// getFile, and the browser refuses to read it after the file has changed.
type blobFile struct {
	ctx  context.Context
	blob jsx.Value
	info core.Info
	core.Cursor

	mu    sync.Mutex
	ahead []byte // read in advance
	at    int64  // offset of ahead
}

// window is the number of bytes read for a smaller request, because a promise costs more
// than the bytes.
const window = 256 << 10

func (f *blobFile) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *blobFile) size() (int64, error) { return f.info.Size(), nil }

func (f *blobFile) Read(p []byte) (int, error) { return f.Cursor.ReadWith(p, f.ReadAt) }

func (f *blobFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.info.Size() {
		return 0, io.EOF
	}
	want := int(min(int64(len(p)), f.info.Size()-off))
	f.mu.Lock()
	defer f.mu.Unlock()
	if off < f.at || off+int64(want) > f.at+int64(len(f.ahead)) {
		n := int64(want)
		if n < window {
			n = min(window, f.info.Size()-off)
		}
		part, err := jsx.Call(f.blob, "slice", float64(off), float64(off+n))
		if err != nil {
			return 0, WebErr(err)
		}
		buf, err := Await(f.ctx, part, "arrayBuffer")
		if err != nil {
			return 0, err
		}
		if n > window {
			// Copy directly to the destination.
			k, err := jsx.CopyToGo(p[:want], buf, 0)
			if err == nil && k < len(p) {
				err = io.EOF
			}
			return k, err
		}
		if f.ahead, err = jsx.Bytes(buf, int(n)); err != nil {
			return 0, err
		}
		f.at = off
	}
	n := copy(p[:want], f.ahead[off-f.at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *blobFile) Seek(off int64, whence int) (int64, error) {
	return f.Cursor.SeekWith(off, whence, f.size)
}

func (f *blobFile) Write([]byte) (int, error) { return 0, core.ErrBadFD }

func (f *blobFile) WriteAt([]byte, int64) (int, error) { return 0, core.ErrBadFD }

func (f *blobFile) Truncate(int64) error { return core.ErrInvalid }

func (f *blobFile) Sync() error { return nil }

func (f *blobFile) ReadDir(int) ([]fs.DirEntry, error) { return nil, core.ErrNotDir }

func (f *blobFile) Close() error {
	f.mu.Lock()
	f.ahead = nil
	f.mu.Unlock()
	return nil
}

// Replace writes to the browser's own swap file, which replaces the old file when it is
// closed.
func (h *Handles) Replace(ctx context.Context, name string, _ fs.FileMode) (core.Replacement, error) {
	if h.mode == modeRead {
		return nil, core.ErrReadOnly
	}
	handle, isDir, err := h.entry(ctx, name)
	made := core.NotExist(err)
	switch {
	case isDir:
		return nil, core.ErrIsDir
	case made:
		if handle, err = h.created(ctx, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	return h.writer(ctx, handle, name, made)
}

// BeginNew begins a file that is known not to exist. It makes and opens the file in one
// call, because the browser passes the handle on by itself.
func (h *Handles) BeginNew(ctx context.Context, name string) (core.Replacement, error) {
	if h.mode == modeRead {
		return nil, core.ErrReadOnly
	}
	base, err := jsName(name)
	if err != nil {
		return nil, err
	}
	r := &webReplacement{h: h, ctx: ctx, name: name, made: true}
	err = h.in(ctx, core.ParentOf(name), func(d jsx.Value) error {
		made, err := jsx.Call(d, "getFileHandle", base, map[string]any{"create": true})
		if err != nil {
			return WebErr(err)
		}
		r.w, err = Await(ctx, made, "then", h.n.createWritable)
		return err
	})
	if err != nil {
		if !core.NotExist(err) {
			_ = h.Remove(context.WithoutCancel(ctx), name)
		}
		return nil, err
	}
	return r, nil
}

// CommitWith is Write and commit in one. The browser runs them one after the other, and
// does not close a file whose write failed.
func (r *webReplacement) CommitWith(ctx context.Context, p []byte) error {
	if r.done {
		return fs.ErrClosed
	}
	if len(p) > writePiece {
		if _, err := r.Write(p); err != nil {
			return err
		}
		return r.Commit(ctx)
	}
	b, err := jsx.FromBytes(p)
	if err != nil {
		return err
	}
	written, err := jsx.Call(r.w, "write", b)
	if err != nil {
		return WebErr(err)
	}
	if err := r.Commit(ctx); err != nil {
		return errors.Join(settled(ctx, written), err) // the first one contains the reason
	}
	return nil
}

// ReadReplace finds the file once. Then it reads the file and writes the next content to
// the swap file at the same time.
func (h *Handles) ReadReplace(ctx context.Context, name string, data []byte, max int64) (fs.FileInfo, []byte, *core.Pending, error) {
	if h.mode == modeRead {
		return nil, nil, nil, core.ErrReadOnly
	}
	handle, isDir, err := h.entry(ctx, name)
	if err != nil {
		return nil, nil, nil, err
	}
	if isDir {
		return dirInfoOf(name), nil, nil, nil
	}
	p := core.Begin(func() (core.Replacement, error) {
		r, err := h.writer(ctx, handle, name, false)
		return core.Filled(r, err, data)
	})
	f, err := Await(ctx, handle, "getFile")
	if err != nil {
		p.Abort()
		return nil, nil, nil, err
	}
	fi, old, err := readUpTo(ctx, name, f, max)
	if err != nil {
		p.Abort()
		return nil, nil, nil, err
	}
	return fi, old, p, nil
}

// readUpTo reads a file of at most max bytes. For a larger file it returns only the
// information.
func readUpTo(ctx context.Context, name string, f jsx.Value, max int64) (core.Info, []byte, error) {
	fi, err := fileInfo(name, f)
	if err != nil || fi.Size() > max {
		return fi, nil, err
	}
	data, err := readBlob(ctx, f)
	return fi, data, err
}

func (h *Handles) writer(ctx context.Context, handle jsx.Value, name string, made bool) (core.Replacement, error) {
	release, err := h.Live.hold(name)
	if err != nil {
		return nil, err
	}
	w, err := Await(ctx, handle, "createWritable")
	if err != nil {
		release()
		if made {
			_ = h.Remove(context.WithoutCancel(ctx), name)
		}
		return nil, err
	}
	return &webReplacement{h: h, ctx: ctx, w: w, name: name, made: made, release: release}, nil
}

type webReplacement struct {
	h    *Handles
	ctx  context.Context
	w    jsx.Value
	name string
	made bool // the file was not there before
	done bool
	// release ends the hold on the file's access handle, which is closed meanwhile.
	release func()
}

func (r *webReplacement) Write(p []byte) (int, error) {
	if r.done {
		return 0, fs.ErrClosed
	}
	// A large content is passed in pieces. One piece is copied while the browser writes the
	// one before, so only two pieces are in memory twice.
	var last jsx.Value
	for done := 0; done < len(p); {
		n := min(writePiece, len(p)-done)
		b, err := jsx.FromBytes(p[done : done+n])
		if err != nil {
			return done, err
		}
		if done > 0 {
			if err := settled(r.ctx, last); err != nil {
				return 0, err
			}
		}
		if last, err = jsx.Call(r.w, "write", b); err != nil {
			return done, WebErr(err)
		}
		done += n
	}
	if len(p) == 0 {
		return 0, nil
	}
	if err := settled(r.ctx, last); err != nil {
		return 0, err
	}
	return len(p), nil
}

const writePiece = 8 << 20

func settled(ctx context.Context, promise jsx.Value) error {
	_, err := jsx.Await(ctx, promise)
	if err == nil {
		return nil
	}
	if cerr := context.Cause(ctx); cerr != nil {
		return cerr
	}
	var e *jsx.Error
	if errors.As(err, &e) && jsx.Code(e.Name) == jsx.ErrAborted {
		// This package did not abort the write. Chromium stops reading a write that exceeds
		// the quota, and sometimes reports that first ("Failed to write data to data
		// pipe").
		return core.ErrQuota
	}
	return WebErr(err)
}

func (r *webReplacement) Commit(ctx context.Context) error {
	if r.done {
		return fs.ErrClosed
	}
	if _, err := Await(ctx, r.w, "close"); err != nil {
		r.Abort()
		return err
	}
	r.end()
	return nil
}

func (r *webReplacement) end() {
	if r.done = true; r.release != nil {
		r.release()
	}
}

func (r *webReplacement) Abort() {
	if r.done {
		return
	}
	defer r.end()
	r.done = true
	ctx := context.WithoutCancel(r.ctx)
	_, _ = Await(ctx, r.w, "abort")
	if r.made && r.h != nil {
		_ = r.h.Remove(ctx, r.name)
	}
}
