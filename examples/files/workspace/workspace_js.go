package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/files/tree"
	"github.com/bailey-go/bailey/examples/files/viewer"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
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
	OnOpen  func(conversations sandbox.Store, lasts bool) error
	Mention func(path string)                  // puts a path into the next message
	Link    func(context.Context, iframe.Link) // a link of a file was chosen
}

// Workspace is the open folder: a journal over the folder, or over a copy of it.
type Workspace struct {
	Options
	place   // the open folder
	ctx     context.Context
	over    *fsaccess.Overlay // a copy over the folder, nil without one
	work    *fsaccess.Journal
	tree    *tree.Tree
	view    *viewer.Viewer
	stop    context.CancelFunc // ends the watch
	steps   dom.Rows           // of the list of changes
	older   int                // number of presses on "older", each of which shows historyRows more changes
	began   int64              // the last step of the history when the folder was opened
	reviews js.Value           // the button that shows the changes to review
	ofKept  dom.Listeners      // of the list of earlier folders, released before it is rebuilt
	keeping string             // what becomes of an upload
	losable bool               // closing the page loses changes
	arrived bool               // changes of a box elsewhere wait for the user
}

// place is a folder with the name that its data is stored by.
type place struct {
	folder *fsaccess.Folder
	name   string
	kept   string // of an upload that is kept: the key of its data, "" otherwise
}

// New sets up the buttons, and opens no folder.
func New(ctx context.Context, o Options) *Workspace {
	w := &Workspace{Options: o, ctx: ctx}
	w.view = viewer.New(ctx, viewer.Options{Lock: o.Lock, Work: func() *fsaccess.Journal { return w.work }, Took: w.took, Link: o.Link, Find: func(name string) { w.tree.Reveal(name) }})
	w.tree = tree.New(tree.Options{Lock: o.Lock, Show: w.view.Open, Take: w.take, Menu: w.menu(), Changed: func() { w.view.Changed() }})
	if old := dom.Element("review"); !old.IsNull() {
		old.Call("remove") // of a program before this one
	}
	w.reviews = dom.Button("", "primary")
	w.reviews.Set("id", "review")
	w.reviews.Set("hidden", true)
	dom.Element("history").Call("before", w.reviews)
	dom.On(w.reviews, "click", func(js.Value) { w.view.Review() })
	js.Global().Call("addEventListener", "beforeunload", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if w.losable || w.arrived {
			args[0].Call("preventDefault")
		}
		return nil
	}))
	dom.OnClick("arrived-review", func() { w.view.Review() })
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

// Open shows a file of the folder, and selects it in the tree.
func (w *Workspace) Open(name string) { w.Reveal(name) }

// Review shows what the assistant has changed, by file and by place.
func (w *Workspace) Review() { w.view.Review() }

// on calls do at each click on the element, with the lock held, and shows its error.
func (w *Workspace) on(id string, do func() error) {
	dom.Locked(w.Lock, id, func() error { return plain(do()) })
}

// leave asks whether the open file may be left, without the lock, because saving takes it.
func (w *Workspace) leave(do func()) {
	if w.view.Leave() {
		w.Lock.Lock()
		defer w.Lock.Unlock()
		do()
	}
}

// opens calls do at each click on the element, which opens another folder.
func (w *Workspace) opens(id string, do func() error) {
	dom.OnClick(id, func() { w.leave(func() { dom.Failed(plain(do())) }) })
}

// folders sets up the buttons that open a folder.
func (w *Workspace) folders() {
	w.opens("pick", func() error {
		f, err := fsaccess.Pick(w.ctx, fsaccess.ReadWrite, fsaccess.PickOptions{ID: "bailey-files"})
		return w.chosen(f, "", err)
	})
	w.opens("upload", func() error { return w.uploaded(fsaccess.Upload(w.ctx)) })
	w.opens("sample", w.UseSample)
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
		return plainError{"The browser does not let this page into the folder: press the button again and allow it, or upload the folder.", err}
	}
	if err != nil {
		return err
	}
	name = cmp.Or(name, f.Name(), "your folder")
	if name == sampleName || strings.Contains(name, uploadSuffix) { // the data of the sample and of uploads is stored by these names
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
	w.keeping = "It is gone when you close this page: download it before."
	return w.useListed(place{folder: f, name: name}, top)
}

