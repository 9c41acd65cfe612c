package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/files/tree"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
)

// Options are the parts of the page that a workspace talks with. All are required.
type Options struct {
	Sample fs.FS // the content of the sample folder
	// Lock is held during one action of the user's, such as opening a folder.
	Lock     sync.Locker
	Settings *settings.Settings
	// OnClose closes everything that belongs to the open folder, because another one is opened.
	OnClose func()
	// OnOpen is called when another folder is open, with the store for its conversations. The
	// parameter lasts reports whether the folder's name identifies it.
	OnOpen func(conversations sandbox.Store, lasts bool) error
}

// Workspace is the open folder: a journal over the folder, or over a copy of it.
type Workspace struct {
	Options
	ctx    context.Context
	name   string
	source *fsaccess.Folder  // the folder that the user opened
	over   *fsaccess.Overlay // a copy over source, nil without one
	work   *fsaccess.Journal
	tree   *tree.Tree
	stop   context.CancelFunc // ends the watch
	steps  dom.Rows           // of the list of changes
	older  int                // number of presses on "older", each of which shows historyRows more changes
	ofKept dom.Listeners      // of the list of earlier folders, released before it is rebuilt
}

// New sets up the buttons, and opens no folder. It calls picks with the path of each file that the
// user chooses in the tree.
func New(ctx context.Context, o Options, picks func(name string)) *Workspace {
	w := &Workspace{Options: o, ctx: ctx, tree: tree.New(o.Lock, picks)}
	w.folders()
	w.hands()
	w.copying()
	w.remembered()
	return w
}

// Name returns the name of the open folder.
func (w *Workspace) Name() string { return w.name }

// FS returns the open folder. All changes through it can be undone.
func (w *Workspace) FS() fsaccess.FS { return w.work }

// on calls do at each click on the element, with the lock held, and shows its error.
func (w *Workspace) on(id string, do func() error) { dom.Locked(w.Lock, id, do) }

// folders sets up the buttons that open a folder.
func (w *Workspace) folders() {
	w.on("pick", func() error {
		f, err := fsaccess.Pick(w.ctx, fsaccess.ReadWrite, fsaccess.PickOptions{ID: "bailey-files"})
		return w.chosen(f, "", err)
	})
	w.on("upload", func() error {
		f, err := fsaccess.Upload(w.ctx)
		return w.chosen(f, "", err)
	})
	w.on("sample", w.UseSample)
	w.on("undo", func() error { return w.took("Took back the last change.", w.work.Undo(w.ctx)) })
	dom.On(dom.Element("history"), "click", w.step)
	w.on("redo", func() error { return w.took("Did it again.", w.work.Redo(w.ctx)) })
	instead := map[string]string{
		"pick":   "Only browsers made from Chromium let a page work in a folder itself. Upload a folder to work on a copy, or begin with the sample.",
		"upload": "This browser doesn't let pages take a folder. Begin with the sample, or drop files on the page.",
	}
	for _, s := range fsaccess.Supported() {
		if words, ours := instead[s.Name]; ours {
			dom.Enable(s.Name, s.OK)
			if !s.OK {
				dom.Element(s.Name).Set("title", words)
			}
		}
	}
	dom.Enable("sample", true)
	go w.drops()
}

// chosen opens the folder of a dialogue or a drop. A closed dialogue, [fsaccess.ErrCancelled], is
// no error.
func (w *Workspace) chosen(f *fsaccess.Folder, name string, err error) error {
	if errors.Is(err, fsaccess.ErrCancelled) {
		dom.Status("No folder was opened. Browsers refuse some themselves, without telling: the home folder, Downloads and system folders. Open a folder in them instead, or upload it.")
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the browser does not let this page into the folder: press the button again and allow it, or upload the folder: %w", err)
	}
	if err != nil {
		return err
	}
	name = cmp.Or(name, f.Name(), "your folder")
	if name == sampleName { // the conversations, grants and undo of the sample are stored by this name
		name += " on this machine"
	}
	// A browser takes a while to return the first name of a large folder. So the listing begins
	// now, and the permission is asked for meanwhile.
	top := tree.List(w.ctx, f)
	if s := f.Features().Source; s == "picked" || s == "drop" {
		switch err := f.RequestWrite(w.ctx); {
		case err == nil:
			// Everything that is stored by the name belongs to this folder: conversations with
			// their grants, the undo, the copy.
			if name, err = f.RememberAs(w.ctx, name); err != nil {
				top.Stop()
				return err
			}
		case !errors.Is(err, fs.ErrPermission):
			top.Stop()
			return err
		}
	}
	return w.useListed(f, name, top)
}

// sampleName is the name of the sample. The data of the sample is stored by it.
const sampleName = "Sample folder"

// UseSample copies the sample into the origin private file system, once, and opens it. In a browser
// without that file system the sample is in memory, and its name in the page states so.
func (w *Workspace) UseSample() error {
	name := sampleName
	f, err := fsaccess.OPFS(w.ctx, "files-sample")
	if errors.Is(err, errors.ErrUnsupported) {
		name += " (in memory: gone with this page)"
		f, err = fsaccess.NewMemory(fsaccess.MemoryOptions{}), nil
	}
	if err != nil {
		return err
	}
	if list, err := f.ReadDir("."); err == nil && len(list) == 0 {
		from, err := fs.Sub(w.Sample, "sample")
		if err != nil {
			return err
		}
		if err := fsaccess.Copy(w.ctx, f, ".", fsaccess.FromFS(from), ".", fsaccess.CopyOptions{}); err != nil {
			return err
		}
	}
	return w.use(f, name)
}

