//go:build js && wasm

// Folder opens a folder of the user's, or a sample, for changes. A guard checks each write, and a
// journal records it, so each step can be undone.
package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
)

//go:embed sample
var sample embed.FS

func main() {
	err := run(context.Background()) // run returns only if it fails
	fmt.Fprintln(os.Stderr, err)
	dom.Failed(fmt.Errorf("the page could not start: %w", err))
	os.Exit(1)
}

// app is the page's state. mu is held during one action of the user's.
type app struct {
	ctx context.Context
	mu  sync.Mutex

	name    string
	below   *fsaccess.Folder  // the folder that the user chose
	overlay *fsaccess.Overlay // over an upload, which cannot be written, nil otherwise
	work    *fsaccess.Journal // the journal over the guard: all changes of this page go through it
	stop    context.CancelFunc
	file    *file
	open    map[string]bool // unfolded folders, by path
	fresh   map[string]bool // paths that changed just now
}

func run(ctx context.Context) error {
	a := &app{ctx: ctx}
	dom.Empty("tree", "history", "kept", "supported", "pending") // after an exit the program is started again in the same page
	for _, s := range fsaccess.Supported() {
		row := dom.Create("li", "")
		row.Call("append", dom.Create("b", s.Name+": "), "yes")
		if !s.OK {
			row.Get("lastChild").Set("textContent", s.Reason)
		}
		dom.Element("supported").Call("append", row)
		if s.Name == "pick" || s.Name == "upload" {
			dom.Enable(s.Name, s.OK)
		}
	}
	a.on("pick", func() error {
		f, err := fsaccess.Pick(ctx, fsaccess.ReadWrite, fsaccess.PickOptions{ID: "bailey-example"})
		return a.chosen(f, "", err)
	})
	a.on("upload", func() error {
		f, err := fsaccess.Upload(ctx)
		return a.chosen(f, "", err)
	})
	a.on("sample", a.useSample)
	a.on("newfile", func() error { return a.make(false) })
	a.on("newfolder", func() error { return a.make(true) })
	a.on("export", a.export)
	a.on("undo", func() error { return a.took("Took back the last step.", a.work.Undo(ctx)) })
	a.on("redo", func() error { return a.took("Did it again.", a.work.Redo(ctx)) })
	a.on("discard", func() error { return a.took("Let go of all changes.", a.overlay.Discard(ctx)) })
	a.editor()
	dom.Enable("sample", true)
	go a.drops()
	a.remembered()
	a.mu.Lock() // the user may drop a folder meanwhile
	var err error
	if a.name == "" {
		err = a.useSample()
	}
	a.mu.Unlock()
	if err != nil {
		return err
	}
	select {}
}

// on calls do at each click on the element, with mu held, and shows its error.
func (a *app) on(id string, do func() error) {
	dom.OnClick(id, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		dom.Failed(do())
	})
}

