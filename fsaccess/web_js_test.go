package fsaccess

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"

	"github.com/bailey-go/bailey/fsaccess/internal/web"
)

func needOPFS(t testing.TB) {
	t.Helper()
	if !jsx.Supported("navigator.storage.getDirectory") {
		t.Skip("this browser has no origin-private file system on this page")
	}
}

// TestTabsQueue opens two folders independently. Like two tabs they share no state, and
// only the browser's locks order their changes.
func TestTabsQueue(t *testing.T) {
	needOPFS(t)
	if !jsx.Supported("navigator.locks.request") {
		t.Skip("no Web Locks")
	}
	ctx := context.Background()
	root := opfs(t)
	name := "test-" + fmt.Sprint(opfsCount.Load())
	must(t, root.WriteFile("log", nil, 0o644))
	const tabs, edits = 4, 10
	var wg sync.WaitGroup
	for tab := range tabs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f, err := OPFS(ctx, name)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range edits {
				if err := WithContext(ctx, f).UpdateFile("log", 0o644, func(old []byte) ([]byte, error) {
					return fmt.Appendf(old, "%d.%d\n", tab, i), nil
				}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	got, err := root.ReadFile("log")
	must(t, err)
	if n := strings.Count(string(got), "\n"); n != tabs*edits {
		t.Errorf("%d of %d edits are there", n, tabs*edits)
	}
}

// TestJournalInTwoTabs writes through two journals over one folder and store.
func TestJournalInTwoTabs(t *testing.T) {
	needOPFS(t)
	ctx := context.Background()
	opfs(t)
	name := "test-" + fmt.Sprint(opfsCount.Load())
	open := func() *Journal {
		disk, err := OPFS(ctx, name+"/files")
		must(t, err)
		store, err := OPFS(ctx, name+"/undo")
		must(t, err)
		return NewJournal(disk, store, JournalOptions{})
	}
	a, b := open(), open()
	start := tree(t, a)
	var wg sync.WaitGroup
	for i, w := range []*Journal{a, b} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range 8 {
				if err := w.WriteFile(fmt.Sprintf("f%d", (i+k)%3), fmt.Appendf(nil, "%d.%d", i, k), 0o644); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	h, err := open().History(ctx)
	must(t, err)
	if len(h) != 16 {
		t.Errorf("%d steps in the history", len(h))
	}
	must(t, b.UndoTo(ctx, "0"))
	if g := tree(t, a); g != start {
		t.Errorf("after undoing all:\n%s", g)
	}
}

// TestLargeFile streams 200 MB through Go, renames and copies it.
func TestLargeFile(t *testing.T) {
	needOPFS(t)
	ctx := context.Background()
	f := opfs(t)
	size := int64(200 << 20)
	if testing.Short() {
		size = 40 << 20 // more than one transfer, and than is staged
	}
	h, err := f.Create("large")
	must(t, err)
	sum := sha256.New()
	block := bytesOfAll(1<<20 - 8)[:1<<20]
	for i := range size >> 20 {
		block[0] = byte(i)
		sum.Write(block)
		if _, err := h.(io.Writer).Write(block); err != nil {
			t.Fatal(err)
		}
	}
	must(t, h.Close())
	want := hex.EncodeToString(sum.Sum(nil))
	check := func(name string) {
		t.Helper()
		if fi, err := f.Stat(name); err != nil || fi.Size() != size {
			t.Errorf("%s: %v, %v", name, fi, err)
		}
		for s, err := range hashes(ctx, f, name) {
			must(t, err)
			if s.sha256 != want {
				t.Errorf("%s: %s", name, s.sha256)
			}
		}
	}
	check("large")
	must(t, f.Rename("large", "Large"))
	must(t, Copy(ctx, f, "copy", f, "Large", CopyOptions{}))
	check("copy")
	g, err := f.Open("copy")
	must(t, err)
	defer g.Close()
	part := make([]byte, 3<<20)
	n, err := g.(io.ReaderAt).ReadAt(part, size-(10<<20)-5)
	must(t, err)
	if n != len(part) || !bytes.Equal(part[5+1:5+100], block[1:100]) {
		t.Errorf("%d bytes from the middle", n)
	}
}

// TestPackedListing compares the packed way with the plain one, over more than
// one batch and with folders between.
func TestPackedListing(t *testing.T) {
	needOPFS(t)
	ctx := context.Background()
	f := opfs(t)
	must(t, f.MkdirAll("d/e", 0o755))
	for i := range 150 {
		dir := []string{".", "d", "d/e"}[i%3]
		must(t, f.WriteFile(core.Join(dir, fmt.Sprintf("f%03d", i)), bytes.Repeat([]byte("x"), i), 0o644))
	}
	must(t, f.WriteFile("ünï — ☃", []byte("TODO x"), 0o644))
	plain := func() string {
		var b strings.Builder
		var visit func(dir string)
		visit = func(dir string) {
			list, err := f.ReadDir(dir)
			must(t, err)
			for _, e := range list {
				fi, err := e.Info()
				must(t, err)
				fmt.Fprintln(&b, core.Join(dir, e.Name()), fi.IsDir(), fi.Size(), fi.ModTime().UnixMilli())
				if e.IsDir() {
					visit(core.Join(dir, e.Name()))
				}
			}
		}
		visit(".")
		return b.String()
	}
	var b strings.Builder
	for e, err := range Walk(ctx, f, ".", WalkOptions{}) {
		must(t, err)
		ms := e.ModTime.UnixMilli()
		if e.Dir {
			ms = time.Time{}.UnixMilli()
		}
		fmt.Fprintln(&b, e.Path, e.Dir, e.Size, ms)
	}
	if got, want := b.String(), plain(); got != want {
		t.Errorf("packed\n%s\nplain\n%s", got, want)
	}
	found := 0
	for m, err := range Grep(ctx, f, ".", regexp.MustCompile("TODO"), GrepOptions{}) {
		must(t, err)
		found++
		if m.Path != "ünï — ☃" {
			t.Error(m.Path)
		}
	}
	if found != 1 {
		t.Errorf("%d matches", found)
	}
}

func TestRemembered(t *testing.T) {
	needOPFS(t)
	ctx := context.Background()
	f := opfs(t)
	must(t, f.WriteFile("x", []byte("kept"), 0o644))
	before := time.Now().Truncate(time.Millisecond) // a browser stores milliseconds
	must(t, f.Remember(ctx, "work"))
	defer RememberedFolder{Name: "work"}.Forget(ctx)
	list, err := Remembered(ctx)
	must(t, err)
	if len(list) != 1 || list[0].Name != "work" || list[0].Permission != nil || list[0].LastUse.Before(before) || list[0].LastUse.After(time.Now()) {
		t.Errorf("%+v", list)
	}
	for _, name := range []string{"work", "last"} {
		g, err := Restore(ctx, name)
		must(t, err)
		if b, err := g.ReadFile("x"); err != nil || string(b) != "kept" {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	must(t, list[0].Forget(ctx))
	if _, err := Restore(ctx, "work"); !core.NotExist(err) {
		t.Errorf("after Forget: %v", err)
	}
	must(t, list[0].Forget(ctx))
}

// Without a gesture no dialogue may appear, and the error text must name the remedy.
func TestPickWantsAGesture(t *testing.T) {
	testpage.Run(t, testpage.Page{}, wantsAGesture) // where no test has clicked yet
}

func wantsAGesture(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), until.Patience)
	defer cancel()
	for name, do := range map[string]func() error{
		"pick":   func() error { _, err := Pick(ctx, ReadWrite, PickOptions{}); return err },
		"upload": func() error { _, err := Upload(ctx); return err },
	} {
		err := do()
		if !errors.Is(err, ErrGesture) && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Pick(ctx, "both", PickOptions{}); err == nil {
		t.Error("a mode that does not exist was taken")
	}
	for _, s := range Supported() {
		t.Logf("%-10s %v %s", s.Name, s.OK, s.Reason)
		if !s.OK && s.Reason == "" || s.Name == "upload" && !s.OK {
			t.Errorf("%s: no reason", s.Name)
		}
	}
}

func TestWatchInBrowser(t *testing.T) {
	needOPFS(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	opfs(t)
	name := "test-" + fmt.Sprint(opfsCount.Load())
	mine, err := OPFS(ctx, name)
	must(t, err)
	other, err := OPFS(ctx, name)
	must(t, err)
	must(t, mine.MkdirAll("d", 0o755))
	ready := func() {
		go func() { _ = mine.WriteFile("d/own", []byte("x"), 0o644) }()
	}
	seen := map[string]bool{}
	for e, err := range Watch(ctx, mine, ".", WatchOptions{Interval: 100 * time.Millisecond, Ready: ready}) {
		must(t, err)
		key := fmt.Sprintf("%s %s own=%v", e.Kind, e.Path, e.Own)
		seen[key] = true
		t.Log(key)
		if e.Path == "d/own" && e.Kind == Added {
			must(t, other.WriteFile("theirs", []byte("y"), 0o644))
		}
		if e.Path == "theirs" {
			break
		}
	}
	if !seen["added d/own own=true"] || !seen["added theirs own=false"] {
		t.Errorf("saw %v", seen)
	}
}

// An upload is a folder of Files; it is made here by hand, as a dialogue would.
func TestUploadTree(t *testing.T) {
	file := func(text string) jsx.Value {
		v, err := jsx.NewGlobal("File", []any{text}, "name")
		must(t, err)
		return v
	}
	tr := web.NewTree("upload")
	for _, p := range []string{"a", "d/b", "d/e/c"} {
		must(t, tr.Add(p, file(p), jsx.Undefined()))
	}
	for _, bad := range []string{"../x", "/x", "a/x", "a", "", ".", "a\x00"} {
		if err := tr.Add(bad, file("x"), jsx.Undefined()); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	f := newFolder(tr)
	if got, want := tree(t, f), "./\na \"a\"\nd/\nd/b \"d/b\"\nd/e/\nd/e/c \"d/e/c\"\n"; got != want {
		t.Errorf("%s", got)
	}
	if err := f.WriteFile("a", nil, 0o644); !errors.Is(err, ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if !f.Features().ReadOnly {
		t.Error("it does not say that it is read-only")
	}
	o := NewOverlay(f, NewMemory(MemoryOptions{}))
	must(t, o.WriteFile("d/b", []byte("new"), 0o644))
	if b, _ := o.ReadFile("d/b"); string(b) != "new" {
		t.Errorf("%q", b)
	}
}

// A name that changes on its way to JavaScript would open another file.
func TestByteOrderMarkIsNoAlias(t *testing.T) {
	needOPFS(t)
	f := opfs(t)
	must(t, f.WriteFile("a", []byte("x"), 0o644))
	must(t, f.Mkdir("d", 0o755))
	for _, n := range []string{"\ufeffa", "\ufeffd", "d/\ufeffa", "\ufeffd/a"} {
		if _, err := f.Stat(n); !errors.Is(err, ErrBadName) {
			t.Errorf("stat %q: %v", n, err)
		}
		if err := f.WriteFile(n, nil, 0o644); !errors.Is(err, ErrBadName) {
			t.Errorf("write %q: %v", n, err)
		}
		if err := f.RemoveAll(n); !errors.Is(err, ErrBadName) {
			t.Errorf("remove %q: %v", n, err)
		}
	}
	must(t, f.WriteFile("a\ufeff", []byte("y"), 0o644)) // elsewhere it is a letter
	if b, err := f.ReadFile("a\ufeff"); err != nil || string(b) != "y" {
		t.Errorf("%q %v", b, err)
	}
}

// A file that is being written has Chromium's swap file beside it, and a killed tab leaves
// the swap file. It is in no listing, cannot be named, and is removed with its folder.
func TestBrowserSwapIsHidden(t *testing.T) {
	needOPFS(t)
	ctx := context.Background()
	f := opfs(t)
	must(t, f.Mkdir("d", 0o755))
	must(t, f.WriteFile("d/a", []byte("old"), 0o644))
	r, err := f.c.Replace(ctx, "d/a", 0o644)
	must(t, err)
	_, err = r.Write([]byte("new"))
	must(t, err)
	if g := tree(t, f); g != "./\nd/\nd/a \"old\"\n" {
		t.Errorf("while it is written:\n%s", g)
	}
	for e, err := range Walk(ctx, f, ".", WalkOptions{}) {
		must(t, err)
		if e.Path != "d" && e.Path != "d/a" {
			t.Errorf("the walk gives %s", e.Path)
		}
	}
	must(t, r.Commit(ctx))
	// The state after a killed tab, made without the checks of this package.
	dir, err := f.c.(*web.Handles).Dir(ctx, "d")
	must(t, err)
	_, err = web.Await(ctx, dir, "getFileHandle", "a.crswap", map[string]any{"create": true})
	must(t, err)
	if err := f.WriteFile("d/b.crswap", nil, 0o644); !errors.Is(err, ErrBadName) {
		t.Errorf("a name of the browser's: %v", err)
	}
	must(t, f.Remove("d/a"))
	if list, err := f.ReadDir("d"); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	must(t, f.Remove("d"))
}
