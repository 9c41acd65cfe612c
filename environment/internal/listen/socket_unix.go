//go:build unix

package listen

import (
	"net"
	"os"
	"syscall"
)

// socket makes the socket with its mode, so that nobody connects before it has it.
func socket(path string, mode os.FileMode) (net.Listener, error) {
	old := syscall.Umask(int(0o777 &^ mode))
	defer syscall.Umask(old)
	return net.Listen("unix", path)
}
