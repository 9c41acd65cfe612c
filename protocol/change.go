package protocol

import "strings"

// FileChange is one change that a program made to its copies of files, and that is not yet made in
// the folder. A person is shown these changes before they take effect.
type FileChange struct {
	Path string
	// From is the earlier path of a file that was moved, or empty.
	From string
	// Link is the path that a new symbolic link holds, or empty.
	Link string
	// Same is another path of the same file, if the change is a new hard link.
	Same string
	// Dir reports that the path is a folder.
	Dir bool
	// Before is the size in bytes before the change, or -1 for a new path. A folder has the size 0.
	Before int64
	// Size is the size in bytes after the change, or -1 for a removed path.
	Size int64
}

// LinkStays reports whether the path that a new symbolic link holds leads to a path of the same
// folder, whatever is there. ".." may stand only at its beginning: behind a name that is a link it
// leads elsewhere.
func (c FileChange) LinkStays() bool {
	depth, down := strings.Count(c.Path, "/"), false
	for part := range strings.SplitSeq(c.Link, "/") {
		switch {
		case part == "" || part == ".":
		case part != "..":
			down = true
		case down || depth == 0:
			return false
		default:
			depth--
		}
	}
	return c.Link != "" && c.Link[0] != '/' && strings.IndexByte(c.Link, 0) < 0
}
