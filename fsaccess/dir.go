package fsaccess

// DirOptions shapes a folder of the operating system.
type DirOptions struct {
	// NoSync leaves it to the system when bytes reach the disk. Faster, but
	// a power cut may then lose the last writes; a crash of the program
	// cannot.
	NoSync bool
}

// OpenDir opens a folder of the operating system through [os.Root]: no name,
// link or race leads out of it. In a browser there is none and the error is
// [errors.ErrUnsupported]; use [Pick].
//
// Symbolic links inside the folder are not followed: a name that is one, or
// passes through one, fails with [ErrLink], so that every file has the one name
// that policies judge. A link is listed and described as a link
// ([fs.ModeSymlink]) and can be removed or renamed itself. The path given here
// may be a link; whoever opens the folder chose it.
//
// A replaced file is a new file under the old name and mode: hard links to the
// old one keep the old content. Devices, pipes and sockets are refused.
func OpenDir(path string, o DirOptions) (*Folder, error) { return openDir(path, o) }
