package fsaccess

import (
	"context"
	"io/fs"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// Version identifies the content of a file: equal versions mean equal bytes. It is the
// first 32 hexadecimal digits of the SHA-256 of the content, or [Absent]. It depends on the
// content alone, so it is the same through every layer and after a reload.
type Version string

const (
	// AnyVersion, as the wanted version of a write, matches any content and a missing file.
	AnyVersion Version = ""
	// Absent is the version of a file that does not exist.
	Absent Version = "absent"
)

// VersionOf returns the version of a content.
func VersionOf(data []byte) Version { return Version(core.VersionOf(data)) }

func versionIn(ctx context.Context, data []byte) (Version, error) {
	v, err := core.VersionIn(ctx, data)
	return Version(v), err
}

func versionAt(ctx context.Context, c core.Core, name string) (Version, error) {
	v, err := core.VersionAt(ctx, c, name)
	return Version(v), err
}

// CurrentVersion returns the version of a file, or [Absent] if it does not exist.
func CurrentVersion(ctx context.Context, fsys FS, name string) (Version, error) {
	f := folderOf(ctx, fsys)
	p, err := f.enter(name)
	if err != nil {
		return "", pathErr("version", name, err)
	}
	v, err := versionAt(ctx, f.c, p)
	return v, pathErr("version", name, err)
}

// ReadVersion returns the content of a file together with its version.
func ReadVersion(ctx context.Context, fsys FS, name string) ([]byte, Version, error) {
	data, err := folderOf(ctx, fsys).ReadFile(name)
	if err != nil {
		return nil, "", err
	}
	v, err := versionIn(ctx, data)
	if err != nil {
		return nil, "", pathErr("read", name, err)
	}
	return data, v, nil
}

// WriteVersion writes a file only if its current version is want, and returns the new
// version. [Absent] as want makes a new file. [AnyVersion] writes in any case. If the
// version differs, the error wraps [ErrConflict] and nothing is written. perm is used only
// for a new file.
func WriteVersion(ctx context.Context, fsys FS, name string, data []byte, perm fs.FileMode, want Version) (Version, error) {
	f := folderOf(ctx, fsys)
	err := f.change("write", name, func(p string) error {
		if want != AnyVersion {
			have, err := versionAt(ctx, f.c, p)
			if err != nil {
				return err
			}
			if have != want {
				return ErrConflict
			}
		}
		return core.WriteWhole(ctx, f.c, p, data, perm.Perm())
	})
	if err != nil {
		return "", err
	}
	return versionIn(context.WithoutCancel(ctx), data) // the file is written already
}

// Update reads a file, calls edit with the content, writes the result and returns its
// version. The path is locked meanwhile, also for edit, so edit must not change the same
// path. Parallel updates of one path through this source run one after the other and none
// is lost. If the file does not exist, edit gets nil. If edit returns an error, nothing is
// written. If another program changed the file meanwhile, the error wraps [ErrConflict].
func Update(ctx context.Context, fsys FS, name string, perm fs.FileMode, edit func(old []byte) ([]byte, error)) (Version, error) {
	f := folderOf(ctx, fsys)
	var v Version
	err := f.change("update", name, func(p string) error {
		old, err := f.c.ReadFile(ctx, p)
		was := Absent
		if err == nil {
			was, err = versionIn(ctx, old)
		}
		if err != nil && !core.NotExist(err) {
			return err
		}
		data, err := edit(old)
		if err != nil {
			return err
		}
		// The lock stops our own tabs, not other programs.
		if now, err := versionAt(ctx, f.c, p); err != nil {
			return err
		} else if now != was {
			return ErrConflict
		}
		if v, err = versionIn(ctx, data); err != nil {
			return err
		}
		return core.WriteWhole(ctx, f.c, p, data, perm.Perm())
	})
	return v, err
}

// UpdateFile is [Update] as a method, for callers that use a folder by an interface.
func (f *Folder) UpdateFile(name string, perm fs.FileMode, edit func(old []byte) ([]byte, error)) error {
	_, err := Update(f.ctx, f, name, perm, edit)
	return err
}

// Wrap returns fsys as a [Folder]. If fsys is not of this package, all users of the result
// share its locks. An [FS] of this package keeps its own locks.
func Wrap(fsys FS) *Folder { return &Folder{view: viewOf(fsys)} }
