//go:build !js && !linux

package osdir

import (
	"os"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// renameBetween renames from one folder to another. The standard library has no rename
// between two open folders on these systems, so [os.Root] looks up the names again. If
// another program puts a link in place of a folder at that moment, the link is followed,
// but only inside the root. Afterwards renameBetween checks that the file is in the folder
// that was checked before.
func renameBetween(a, b place, from, to string) error {
	moved, err := a.dir.Lstat(a.base)
	if err != nil {
		return err
	}
	if err := a.d.Root.Rename(from, to); err != nil {
		return err
	}
	if now, err := b.dir.Lstat(b.base); err != nil || !os.SameFile(moved, now) {
		return core.LinkSwapped(to)
	}
	return nil
}
