package fsaccess

func openDir(path string, _ DirOptions) (*Folder, error) {
	return nil, pathErr("open", path, errUnsupported)
}
