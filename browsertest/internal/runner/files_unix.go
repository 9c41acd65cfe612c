//go:build unix

package runner

import (
	"io/fs"
	"syscall"
)

// identity returns the numbers that os.SameFile compares, cut to the 53 bits of a float64.
func identity(fi fs.FileInfo) (ino, dev int64) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return int64(uint64(st.Ino) & (1<<53 - 1)), int64(uint64(st.Dev) & (1<<53 - 1))
	}
	return 0, 0
}
