//go:build unix

package compiled

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func supported() error { return nil }

// own checks a folder or a file of the cache.
func own(path string) error {
	fi, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return refuse(path, "has no owner that could be checked")
	case fi.Mode()&fs.ModeSymlink != 0:
		return refuse(path, "is a link: remove it")
	case !fi.IsDir() && !fi.Mode().IsRegular():
		return refuse(path, "is a special file: remove it")
	case int(st.Uid) != os.Geteuid():
		return refuse(path, "belongs to the user %d: remove it", st.Uid)
	case fi.IsDir() && fi.Mode().Perm() != 0o700:
		return refuse(path, "has mode %04o, so others can reach it: remove it with all files in it", fi.Mode().Perm())
	case fi.Mode().Perm()&0o022 != 0:
		return refuse(path, "has mode %04o, so others can write to it: remove it", fi.Mode().Perm())
	case fi.Mode().IsRegular() && st.Nlink > 1:
		return refuse(path, "has %d names, and who can write to another one changes it: remove it", st.Nlink)
	}
	return nil
}

// ancestor checks a folder above the cache. In one with a sticky bit only the owner of a name replaces it.
func ancestor(path string) error {
	fi, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !fi.IsDir():
		return refuse(path, "is no folder")
	case int(st.Uid) != os.Geteuid() && st.Uid != 0:
		return refuse(path, "belongs to the user %d, who can replace what is below it: set XDG_CACHE_HOME to a folder of your own", st.Uid)
	case fi.Mode().Perm()&0o022 != 0 && fi.Mode()&fs.ModeSticky == 0:
		return refuse(path, "has mode %04o, so others can replace what is below it: set XDG_CACHE_HOME to a folder of your own", fi.Mode().Perm())
	}
	return nil
}
