//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

// took shows said, or returns the error of the step. Then the open file, the tree and the history
// show the new state.
func (a *app) took(said string, err error) error {
	if errors.Is(err, fsaccess.ErrConflict) {
		err = fmt.Errorf("nothing was changed: %w", err)
	}
	if err != nil {
		_ = a.refresh()
		return err
	}
	dom.Status(said)
	if f := a.file; f != nil {
		switch v, err := a.work.Version(f.path); {
		case isMissing(err) || v == fsaccess.Absent:
			a.close()
		case err == nil && v != f.version && !a.dirty():
			if err := a.show(f.path); err != nil {
				return err
			}
		}
	}
	return a.refresh()
}

// history lists every step, newest first, each with its diff and a button that goes back to before
// it.
func (a *app) history() error {
	list, err := a.work.History(a.ctx)
	if err != nil {
		return err
	}
	box := dom.Element("history")
	box.Call("replaceChildren")
	undo, redo := false, false
	for _, c := range list {
		undo = undo || !c.Undone && !strings.HasPrefix(c.Op, "undo")
		redo = redo || strings.HasPrefix(c.Op, "undo") && !c.Undone
		row, bar := dom.Create("li", ""), dom.Create("div", "")
		bar.Set("className", "bar")
		row.Call("append", dom.Create("b", describe(c)), dom.Create("small", c.Time.Local().Format("15:04:05")), bar)
		if c.Undone {
			row.Set("className", "undone")
		}
		what, back := dom.Create("button", "Difference"), dom.Create("button", "Back to before this")
		for _, b := range []struct {
			text string
			do   func() error
		}{
			{"Difference", func() error {
				diff, err := a.work.Diff(a.ctx, c.ID)
				if err == nil {
					ask(question{title: describe(c), diff: diff, answers: []string{"Close"}})
				}
				return err
			}},
			{"Back to before this", func() error {
				return a.took("Went back to before it.", a.work.UndoTo(a.ctx, strconv.FormatInt(c.ID-1, 10)))
			}},
		} {
			button := what
			if b.text != "Difference" {
				button = back
			}
			button.Set("type", "button")
			button.Call("setAttribute", "aria-label", b.text+": "+describe(c))
			dom.On(button, "click", func(js.Value) {
				a.mu.Lock()
				defer a.mu.Unlock()
				dom.Failed(b.do())
			})
			bar.Call("append", button)
		}
		box.Call("append", row)
	}
	dom.Hide("quiet", len(list) > 0)
	dom.Enable("undo", undo)
	dom.Enable("redo", redo)
	return a.changes()
}

// describe returns a step in words, such as "Renamed a.md to b.md".
func describe(c fsaccess.Change) string {
	verb := map[string]string{
		"write": "Wrote", "create": "Made", "mkdir": "Made folder", "remove": "Deleted", "removeall": "Deleted", "rename": "Renamed",
		"truncate": "Cut", "undo": "Undid", "redo": "Redid", "undoto": "Went back over",
	}[c.Op]
	if verb == "" {
		verb = c.Op
	}
	if c.Op == "rename" && len(c.Paths) > 1 {
		return verb + " " + c.Paths[0] + " to " + c.Paths[1]
	}
	return verb + " " + strings.Join(c.Paths, ", ")
}

// changes lists the differences between the copy and the upload.
func (a *app) changes() error {
	if a.overlay == nil {
		return nil
	}
	list, err := a.overlay.Diff(a.ctx)
	if err != nil {
		return err
	}
	dom.Empty("pending")
	for _, c := range list {
		dom.Element("pending").Call("append", dom.Create("li", string(c.Kind)+" "+c.Path))
	}
	dom.Enable("discard", len(list) > 0)
	return nil
}
