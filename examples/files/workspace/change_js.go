package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	elsewhere "github.com/bailey-go/bailey/examples/files/place"
	"github.com/bailey-go/bailey/examples/files/tree"
	"github.com/bailey-go/bailey/examples/files/unseen"
	"github.com/bailey-go/bailey/examples/files/viewer"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/consent/inview"
)

// hands sets up the changes that the user makes by hand. Like the assistant's, all of them can be
// undone.
func (w *Workspace) hands() {
	dom.OnClick("newfile", func() { w.make(false) })
	dom.OnClick("newfolder", func() { w.make(true) })
	dom.OnClick("move", func() { w.move() })
	dom.OnClick("remove", func() { w.remove(w.tree.Chosen()) })
	dom.OnKey(dom.Element("tree"), func(e js.Value) bool {
		switch e.Get("key").String() {
		case "F2":
			go w.move()
		case "Delete":
			go w.remove(w.tree.Chosen())
		default:
			return false
		}
		return true
	})
}

// menu returns the actions of the tree's context menu.
func (w *Workspace) menu() []tree.Item {
	type list = []fsaccess.Entry
	one := func(l list) bool { return len(l) == 1 }
	file := func(l list) bool { return len(l) == 1 && !l[0].Dir }
	some := func(l list) bool { return len(l) > 0 }
	few := func(l list) bool { return len(l) < 2 }
	return []tree.Item{
		{Text: "Open", Key: "Enter", Fits: file, Do: func(l list) { w.view.Open(l[0].Path) }},
		{Text: "Mention in the chat", Fits: some, Do: func(l list) {
			for _, e := range l {
				w.Mention(e.Path)
			}
		}},
		{Text: "New file", Fits: few, Do: func(list) { w.make(false) }},
		{Text: "New folder", Fits: few, Do: func(list) { w.make(true) }},
		{Text: "Rename or move", Key: "F2", Fits: one, Do: func(list) { w.move() }},
		{Text: "Duplicate", Fits: some, Do: func(l list) { w.duplicate(l) }},
		{Text: "Download", Fits: some, Do: func(l list) { w.download(l) }},
		{Text: "Copy path", Fits: one, Do: func(l list) {
			clipboard := js.Global().Get("navigator").Get("clipboard")
			if clipboard.IsUndefined() {
				dom.Failed(fmt.Errorf("this page has no clipboard, because its address is not a secure one"))
				return
			}
			if _, err := dom.Await(w.ctx, clipboard.Call("writeText", l[0].Path)); !dom.Failed(err) {
				dialog.Toast("Copied " + l[0].Path + ".")
			}
		}},
		{Text: "Delete", Key: "Del", Fits: some, Do: func(l list) { w.remove(l) }},
	}
}

// do makes a change of the user's, and reports whether it succeeded.
func (w *Workspace) do(said string, change func() error) bool {
	w.Lock.Lock()
	defer w.Lock.Unlock()
	return !dom.Failed(w.took(said, change()))
}

// group makes changes that are one step for undo.
func (w *Workspace) group(label string, change func(work fsaccess.FS) error) error {
	return w.work.Group(w.ctx, label, change)
}

// make makes an empty file or a folder, in the selected folder or beside the selected file.
func (w *Workspace) make(folder bool) {
	dir := "."
	if n, ok := w.tree.Selected(); ok && n.Dir {
		dir = n.Path
	} else if ok {
		dir = path.Dir(n.Path)
	}
	what := map[bool]string{true: "folder", false: "file"}[folder]
	start := ""
	if dir != "." {
		start = dir + "/"
	}
	answer, name := dialog.Ask(dialog.Question{Title: "New " + what, Label: "Name (you can include folders)", Value: start, Answers: []string{"Cancel", "Create"}})
	if name = strings.TrimSuffix(strings.TrimSpace(name), "/"); answer != "Create" || name == "" {
		return
	}
	made := w.makes(name, "Created "+name+".", func() error {
		if folder {
			return w.work.MkdirAll(name, 0o755)
		}
		return w.group("Created "+name, func(work fsaccess.FS) error {
			if err := work.MkdirAll(path.Dir(name), 0o755); err != nil {
				return err
			}
			return work.WriteFile(name, nil, 0o644)
		})
	})
	if made && !folder {
		w.view.Open(name)
	}
}

