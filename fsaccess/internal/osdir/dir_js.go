package osdir

import (
	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// Open reports that a browser has no such folders.
func Open(path string, _ bool) (core.Core, error) {
	return nil, core.PathErr("open", path, core.ErrUnsupported)
}
