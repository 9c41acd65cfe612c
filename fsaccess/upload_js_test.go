package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
)

// uploaded lets Upload ask, and chooses files of this machine in the browser's
// own way: only the dialogue itself is left out.
func uploaded(t testing.TB, ask func(context.Context) (*Folder, error), paths ...string) (*Folder, error) {
	t.Helper()
	if !testpage.Available() {
		t.Skip("needs browsertest")
	}
	plain(t, "", `
		const b = document.createElement("button"); b.id = "gesture"; b.textContent = "upload"; document.body.append(b);
		globalThis.inputClick ??= HTMLInputElement.prototype.click;
		HTMLInputElement.prototype.click = function () { this.id = "chooser"; document.body.append(this); };`)()
	defer plain(t, "", `
		HTMLInputElement.prototype.click = globalThis.inputClick;
		for (const e of document.querySelectorAll("#gesture, #chooser")) e.remove();`)()
	testpage.Click(t, "#gesture")
	type answer struct {
		f   *Folder
		err error
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	done := make(chan answer, 1)
	var ended atomic.Bool
	go func() {
		f, err := ask(ctx)
		done <- answer{f, err}
		ended.Store(true)
	}()
	until.True(t, "a chooser, or an end without one", func() bool { return ended.Load() || chooser(t) })
	if ended.Load() {
		a := <-done
		return a.f, a.err
	}
	if len(paths) == 0 {
		a := <-done
		return a.f, a.err
	}
	if err := testpage.SetFiles(ctx, "#chooser", paths...); err != nil {
		cancel()
		<-done
		return nil, err
	}
	a := <-done
	return a.f, a.err
}

// chooser reports whether the input of an upload is in the page.
func chooser(t testing.TB) bool {
	t.Helper()
	doc, err := jsx.Lookup(jsx.Global(), "document")
	must(t, err)
	el, err := jsx.Call(doc, "getElementById", "chooser")
	must(t, err)
	return !el.IsNull()
}

func realTree(t testing.TB) (dir string, names []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "upload-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, data := range map[string][]byte{
		"hello.txt": []byte("hello"), "all.bin": bytesOfAll(300), "dir/sub/deep.md": []byte("# deep"), "dir/zero": nil, "ünï — ☃": []byte("x"),
	} {
		p := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(t, os.WriteFile(p, data, 0o644))
		names = append(names, name)
	}
	return dir, names
}

// overUpload checks a read-only folder and every layer over it.
func overUpload(t *testing.T, f *Folder, names []string) {
	t.Helper()
	if ft := f.Features(); !ft.ReadOnly || ft.Source != "upload" {
		t.Errorf("features %+v", ft)
	}
	if err := fstest.TestFS(f, names...); err != nil {
		t.Error(err)
	}
	for lname, put := range layers() {
		if err := fstest.TestFS(put(t, f), names...); err != nil {
			t.Errorf("%s: %v", lname, err)
		}
	}
	for op, do := range map[string]func() error{
		"write":  func() error { return f.WriteFile(names[0], nil, 0o644) },
		"create": func() error { _, err := f.Create("new"); return err },
		"mkdir":  func() error { return f.Mkdir("new", 0o755) },
		"remove": func() error { return f.Remove(names[0]) },
		"rename": func() error { return f.Rename(names[0], "new") },
	} {
		if err := do(); !errors.Is(err, ErrReadOnly) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", op, err)
		}
	}
	o := NewOverlay(f, NewMemory(MemoryOptions{}))
	must(t, o.WriteFile(names[0], []byte("mine"), 0o644))
	must(t, o.Remove(names[1]))
	d, err := o.Diff(context.Background())
	must(t, err)
	if len(d) != 2 {
		t.Errorf("diff %+v", d)
	}
}

func TestUploadOfFolder(t *testing.T) {
	if testpage.Has(testpage.NoFolderChosen) {
		t.Skip("Firefox's driver refuses to choose a folder and WebKitGTK's chooses it as a file; TestUploadOfFiles chooses files")
	}
	dir, names := realTree(t)
	f, err := uploaded(t, Upload, dir)
	must(t, err)
	overUpload(t, f, names)
	if f.Name() != filepath.Base(dir) {
		t.Errorf("the folder is called %q, and is %q", f.Name(), filepath.Base(dir))
	}
	if got, err := f.ReadFile("all.bin"); err != nil || !bytes.Equal(got, bytesOfAll(300)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	// A change on the disk after the choice is not shown as the chosen content.
	must(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("changed since"), 0o644))
	if got, err := f.ReadFile("hello.txt"); err == nil && string(got) != "hello" || err != nil && !errors.Is(err, ErrConflict) && !core.NotExist(err) {
		t.Errorf("after a change outside: %q, %v", got, err)
	}
}

func TestUploadOfFiles(t *testing.T) {
	dir, _ := realTree(t)
	paths := []string{filepath.Join(dir, "hello.txt"), filepath.Join(dir, "all.bin"), filepath.Join(dir, "dir/sub/deep.md")}
	f, err := uploaded(t, func(ctx context.Context) (*Folder, error) { return uploadBy(ctx, false) }, paths...)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	must(t, err)
	overUpload(t, f, []string{"hello.txt", "all.bin", "deep.md"})
	h, err := f.Open("all.bin")
	must(t, err)
	defer h.Close()
	part := make([]byte, 5)
	if _, err := h.(io.ReaderAt).ReadAt(part, 254); err != nil || !bytes.Equal(part, bytesOfAll(300)[254:259]) {
		t.Errorf("%v %v", part, err)
	}
}

func TestUploadIsCancelled(t *testing.T) {
	_, err := uploaded(t, func(ctx context.Context) (*Folder, error) {
		go func() {
			until.True(t, "the chooser", func() bool { return chooser(t) })
			doc, _ := jsx.Lookup(jsx.Global(), "document")
			el, _ := jsx.Call(doc, "getElementById", "chooser")
			ev, _ := jsx.NewGlobal("Event", "cancel")
			_, _ = jsx.Call(el, "dispatchEvent", ev)
		}()
		f, err := Upload(ctx)
		return f, err
	})
	if !errors.Is(err, ErrCancelled) && !errors.Is(err, ErrGesture) {
		t.Errorf("%v", err)
	}
}

// The files of an input of the page are a folder, and an element that is no such input is an error.
func TestUploadedBy(t *testing.T) {
	script, err := jsx.NewGlobal("Function", `const input = document.createElement("input"); input.type = "file"; input.multiple = true; input.id = "mine";
		const d = new DataTransfer(); for (const text of ["one", "two"]) d.items.add(new File([text], "a.txt")); input.files = d.files;
		document.body.append(input); return () => input.remove();`)
	must(t, err)
	remove, err := jsx.Invoke(script)
	must(t, err)
	defer func() { _, _ = jsx.Invoke(remove) }()
	f, err := UploadedBy("#mine")
	must(t, err)
	if got := tree(t, f); got != "./\na (2).txt \"two\"\na.txt \"one\"\n" || !f.Features().ReadOnly {
		t.Errorf("%q", got)
	}
	if _, err := UploadedBy("#nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := UploadedBy("body"); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
}
