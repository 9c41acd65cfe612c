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
	"syscall/js"
	"unicode/utf8"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
)

// file is the open file, with the bytes and the version that were read.
type file struct {
	path    string
	was     []byte
	version fsaccess.Version
	text    bool             // the file can be edited
	doc     *iframe.Document // of the preview, nil without one
}

// largest is the size in bytes up to which a file is opened.
const largest = 4 << 20

// images are the types of images by extension. They are shown by a data: URL, which the page's
// policy allows for an <img>, and which runs no code.
var images = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}

// close closes the open file.
func (a *app) close() {
	if a.file != nil && a.file.doc != nil {
		_ = a.file.doc.Close()
	}
	a.file = nil
	dom.SetText("path", "Nothing is open")
	for _, id := range []string{"view", "other", "edit", "diff", "outside", "look", "rename", "remove"} {
		dom.Hide(id, true)
	}
	dom.Empty("view")
	dom.Empty("other")
}

// show opens a file. If the open one has unsaved changes, it asks first.
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
		dom.SetText("other", fmt.Sprintf("%s has %s: more than this page opens.", name, dom.Size(fi.Size())))
		dom.Hide("other", false)
		return a.opened()
	}
	data, version, err := a.work.ReadVersion(name)
	if err != nil {
		return err
	}
	a.file = &file{path: name, was: data, version: version}
	ext := strings.ToLower(path.Ext(name))
	switch kind, image := images[ext]; {
	case image:
		img := dom.Create("img", "")
		img.Set("alt", name)
		img.Set("src", "data:"+kind+";base64,"+base64.StdEncoding.EncodeToString(data))
		dom.Element("other").Call("append", img)
		dom.Hide("other", false)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		dom.Element("other").Call("append", dom.Create("pre", hex.Dump(data[:min(len(data), 512)])))
		dom.Hide("other", false)
	case ext == ".md" && len(data) > 0:
		a.file.text = true
		dom.SetValue("text", string(data))
		dom.Hide("look", false)
		if err := a.preview(true); err != nil {
			return err
		}
	default:
		a.file.text = true
		dom.SetValue("text", string(data))
		dom.Hide("edit", false)
	}
	return a.opened()
}

func (a *app) opened() error {
	dom.SetText("path", a.file.path)
	dom.Hide("rename", false)
	dom.Hide("remove", false)
	a.typed()
	return a.tree()
}

// preview shows the rendered Markdown, or the editor.
func (a *app) preview(on bool) error {
	dom.Hide("view", !on)
	dom.Hide("edit", on)
	dom.Element("look").Call("setAttribute", "aria-pressed", fmt.Sprint(on))
	if !on {
		dom.Element("text").Call("focus")
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

func (a *app) text() string { return dom.Value("text") }

// dirty reports whether the text differs from the file. A textarea has no carriage returns, so
// content restores them.
func (a *app) dirty() bool {
	return a.file != nil && a.file.text && a.content() != string(a.file.was)
}

// content returns the text with the line ends of the file.
func (a *app) content() string {
	if bytes.Contains(a.file.was, []byte("\r\n")) {
		return strings.ReplaceAll(a.text(), "\n", "\r\n")
	}
	return a.text()
}

func (a *app) typed() {
	dom.Enable("save", a.dirty())
	dom.Enable("compare", a.dirty())
	dom.Hide("diff", true)
}

func (a *app) editor() {
	dom.On(dom.Element("text"), "input", func(js.Value) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.typed()
	})
	dom.On(dom.Element("edit"), "submit", func(js.Value) {
		a.mu.Lock()
		defer a.mu.Unlock()
		dom.Failed(a.save(a.file.version))
	})
	a.on("look", func() error { return a.preview(!dom.Element("edit").Get("hidden").Bool()) })
	a.on("compare", func() error {
		text, err := fsaccess.UnifiedDiff(a.ctx, a.file.path, a.file.path+", as you wrote it", a.file.was, []byte(a.content()))
		if err != nil {
			return err
		}
		showDiff("diff", text)
		dom.Element("diff").Call("focus")
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

// save writes the text if the file still has the given version. If another program has changed it,
// nothing is lost: the user chooses.
func (a *app) save(version fsaccess.Version) error {
	f := a.file
	mine := []byte(a.content())
	v, err := a.work.WriteVersion(f.path, mine, 0o644, version)
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
	dom.Hide("outside", true)
	a.typed()
	return a.took("Saved "+f.path+".", nil)
}

// changedOutside reloads the open file if another program has changed it, or shows a note if the
// text has unsaved changes.
func (a *app) changedOutside(name string) {
	if a.file == nil || a.file.path != name {
		return
	}
	if v, err := a.work.Version(name); err != nil || v == a.file.version {
		return
	}
	if !a.dirty() {
		dom.Failed(a.show(name))
		return
	}
	dom.SetText("outside", name+" was changed by another program. Saving will ask which text to keep.")
	dom.Hide("outside", false)
}
