package browser

import (
	"os"
	"time"
)

// Dir is a temporary folder that is removed even if this process is killed.
type Dir struct{ Path string }

// TempDir makes a folder for a browser's files.
func TempDir() (*Dir, error) {
	p, err := os.MkdirTemp("", "browsertest-")
	if err != nil {
		return nil, err
	}
	return &Dir{p}, nil
}

// Close removes the folder.
func (d *Dir) Close() error { return RemoveTemp(d.Path) }

// RemoveTemp removes a folder, and tries for a while: a browser's last process
// may still be writing.
func RemoveTemp(dir string) error {
	var err error
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