// Keep asks for a name, and makes a file of a text of the conversation.
func (w *Workspace) Keep(name, text string) error {
	w.Lock.Lock()
	none := w.work == nil
	w.Lock.Unlock()
	if none {
		return fs.ErrNotExist
	}
	answer, name := dialog.Ask(dialog.Question{Title: "Open as a file", Text: "It becomes a file of this folder. Undo removes it again.", Label: "Name (you can include folders)", Value: name, Answers: []string{"Cancel", "Create"}})
	if name = strings.TrimSpace(name); answer != "Create" || name == "" {
		return context.Canceled
	}
	made := w.makes(name, "Created "+name+".", func() error {
		return w.group("Created "+name, func(work fsaccess.FS) error {
			if err := work.MkdirAll(path.Dir(name), 0o755); err != nil {
				return err
			}
			return work.WriteFile(name, []byte(text), 0o644)
		})
	})
	if !made {
		return fs.ErrExist // the page says why
	}
	w.view.Open(name)
	return nil
}

// makes makes a name that is not there yet, and selects it. It reports whether it did.
func (w *Workspace) makes(name, said string, change func() error) bool {
	made := w.do(said, func() error {
		if !fs.ValidPath(name) {
			return &fs.PathError{Op: "create", Path: name, Err: fs.ErrInvalid}
		}
		if _, err := w.work.Stat(name); err == nil {
			return fmt.Errorf("%s is there already: nothing was changed", name)
		}
		w.tree.Expect(name)
		err := change()
		if err != nil {
			w.tree.Expect("")
		}
		return err
	})
	if made {
		w.tree.Reveal(name)
	}
	return made
}

// move renames or moves the selected file or folder.
func (w *Workspace) move() {
	n, ok := w.tree.Selected()
	if !ok {
		dom.Status("Select a file or a folder in the list first.")
		return
	}
	answer, name := dialog.Ask(dialog.Question{Title: "Rename or move", Label: "Name (you can include folders)", Value: n.Path, Answers: []string{"Cancel", "Rename"}})
	if name = strings.TrimSuffix(strings.TrimSpace(name), "/"); answer != "Rename" || name == "" || name == n.Path {
		return
	}
	moved := w.makes(name, "Renamed to "+name+".", func() error {
		return w.group("Renamed "+n.Path+" to "+name, func(work fsaccess.FS) error {
			if err := work.MkdirAll(path.Dir(name), 0o755); err != nil {
				return err
			}
			return fsaccess.Move(w.ctx, work, name, work, n.Path, fsaccess.CopyOptions{})
		})
	})
	if moved {
		w.view.Moved(n.Path, name)
	}
}

// things returns a list of entries as words: the name of one, or the number of several.
func things(list []fsaccess.Entry) string {
	if len(list) == 1 {
		return list[0].Path
	}
	return fmt.Sprintf("%d things", len(list))
}

// take moves or copies entries into a folder, as one step for undo.
func (w *Workspace) take(list []fsaccess.Entry, to string, moves bool) {
	place := map[bool]string{true: "the top folder", false: to}[to == "."]
	verb := map[bool]string{true: "Moved ", false: "Copied "}[moves]
	last := ""
	done := w.do(verb+things(list)+" to "+place+".", func() error {
		return w.group(verb+things(list)+" to "+place, func(work fsaccess.FS) error {
			for _, e := range list {
				name := path.Join(to, path.Base(e.Path))
				if strings.HasPrefix(to+"/", e.Path+"/") {
					return fmt.Errorf("%s can't be put into itself: nothing was changed", e.Path)
				}
				if name == e.Path {
					if moves {
						continue
					}
					var err error
					if name, err = w.free(work, name); err != nil {
						return err
					}
				} else if _, err := work.Stat(name); err == nil {
					return fmt.Errorf("%s is there already: nothing was changed. Rename one of the two first", name)
				}
				put := fsaccess.Copy
				if moves {
					put = fsaccess.Move
				}
				if err := put(w.ctx, work, name, work, e.Path, fsaccess.CopyOptions{}); err != nil {
					return err
				}
				last = name
			}
			return nil
		})
	})
	if !done || last == "" {
		return
	}
	w.tree.Reveal(last)
	if moves {
		for _, e := range list {
			w.view.Moved(e.Path, path.Join(to, path.Base(e.Path)))
		}
	}
}

// free returns a name for a copy of a file that is not there yet.
func (w *Workspace) free(work fsaccess.FS, name string) (string, error) {
	for n := 1; n < 1000; n++ {
		free := copyName(name, n)
		if _, err := work.Stat(free); err != nil {
			return free, nil
		}
	}
	return "", fmt.Errorf("there are too many copies of %s: rename some of them first", name)
}

