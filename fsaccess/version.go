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

// Version returns the version of a file, or [Absent] if it does not exist.
func (f *Folder) Version(name string) (Version, error) {
	p, err := f.enter(name)
	if err != nil {
		return "", pathErr("version", name, err)
	}
	v, err := versionAt(f.ctx, f.c, p)
	return v, pathErr("version", name, err)
}

// ReadVersion returns the content of a file together with its version.
func (f *Folder) ReadVersion(name string) ([]byte, Version, error) {
	data, err := f.ReadFile(name)
	if err != nil {
		return nil, "", err
	}
	v, err := versionIn(f.ctx, data)
	if err != nil {
		return nil, "", pathErr("read", name, err)
	}
	return data, v, nil
}

// WriteVersion writes a file only if its current version is want, and returns the new
// version. [Absent] as want makes a new file. [AnyVersion] writes in any case. If the
// version differs, the error wraps [ErrConflict] and nothing is written. perm is used only
// for a new file.
func (f *Folder) WriteVersion(name string, data []byte, perm fs.FileMode, want Version) (Version, error) {
	err := f.change("write", name, func(p string) error {
		if want != AnyVersion {
			have, err := versionAt(f.ctx, f.c, p)
			if err != nil {
				return err
			}
			if have != want {
				return ErrConflict
			}
		}
		return core.WriteWhole(f.ctx, f.c, p, data, perm.Perm())
	})
	if err != nil {
		return "", err
	}
	return versionIn(context.WithoutCancel(f.ctx), data) // the file is written already
}

// UpdateFile reads a file, calls edit with the content and writes the result. The path is
// locked meanwhile, also for edit, so edit must not change the same path. Parallel updates of
// one path through this source run one after the other and none is lost. If the file does not
// exist, edit gets nil. If edit returns an error, nothing is written. If another program
// changed the file meanwhile, the error wraps [ErrConflict]. perm is used only for a new file.
func (f *Folder) UpdateFile(name string, perm fs.FileMode, edit func(old []byte) ([]byte, error)) error {
	ctx := f.ctx
	return f.change("update", name, func(p string) error {
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
		return core.WriteWhole(ctx, f.c, p, data, perm.Perm())
	})
}
