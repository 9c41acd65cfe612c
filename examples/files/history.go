//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
)

// took says what was done, and shows what it changed.
func (a *app) took(said string, err error) error {
	if errors.Is(err, fsaccess.ErrConflict) {
		err = fmt.Errorf("nothing was changed: %w", err)
	}
	if err == nil {
		status(said)
	}
	return errors.Join(err, a.refresh())
}

// history shows every change, newest first, each with its difference and a way back to
// before it.
func (a *app) history() error {
	list, err := a.work.History(a.ctx)
	if err != nil {
		return err
	}
	key := ""
	for _, c := range list {
		key += fmt.Sprintln(c.ID, c.Op, c.Undone)
	}
	box := element("history")
	if a.listed == a.name+"\n"+key && box.Get("childElementCount").Int() == len(list) {
		return nil // a difference that somebody reads stays
	}
	a.listed = a.name + "\n" + key
	box.Call("replaceChildren")
	undo, redo := false, false
	for _, c := range list {
		undo = undo || !c.Undone && !strings.HasPrefix(c.Op, "undo")
		redo = redo || strings.HasPrefix(c.Op, "undo") && !c.Undone
		row, bar := create("li", ""), create("div", "")
		bar.Set("className", "bar")
		row.Call("append", create("b", c.Op+" "+strings.Join(c.Paths, ", ")), create("small", c.Time.Local().Format("15:04:05")), bar)
		if c.Undone {
			row.Set("className", "undone")
		}
		what, back := create("button", "Difference"), create("button", "Back to before this")
		for _, b := range []js.Value{what, back} {
			b.Set("type", "button")
			bar.Call("append", b)
		}
		on(what, "click", func(js.Value) {
			a.mu.Lock()
			defer a.mu.Unlock()
			diff, err := a.work.Diff(a.ctx, c.ID)
			if failed(err) {
				return
			}
			pre := create("pre", "")
			pre.Set("className", "diff")
			pre.Set("tabIndex", 0)
			showDiff(pre, diff)
			what.Call("remove")
			row.Call("append", pre)
		})
		on(back, "click", func(js.Value) {
			a.mu.Lock()
			defer a.mu.Unlock()
			failed(a.took("Back to before "+c.Op+" "+strings.Join(c.Paths, ", ")+".", a.work.UndoTo(a.ctx, strconv.FormatInt(c.ID-1, 10))))
		})
		box.Call("append", row)
	}
	hide("unchanged", len(list) > 0)
	enable("undo", undo)
	enable("redo", redo)
	return nil
}
