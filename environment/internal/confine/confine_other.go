//go:build !linux

package confine

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
)

// Main returns: there is no helper here.
func Main() {}

// Supported returns the reason why no program can run. macOS has the profile of [Profile], which was
// never run on a machine, so it starts nothing by itself.
func Supported() error {
	why := "there is no sandbox for " + runtime.GOOS
	if runtime.GOOS == "windows" {
		why = "Windows has no sandbox that a program can put on itself without rights of an administrator. Use WSL, or programs in WebAssembly, which need none"
	}
	return fmt.Errorf("%w: %s", ErrUnsupported, why)
}

// Cmd is a command in the sandbox.
type Cmd struct{ *exec.Cmd }

// Hit returns nothing.
func (*Cmd) Hit() []string { return nil }

// Command returns [ErrUnsupported].
func Command(context.Context, *Spec, string, ...string) (*Cmd, error) { return nil, Supported() }

// Own does nothing.
func Own(string) error { return nil }

// Self returns [ErrUnsupported].
func Self([]string, []string, ...uint16) error { return Supported() }

// Groups returns [ErrUnsupported].
func Groups() error { return Supported() }

// Disk returns [ErrUnsupported].
func Disk(string, int64, int64) (func() error, error) { return nil, Supported() }

// Group is a group of processes with limits.
type Group struct{}

// NewGroup returns [ErrUnsupported].
func NewGroup(string, int64, int64, int64) (*Group, error) { return nil, Supported() }

// Add does nothing.
func (*Group) Add(int) error { return nil }

// Close does nothing.
func (*Group) Close() error { return nil }