// duplicate makes a copy of each entry beside it.
func (w *Workspace) duplicate(list []fsaccess.Entry) {
	last := ""
	done := w.do("Duplicated "+things(list)+".", func() error {
		return w.group("Duplicated "+things(list), func(work fsaccess.FS) error {
			for _, e := range list {
				name, err := w.free(work, e.Path)
				if err != nil {
					return err
				}
				if err := fsaccess.Copy(w.ctx, work, name, work, e.Path, fsaccess.CopyOptions{}); err != nil {
					return err
				}
				last = name
			}
			return nil
		})
	})
	if done {
		w.tree.Reveal(last)
	}
}

// download saves a file by the browser's downloads. A folder, or several entries, become a ZIP.
func (w *Workspace) download(list []fsaccess.Entry) {
	if len(list) == 1 && !list[0].Dir {
		dom.Failed(plain(fsaccess.SaveAs(w.ctx, w.work, list[0].Path, path.Base(list[0].Path))))
		return
	}
	from, root, name := fsaccess.FS(w.work), list[0].Path, path.Base(list[0].Path)+".zip"
	if len(list) > 1 {
		some := fsaccess.NewMemory(fsaccess.MemoryOptions{})
		for _, e := range list {
			err := some.MkdirAll(path.Dir(e.Path), 0o755)
			if err == nil {
				err = fsaccess.Copy(w.ctx, some, e.Path, w.work, e.Path, fsaccess.CopyOptions{})
			}
			if dom.Failed(plain(err)) {
				return
			}
		}
		from, root, name = some, ".", "files.zip"
	}
	var b bytes.Buffer
	if !dom.Failed(plain(fsaccess.ExportZIP(w.ctx, from, root, &b, fsaccess.ZIPOptions{}))) {
		dom.Failed(dialog.Save(w.ctx, name, b.String()))
	}
}

