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

// took shows said, or the error of the action, and then the changed tree and history. It returns
// the error.
func (a *app) took(said string, err error) error {
	if errors.Is(err, fsaccess.ErrConflict) {
		err = fmt.Errorf("nothing was changed: %w", err)
	}
	if err == nil {
		status(said)
	}
	return errors.Join(err, a.refresh())
}

// historyRows is the number of changes that are shown, and that each press on "older" adds. A
// journal keeps 1,000.
const historyRows = 50

// history lists the changes, newest first, each with its diff and a button that goes back to before
// it.
func (a *app) history() error {
	list, err := a.work.History(a.ctx)
	if err != nil {
		return err
	}
	undo, redo := false, false
	for _, c := range list {
		undo = undo || !c.Undone && !strings.HasPrefix(c.Op, "undo")
		redo = redo || strings.HasPrefix(c.Op, "undo") && !c.Undone
	}
	shown := list[:min(len(list), historyRows*(1+a.older))]
	var keys []string
	for _, c := range shown {
		// The numbers of another journal, or of a new one, begin at 1 again.
		keys = append(keys, fmt.Sprintf("%s %d %d %s %q %t", a.name, c.ID, c.Time.UnixNano(), c.Op, c.Paths, c.Undone))
	}
	if len(shown) < len(list) {
		keys = append(keys, "older")
	}
	a.steps = a.steps.show(element("history"), keys, func(i int) js.Value {
		if i < len(shown) {
			return stepRow(shown[i])
		}
		row, more := create("li", ""), create("button", "Older changes")
		more.Set("type", "button")
		more.Set("name", "older")
		row.Call("append", more)
		return row
	})
	hide("unchanged", len(list) > 0)
	enable("undo", undo)
	enable("redo", redo)
	return nil
}

// stepRow returns the row of a change, with a button that shows its diff and one that undoes it and
// all later ones.
func stepRow(c fsaccess.Change) js.Value {
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
	return row
}

// step handles the buttons of the list. The list has one listener, because the program would keep
// the listeners of removed rows, and so the rows, in memory.
func (a *app) step(e js.Value) {
	button := e.Get("target").Call("closest", "button")
	if button.IsNull() {
		return
	}
	if button.Get("name").String() == "older" {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.older++
		failed(a.history())
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
