package workspace

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

// hands sets up the changes that the user makes by hand. Like the assistant's, all of them can be
// undone.
func (w *Workspace) hands() {
	dom.OnClick("newfile", func() { w.make(false) })
	dom.OnClick("newfolder", func() { w.make(true) })
	dom.OnClick("move", func() { w.move() })
	dom.OnClick("remove", func() { w.remove() })
	dom.OnKey(dom.Element("tree"), func(e js.Value) bool {
		switch e.Get("key").String() {
		case "F2":
			go w.move()
		case "Delete":
			go w.remove()
		default:
			return false
		}
		return true
	})
}

// do makes a change of the user's, and reports whether it succeeded.
func (w *Workspace) do(said string, change func() error) bool {
	w.Lock.Lock()
	defer w.Lock.Unlock()
	return !dom.Failed(w.took(said, change()))
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
	answer, name := dialog.Ask(dialog.Question{Title: "New " + what, Label: "Name, with the folders it stands in", Value: start, Answers: []string{"Cancel", "Make"}})
	if name = strings.TrimSuffix(strings.TrimSpace(name), "/"); answer != "Make" || name == "" {
		return
	}
	w.makes(name, "Made "+name+".", func() error {
		if folder {
			return w.work.MkdirAll(name, 0o755)
		}
		if err := w.work.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return w.work.WriteFile(name, nil, 0o644)
	})
}

// makes makes a name that is not there yet, and selects it.
func (w *Workspace) makes(name, said string, change func() error) {
	made := w.do(said, func() error {
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
}

// move renames or moves the selected file or folder.
func (w *Workspace) move() {
	n, ok := w.tree.Selected()
	if !ok {
		return
	}
	answer, name := dialog.Ask(dialog.Question{Title: "Rename or move", Label: "Name, with the folders it stands in", Value: n.Path, Answers: []string{"Cancel", "Rename"}})
	if name = strings.TrimSuffix(strings.TrimSpace(name), "/"); answer != "Rename" || name == "" || name == n.Path {
		return
	}
	w.makes(name, "Renamed to "+name+".", func() error {
		if !fs.ValidPath(name) {
			return fmt.Errorf("%q is no name inside this folder: parts are parted by /, without .. or a leading slash", name)
		}
		if err := w.work.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return fsaccess.Move(w.ctx, w.work, name, w.work, n.Path, fsaccess.CopyOptions{})
	})
}

func (w *Workspace) remove() {
	n, ok := w.tree.Selected()
	if !ok {
		return
	}
	text := "Undo brings it back."
	if n.Dir {
		text = "With all that is in it. Undo brings it back."
	}
	if answer, _ := dialog.Ask(dialog.Question{Title: "Delete " + n.Path + "?", Text: text, Answers: []string{"Cancel", "Delete"}, Stops: true}); answer == "Delete" {
		w.do("Deleted "+n.Path+".", func() error { return w.work.RemoveAll(n.Path) })
	}
}

// copying sets up the buttons of a copy: show its changes, apply them to the folder, or drop them.
func (w *Workspace) copying() {
	w.on("copy", func() error {
		if w.over != nil {
			return nil
		}
		w.Settings.SetCopied(w.name, true)
		return w.use(w.source, w.name)
	})
	w.on("apply", func() error {
		done, err := w.over.Apply(w.ctx)
		if err != nil {
			return err
		}
		w.Settings.SetCopied(w.name, false)
		if err := w.use(w.source, w.name); err != nil {
			return err
		}
		dialog.Toast(fmt.Sprintf("Changes carried over to the folder: %d.", len(done)))
		return nil
	})
	w.on("discard", func() error {
		if err := w.over.Discard(w.ctx); err != nil {
			return err
		}
		w.Settings.SetCopied(w.name, false)
		if err := w.use(w.source, w.name); err != nil {
			return err
		}
		dialog.Toast("The copy is gone; the folder is as it was.")
		return nil
	})
	w.on("zip", func() error {
		var b bytes.Buffer
		if err := fsaccess.ExportZIP(w.ctx, w.work, ".", &b, fsaccess.ZIPOptions{}); err != nil {
			return err
		}
		return dialog.Save(w.ctx, "folder.zip", b.String())
	})
}

// pending shows how a copy differs from its folder.
func (w *Workspace) pending() error {
	dom.Hide("copy", w.over != nil)
	dom.Hide("pending", w.over == nil)
	if w.over == nil {
		return nil
	}
	list, err := w.over.Diff(w.ctx)
	if err != nil {
		return err
	}
	readOnly := w.source.Features().ReadOnly
	text := "You work on a copy. Nothing is changed yet."
	if len(list) > 0 {
		names := []string{}
		for _, c := range list {
			names = append(names, string(c.Kind)+" "+c.Path)
		}
		text = fmt.Sprintf("You work on a copy. Changed in it: %s", dom.Cut(strings.Join(names, ", "), 200))
	}
	if readOnly {
		text = strings.Replace(text, "You work on a copy.", "This folder can be read only: you work on a copy.", 1)
	}
	dom.SetText("pending-text", text)
	dom.Hide("apply", readOnly)
	dom.Enable("apply", len(list) > 0)
	dom.Enable("discard", len(list) > 0 || !readOnly)
	return nil
}