// use opens a folder whose listing has not begun.
func (w *Workspace) use(f *fsaccess.Folder, name string) error {
	return w.useListed(f, name, tree.List(w.ctx, f))
}

// useListed opens a folder: it puts a journal over the folder, and a box over the journal. A folder
// that cannot be written, or that the user wants unchanged, is worked on in a copy. The caller has
// begun the listing top, of the folder without its copy, because all other file operations wait
// while a browser lists a large folder.
func (w *Workspace) useListed(f *fsaccess.Folder, name string, top *tree.Listing) error {
	if w.stop != nil {
		w.stop()
	}
	w.OnClose()
	w.over = nil
	var store fsaccess.FS = fsaccess.NewMemory(fsaccess.MemoryOptions{})
	var conversations sandbox.Store = sandbox.MemoryStore()
	kind, key := f.Features(), fmt.Sprintf("%x", name)
	switch {
	case kind.ReadOnly:
		w.over = fsaccess.NewOverlay(f, fsaccess.NewMemory(fsaccess.MemoryOptions{}))
	case w.Settings.Copies[name]:
		var upper fsaccess.FS = fsaccess.NewMemory(fsaccess.MemoryOptions{})
		if lasts(f) {
			var err error
			if upper, err = fsaccess.OPFS(w.ctx, "files-copy/"+key); err != nil {
				top.Stop()
				return err
			}
		}
		w.over = fsaccess.NewOverlay(f, upper)
	}
	var work fsaccess.FS = f
	if w.over != nil {
		work = w.over
		top.Stop()
		top = tree.List(w.ctx, work)
	}
	var ctx context.Context
	ctx, w.stop = context.WithCancel(w.ctx)
	w.tree.Open(ctx, work, top)
	dom.SetText("name", name)
	if lasts(f) {
		talks, err := sandbox.IndexedStore(w.ctx, "files-"+key)
		if err == nil && w.over == nil {
			store, err = fsaccess.OPFS(w.ctx, "files-undo/"+key)
		}
		if err != nil {
			w.stop()
			if w.work != nil { // w.work is still the previous folder
				ctx, w.stop = context.WithCancel(w.ctx)
				w.tree.Open(ctx, w.work, tree.List(ctx, w.work))
				dom.SetText("name", w.name)
			}
			return err
		}
		conversations = talks
	}
	w.older = 0
	w.source, w.name, w.work = f, name, fsaccess.NewJournal(work, store, fsaccess.JournalOptions{})
	w.remembered() // the open folder is not in that list
	for _, id := range []string{"newfile", "newfolder", "move", "remove", "copy", "zip"} {
		dom.Enable(id, true)
	}
	if err := w.OnOpen(conversations, lasts(f)); err != nil {
		return err
	}
	if err := errors.Join(top.Wait(), w.around()); err != nil {
		return err
	}
	if !kind.ReadOnly {
		go w.tree.Watch(ctx, f, top)
	}
	said := "Open: " + name
	if kind.ReadOnly {
		said += ". It can be read, not written: changes are kept beside it."
	}
	select {
	case <-top.Ended:
		dom.Status(said)
	default:
		still := said + " (more files are still being listed)"
		dom.Status(still)
		go func() {
			if <-top.Ended; ctx.Err() == nil && dom.Element("status").Get("textContent").String() == still {
				dom.Status(said)
			}
		}()
	}
	return nil
}

// Reveal selects a file that an answer names, or says that it is not there.
func (w *Workspace) Reveal(name string) {
	if _, err := fs.Stat(w.work, name); err != nil {
		dom.Status("There is no " + name + " in this folder.")
		return
	}
	w.tree.Reveal(name)
}

// Refresh shows the tree, the history and the used storage again.
func (w *Workspace) Refresh() error {
	if err := w.tree.Load(); err != nil {
		return err
	}
	return w.around()
}

// around shows the used storage, the state of the copy and the history.
func (w *Workspace) around() error {
	if s, err := fsaccess.StorageEstimate(w.ctx); err == nil {
		dom.SetText("room", fmt.Sprintf("Storage of this site: about %s of %s", dom.Size(s.Usage), dom.Size(s.Quota)))
	}
	if err := w.pending(); err != nil {
		return err
	}
	return w.history()
}

// remembered lists the folders of earlier visits, each with a button that opens it.
func (w *Workspace) remembered() {
	list, err := fsaccess.Remembered(w.ctx)
	if err != nil {
		return // this browser stores no handles
	}
	dom.Empty("kept")
	w.ofKept.Release()
	for _, r := range list {
		if r.Name == w.name {
			continue
		}
		again := dom.Create("button", "Open "+r.Name+" again")
		again.Set("type", "button")
		dom.Element("kept").Call("append", again)
		w.ofKept.On(again, "click", func(js.Value) {
			w.Lock.Lock()
			defer w.Lock.Unlock()
			f, err := fsaccess.Restore(w.ctx, r.Name)
			dom.Failed(w.chosen(f, r.Name, err))
		})
	}
}

func (w *Workspace) drops() {
	zone, err := fsaccess.NewDropZone("body")
	if dom.Failed(err) {
		return
	}
	for w.ctx.Err() == nil {
		dir, err := zone.Next(w.ctx)
		w.Lock.Lock()
		dom.Failed(w.chosen(dir, "", err))
		w.Lock.Unlock()
	}
}

// lasts reports whether the folder's name identifies it, so that data can be stored by the name. It
// does not for a folder in memory, nor for a read-only one, such as an upload.
func lasts(f *fsaccess.Folder) bool {
	kind := f.Features()
	return kind.Source != "memory" && !kind.ReadOnly
}
