//go:build !js && !linux

package fsaccess

import "os"

// renameBetween renames from one folder into another. The standard library has no rename
// between two open folders here, so the names are looked up again by [os.Root]: a link that
// another program puts in place of a folder just then is followed, within the root only. That
// the file arrived in the folder that was checked is looked at afterwards.
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
