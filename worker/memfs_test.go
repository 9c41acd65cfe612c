package worker

import (
	"io/fs"

	"github.com/bailey-go/bailey/fsaccess"
)

func newMemFS() *fsaccess.Folder { return fsaccess.NewMemory(fsaccess.MemoryOptions{}) }

// bigFile is a file system with one file of 2 MiB.
type bigFile struct{}

func (bigFile) Open(name string) (fs.File, error) {
	m := newMemFS()
	if err := m.WriteFile("big", make([]byte, 2<<20), 0o644); err != nil {
		return nil, err
	}
	return m.Open(name)
}