// sampleName is the name of the sample. The data of the sample is stored by it.
const sampleName = "Sample folder"

// lastOpen is the key of localStorage for the folder of the last visit.
const lastOpen = "bailey-files-folder"

// Start opens the folder of the last visit, where the browser allows that without a question, and the
// sample otherwise.
func (w *Workspace) Start() error {
	last := js.Global().Get("localStorage").Call("getItem", lastOpen)
	if last.Type() == js.TypeString && last.String() != sampleName {
		for _, name := range w.stored() {
			if name == last.String() && w.again(name) == nil {
				return nil
			}
		}
		list, _ := fsaccess.Remembered(w.ctx)
		for _, r := range list {
			if r.Name != last.String() || r.Permission != nil || r.Mode != fsaccess.ReadWrite {
				continue
			}
			if f, err := fsaccess.Restore(w.ctx, r.Name); err == nil && w.chosen(f, r.Name, nil) == nil {
				return nil
			}
		}
	}
	return w.UseSample()
}

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
	return w.use(place{folder: f, name: name})
}

// use opens a folder whose listing has not begun.
func (w *Workspace) use(p place) error {
	return w.useListed(p, tree.List(w.ctx, p.folder))
}

// useListed opens a folder: it puts a journal over the folder, and a box over the journal. A folder
// that cannot be written, or that the user wants unchanged, is worked on in a copy. The caller has
// begun the listing top, of the folder without its copy, because all other file operations wait
// while a browser lists a large folder.
func (w *Workspace) useListed(p place, top *tree.Listing) error {
	if w.stop != nil {
		w.stop()
	}
	w.OnClose()
	w.view.Close()
	w.arrived = false // the box has them still
	dom.Hide("arrived", true)
	w.over = nil
	f := p.folder
	var store fsaccess.FS = fsaccess.NewMemory(fsaccess.MemoryOptions{})
	var conversations sandbox.Store = sandbox.MemoryStore()
	kind, key := f.Features(), cmp.Or(p.kept, key(p.name))
	if kind.ReadOnly || w.Settings.Copies[p.name] {
		var upper fsaccess.FS = fsaccess.NewMemory(fsaccess.MemoryOptions{})
		if p.lasts() {
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
	dom.SetText("name", p.name)
	if p.lasts() {
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
	w.place, w.work = p, fsaccess.NewJournal(work, store, fsaccess.JournalOptions{})
	w.began = 0
	if list, err := w.work.History(w.ctx); err == nil && len(list) > 0 {
		w.began = list[0].ID
	}
	w.view.Since(w.began)
	js.Global().Get("localStorage").Call("setItem", lastOpen, p.name)
	w.remembered() // the open folder is not in that list
	for _, id := range []string{"newfile", "newfolder", "move", "remove", "copy", "zip"} {
		dom.Enable(id, true)
	}
	if err := w.OnOpen(conversations, p.lasts()); err != nil {
		return err
	}
	if err := errors.Join(top.Wait(), w.around()); err != nil {
		return err
	}
	if !kind.ReadOnly {
		go w.tree.Watch(ctx, f, top)
	}
	said := "Open: " + p.name
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

// Reveal shows a file that an answer names, and selects it, or says that it is not there.
func (w *Workspace) Reveal(name string) {
	fi, err := fs.Stat(w.work, name)
	if err != nil {
		dom.Status("There is no " + name + " in this folder.")
		return
	}
	w.tree.Reveal(name)
	if !fi.IsDir() {
		w.view.Open(name)
	}
}

// Refresh shows the tree, the file, the history and the used storage again.
func (w *Workspace) Refresh() error {
	if err := w.tree.Load(); err != nil {
		return err
	}
	w.view.Changed()
	return w.around()
}

// around shows the used storage, the state of the copy and the history.
func (w *Workspace) around() error {
	if s, err := fsaccess.StorageEstimate(w.ctx); err == nil {
		dom.SetText("room", fmt.Sprintf("Storage of this site: about %s of %s", dom.Size(s.Usage), dom.Size(s.Quota)))
	}
	changed, err := w.pending()
	if err != nil {
		return err
	}
	return w.history(changed)
}

// remembered lists the folders of earlier visits, each with a button that opens it and one that takes
// it off the list.
func (w *Workspace) remembered() {
	dom.Empty("kept")
	w.ofKept.Release()
	row := func(name string, open, forget func() error) {
		if name == w.name {
			return
		}
		again := w.ofKept.Button(dom.Element("kept"), "Open "+name+" again", "", func() { w.leave(func() { dom.Failed(plain(open())) }) })
		off := w.ofKept.Button(dom.Element("kept"), "×", "icon", func() {
			w.Lock.Lock()
			defer w.Lock.Unlock()
			if err := forget(); dom.Failed(plain(err)) {
				return
			}
			w.remembered()
			dialog.Toast("Took " + name + " off the list.")
		})
		again.Set("title", "Open "+name+" again")
		off.Call("setAttribute", "aria-label", "Forget "+name)
		off.Set("title", "Forget "+name)
	}
	list, _ := fsaccess.Remembered(w.ctx) // some browsers store no handles
	for _, r := range list {
		row(r.Name, func() error {
			f, err := fsaccess.Restore(w.ctx, r.Name)
			return w.chosen(f, r.Name, err)
		}, func() error { return r.Forget(w.ctx) })
	}
	for _, name := range w.stored() {
		row(name, func() error { return w.again(name) }, func() error {
			answer, _ := dialog.Ask(dialog.Question{Title: "Forget " + name + "?", Text: "The copy of these files in this browser is deleted, with your changes in it. The files on your computer stay as they are.", Answers: []string{"Cancel", "Forget"}, Stops: true})
			if answer != "Forget" {
				return plainError{"Nothing was forgotten.", fs.ErrExist}
			}
			return w.forget(name)
		})
	}
}

// drops opens a folder that is dropped. A file that is dropped is copied into the open folder.
func (w *Workspace) drops() {
	zone, err := fsaccess.NewDropZone("body")
	if dom.Failed(err) {
		return
	}
	for w.ctx.Err() == nil {
		dir, err := zone.Next(w.ctx)
		if err == nil && w.work != nil && isFile(dir) {
			w.add(dir, dir.Name())
			continue
		}
		w.leave(func() { dom.Failed(plain(w.chosen(dir, "", err))) })
	}
}

// isFile reports whether a dropped item is a file, which comes as a folder with that file alone. It lists only a folder that
// has a file of its own name: a browser takes seconds to list a large folder, also if the first names are enough, and the
// tree would wait for that.
func isFile(dir *fsaccess.Folder) bool {
	if fi, err := dir.Stat(dir.Name()); err != nil || fi.IsDir() {
		return false
	}
	f, err := dir.Open(".")
	if err != nil {
		return false
	}
	defer f.Close()
	folder, ok := f.(fs.ReadDirFile)
	if !ok {
		return false
	}
	list, err := folder.ReadDir(2)
	return err == nil && len(list) == 1 && !list[0].IsDir() && list[0].Name() == dir.Name()
}

// add copies a dropped file into the open folder.
func (w *Workspace) add(from *fsaccess.Folder, name string) {
	to := name
	done := w.do("Added "+name+" to the folder.", func() error {
		return w.group("Added "+name, func(work fsaccess.FS) error {
			if _, err := work.Stat(to); err == nil {
				if to, err = w.free(work, to); err != nil {
					return err
				}
			}
			return fsaccess.Copy(w.ctx, work, path.Clean(to), from, name, fsaccess.CopyOptions{})
		})
	})
	if done {
		w.tree.Reveal(to)
	}
}

// lasts reports whether the folder's name identifies it, so that data can be stored by the name. It
// does not for a folder in memory, nor for a read-only one, unless that is an upload that is kept.
func (p place) lasts() bool {
	kind := p.folder.Features()
	return p.kept != "" || kind.Source != "memory" && !kind.ReadOnly
}
