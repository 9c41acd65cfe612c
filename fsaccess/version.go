package fsaccess

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Version identifies the content of a file: two reads that give the same
// version gave the same bytes. It is made from the content alone, so it is the
// same through every layer and after a reload.
type Version string

const (
	// AnyVersion as the wanted version of a write means: whatever is there.
	AnyVersion Version = ""
	// Absent is the version of a file that is not there.
	Absent Version = "absent"
)

// VersionOf is the version of a content.
func VersionOf(data []byte) Version {
	return versionOfHash(hashOf(data))
}

// versionIn is [VersionOf] with turns for the page. It ends with ctx.
func versionIn(ctx context.Context, data []byte) (Version, error) {
	if len(data) <= 64<<10 {
		return VersionOf(data), nil
	}
	h := sha256.New()
	if err := jsx.WriteIn(ctx, new(jsx.Budget), h, data); err != nil {
		return "", err
	}
	return versionOfHash(hex.EncodeToString(h.Sum(nil))), nil
}

func versionOfHash(hash string) Version { return Version(hash[:32]) }

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hashFile hashes a file in chunks and counts its bytes.
func hashFile(ctx context.Context, c core, name string) (hash string, size int64, err error) {
	f, err := c.open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = pump(ctx, h, f, nil)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// CurrentVersion gives the version of a file, or [Absent].
func CurrentVersion(ctx context.Context, fsys FS, name string) (Version, error) {
	f := folderOf(ctx, fsys)
	p, err := f.enter(name)
	if err != nil {
		return "", pathErr("version", name, err)
	}
	v, err := version(ctx, f.c, p)
	return v, pathErr("version", name, err)
}

func version(ctx context.Context, c core, name string) (Version, error) {
	hash, _, err := hashFile(ctx, c, name)
	if notExist(err) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	return versionOfHash(hash), nil
}

// ReadVersion reads a file together with its version.
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

// WriteVersion writes a file only if it still has the wanted version, and gives
// the new one. [Absent] makes a new file, [AnyVersion] writes in any case. If
// the file has changed the error is [ErrConflict] and nothing is written.
func WriteVersion(ctx context.Context, fsys FS, name string, data []byte, perm fs.FileMode, want Version) (Version, error) {
	f := folderOf(ctx, fsys)
	err := f.change("write", name, func(p string) error {
		if want != AnyVersion {
			have, err := version(ctx, f.c, p)
			if err != nil {
				return err
			}
			if have != want {
				return ErrConflict
			}
		}
		return writeWhole(ctx, f.c, p, data, perm.Perm())
	})
	if err != nil {
		return "", err
	}
	return versionIn(context.WithoutCancel(ctx), data) // it is written by now
}

// Update reads a file, lets edit change the content, and writes the result,
// with nobody else's change through this source in between: parallel updates
// of one path queue up and none is lost. A file that is not there is edited as
// nil. If edit fails nothing is written.
func Update(ctx context.Context, fsys FS, name string, perm fs.FileMode, edit func(old []byte) ([]byte, error)) (Version, error) {
	f := folderOf(ctx, fsys)
	var v Version
	err := f.change("update", name, func(p string) error {
		old, err := f.c.readFile(ctx, p)
		was := Absent
		if err == nil {
			was, err = versionIn(ctx, old)
		}
		if err != nil && !notExist(err) {
			return err
		}
		data, err := edit(old)
		if err != nil {
			return err
		}
		// The lock holds our own tabs off, not other programs.
		if now, err := version(ctx, f.c, p); err != nil {
			return err
		} else if now != was {
			return ErrConflict
		}
		if v, err = versionIn(ctx, data); err != nil {
			return err
		}
		return writeWhole(ctx, f.c, p, data, perm.Perm())
	})
	return v, err
}

// UpdateFile is [Update] as a method, for those who know a folder by its methods only.
func (f *Folder) UpdateFile(name string, perm fs.FileMode, edit func(old []byte) ([]byte, error)) error {
	_, err := Update(f.ctx, f, name, perm, edit)
	return err
}

// Wrap makes a folder of somebody else's FS, so that all who use the result
// share its locks. [FS] values of this package are bound as they are.
func Wrap(fsys FS) *Folder { return &Folder{view: viewOf(fsys)} }
