//go:build unix

package runner

import (
	"io/fs"
	"syscall"
)

// identity is what os.SameFile compares; a float64 holds 53 bits of it.
func identity(fi fs.FileInfo) (ino, dev int64) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return int64(uint64(st.Ino) & (1<<53 - 1)), int64(uint64(st.Dev) & (1<<53 - 1))
	}
	return 0, 0
}
