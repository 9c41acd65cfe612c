package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

// vault is a browser's file system as far as access handles go: each file has at
// most one.
type vault struct {
	mu    sync.Mutex
	files map[string]*bytes.Buffer
	open  map[string]bool
	opens int
}

type vaultHandle struct {
	v    *vault
	name string
}

func (v *vault) take(_ context.Context, name string) (bytesInPlace, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.files[name] == nil {
		return nil, errNotExist
	}
	if v.open[name] {
		return nil, ErrBusy
	}
	v.open[name] = true
	v.opens++
	return &vaultHandle{v, name}, nil
}

func (h *vaultHandle) readAt(p []byte, off int64) (int, error) {
	b := h.v.files[h.name].Bytes()
	if off >= int64(len(b)) {
		return 0, nil
	}
	return copy(p[:min(len(p), 3)], b[off:]), nil // a browser may give less
}

func (h *vaultHandle) writeAt(p []byte, off int64) (int, error) {
	p = p[:min(len(p), 3)]
	b := h.v.files[h.name]
	if n := off + int64(len(p)); n > int64(b.Len()) {
		b.Write(make([]byte, n-int64(b.Len())))
	}
	return copy(b.Bytes()[off:], p), nil
}

func (h *vaultHandle) size() (int64, error) { return int64(h.v.files[h.name].Len()), nil }
func (h *vaultHandle) truncate(n int64) error {
	b := h.v.files[h.name]
	if n > int64(b.Len()) {
		b.Write(make([]byte, n-int64(b.Len())))
	}
	b.Truncate(int(n))
	return nil
}
func (h *vaultHandle) flush() error { return nil }
func (h *vaultHandle) close() error {
	h.v.mu.Lock()
	defer h.v.mu.Unlock()
	if !h.v.open[h.name] {
		return errors.New("closed twice")
	}
	delete(h.v.open, h.name)
	return nil
}

func newVault(files ...string) (*vault, *lives) {
	v := &vault{files: map[string]*bytes.Buffer{}, open: map[string]bool{}}
	for _, f := range files {
		v.files[f] = new(bytes.Buffer)
	}
	return v, newLives(v.take)
}

func openLive(t *testing.T, l *lives, name string, flag int) File {
	t.Helper()
	f, err := l.newFile(context.Background(), name, flag, time.Time{}, func() (File, error) { return nil, errors.New("read by name") })
	must(t, err)
	return f
}

func TestLiveFilesShareOneHandle(t *testing.T) {
	v, l := newVault("a")
	f, g := openLive(t, l, "a", os.O_RDWR), openLive(t, l, "a", os.O_WRONLY|os.O_APPEND)
	for _, step := range []struct {
		f File
		s string
	}{{f, "one "}, {g, "two "}, {f, "THREE"}, {g, "four"}} {
		if n, err := step.f.Write([]byte(step.s)); n != len(step.s) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	want := "one THREEfour"
	got := make([]byte, 40)
	if n, err := f.ReadAt(got, 0); err != io.EOF || string(got[:n]) != want {
		t.Errorf("%q, %v; want %q", got[:n], err, want)
	}
	if _, err := g.ReadAt(got, 0); !errors.Is(err, errBadFD) {
		t.Errorf("reading from one opened for writing: %v", err)
	}
	if v.opens != 1 {
		t.Errorf("%d handles were taken", v.opens)
	}
	must(t, f.Close())
	if len(v.open) != 1 {
		t.Error("the handle went with the first to close")
	}
	must(t, g.Close())
	if len(v.open) != 0 || len(l.all) != 0 {
		t.Errorf("left: %v %v", v.open, l.all)
	}
}

// If the access handle cannot be opened, no state is left, and the next try is free.
func TestLiveFileRefused(t *testing.T) {
	v, l := newVault("a")
	other, err := v.take(context.Background(), "a") // another tab
	must(t, err)
	_, err = l.newFile(context.Background(), "a", os.O_RDWR, time.Time{}, nil)
	if !errors.Is(err, ErrBusy) {
		t.Errorf("while another tab has it: %v", err)
	}
	if len(l.all) != 0 {
		t.Errorf("left: %v", l.all)
	}
	must(t, other.close())
	must(t, openLive(t, l, "a", os.O_RDWR).Close())
}

// While an operation replaces the file, the access handle is closed, reads use the name,
// and a write waits. A context can end the wait.
func TestLiveFileHeld(t *testing.T) {
	v, l := newVault("d/a")
	ctx, cancel := context.WithCancel(context.Background())
	byName := NewMemory(MemoryOptions{})
	must(t, byName.WriteFile("x", []byte("by name"), 0o644))
	f, err := l.newFile(ctx, "d/a", os.O_RDWR, time.Time{}, func() (File, error) {
		return byName.c.open(ctx, "x", os.O_RDONLY, 0)
	})
	must(t, err)
	_, err = f.Write([]byte("old"))
	must(t, err)
	release, err := l.hold("d")
	must(t, err)
	if len(v.open) != 0 {
		t.Error("the handle is still open")
	}
	b := make([]byte, 7)
	if n, err := f.ReadAt(b, 0); string(b[:n]) != "by name" {
		t.Errorf("%q, %v", b[:n], err)
	}
	if fi, err := f.Stat(); err != nil || fi.Size() != 7 {
		t.Errorf("%v, %v", fi, err)
	}
	wrote := make(chan error)
	go func() { _, err := f.WriteAt([]byte("new"), 0); wrote <- err }()
	until.Turns(20)
	select {
	case err := <-wrote:
		t.Errorf("the write did not wait: %v", err)
	default:
	}
	release()
	must(t, <-wrote)
	if s := v.files["d/a"].String(); s != "new" {
		t.Errorf("%q", s)
	}
	release, err = l.hold("d/a")
	must(t, err)
	go func() { _, err := f.WriteAt([]byte("late"), 0); wrote <- err }()
	cancel()
	if err := <-wrote; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: %v", err)
	}
	release()
	must(t, f.Close())
	if len(v.open)+len(l.all) != 0 {
		t.Errorf("left: %v %v", v.open, l.all)
	}
}

func TestLiveFileMovedAndRemoved(t *testing.T) {
	v, l := newVault("d/a", "d/b", "e/a")
	moved, over, gone := openLive(t, l, "d/a", os.O_RDWR), openLive(t, l, "e/a", os.O_RDWR), openLive(t, l, "d/b", os.O_RDWR)
	release, err := l.hold("d/a")
	must(t, err)
	release2, err := l.hold("e/a")
	must(t, err)
	place := l.park("d/a")
	v.files["e/a"] = v.files["d/a"]
	delete(v.files, "d/a")
	place("e/a")
	release2()
	release()
	_, err = moved.Write([]byte("went along"))
	must(t, err)
	if s := v.files["e/a"].String(); s != "went along" {
		t.Errorf("%q", s)
	}
	if _, err := over.Write([]byte("x")); !errors.Is(err, ErrConflict) {
		t.Errorf("a file that was replaced by a rename: %v", err)
	}
	release, err = l.hold("d")
	must(t, err)
	delete(v.files, "d/b")
	l.removed("d")
	release()
	if _, err := gone.Write([]byte("x")); !errors.Is(err, ErrConflict) {
		t.Errorf("a file that was removed: %v", err)
	}
	for _, f := range []File{moved, over, gone} {
		must(t, f.Close())
	}
	if len(v.open)+len(l.all) != 0 {
		t.Errorf("left: %v %v", v.open, l.all)
	}
}
