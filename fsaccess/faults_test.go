package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// refusing is a core in which some operation starts to fail.
type refusing struct {
	core.Core
	fail func(op, name string) error
}

func (r *refusing) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	if err := r.fail("readDir", name); err != nil {
		return nil, err
	}
	return r.Core.ReadDir(ctx, name)
}

func (r *refusing) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	if err := r.fail("open", name); err != nil {
		return nil, err
	}
	f, err := r.Core.Open(ctx, name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &refusingFile{f, r, name}, nil
}

func (r *refusing) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if err := r.fail("readFile", name); err != nil {
		return nil, err
	}
	return r.Core.ReadFile(ctx, name)
}

type refusingFile struct {
	core.File
	r    *refusing
	name string
}

func (f *refusingFile) Read(p []byte) (int, error) {
	if err := f.r.fail("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p[:min(len(p), 1000)])
}

func TestRevokedInTheMiddle(t *testing.T) {
	ctx := context.Background()
	m := NewMemory(MemoryOptions{})
	fill(t, m)
	calls, from := 0, 3
	var ops []string
	f := newFolder(&refusing{m.c, func(op, name string) error {
		if calls++; calls >= from {
			ops = append(ops, op+" "+name)
			return ErrRevoked
		}
		return nil
	}})
	var names []string
	var errs []error
	for e, err := range Walk(ctx, f, ".", WalkOptions{}) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		names = append(names, e.Path)
	}
	if len(errs) == 0 || !errors.Is(errs[0], ErrRevoked) || !errors.Is(errs[0], fs.ErrPermission) || len(names) < 3 {
		t.Errorf("walk gave %v and %v", names, errs)
	}
	// A denied permission is not requested again and again. There is one more listing for
	// each folder, to get the reason.
	seen := map[string]int{}
	for _, op := range ops {
		if seen[op]++; seen[op] > 2 {
			t.Errorf("%s was tried %d times", op, seen[op])
		}
	}
	calls, from = 0, 4
	dst := NewMemory(MemoryOptions{})
	err := Copy(ctx, dst, "to", f, ".", CopyOptions{})
	if !errors.Is(err, ErrRevoked) {
		t.Errorf("copy: %v", err)
	}
	for e, err := range Walk(ctx, dst, ".", WalkOptions{}) {
		must(t, err)
		if !e.Dir { // what is there is whole
			a, _ := dst.ReadFile(e.Path)
			b, _ := m.ReadFile(strings.TrimPrefix(e.Path, "to/"))
			if !bytes.Equal(a, b) {
				t.Errorf("%s was copied in part", e.Path)
			}
		}
	}
}

func TestChangedInTheMiddle(t *testing.T) {
	ctx := context.Background()
	for name, change := range map[string]func(m FS) error{
		"grows":   func(m FS) error { return m.WriteFile("f", make([]byte, 9000), 0o644) },
		"shrinks": func(m FS) error { return m.WriteFile("f", make([]byte, 3), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			m := NewMemory(MemoryOptions{})
			must(t, m.WriteFile("f", bytes.Repeat([]byte("x"), 5000), 0o644))
			reads := 0
			f := newFolder(&refusing{m.c, func(op, _ string) error {
				if op == "read" {
					if reads++; reads == 3 {
						return change(m)
					}
				}
				return nil
			}})
			dst := NewMemory(MemoryOptions{})
			must(t, dst.WriteFile("f", []byte("old"), 0o644))
			if err := Copy(ctx, dst, "f", f, "f", CopyOptions{Overwrite: true}); !errors.Is(err, ErrConflict) {
				t.Errorf("copy: %v", err)
			}
			if got, _ := dst.ReadFile("f"); string(got) != "old" {
				t.Errorf("the target has %d bytes", len(got))
			}
		})
	}
	t.Run("between read and write", func(t *testing.T) {
		m := NewMemory(MemoryOptions{})
		must(t, m.WriteFile("f", []byte("one"), 0o644))
		err := WithContext(ctx, m).UpdateFile("f", 0o644, func(old []byte) ([]byte, error) {
			// Another program does not use our locks.
			return append(old, '!'), core.WriteWhole(ctx, m.c, "f", []byte("theirs"), 0o644)
		})
		if got, _ := m.ReadFile("f"); !errors.Is(err, ErrConflict) || string(got) != "theirs" {
			t.Errorf("%v, and %q", err, got)
		}
	})
	t.Run("removed under a handle", func(t *testing.T) {
		m := NewMemory(MemoryOptions{Staged: true})
		must(t, m.WriteFile("f", []byte("one"), 0o644))
		h, err := m.OpenFile("f", os.O_RDWR, 0)
		must(t, err)
		_, err = h.(core.File).WriteAt([]byte("X"), 1)
		must(t, err)
		must(t, m.Remove("f"))
		if err := h.Close(); !errors.Is(err, ErrConflict) {
			t.Errorf("close: %v", err)
		}
		if _, err := m.Stat("f"); !core.NotExist(err) {
			t.Error("it came back")
		}
	})
	t.Run("two handles", func(t *testing.T) {
		m := NewMemory(MemoryOptions{Staged: true})
		must(t, m.WriteFile("f", []byte("0123456789"), 0o644))
		a, _ := m.OpenFile("f", os.O_RDWR, 0)
		b, _ := m.OpenFile("f", os.O_RDWR, 0)
		c, _ := m.OpenFile("f", os.O_WRONLY|os.O_APPEND, 0)
		a.(core.File).WriteAt([]byte("AA"), 1)
		b.(core.File).WriteAt([]byte("BB"), 6)
		c.(core.File).Write([]byte("end"))
		must(t, errors.Join(a.Close(), c.Close(), b.Close()))
		if got, _ := m.ReadFile("f"); string(got) != "0AA345BB89end" {
			t.Errorf("%q", got)
		}
	})
}

