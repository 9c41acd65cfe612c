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
		row.Get("dataset").Set("step", strconv.FormatInt(c.ID, 10))
		what.Set("name", "difference")
		box.Call("append", row)
	}
	hide("unchanged", len(list) > 0)
	enable("undo", undo)
	enable("redo", redo)
	return nil
}

// step does what a button in the list is for. The list has one listener, because the
// program would keep those of rows that are gone, and with them the rows.
func (a *app) step(e js.Value) {
	button := e.Get("target").Call("closest", "button")
	if button.IsNull() {
		return
	}
	row := button.Call("closest", "li")
	id, err := strconv.ParseInt(row.Get("dataset").Get("step").String(), 10, 64)
	if failed(err) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if button.Get("name").String() != "difference" {
		failed(a.took("Back to before "+row.Call("querySelector", "b").Get("textContent").String()+".", a.work.UndoTo(a.ctx, strconv.FormatInt(id-1, 10))))
		return
	}
	diff, err := a.work.Diff(a.ctx, id)
	if failed(err) {
		return
	}
	pre := create("pre", "")
	pre.Set("className", "diff")
	pre.Set("tabIndex", 0)
	showDiff(pre, diff)
	button.Call("remove")
	row.Call("append", pre)
}
