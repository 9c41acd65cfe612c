package workspace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/consent/inview"
)

// took shows said, or the error of the action, and then the changed tree, file and history. It returns
// the error, in words for the user.
func (w *Workspace) took(said string, err error) error {
	if err == nil && said != "" {
		dom.Status(said)
	}
	return errors.Join(plain(err), plain(w.Refresh()))
}

// historyRows is the number of changes that are shown, and that each press on "older" adds. A
// journal keeps 1,000.
const historyRows = 50

// history lists the changes, newest first, each with its diff and a button that restores the state before
// it. It also marks the changed files in the tree.
func (w *Workspace) history(copied []fsaccess.FileChange) error {
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
	gone := restored(list)
	var keys []string
	for i, c := range shown {
		shown[i].Undone = c.Undone || gone[c.ID]
		// The numbers of another journal, or of a new one, begin at 1 again.
		keys = append(keys, fmt.Sprintf("%s %d %d %s %q %t", w.name, c.ID, c.Time.UnixNano(), c.Op, c.Paths, shown[i].Undone))
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
	n := len(w.view.Reviewed(list))
	w.reviews.Set("hidden", n == 0)
	w.reviews.Set("textContent", map[bool]string{true: "Review 1 changed file", false: fmt.Sprintf("Review %d changed files", n)}[n == 1])
	w.mark(list, copied, gone)
	return nil
}

// mark marks the files in the tree that have changed since the folder was opened, or that differ in the
// copy.
func (w *Workspace) mark(list []fsaccess.Change, copied []fsaccess.FileChange, gone map[int64]bool) {
	marks := map[string]string{}
	for _, c := range copied {
		if c.Kind == fsaccess.Added {
			marks[c.Path] = "new"
		} else {
			marks[c.Path] = "changed"
		}
	}
	for _, c := range list {
		if c.ID <= w.began {
			break
		}
		if c.Undone || gone[c.ID] || strings.HasPrefix(c.Op, "undo") || w.over != nil {
			continue
		}
		for _, name := range c.Paths {
			switch {
			case c.Op == "create" || c.Op == "mkdir" || c.Op == "rename":
				marks[name] = "new"
			case marks[name] == "":
				marks[name] = "changed"
			}
		}
	}
	w.tree.Mark(marks)
}

// stepRow returns the row of a change, with a button that shows its diff and one that undoes it and
// all later ones.
func stepRow(c fsaccess.Change) js.Value {
	row, bar := dom.Create("li", ""), dom.Create("div", "")
	bar.Set("className", "bar")
	name := dom.Create("b", describe(c))
	name.Set("title", dom.Cut(strings.Join(c.Paths, "\n"), 1000))
	row.Call("append", name, dom.Create("small", c.Time.Local().Format("15:04:05")), bar)
	if c.Undone {
		row.Set("className", "undone")
		row.Call("insertBefore", dom.Away(" (undone)"), bar)
	}
	what, back := dom.Create("button", "Show changes"), dom.Create("button", "Restore to before this")
	for _, b := range []js.Value{what, back} {
		b.Set("type", "button")
		b.Call("setAttribute", "aria-label", b.Get("textContent").String()+": "+describe(c))
		bar.Call("append", b)
	}
	row.Get("dataset").Set("step", strconv.FormatInt(c.ID, 10))
	what.Set("name", "difference")
	back.Set("name", "restore")
	return row
}

// step handles the buttons of the list. The list has one listener, because the program would keep
// the listeners of removed rows, and so the rows, in memory.
func (w *Workspace) step(e js.Value) {
	button := e.Get("target").Call("closest", "button")
	if button.IsNull() {
		return
	}
	w.Lock.Lock()
	defer w.Lock.Unlock()
	if button.Get("name").String() == "older" {
		w.older++
		dom.Failed(plain(w.around()))
		return
	}
	row := button.Call("closest", "li")
	id, err := strconv.ParseInt(row.Get("dataset").Get("step").String(), 10, 64)
	if dom.Failed(err) {
		return
	}
	if button.Get("name").String() != "difference" {
		ctx := fsaccess.WithCause(w.ctx, restoreCause+strconv.FormatInt(id-1, 10))
		dom.Failed(w.took("Restored to before: "+row.Call("querySelector", "b").Get("textContent").String()+".", w.work.UndoTo(ctx, strconv.FormatInt(id-1, 10))))
		return
	}
	diff, err := w.work.Diff(w.ctx, id)
	if dom.Failed(plain(err)) {
		return
	}
	pre := dom.Create("pre", "")
	pre.Set("className", "diff")
	pre.Set("tabIndex", 0)
	inview.ShowDiff(pre, diff)
	button.Call("remove")
	row.Call("append", pre)
}