// TestFullInTheMiddle runs out of space at every size, in every layer. The old content must
// stay, and the error must be ErrQuota.
func TestFullInTheMiddle(t *testing.T) {
	for name, put := range layers() {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for room := int64(10); room < 3000; room += 97 {
				disk := NewMemory(MemoryOptions{MaxBytes: room})
				f := put(t, disk)
				if err := f.WriteFile("f", []byte("old"), 0o644); err != nil {
					t.Fatal(err)
				}
				err := f.WriteFile("f", bytes.Repeat([]byte("n"), 2000), 0o644)
				got, rerr := f.ReadFile("f")
				must(t, rerr)
				if err != nil {
					failed++
					if !errors.Is(err, ErrQuota) || !errors.Is(err, syscall.ENOSPC) || string(got) != "old" {
						t.Fatalf("room for %d: %v, and the file has %d bytes", room, err, len(got))
					}
				} else if len(got) != 2000 {
					t.Fatalf("room for %d: %d bytes and no error", room, len(got))
				}
				if j, ok := f.(*Journal); ok && err == nil {
					must(t, j.Undo(context.Background()))
				}
			}
			if name != "overlay" && name != "whole stack" && failed == 0 { // those write elsewhere
				t.Error("it never was full")
			}
		})
	}
	// The store is full, not the folder. Then an undo is impossible, so the change is
	// refused.
	for room := int64(100); room < 3000; room += 97 {
		disk := NewMemory(MemoryOptions{})
		w := NewJournal(disk, NewMemory(MemoryOptions{MaxBytes: room}), JournalOptions{})
		must(t, disk.WriteFile("f", bytes.Repeat([]byte("o"), 2000), 0o644))
		err := w.WriteFile("f", []byte("new"), 0o644)
		got, _ := disk.ReadFile("f")
		if err != nil && (!errors.Is(err, ErrQuota) || len(got) != 2000) {
			t.Fatalf("room for %d: %v, %d bytes", room, err, len(got))
		}
		if err != nil {
			continue
		}
		// Undo saves the new content for Redo, so it needs space too.
		if err := w.Undo(context.Background()); err != nil && !errors.Is(err, ErrQuota) {
			t.Fatalf("room for %d: undo: %v", room, err)
		}
	}
	// The oldest records are dropped to make room for new ones.
	disk := NewMemory(MemoryOptions{})
	w := NewJournal(disk, NewMemory(MemoryOptions{MaxBytes: 20_000}), JournalOptions{})
	for i := range 100 {
		must(t, w.WriteFile("f", bytes.Repeat([]byte{byte(i)}, 2000), 0o644))
	}
	must(t, w.Undo(context.Background()))
}

// Cancelling must end everything that can take long, and soon.
func TestCancelled(t *testing.T) {
	m := NewMemory(MemoryOptions{})
	for i := range 200 {
		must(t, m.WriteFile(fmt.Sprintf("f%03d", i), big, 0o644))
	}
	for name, do := range map[string]func(ctx context.Context, stop func()) error{
		"walk": func(ctx context.Context, stop func()) error {
			for _, err := range Walk(ctx, NewOverlay(m, NewMemory(MemoryOptions{})), ".", WalkOptions{}) {
				if err != nil {
					return err
				}
				stop()
			}
			return nil
		},
		"hash": func(ctx context.Context, stop func()) error {
			for _, err := range hashes(ctx, m, ".") {
				if err != nil {
					return err
				}
				stop()
			}
			return nil
		},
		"copy": func(ctx context.Context, stop func()) error {
			return Copy(ctx, NewMemory(MemoryOptions{}), ".", m, ".", CopyOptions{Progress: func(Progress) { stop() }})
		},
		"lock": func(ctx context.Context, stop func()) error {
			unlock, err := m.c.Base().Lock(context.Background(), "f000")
			must(t, err)
			defer unlock()
			time.AfterFunc(5*time.Millisecond, stop)
			return WithContext(ctx, m).WriteFile("f000", nil, 0o644)
		},
		"watch": func(ctx context.Context, stop func()) error {
			time.AfterFunc(5*time.Millisecond, stop)
			for range Watch(ctx, m, ".", WatchOptions{Interval: time.Hour}) {
			}
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if err := do(ctx, cancel); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
	}
}
