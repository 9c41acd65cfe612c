package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/until"
)

// byName is a file that is open by its name.
type byName struct {
	core.File
	*strings.Reader
}

func (b *byName) Close() error                              { return nil }
func (b *byName) Read(p []byte) (int, error)                { return b.Reader.Read(p) }
func (b *byName) ReadAt(p []byte, off int64) (int, error)   { return b.Reader.ReadAt(p, off) }
func (b *byName) Seek(off int64, whence int) (int64, error) { return b.Reader.Seek(off, whence) }
func (b *byName) Stat() (fs.FileInfo, error) {
	return core.NewInfo("a", b.Reader.Size(), 0o644, time.Time{}), nil
}

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
		return nil, core.ErrNotExist
	}
	if v.open[name] {
		return nil, core.ErrBusy
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

func (h *vaultHandle) Release() error {
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

func openLive(t *testing.T, l *lives, name string, flag int) core.File {
	t.Helper()
	f, err := l.NewFile(context.Background(), name, flag, time.Time{}, func() (core.File, error) { return nil, errors.New("read by name") })
	must(t, err)
	return f
}

func TestLiveFilesShareOneHandle(t *testing.T) {
	v, l := newVault("a")
	f, g := openLive(t, l, "a", os.O_RDWR), openLive(t, l, "a", os.O_WRONLY|os.O_APPEND)
	for _, step := range []struct {
		f core.File
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
	if _, err := g.ReadAt(got, 0); !errors.Is(err, core.ErrBadFD) {
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
	if len(v.open) != 0 || len(l.All) != 0 {
		t.Errorf("left: %v %v", v.open, l.All)
	}
}

// If the access handle cannot be opened, no state is left, and the next try is free.
func TestLiveFileRefused(t *testing.T) {
	v, l := newVault("a")
	other, err := v.take(context.Background(), "a") // another tab
	must(t, err)
	_, err = l.NewFile(context.Background(), "a", os.O_RDWR, time.Time{}, nil)
	if !errors.Is(err, core.ErrBusy) {
		t.Errorf("while another tab has it: %v", err)
	}
	if len(l.All) != 0 {
		t.Errorf("left: %v", l.All)
	}
	must(t, other.Release())
	must(t, openLive(t, l, "a", os.O_RDWR).Close())
}

// While an operation replaces the file, the access handle is closed, reads use the name,
// and a write waits. A context can end the wait.
func TestLiveFileHeld(t *testing.T) {
	v, l := newVault("d/a")
	ctx, cancel := context.WithCancel(context.Background())
	f, err := l.NewFile(ctx, "d/a", os.O_RDWR, time.Time{}, func() (core.File, error) {
		return &byName{Reader: strings.NewReader("by name")}, nil
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
	if len(v.open)+len(l.All) != 0 {
		t.Errorf("left: %v %v", v.open, l.All)
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
	if _, err := over.Write([]byte("x")); !errors.Is(err, core.ErrConflict) {
		t.Errorf("a file that was replaced by a rename: %v", err)
	}
	release, err = l.hold("d")
	must(t, err)
	delete(v.files, "d/b")
	l.removed("d")
	release()
	if _, err := gone.Write([]byte("x")); !errors.Is(err, core.ErrConflict) {
		t.Errorf("a file that was removed: %v", err)
	}
	for _, f := range []core.File{moved, over, gone} {
		must(t, f.Close())
	}
	if len(v.open)+len(l.All) != 0 {
		t.Errorf("left: %v %v", v.open, l.All)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
