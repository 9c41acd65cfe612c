//go:build !js && !linux

package fsaccess

import "os"

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
	if err := a.d.root.Rename(from, to); err != nil {
		return err
	}
	if now, err := b.dir.Lstat(b.base); err != nil || !os.SameFile(moved, now) {
		return swappedAt(to)
	}
	return nil
}
