package osdir

import (
	"os"
	"runtime"
	"syscall"
)

// renameBetween renames from one open folder to another. The names are not looked up again,
// so it follows no link that appears meanwhile.
func renameBetween(a, b place, _, _ string) error {
	from, err := a.dir.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := b.dir.Open(".")
	if err != nil {
		return err
	}
	defer to.Close()
	err = syscall.Renameat(int(from.Fd()), a.base, int(to.Fd()), b.base)
	runtime.KeepAlive(from)
	runtime.KeepAlive(to)
	if err != nil {
		return &os.LinkError{Op: "renameat", Old: a.base, New: b.base, Err: err}
	}
	return nil
}
