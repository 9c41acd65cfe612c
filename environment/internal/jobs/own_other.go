//go:build !linux

package jobs

import (
	"fmt"
	"os"
	"os/exec"
)

// own is the folder of the jobs of one provider. Here it has no lock, and no start looks for those of others.
type own struct {
	dir, group string
	found      int
	failed     error
}

type sweepOff struct{}

func claim(dir string, _ sweepOff) (*own, error) {
	at, err := os.MkdirTemp(dir, "jobs-")
	if err == nil {
		err = os.Chmod(at, 0o711)
	}
	if err != nil {
		return nil, fmt.Errorf("jobs: Options.Dir: %w", err)
	}
	return &own{dir: at, group: "job"}, nil
}

func (o *own) leave() error { return os.Remove(o.dir) }

// withUs does nothing.
func withUs(*exec.Cmd) {}
