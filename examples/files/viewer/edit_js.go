package viewer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/unseen"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/consent/inview"
)

// maxEdit is the size of the largest text that can be edited here, in bytes.
const maxEdit = 1 << 20

// editor is a text that is being edited.
type editor struct {
	area    js.Value
	save    js.Value
	compare js.Value
	diff    js.Value
	was     []byte // the content of the file, as it was read
	text    string // the same as characters
	form    format
	version fsaccess.Version
}

// dirty reports whether there are changes that are not saved.
func (v *Viewer) dirty() bool {
	return v.editor != nil && v.editor.area.Get("value").String() != plain(v.editor.text)
}

// Leave asks what to do with changes that are not saved. It reports whether the file may be left.
func (v *Viewer) Leave() bool {
	if !v.dirty() {
		return true
	}
	answer, _ := dialog.Ask(dialog.Question{Title: "Save your changes to " + unseen.Text(v.file.path) + "?", Text: "They are lost if you don't save them.", Answers: []string{"Keep editing", "Don't save", "Save"}})
	switch answer {
	case "Save":
		return v.save()
	case "Don't save":
		v.editor = nil
		return true
	}
	return false
}

// edit opens the editor.
func (v *Viewer) edit() {
	refuse := func(why string) { v.say(why) }
	if v.file.size > maxEdit {
		refuse(fmt.Sprintf("This file has %s, and texts of up to %s can be edited here. Ask the assistant to change it, or edit it in another program.", dom.Size(v.file.size), dom.Size(maxEdit)))
		return
	}
	gen := v.gen
	data, version, err := v.Work().ReadVersion(v.file.path)
	if gen != v.gen || dom.Failed(err) {
		return
	}
	text, form, err := decode(data)
	if err != nil || strings.ContainsRune(text, 0) {
		refuse("This file can't be edited here, because saving would change parts that you did not touch: it has bytes that are no text.")
		return
	}
	v.gen++
	e := &editor{area: dom.Create("textarea", ""), was: data, text: text, form: form, version: version}
	e.area.Set("spellcheck", false)
	e.area.Set("className", "v-edit")
	e.area.Set("value", plain(text))
	e.area.Call("setAttribute", "aria-label", "Text of "+unseen.Text(v.file.path))
	v.editor = e
	v.file.size, v.file.data, v.file.form = int64(len(data)), data, form
	if fi, err := v.Work().Stat(v.file.path); err == nil {
		v.file.time = fi.ModTime()
	}
	v.paper.Set("hidden", true)
	v.body.Set("hidden", false)
	v.body.Set("className", "v-body v-editing")
	v.tools()
	bar := dom.Create("div", "")
	bar.Set("className", "bar")
	e.save = v.of.Button(bar, "Save", "primary", func() {
		if chosen := v.opens; v.save() {
			v.done(chosen)
		}
	})
	e.compare = v.of.Button(bar, "Show what changes", "", v.compare)
	v.of.Button(bar, "Cancel", "", func() {
		if chosen := v.opens; v.Leave() {
			v.done(chosen)
		}
	})
	e.diff = dom.Pre("", "diff", "")
	e.diff.Set("hidden", true)
	e.diff.Call("setAttribute", "role", "region")
	e.diff.Call("setAttribute", "aria-label", "What saving changes")
	v.body.Call("replaceChildren", e.area, bar, e.diff)
	v.say("")
	if strings.ContainsFunc(plain(text), unseen.Is) {
		v.say("This text has characters that can't be seen. The view shows them as marks, and this field doesn't.")
	}
	v.of.On(e.area, "input", func(js.Value) { v.typed() })
	v.area(e)
	v.typed()
	e.area.Call("focus")
	e.area.Call("setSelectionRange", 0, 0)
	e.area.Set("scrollTop", 0)
}

// done closes the editor, and shows the file as it is now. A file that was chosen meanwhile is shown instead:
// the page says that a text is saved before all that follows from it is done.
func (v *Viewer) done(chosen int) {
	if chosen == v.opens {
		v.editor = nil
		v.Open(v.file.path)
	}
}

// area lets the keyboard save.
func (v *Viewer) area(e *editor) {
	key := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if k := args[0]; (k.Get("ctrlKey").Bool() || k.Get("metaKey").Bool()) && strings.EqualFold(k.Get("key").String(), "s") {
			k.Call("preventDefault")
			go v.save()
		}
		return nil
	})
	e.area.Call("addEventListener", "keydown", key)
	v.of = append(v.of, key)
}

