package workspace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/consent/sheet"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

// took shows said, or the error of the action, and then the changed tree and history. It returns
// the error.
func (w *Workspace) took(said string, err error) error {
	if errors.Is(err, fsaccess.ErrConflict) {
		err = fmt.Errorf("nothing was changed: %w", err)
	}
	if err == nil {
		dom.Status(said)
	}
	return errors.Join(err, w.Refresh())
}

// historyRows is the number of changes that are shown, and that each press on "older" adds. A
// journal keeps 1,000.
const historyRows = 50

// history lists the changes, newest first, each with its diff and a button that goes back to before
// it.
func (w *Workspace) history() error {
	list, err := w.work.History(w.ctx)
	if err != nil {
		return err
	}
	undo, redo := false, false
	for _, c := range list {
		undo = undo || !c.Undone && !strings.HasPrefix(c.Op, "undo")
		redo = redo || strings.HasPrefix(c.Op, "undo") && !c.Undone
	}
	shown := list[:min(len(list), historyRows*(1+w.older))]
	var keys []string
	for _, c := range shown {
		// The numbers of another journal, or of a new one, begin at 1 again.
		keys = append(keys, fmt.Sprintf("%s %d %d %s %q %t", w.name, c.ID, c.Time.UnixNano(), c.Op, c.Paths, c.Undone))
	}
	if len(shown) < len(list) {
		keys = append(keys, "older")
	}
	w.steps = w.steps.Show(dom.Element("history"), keys, func(i int) js.Value {
		if i < len(shown) {
			return stepRow(shown[i])
		}
		row, more := dom.Create("li", ""), dom.Create("button", "Older changes")
		more.Set("type", "button")
		more.Set("name", "older")
		row.Call("append", more)
		return row
	})
	dom.Hide("unchanged", len(list) > 0)
	dom.Enable("undo", undo)
	dom.Enable("redo", redo)
	return nil
}

// stepRow returns the row of a change, with a button that shows its diff and one that undoes it and
// all later ones.
func stepRow(c fsaccess.Change) js.Value {
	row, bar := dom.Create("li", ""), dom.Create("div", "")
	bar.Set("className", "bar")
	row.Call("append", dom.Create("b", c.Op+" "+strings.Join(c.Paths, ", ")), dom.Create("small", c.Time.Local().Format("15:04:05")), bar)
	if c.Undone {
		row.Set("className", "undone")
	}
	what, back := dom.Create("button", "Difference"), dom.Create("button", "Back to before this")
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
func (w *Workspace) step(e js.Value) {
	button := e.Get("target").Call("closest", "button")
	if button.IsNull() {
		return
	}
	if button.Get("name").String() == "older" {
		w.Lock.Lock()
		defer w.Lock.Unlock()
		w.older++
		dom.Failed(w.history())
		return
	}
	row := button.Call("closest", "li")
	id, err := strconv.ParseInt(row.Get("dataset").Get("step").String(), 10, 64)
	if dom.Failed(err) {
		return
	}
	w.Lock.Lock()
	defer w.Lock.Unlock()
	if button.Get("name").String() != "difference" {
		dom.Failed(w.took("Back to before "+row.Call("querySelector", "b").Get("textContent").String()+".", w.work.UndoTo(w.ctx, strconv.FormatInt(id-1, 10))))
		return
	}
	diff, err := w.work.Diff(w.ctx, id)
	if dom.Failed(err) {
		return
	}
	pre := dom.Create("pre", "")
	pre.Set("className", "diff")
	pre.Set("tabIndex", 0)
	sheet.ShowDiff(pre, diff)
	button.Call("remove")
	row.Call("append", pre)
}