func (w *Workspace) remove(list []fsaccess.Entry) {
	if len(list) == 0 {
		dom.Status("Select what to delete in the list first.")
		return
	}
	text := "You can undo this."
	if len(list) > 1 {
		names := ""
		for _, e := range list {
			names += "\n" + e.Path
		}
		text += "\n" + dom.Cut(names, 600)
	} else if list[0].Dir {
		text = "Everything in this folder is deleted, too. You can undo this."
	}
	if answer, _ := dialog.Ask(dialog.Question{Title: "Delete " + things(list) + "?", Text: text, Answers: []string{"Cancel", "Delete"}, Stops: true}); answer == "Delete" {
		w.do("Deleted "+things(list)+".", func() error {
			if len(list) == 1 {
				return w.work.RemoveAll(list[0].Path)
			}
			return w.group("Deleted "+things(list), func(work fsaccess.FS) error {
				for _, e := range list {
					if err := work.RemoveAll(e.Path); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// copying sets up the buttons of a copy: show its changes, apply them to the folder, or drop them.
func (w *Workspace) copying() {
	w.on("copy", func() error {
		if w.over != nil {
			return nil
		}
		w.Settings.SetCopied(w.name, true)
		return w.use(w.place)
	})
	w.on("apply", func() error {
		done, err := w.over.Apply(w.ctx)
		if err != nil {
			return err
		}
		w.Settings.SetCopied(w.name, false)
		if err := w.use(w.place); err != nil {
			return err
		}
		dialog.Toast(fmt.Sprintf("Changes carried over to the folder: %d.", len(done)))
		return nil
	})
	dom.OnClick("discard", w.discard)
	w.on("zip", func() error {
		var b bytes.Buffer
		if err := fsaccess.ExportZIP(w.ctx, w.work, ".", &b, fsaccess.ZIPOptions{}); err != nil {
			return err
		}
		return dialog.Save(w.ctx, "folder.zip", b.String())
	})
}

// discard drops a copy. Changes in it cannot be brought back, so it asks first, with their names.
func (w *Workspace) discard() {
	w.Lock.Lock()
	defer w.Lock.Unlock()
	list, err := w.over.Diff(w.ctx)
	if dom.Failed(plain(err)) {
		return
	}
	if len(list) > 0 {
		names := dom.Create("ul", "")
		for _, c := range list[:min(len(list), mostNames)] {
			names.Call("append", dom.Create("li", string(c.Kind)+" "+unseen.Text(c.Path)))
		}
		if more := len(list) - mostNames; more > 0 {
			names.Call("append", dom.Create("li", fmt.Sprintf("and %d more", more)))
		}
		answer, _ := dialog.Ask(dialog.Question{Title: fmt.Sprintf("Discard %s?", consent.Count(len(list), "change")), Text: "The folder stays as it is. What was changed in the copy cannot be brought back.",
			Body: []js.Value{names}, Answers: []string{"Keep", "Discard"}, Stops: true})
		if answer != "Discard" {
			return
		}
	}
	if dom.Failed(plain(w.over.Discard(w.ctx))) {
		return
	}
	w.Settings.SetCopied(w.name, false)
	if !dom.Failed(plain(w.use(w.place))) {
		dialog.Toast("The copy's changes are gone, and the folder is as it was.")
	}
}

// mostNames is the number of changed files that a question lists.
const mostNames = 20

// pending shows how a copy differs from its folder.
func (w *Workspace) pending() (changed []fsaccess.FileChange, err error) {
	dom.Hide("copy", w.over != nil)
	dom.Hide("pending", w.over == nil)
	w.losable = false
	if w.over == nil {
		return nil, nil
	}
	list, err := w.over.Diff(w.ctx)
	if err != nil {
		return nil, err
	}
	readOnly := w.place.folder.Features().ReadOnly
	w.losable = readOnly && w.place.kept == "" && len(list) > 0
	text := "You work on a copy. Nothing is changed yet."
	if len(list) > 0 {
		names := []string{}
		for _, c := range list {
			names = append(names, string(c.Kind)+" "+c.Path)
		}
		text = fmt.Sprintf("You work on a copy. Changed in it: %s", dom.Cut(strings.Join(names, ", "), 200))
	}
	if readOnly {
		text = strings.Replace(text, "You work on a copy.", "This folder can be read only: you work on a copy. "+w.keeping, 1)
	}
	dom.SetText("pending-text", text)
	dom.Hide("apply", readOnly)
	dom.Enable("apply", len(list) > 0)
	dom.Hide("discard", readOnly && len(list) == 0)
	dom.SetText("discard", map[bool]string{true: "Discard", false: "Stop using a copy"}[len(list) > 0])
	return list, nil
}

// Arrived shows changes of a box elsewhere, for the user to review. The folder has none of them until the user applies
// the rest of them, as one step. done is called once the user has decided. The lock must be held.
func (w *Workspace) Arrived(a *elsewhere.Arrived, from string, done func()) error {
	list, err := a.Changes(w.ctx)
	if err != nil {
		return plain(err)
	}
	w.arrived = true
	end := func() {
		w.arrived = false
		w.view.Arrived(nil)
		dom.Hide("arrived", true)
		done()
	}
	var notes []string
	for _, b := range a.Beside {
		notes = append(notes, fmt.Sprintf("You have changed %s meanwhile: it stays, and the other text is in %s.", b[0], b[1]))
	}
	for _, l := range a.LeftOut {
		notes = append(notes, fmt.Sprintf("Not taken: %s (%s).", dom.Cut(l.Path, 200), dom.Cut(l.Reason, 300)))
	}
	w.view.Arrived(&viewer.Arrival{Work: a.Work, From: from, Notes: notes[:min(len(notes), mostNames)], Apply: func() error {
		list, err := a.Apply(w.ctx)
		if err != nil {
			return plain(err)
		}
		end()
		return w.took(fmt.Sprintf("Applied %s. Undo takes all of it back.", consent.Count(len(list), "change")), nil)
	}, Discard: func() {
		end()
		dom.Status("Your folder stays as it is.")
	}})
	dom.SetText("arrived-text", fmt.Sprintf("%s came from %s. Your folder has none of it yet.", consent.Count(len(list), "changed file"), from))
	dom.Hide("arrived", false)
	return nil
}

// Waits reports whether changes of a box elsewhere wait for the user.
func (w *Workspace) Waits() bool { return w.arrived }

// Takes asks whether a file of a dangerous kind is taken over.
func (w *Workspace) Takes(ctx context.Context, q fsaccess.Question) (bool, error) {
	diff, err := q.Diff(ctx)
	if err != nil {
		return false, err
	}
	pre := dom.Pre("", "diff", "Its content")
	inview.ShowDiff(pre, diff)
	answer, _ := dialog.Ask(dialog.Question{Title: "Look at " + dom.Cut(q.Path, 200) + " too?", Text: fmt.Sprintf("It can run something when it is opened (%s). If you agree, it is among the changes to review.", q.Kind),
		Body: []js.Value{pre}, Answers: []string{"Leave out", "Review it"}})
	return answer == "Review it", nil
}
