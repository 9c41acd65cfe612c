//go:build js && wasm

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
)

// file is what is open: its bytes as they were read, and the version they had.
type file struct {
	path    string
	was     []byte
	version fsaccess.Version
	text    bool             // it can be edited
	doc     *iframe.Document // of a preview
}

// largest is what is opened for looking at, in bytes.
const largest = 4 << 20

// images are shown by a data: URL, which the page's policy lets an <img> have and
// which runs nothing.
var images = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}

// close puts away what is open.
func (a *app) close() {
	if a.file != nil && a.file.doc != nil {
		_ = a.file.doc.Close()
	}
	a.file = nil
	element("path").Set("textContent", "Nothing is open")
	for _, id := range []string{"view", "other", "edit", "diff", "outside", "look", "rename", "remove"} {
		hide(id, true)
	}
	element("view").Call("replaceChildren")
	element("other").Call("replaceChildren")
}

// show opens a file for looking at it.
func (a *app) show(name string) error {
	if a.file != nil && a.file.path != name && a.dirty() {
		answer, _ := ask(question{title: "Leave " + a.file.path + "?", text: "What you wrote there is not saved.", answers: []string{"Leave it", "Stay"}})
		if answer != "Leave it" {
			return nil
		}
	}
	fi, err := a.work.Stat(name)
	if err != nil {
		return err
	}
	a.close()
	if fi.Size() > largest {
		a.file = &file{path: name}
		element("other").Set("textContent", fmt.Sprintf("%s has %s: more than this page opens.", name, size(fi.Size())))
		hide("other", false)
		return a.opened()
	}
	data, version, err := fsaccess.ReadVersion(a.ctx, a.work, name)
	if err != nil {
		return err
	}
	a.file = &file{path: name, was: data, version: version}
	ext := strings.ToLower(path.Ext(name))
	switch kind, image := images[ext]; {
	case image:
		img := create("img", "")
		img.Set("alt", name)
		img.Set("src", "data:"+kind+";base64,"+base64.StdEncoding.EncodeToString(data))
		element("other").Call("append", img)
		hide("other", false)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		element("other").Call("append", create("pre", hex.Dump(data[:min(len(data), 512)])))
		hide("other", false)
	case ext == ".md" && len(data) > 0:
		a.file.text = true
		element("text").Set("value", string(data))
		hide("look", false)
		if err := a.preview(true); err != nil {
			return err
		}
	default:
		a.file.text = true
		element("text").Set("value", string(data))
		hide("edit", false)
	}
	return a.opened()
}

func (a *app) opened() error {
	element("path").Set("textContent", a.file.path)
	hide("rename", false)
	hide("remove", false)
	a.typed()
	return a.tree()
}

// preview shows Markdown as it reads, or as it is written.
func (a *app) preview(on bool) error {
	hide("view", !on)
	hide("edit", on)
	element("look").Call("setAttribute", "aria-pressed", fmt.Sprint(on))
	if !on {
		element("text").Call("focus")
		return nil
	}
	if a.file.doc == nil {
		var err error
		if a.file.doc, err = a.view(); err != nil {
			return err
		}
	}
	s := a.file.doc.Section("file")
	if err := s.Reset(); err != nil {
		return err
	}
	if _, err := s.WriteString(a.text()); err != nil {
		return err
	}
	return s.Close()
}

func (a *app) text() string { return element("text").Get("value").String() }

// dirty reports whether the text differs from the file. A textarea has no carriage
// returns, whatever the file has.
func (a *app) dirty() bool {
	return a.file != nil && a.file.text && a.content() != string(a.file.was)
}

// content is the text with the line ends that the file had.
func (a *app) content() string {
	if bytes.Contains(a.file.was, []byte("\r\n")) {
		return strings.ReplaceAll(a.text(), "\n", "\r\n")
	}
	return a.text()
}

func (a *app) typed() {
	enable("save", a.dirty())
	enable("compare", a.dirty())
	hide("diff", true)
}

func (a *app) editor() {
	on(element("text"), "input", func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.typed()
	})
	on(element("edit"), "submit", func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		failed(a.save(a.file.version))
	})
	a.on("look", func() error { return a.preview(!element("edit").Get("hidden").Bool()) })
	a.on("compare", func() error {
		text, err := fsaccess.UnifiedDiff(a.ctx, a.file.path, a.file.path+", as you wrote it", a.file.was, []byte(a.content()))
		if err != nil {
			return err
		}
		showDiff("diff", text)
		element("diff").Call("focus")
		return nil
	})
	a.on("rename", func() error {
		answer, to := ask(question{title: "Rename " + a.file.path, label: "Its new path", input: a.file.path, answers: []string{"Not now", "Rename"}})
		from := a.file.path
		if answer != "Rename" || to == from {
			return nil
		}
		if err := a.took("Renamed to "+to+".", a.work.Rename(from, to)); err != nil {
			return err
		}
		a.close()
		return a.show(to)
	})
	a.on("remove", func() error {
		name := a.file.path
		if err := a.took("Deleted "+name+". Undo brings it back.", a.work.Remove(name)); err != nil {
			return err
		}
		a.close()
		return nil
	})
}

// save writes the text if the file still is what was read. If somebody else has
// changed it, nothing is lost: the person chooses.
func (a *app) save(version fsaccess.Version) error {
	f := a.file
	mine := []byte(a.content())
	v, err := fsaccess.WriteVersion(a.ctx, a.work, f.path, mine, 0o644, version)
	if errors.Is(err, fsaccess.ErrConflict) {
		theirs, err := a.work.ReadFile(f.path)
		if err != nil && !isMissing(err) {
			return err
		}
		text, err := fsaccess.UnifiedDiff(a.ctx, "theirs", "yours", theirs, mine)
		if err != nil {
			return err
		}
		answer, _ := ask(question{
			title:   f.path + " has changed",
			text:    "Somebody else has written it since you opened it. This is what yours would change of theirs:",
			diff:    text,
			answers: []string{"Write mine", "Take theirs", "Go on editing"},
		})
		switch answer {
		case "Write mine":
			return a.save(fsaccess.AnyVersion)
		case "Take theirs":
			a.close()
			return a.show(f.path)
		}
		return nil
	}
	if err != nil {
		return err
	}
	f.was, f.version = mine, v
	hide("outside", true)
	a.typed()
	return a.took("Saved "+f.path+".", nil)
}

// changedOutside says so if the open file is no longer what was read.
func (a *app) changedOutside(name string) {
	if a.file == nil || a.file.path != name {
		return
	}
	if v, err := fsaccess.CurrentVersion(a.ctx, a.work, name); err != nil || v == a.file.version {
		return
	}
	if !a.dirty() {
		failed(a.show(name))
		return
	}
	element("outside").Set("textContent", name+" was changed by somebody else. Saving will ask what to keep.")
	hide("outside", false)
}
