//go:build unix

package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// Lock implements [Store]. The file of a lock stays, because removing it would let two have it.
func (f folder) Lock(_ context.Context, job string) (func(), error) {
	if err := checkName(job); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(string(f), "locks", job), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w (%s)", ErrHeld, job)
		}
		return nil, fmt.Errorf("jobs: the lock of %s: %w", job, err)
	}
	return sync.OnceFunc(func() { _ = file.Close() }), nil
}
