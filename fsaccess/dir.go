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
// A replaced file is a new file under the old name and mode: hard links to the
// old one keep the old content. Devices, pipes and sockets are refused.
func OpenDir(path string, o DirOptions) (*Folder, error) { return openDir(path, o) }
