package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/bailey-go/bailey/internal/jsx"
)

func (h *handles) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	if h.mode == ReadOnly && (writable(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0) {
		return nil, ErrReadOnly
	}
	_, f, err := h.file(ctx, name)
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, errExist
	case errors.Is(err, errIsDir):
		if flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL {
			return nil, errExist
		}
		if writable(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0 {
			return nil, errIsDir
		}
		return &dirFile{info: dirInfoOf(name),
			list:  func() ([]fs.DirEntry, error) { return h.readDir(ctx, name) },
			pages: func() (pager, error) { return h.pages(ctx, name) }}, nil
	case notExist(err) && flag&os.O_CREATE != 0:
		if err := h.create(ctx, name); err != nil {
			return nil, err
		}
		if _, f, err = h.file(ctx, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	fi, err := fileInfo(name, f)
	if err != nil {
		return nil, err
	}
	if h.live != nil && writable(flag) {
		return h.live.newFile(ctx, name, flag, fi.mtime, func() (File, error) { return h.openBlob(ctx, name) })
	}
	if !writable(flag) {
		if flag&os.O_TRUNC != 0 && fi.size > 0 {
			if err := writeWhole(ctx, h, name, nil, perm); err != nil {
				return nil, err
			}
			return h.open(ctx, name, os.O_RDONLY, 0)
		}
		if v := h.live.find(name); v != nil {
			return &liveFile{ctx: ctx, v: v, path: name, flag: flag, byName: func() (File, error) { return h.openBlob(ctx, name) }}, nil
		}
		return &blobFile{ctx: ctx, blob: f, info: fi}, nil
	}
	return newStaged(ctx, h, name, flag, perm, func() (File, error) { return &blobFile{ctx: ctx, blob: f, info: fi}, nil }, fi)
}

// openBlob opens the present content of a file for reading.
func (h *handles) openBlob(ctx context.Context, name string) (File, error) {
	_, f, err := h.file(ctx, name)
	if err != nil {
		return nil, err
	}
	fi, err := fileInfo(name, f)
	return &blobFile{ctx: ctx, blob: f, info: fi}, err
}

// mayWrite does not open the file: opening it in place would lock out others.
func (h *handles) mayWrite(context.Context, string) error {
	if h.mode == ReadOnly {
		return ErrReadOnly
	}
	return nil
}

func (h *handles) create(ctx context.Context, name string) error {
	_, err := h.created(ctx, name)
	return err
}

// created returns the handle of a file, and makes the file if it does not exist.
func (h *handles) created(ctx context.Context, name string) (file jsx.Value, err error) {
	base, err := jsName(name)
	if err != nil {
		return file, err
	}
	err = h.in(ctx, parentOf(name), func(d jsx.Value) (err error) {
		file, err = await(ctx, d, "getFileHandle", base, map[string]any{"create": true})
		if errors.Is(err, errNotDir) {
			err = errIsDir
		}
		return err
	})
	return file, err
}
