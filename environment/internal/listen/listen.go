// Package listen opens the listeners of the commands: for programs of this machine alone.
package listen

import (
	"fmt"
	"net"
	"os"
	"strings"
)

// On listens at unix:PATH or at an address of loopback with a port, and returns the address as a client writes it:
// unix:PATH or http://IP:PORT. The mode of a socket decides who may connect, such as 0600 for one user.
func On(on string, mode os.FileMode) (net.Listener, string, error) {
	if path, is := strings.CutPrefix(on, "unix:"); is {
		l, err := socket(path, mode)
		return l, on, err
	}
	host, _, err := net.SplitHostPort(on)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return nil, "", fmt.Errorf("the address to listen at is %q: it must be unix:PATH or an address of loopback with a port, such as 127.0.0.1:8800", on)
	}
	l, err := net.Listen("tcp", on)
	if err != nil {
		return nil, "", err
	}
	return l, "http://" + l.Addr().String(), nil
}