// chosen opens the folder of a dialogue or a drop. A closed dialogue, [fsaccess.ErrCancelled], is
// no error.
func (a *app) chosen(f *fsaccess.Folder, name string, err error) error {
	if errors.Is(err, fsaccess.ErrCancelled) {
		dom.Status(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	name = cmp.Or(name, f.Name(), "your folder")
	if s := f.Features().Source; s == "picked" || s == "drop" {
		// Without permission to write, or if the browser gave only a snapshot, the changes are kept
		// beside the folder, as for an upload.
		switch err := f.RequestWrite(a.ctx); {
		case err == nil:
			if name, err = f.RememberAs(a.ctx, name); err != nil { // the undo is stored by the name
				return err
			}
			a.remembered()
		case !errors.Is(err, fs.ErrPermission):
			return err
		}
	}
	return a.use(f, name)
}

// useSample copies the sample into the origin private file system, once, and opens it. In a browser
// without that file system the sample is in memory, and its name in the page states so.
func (a *app) useSample() error {
	name := "Sample folder"
	f, err := fsaccess.OPFS(a.ctx, "sample")
	if errors.Is(err, errors.ErrUnsupported) {
		name += " (in memory: gone with this page)"
		f, err = fsaccess.NewMemory(fsaccess.MemoryOptions{}), nil
	}
	if err != nil {
		return err
	}
	if list, err := f.ReadDir("."); err == nil && len(list) == 0 {
		from, err := fs.Sub(sample, "sample")
		if err != nil {
			return err
		}
		if err := fsaccess.Copy(a.ctx, f, ".", fsaccess.FromFS(from), ".", fsaccess.CopyOptions{}); err != nil {
			return err
		}
	}
	return a.use(f, name)
}

// use puts the layers over a folder: a copy for an upload, then the guard, then the journal. The
// journal is stored in the origin private file system, so undo survives a reload.
func (a *app) use(f *fsaccess.Folder, name string) error {
	if a.stop != nil {
		a.stop()
	}
	a.overlay = nil
	var work fsaccess.FS = f
	if f.Features().ReadOnly {
		a.overlay = fsaccess.NewOverlay(f, fsaccess.NewMemory(fsaccess.MemoryOptions{}))
		work = a.overlay
	}
	all, err := protocol.ParsePattern("**")
	if err != nil {
		return err
	}
	policy := protocol.FSPolicy{AllowWrite: []protocol.Pattern{all}}
	var store fsaccess.FS = fsaccess.NewMemory(fsaccess.MemoryOptions{})
	if a.overlay == nil && f.Features().Source != "memory" {
		if store, err = fsaccess.OPFS(a.ctx, "undo/"+fmt.Sprintf("%x", name)); err != nil {
			return err
		}
	}
	a.work = fsaccess.NewJournal(fsaccess.Guard(work, policy, fsaccess.GuardOptions{Ask: a.mayWrite}), store, fsaccess.JournalOptions{})
	a.name, a.below, a.open, a.fresh = name, f, map[string]bool{}, map[string]bool{}
	a.close()
	dom.SetText("name", name)
	for _, id := range []string{"newfile", "newfolder", "export"} {
		dom.Enable(id, true)
	}
	dom.Hide("changes", a.overlay == nil)
	var ctx context.Context
	ctx, a.stop = context.WithCancel(a.ctx)
	if a.overlay == nil {
		go a.watch(ctx, f)
	}
	if err := a.refresh(); err != nil {
		return err
	}
	dom.Status("Open: " + name)
	if a.overlay != nil {
		dom.Status("Open: " + name + ". It can be read, not written: your changes are kept beside it.")
	}
	if _, err := a.work.Stat("README.md"); err == nil {
		return a.show("README.md")
	}
	return nil
}

// mayWrite asks the user before the guard lets a file of a harmful kind be written.
func (a *app) mayWrite(_ context.Context, q fsaccess.Question) (bool, error) {
	answer, _ := ask(question{
		title:   "Write " + q.Path + "?",
		text:    fmt.Sprintf("This is of a kind that can do harm when it is opened: %s. The guard lets it through only if you say so.", q.Kind),
		answers: []string{"Write it", "Don't"},
	})
	return answer == "Write it", nil
}

// remembered lists the folders of earlier visits, each with a button that opens it and one that
// forgets it.
func (a *app) remembered() {
	list, err := fsaccess.Remembered(a.ctx)
	if err != nil {
		return // this browser stores no handles, as the list of Supported shows
	}
	dom.Empty("kept")
	for _, r := range list {
		again, forget := dom.Create("button", "Open "+r.Name+" again"), dom.Create("button", "Forget")
		again.Set("type", "button")
		forget.Set("type", "button")
		forget.Call("setAttribute", "aria-label", "Forget "+r.Name)
		dom.Element("kept").Call("append", again, forget)
		dom.On(again, "click", func(js.Value) {
			a.mu.Lock()
			defer a.mu.Unlock()
			f, err := fsaccess.Restore(a.ctx, r.Name)
			dom.Failed(a.chosen(f, r.Name, err))
		})
		dom.On(forget, "click", func(js.Value) {
			if !dom.Failed(r.Forget(a.ctx)) {
				a.remembered()
			}
		})
	}
}

func (a *app) drops() {
	zone, err := fsaccess.NewDropZone("body")
	if dom.Failed(err) {
		return
	}
	for {
		dir, err := zone.Next(a.ctx)
		a.mu.Lock()
		dom.Failed(a.chosen(dir, "", err))
		a.mu.Unlock()
		if a.ctx.Err() != nil {
			return
		}
	}
}

// view returns a document that shows Markdown behind two frames, because the file may come from
// anyone.
func (a *app) view() (*iframe.Document, error) {
	parent, err := iframe.ElementByID("view")
	if err != nil {
		return nil, err
	}
	return iframe.NewDocument(a.ctx, parent, iframe.DocumentOptions{
		Label: "Preview",
		Theme: iframe.Theme{Variables: map[string]string{"--bailey-background": "light-dark(#ffffff, #1a1e23)"}},
	})
}
