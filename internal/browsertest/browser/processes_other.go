//go:build !linux

package browser

import "fmt"

// Process is a process of a browser.
type Process struct {
	PID   int
	Kind  string
	Bytes int64
}

// Processes lists a process and its descendants, on Linux.
func Processes(int) ([]Process, error) {
	return nil, fmt.Errorf("browser: listing processes needs Linux: %w", ErrUnsupported)
}
