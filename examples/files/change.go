//go:build js && wasm

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
)

// changes sets up the changes that the user makes by hand. Like the assistant's, all of them can be
// undone.
func (a *app) changes() {
	on(element("newfile"), "click", func(js.Value) { a.make(false) })
	on(element("newfolder"), "click", func(js.Value) { a.make(true) })
	on(element("move"), "click", func(js.Value) { a.move() })
	on(element("remove"), "click", func(js.Value) { a.remove() })
	onKey(element("tree"), func(e js.Value) bool {
		switch e.Get("key").String() {
		case "F2":
			go a.move()
		case "Delete":
			go a.remove()
		default:
			return false
		}
		return true
	})
}

// do makes a change of the user's, and reports whether it succeeded.
func (a *app) do(said string, change func() error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !failed(a.took(said, change()))
}

// make makes an empty file or a folder, in the selected folder or beside the selected file.
func (a *app) make(folder bool) {
	dir := "."
	if n, ok := a.tree.selected(); ok && n.Dir {
		dir = n.Path
	} else if ok {
		dir = path.Dir(n.Path)
	}
	what := map[bool]string{true: "folder", false: "file"}[folder]
	start := ""
	if dir != "." {
		start = dir + "/"
	}
	answer, name := ask(asking{title: "New " + what, label: "Name, with the folders it stands in", value: start, answers: []string{"Cancel", "Make"}})
	if name = strings.TrimSuffix(strings.TrimSpace(name), "/"); answer != "Make" || name == "" {
		return
	}
	made := a.do("Made "+name+".", func() error {
		if _, err := a.work.Stat(name); err == nil {
			return fmt.Errorf("%s is there already: nothing was changed", name)
		}
		if folder {
			return a.work.MkdirAll(name, 0o755)
		}
		if err := a.work.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return a.work.WriteFile(name, nil, 0o644)
	})
	if made {
		a.tree.reveal(name)
	}
}

// move renames or moves the selected file or folder.
func (a *app) move() {
	n, ok := a.tree.selected()
	if !ok {
		return
	}
	answer, name := ask(asking{title: "Rename or move", label: "Name, with the folders it stands in", value: n.Path, answers: []string{"Cancel", "Rename"}})
	if name = strings.TrimSuffix(strings.TrimSpace(name), "/"); answer != "Rename" || name == "" || name == n.Path {
		return
	}
	moved := a.do("Renamed to "+name+".", func() error {
		if !fs.ValidPath(name) {
			return fmt.Errorf("%q is no name inside this folder: parts are parted by /, without .. or a leading slash", name)
		}
		if _, err := a.work.Stat(name); err == nil {
			return fmt.Errorf("%s is there already: nothing was changed", name)
		}
		if err := a.work.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return fsaccess.Move(a.ctx, a.work, name, a.work, n.Path, fsaccess.CopyOptions{})
	})
	if moved {
		a.tree.reveal(name)
	}
}

func (a *app) remove() {
	n, ok := a.tree.selected()
	if !ok {
		return
	}
	text := "Undo brings it back."
	if n.Dir {
		text = "With all that is in it. Undo brings it back."
	}
	if answer, _ := ask(asking{title: "Delete " + n.Path + "?", text: text, answers: []string{"Cancel", "Delete"}, stops: true}); answer == "Delete" {
		a.do("Deleted "+n.Path+".", func() error { return a.work.RemoveAll(n.Path) })
	}
}

// copying sets up the buttons of a copy: show its changes, apply them to the folder, or drop them.
func (a *app) copying() {
	a.on("copy", func() error {
		if a.over != nil {
			return nil
		}
		if a.kept.Copies == nil {
			a.kept.Copies = map[string]bool{}
		}
		a.kept.Copies[a.name] = true
		a.kept.save()
		return a.use(a.source, a.name)
	})
	a.on("apply", func() error {
		done, err := a.over.Apply(a.ctx)
		if err != nil {
			return err
		}
		delete(a.kept.Copies, a.name)
		a.kept.save()
		if err := a.use(a.source, a.name); err != nil {
			return err
		}
		toast(fmt.Sprintf("Changes carried over to the folder: %d.", len(done)))
		return nil
	})
	a.on("discard", func() error {
		if err := a.over.Discard(a.ctx); err != nil {
			return err
		}
		delete(a.kept.Copies, a.name)
		a.kept.save()
		if err := a.use(a.source, a.name); err != nil {
			return err
		}
		toast("The copy is gone; the folder is as it was.")
		return nil
	})
	a.on("zip", func() error {
		var b bytes.Buffer
		if err := fsaccess.ExportZIP(a.ctx, a.work, ".", &b, fsaccess.ZIPOptions{}); err != nil {
			return err
		}
		return a.download("folder.zip", b.String())
	})
}

// pending shows how a copy differs from its folder.
func (a *app) pending() error {
	hide("copy", a.over != nil)
	hide("pending", a.over == nil)
	if a.over == nil {
		return nil
	}
	list, err := a.over.Diff(a.ctx)
	if err != nil {
		return err
	}
	readOnly := a.source.Features().ReadOnly
	text := "You work on a copy. Nothing is changed yet."
	if len(list) > 0 {
		names := []string{}
		for _, c := range list {
			names = append(names, string(c.Kind)+" "+c.Path)
		}
		text = fmt.Sprintf("You work on a copy. Changed in it: %s", cut(strings.Join(names, ", "), 200))
	}
	if readOnly {
		text = strings.Replace(text, "You work on a copy.", "This folder can be read only: you work on a copy.", 1)
	}
	element("pending-text").Set("textContent", text)
	hide("apply", readOnly)
	enable("apply", len(list) > 0)
	enable("discard", len(list) > 0 || !readOnly)
	return nil
}