func (v *Viewer) typed() {
	e := v.editor
	if e == nil {
		return
	}
	e.save.Set("disabled", !v.dirty())
	e.compare.Set("disabled", !v.dirty())
	e.diff.Set("hidden", true)
	v.title()
}

// bytes returns the edited text in the format of its file.
func (e *editor) bytes() []byte { return encode(e.area.Get("value").String(), e.text, e.form) }

// compare shows what saving would change.
func (v *Viewer) compare() {
	e := v.editor
	if e == nil {
		return
	}
	text, err := fsaccess.UnifiedDiff(v.ctx, "a/"+v.file.path, "b/"+v.file.path, e.was, e.bytes())
	if dom.Failed(err) {
		return
	}
	inview.ShowDiff(e.diff, text)
	e.diff.Set("hidden", false)
	e.diff.Call("focus")
}

// outside tells that the file has changed under the editor.
func (v *Viewer) outside() {
	if version, err := v.Work().Version(v.file.path); err == nil && v.editor != nil && version != v.editor.version {
		v.say("This file was changed meanwhile. What you wrote is still here: saving asks which of the two to keep.")
	}
}

// save writes the text, if the file is still as it was when it was read. It reports whether it did.
func (v *Viewer) save() bool {
	v.Lock.Lock()
	defer v.Lock.Unlock()
	if v.editor == nil || !v.dirty() {
		return true
	}
	return v.write(v.editor.version)
}

func (v *Viewer) write(version fsaccess.Version) bool {
	e, name := v.editor, v.file.path
	data := e.bytes()
	if len(data) > 2*maxEdit {
		v.say(fmt.Sprintf("This text has %s, and texts of up to %s can be saved here. Nothing was saved: make it shorter, or copy it to another program.", dom.Size(int64(len(data))), dom.Size(2*maxEdit)))
		return false
	}
	now, err := v.Work().WriteVersion(name, data, 0o644, version)
	if errors.Is(err, fsaccess.ErrConflict) {
		return v.conflict(data)
	}
	if err != nil {
		_ = v.Took("", err)
		v.say("Not saved: " + err.Error())
		return false
	}
	text, form, _ := decode(data)
	e.was, e.version, e.text, e.form = data, now, text, form
	v.file.size = int64(len(data))
	if fi, err := v.Work().Stat(name); err == nil {
		v.file.time = fi.ModTime()
	}
	v.say("")
	v.typed()
	dom.Failed(v.Took("Saved "+name+".", nil))
	return true
}

// conflict asks which text to keep, because the file has changed since it was read.
func (v *Viewer) conflict(mine []byte) bool {
	name := v.file.path
	theirs, err := v.Work().ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.say("Not saved: " + err.Error())
		return false
	}
	from := "a/" + name
	gone := err != nil
	if gone {
		from = "/dev/null"
	}
	text, err := fsaccess.UnifiedDiff(v.ctx, from, "b/"+name, theirs, mine)
	if dom.Failed(err) {
		return false
	}
	pre := dom.Pre("", "diff", "")
	inview.ShowDiff(pre, text)
	q := dialog.Question{Title: unseen.Text(name) + " has changed since you opened it", Text: "This is what yours would change of it now. If you save yours, History can bring the other one back.", Body: []js.Value{pre}, Answers: []string{"Keep editing", "Take theirs", "Save mine"}}
	if gone {
		q.Title, q.Answers = unseen.Text(name)+" is no longer there", []string{"Keep editing", "Save mine"}
		q.Text = "It was deleted or renamed meanwhile. Saving makes it again."
	}
	answer, _ := dialog.Ask(q)
	switch answer {
	case "Save mine":
		version := fsaccess.Absent
		if !gone {
			version = fsaccess.VersionOf(theirs) // and not a still later one
		}
		return v.write(version)
	case "Take theirs":
		v.editor = nil
		go v.Open(name)
	}
	return false
}

// Moved follows a file in view, or a folder above it, to its new name.
func (v *Viewer) Moved(from, to string) {
	name := v.file.path
	if name != from && !strings.HasPrefix(name, from+"/") {
		return
	}
	name = to + strings.TrimPrefix(name, from)
	if v.editor != nil {
		v.file.path = name
		v.say("")
		v.title()
		return
	}
	v.Open(name)
}
