package wasifs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	. "github.com/bailey-go/bailey/internal/wasifs"
)

// What a killed program has not synced is dropped by ending the context first.
func TestCancelledMount(t *testing.T) {
	m := fsaccess.NewMemory(stagedMemory)
	prepare(t, m)
	ctx, cancel := context.WithCancel(context.Background())
	g := &guest{New(Mount{FS: fsaccess.WithContext(ctx, m)}), t}
	fd := g.open("a", 0, fileRW, 0)
	g.write(fd, "half")
	cancel()
	if _, e := g.PathOpen(3, 0, "a", 0, fileR, 0, 0); e != ECANCELED {
		t.Errorf("open: %v", e)
	}
	if err := g.Close(); !errors.Is(err, ECANCELED) {
		t.Errorf("close: %v", err)
	}
	if s, _ := m.ReadFile("a"); string(s) != "file a" {
		t.Errorf("%q", s)
	}
}

func TestErrnoOf(t *testing.T) {
	for err, want := range map[error]Errno{
		nil: ESUCCESS, fsaccess.ErrConflict: ESTALE, fsaccess.ErrReadOnly: EROFS, fsaccess.ErrDenied: EACCES, fsaccess.ErrProtected: EACCES,
		fsaccess.ErrKind: EACCES, fsaccess.ErrRevoked: EACCES, fsaccess.ErrBadName: EINVAL, fsaccess.ErrQuota: ENOSPC, fsaccess.ErrTooLarge: EFBIG,
		fsaccess.ErrBusy: EBUSY, fsaccess.ErrCorrupt: EIO, errors.ErrUnsupported: ENOTSUP, context.DeadlineExceeded: ETIMEDOUT, context.Canceled: ECANCELED,
		fmt.Errorf("wrapped: %w", fsaccess.ErrQuota): ENOSPC, errors.New("anything"): EIO, EXDEV: EXDEV,
	} {
		if e := ErrnoOf(err); e != want {
			t.Errorf("%v: %v, want %v", err, e, want)
		}
	}
}
