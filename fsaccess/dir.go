package fsaccess

import (
	"github.com/bailey-go/bailey/fsaccess/internal/osdir"
)

// DirOptions configures [OpenDir].
type DirOptions struct {
	// NoSync does not flush written files to the disk. This is faster, but a power cut may
	// lose the last writes. A crash of the program loses nothing.
	NoSync bool
}

// OpenDir opens a folder of the operating system through [os.Root]: no name, link or race
// leads out of it. In a browser the error is [errors.ErrUnsupported]. Use [Pick] there.
//
// Symbolic links inside the folder are not followed. A name that is a link, or passes
// through one, fails with [ErrLink]. So every file has exactly one name, which policies
// judge. A link is listed and described as a link ([fs.ModeSymlink]), and can itself be
// removed or renamed. The path argument may be a link, because the caller chose it.
//
// A replaced file is a new file with the old name and mode. Hard links to the old file keep
// the old content. Devices, pipes and sockets are refused with [errors.ErrUnsupported].
func OpenDir(path string, o DirOptions) (*Folder, error) {
	c, err := osdir.Open(path, o.NoSync)
	if err != nil {
		return nil, err
	}
	return newFolder(c), nil
}
