package native

import (
	"errors"
	"math"
	"testing"

	experimental "github.com/tetratelabs/wazero/experimental/sys"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// A program chooses the offset of a write. One whose end no number holds is refused, and a smaller one is too large for
// the run.
func TestWriteAtAnyOffset(t *testing.T) {
	for _, c := range []struct {
		off   int64
		want  experimental.Errno
		ended bool
	}{
		{-1, experimental.EINVAL, false},
		{0, 0, false},
		{98, 0, false},
		{99, experimental.EIO, true},
		{math.MaxInt64 - 2, experimental.EIO, true},
		{math.MaxInt64 - 1, experimental.EINVAL, false},
		{math.MaxInt64, experimental.EINVAL, false},
	} {
		ended := false
		files := newTree(fsaccess.NewMemory(fsaccess.MemoryOptions{}), 100, 100, func(error) { ended = true })
		f, no := files.OpenFile("new", experimental.O_CREAT|experimental.O_RDWR, 0)
		if no != 0 {
			t.Fatal(no)
		}
		if _, no := f.Pwrite([]byte("ab"), c.off); no != c.want || ended != c.ended {
			t.Errorf("at %d: %v, ended %v, want %v, %v", c.off, no, ended, c.want, c.ended)
		}
	}
}

// Names of empty files take memory too: a program that makes too many ends.
func TestNamesAreLimited(t *testing.T) {
	for _, c := range []struct {
		room  int64
		ended bool
	}{{3*(1+nodeBytes) + 1, false}, {3 * (1 + nodeBytes), false}, {3*(1+nodeBytes) - 1, true}} {
		var ended error
		files := newTree(fsaccess.NewMemory(fsaccess.MemoryOptions{}), 100, 100, func(err error) { ended = err })
		files.nameBytes = c.room
		_, no := files.OpenFile("a", experimental.O_CREAT|experimental.O_RDWR, 0)
		if no == 0 {
			no = files.Mkdir("d", 0)
		}
		if no == 0 {
			no = files.Link("a", "b")
		}
		for range 3 { // the same name again takes nothing more
			if no == 0 {
				no = files.Unlink("b")
			}
			if no == 0 {
				no = files.Link("a", "b")
			}
		}
		if no != 0 || (ended != nil) != c.ended || c.ended && !errors.Is(ended, protocol.ErrResourceLimit) {
			t.Errorf("room for %d bytes: %v, ended %v", c.room, no, ended)
		}
	}
	if n := newTree(nil, 0, 0, nil).nameBytes; n != maxNames {
		t.Errorf("a run has room for %d bytes of names", n)
	}
}
