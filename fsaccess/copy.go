package fsaccess

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// chunk is the number of bytes of a file that are in memory at once during a copy.
const chunk = 1 << 20

// copyFile copies the bytes of one file and returns their number. The new file appears
// whole or not at all.
func copyFile(ctx context.Context, src core, from string, dst core, to string, progress func(int)) (int64, error) {
	if c, ok := dst.(blobCopier); ok {
		if n, done, err := c.copyBlob(ctx, src, from, to); done || err != nil {
			if err == nil && progress != nil {
				progress(int(n))
			}
			return n, err
		}
	}
	in, err := src.open(ctx, from, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if fi.IsDir() {
		return 0, errIsDir
	}
	out, err := dst.replace(ctx, to, fi.Mode().Perm())
	if err != nil {
		return 0, err
	}
	defer out.abort()
	n, err := pump(ctx, out, in, progress)
	if err != nil {
		return n, err
	}
	if n != fi.Size() {
		return n, ErrConflict // it grew or shrank during the copy
	}
	return n, out.commit(ctx)
}

// pump is io.Copy that checks the context between chunks.
func pump(ctx context.Context, w io.Writer, r io.Reader, progress func(int)) (n int64, err error) {
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

// copyRename renames where the platform cannot. It copies everything before it deletes
// anything, so at each moment one whole tree exists.
func copyRename(ctx context.Context, c core, from, to string) error {
	if from == to {
		return nil
	}
	if same, err := sameEntry(ctx, c, from, to); err != nil {
		return err
	} else if same {
		if real, err := spelled(ctx, c, from); err != nil || real == to {
			return err // it has that spelling already
		}
		// Both spellings are one entry. Deleting the old name would delete the new one too,
		// so the rename goes through a third name.
		tmp := respellName(from)
		if err := copyRename(ctx, c, from, tmp); err != nil {
			return err
		}
		return copyRename(ctx, c, tmp, to)
	}
	fi, err := c.stat(ctx, from)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		if _, err := copyFile(ctx, c, from, c, to, nil); err != nil {
			return err
		}
		return c.remove(ctx, from)
	}
	if _, err := c.stat(ctx, to); !notExist(err) {
		return errors.Join(err, errExist)
	}
	if err := copyDir(ctx, c, from, c, to, fi); err != nil {
		// The target did not exist before, so everything in it is ours.
		return errors.Join(err, c.removeAll(context.WithoutCancel(ctx), to))
	}
	return c.removeAll(ctx, from)
}

func copyDir(ctx context.Context, src core, from string, dst core, to string, fi fs.FileInfo) error {
	list, err := src.readDir(ctx, from)
	if err != nil {
		return err
	}
	if err := dst.mkdir(ctx, to, fi.Mode().Perm()); err != nil {
		return err
	}
	for _, e := range list {
		a, b := join(from, e.Name()), join(to, e.Name())
		if !e.IsDir() {
			if _, err := copyFile(ctx, src, a, dst, b, nil); err != nil {
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

// respellName returns the third name for a change of case. It is derived from the old name,
// so that a program that continues an interrupted rename can find the entry.
func respellName(from string) string {
	return join(parentOf(from), swapPrefix+hashOf([]byte(from))[:16]+swapSuffix)
}
