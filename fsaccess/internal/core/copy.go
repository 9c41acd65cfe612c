package core

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// chunk is the number of bytes of a file that are in memory at once during a copy.
const chunk = 1 << 20

// CopyFile copies the bytes of one file and returns their number. The new file appears
// whole or not at all.
func CopyFile(ctx context.Context, src Core, from string, dst Core, to string, progress func(int)) (int64, error) {
	if c, ok := dst.(BlobCopier); ok {
		if n, done, err := c.CopyBlob(ctx, src, from, to); done || err != nil {
			if err == nil && progress != nil {
				progress(int(n))
			}
			return n, err
		}
	}
	in, err := src.Open(ctx, from, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if fi.IsDir() {
		return 0, ErrIsDir
	}
	out, err := dst.Replace(ctx, to, fi.Mode().Perm())
	if err != nil {
		return 0, err
	}
	defer out.Abort()
	n, err := Pump(ctx, out, in, progress)
	if err != nil {
		return n, err
	}
	if n != fi.Size() {
		return n, ErrConflict // it grew or shrank during the copy
	}
	return n, out.Commit(ctx)
}

// Pump is io.Copy that checks the context between chunks.
func Pump(ctx context.Context, w io.Writer, r io.Reader, progress func(int)) (n int64, err error) {
	size := int64(chunk)
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if fi, err := f.Stat(); err == nil { // most files are small; one more byte finds the end
			size = min(size, max(512, fi.Size()+1))
		}
	}
	buf := make([]byte, size)
	for {
		if err := context.Cause(ctx); err != nil {
			return n, err
		}
		k, err := r.Read(buf)
		if k > 0 {
			if _, werr := w.Write(buf[:k]); werr != nil {
				return n, werr
			}
			n += int64(k)
			if progress != nil {
				progress(k)
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// CopyRename renames where the platform cannot. It copies everything before it deletes
// anything, so at each moment one whole tree exists.
func CopyRename(ctx context.Context, c Core, from, to string) error {
	if from == to {
		return nil
	}
	if same, err := SameEntry(ctx, c, from, to); err != nil {
		return err
	} else if same {
		if real, err := Spelled(ctx, c, from); err != nil || real == to {
			return err // it has that spelling already
		}
		// Both spellings are one entry. Deleting the old name would delete the new one too,
		// so the rename goes through a third name.
		tmp := RespellName(from)
		if err := CopyRename(ctx, c, from, tmp); err != nil {
			return err
		}
		return CopyRename(ctx, c, tmp, to)
	}
	fi, err := c.Stat(ctx, from)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		if _, err := CopyFile(ctx, c, from, c, to, nil); err != nil {
			return err
		}
		return c.Remove(ctx, from)
	}
	if _, err := c.Stat(ctx, to); !NotExist(err) {
		return errors.Join(err, ErrExist)
	}
	if err := copyDir(ctx, c, from, c, to, fi); err != nil {
		// The target did not exist before, so everything in it is ours.
		return errors.Join(err, c.RemoveAll(context.WithoutCancel(ctx), to))
	}
	return c.RemoveAll(ctx, from)
}

func copyDir(ctx context.Context, src Core, from string, dst Core, to string, fi fs.FileInfo) error {
	list, err := src.ReadDir(ctx, from)
	if err != nil {
		return err
	}
	if err := dst.Mkdir(ctx, to, fi.Mode().Perm()); err != nil {
		return err
	}
	for _, e := range list {
		a, b := Join(from, e.Name()), Join(to, e.Name())
		if !e.IsDir() {
			if _, err := CopyFile(ctx, src, a, dst, b, nil); err != nil {
				return err
			}
			continue
		}
		sub, err := e.Info()
		if err != nil {
			return err
		}
		if err := copyDir(ctx, src, a, dst, b, sub); err != nil {
			return err
		}
	}
	return nil
}

// RespellName returns the third name for a change of case. It is derived from the old name,
// so that a program that continues an interrupted rename can find the entry.
func RespellName(from string) string {
	return Join(ParentOf(from), swapPrefix+HashOf([]byte(from))[:16]+SwapSuffix)
}

// WriteDeep writes a file of a store. It makes the folders only if they are missing.
func WriteDeep(ctx context.Context, c Core, name string, data []byte) error {
	err := WriteWhole(ctx, c, name, data, 0o600)
	if !NotExist(err) {
		return err
	}
	if err := Mkdirs(ctx, c, ParentOf(name)); err != nil {
		return err
	}
	return WriteWhole(ctx, c, name, data, 0o600)
}

// Mkdirs makes a folder and the folders above it, without a lock.
func Mkdirs(ctx context.Context, c Core, dir string) error {
	if dir == "." {
		return nil
	}
	err := c.Mkdir(ctx, dir, 0o700)
	if NotExist(err) {
		if err := Mkdirs(ctx, c, ParentOf(dir)); err != nil {
			return err
		}
		err = c.Mkdir(ctx, dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
