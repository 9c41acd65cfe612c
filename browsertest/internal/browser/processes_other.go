//go:build !linux

package browser

import "fmt"

// Process is a process of a browser.
type Process struct {
	PID  int
	Kind string
	// Bytes is the process's proportional share of the memory (Pss). The browser's files are shared
	// with other browsers on the machine, so Bytes grows by half when the last of them ends.
	Bytes int64
	// Own is Bytes without files: the memory that the process itself has allocated.
	Own int64
}

// Processes returns an error that wraps ErrUnsupported. Only Linux can list processes.
func Processes(int) ([]Process, error) {
	return nil, fmt.Errorf("browser: listing processes needs Linux: %w", ErrUnsupported)
}
