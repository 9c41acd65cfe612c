//go:build !linux

package browser

import "fmt"

// Process is a process of a browser.
type Process struct {
	PID  int
	Kind string
	// Bytes is its share of all it has in memory. The browser's files are shared with
	// other browsers on the machine, so it grows by half when the last of them ends.
	Bytes int64
	// Own is Bytes without files: what the process itself made.
	Own int64
}

// Processes lists a process and its descendants, on Linux.
func Processes(int) ([]Process, error) {
	return nil, fmt.Errorf("browser: listing processes needs Linux: %w", ErrUnsupported)
}
