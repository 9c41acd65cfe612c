package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"

	"github.com/bailey-go/bailey/fsaccess/internal/web"
)

// inWorker runs a test in a dedicated worker, where files are written in place.
func inWorker(t *testing.T, f func(t *testing.T)) {
	testpage.Run(t, testpage.Page{Worker: true}, func(t *testing.T) {
		needOPFS(t)
		if jsx.Supported("document") {
			t.Fatal("this is no worker")
		}
		for _, s := range Supported() {
			if s.Name == "in place" && !s.OK {
				t.Skip("no access handles in this browser's workers: " + s.Reason)
			}
		}
		f(t)
	})
}

// TestWorkerSuite is the standard library's suite over every layer over files
// that are written in place.
func TestWorkerSuite(t *testing.T) {
	inWorker(t, func(t *testing.T) {
		open := map[string]func(testing.TB) FS{"opfs": func(t testing.TB) FS { return opfs(t) }}
		for name, put := range layers() {
			open[name+" over opfs"] = func(t testing.TB) FS { return put(t, opfs(t)) }
		}
		for name, open := range open {
			t.Run(name, func(t *testing.T) {
				f := open(t)
				names := fill(t, f)
				if err := fstest.TestFS(f, names...); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

// TestWorkerWritesInPlace: written data is visible at once in this folder, by every name
// and handle.
func TestWorkerWritesInPlace(t *testing.T) {
	inWorker(t, func(t *testing.T) {
		f := opfs(t)
		if f.Features().Staged {
			t.Fatal("writes through a handle are staged")
		}
		h, err := f.OpenFile("a", os.O_RDWR|os.O_CREATE, 0o644)
		must(t, err)
		w := h.(core.File)
		_, err = w.Write([]byte("hello, world"))
		must(t, err)
		_, err = w.WriteAt([]byte("W"), 7)
		must(t, err)
		if b, err := f.ReadFile("a"); err != nil || string(b) != "hello, World" {
			t.Errorf("by name: %q, %v", b, err)
		}
		if fi, err := f.Stat("a"); err != nil || fi.Size() != 12 {
			t.Errorf("by name: %v, %v", fi, err)
		}
		r, err := f.Open("a")
		must(t, err)
		must(t, w.Truncate(5))
		if b, err := io.ReadAll(r); err != nil || string(b) != "hello" {
			t.Errorf("by another handle: %q, %v", b, err)
		}
		must(t, r.Close())
		// A large read and write are passed in pieces.
		large := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
		_, err = w.WriteAt(large, 0)
		must(t, err)
		got := make([]byte, len(large)+1)
		if n, err := w.ReadAt(got, 0); n != len(large) || err != io.EOF || !bytes.Equal(got[:n], large) {
			t.Errorf("%d bytes, %v", n, err)
		}
		// The swap file replaces the open file, and the handle continues on the new file.
		must(t, f.WriteFile("a", []byte("replaced"), 0o644))
		_, err = w.WriteAt([]byte("!"), 8)
		must(t, err)
		must(t, f.Rename("a", "b"))
		_, err = w.WriteAt([]byte("?"), 9)
		must(t, err)
		must(t, w.Close())
		if b, err := f.ReadFile("b"); err != nil || string(b) != "replaced!?" {
			t.Errorf("%q, %v", b, err)
		}
	})
}

// TestWorkerBusy: a file that is open in place is locked for all others, who get a clear
// error. No data is lost. The file is free after Close, and after an open that failed.
func TestWorkerBusy(t *testing.T) {
	inWorker(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		mine := opfs(t)
		theirs, err := OPFS(ctx, fmt.Sprintf("test-%d", opfsCount.Load()))
		must(t, err)
		must(t, mine.WriteFile("d", []byte("old"), 0o644))
		w, err := mine.OpenFile("d", os.O_RDWR, 0)
		must(t, err)
		opened := func(f fs.File, err error) error {
			if err == nil {
				err = f.Close()
			}
			return err
		}
		tries := map[string]func() error{
			"WriteFile": func() error { return theirs.WriteFile("d", []byte("new"), 0o644) },
			"OpenFile":  func() error { return opened(theirs.OpenFile("d", os.O_RDWR, 0)) },
			"Create":    func() error { return opened(theirs.Create("d")) },
			"Truncate":  func() error { return theirs.Truncate("d", 0) },
			"Remove":    func() error { return theirs.Remove("d") },
		}
		for name, try := range tries {
			if err := try(); !errors.Is(err, ErrBusy) || !errors.Is(err, syscall.EBUSY) {
				t.Errorf("%s while it is open elsewhere: %v", name, err)
			}
		}
		if b, err := theirs.ReadFile("d"); err != nil || string(b) != "old" {
			t.Errorf("reading while it is open elsewhere: %q, %v", b, err)
		}
		must(t, w.Close())
		for _, name := range []string{"WriteFile", "OpenFile"} {
			must(t, tries[name]())
		}
		// An open that fails after the handle was taken gives it back.
		bound, stop := context.WithCancel(ctx)
		h := mine.c.(*web.Handles)
		if _, err := h.Live.NewFile(bound, "nothing", os.O_RDWR, time.Time{}, nil); !core.NotExist(err) {
			t.Errorf("a missing file: %v", err)
		}
		stop()
		if _, err := h.Live.NewFile(bound, "d", os.O_RDWR|os.O_TRUNC, time.Time{}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled open: %v", err)
		}
		if len(h.Live.All) != 0 {
			t.Errorf("left open: %v", h.Live.All)
		}
	})
}
