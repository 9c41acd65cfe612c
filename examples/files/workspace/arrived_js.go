package workspace

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	elsewhere "github.com/bailey-go/bailey/examples/files/place"
	"github.com/bailey-go/bailey/examples/files/viewer"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/consent/inview"
)

// Arrived shows changes of a box elsewhere, for the user to review. The folder has none of them until the user applies
// the rest of them, as one step. done is called once the user has decided. The lock must be held.
func (w *Workspace) Arrived(a *elsewhere.Arrived, from string, done func()) error {
	list, err := a.Changes(w.ctx)
	if err != nil {
		return plain(err)
	}
	w.arrived = true
	end := func() {
		w.arrived = false
		w.view.Arrived(nil)
		dom.Hide("arrived", true)
		done()
	}
	var notes []string
	for _, b := range a.Beside {
		notes = append(notes, fmt.Sprintf("You have changed %s meanwhile: it stays, and the other text is in %s.", b[0], b[1]))
	}
	for _, l := range a.LeftOut {
		notes = append(notes, fmt.Sprintf("Not taken: %s (%s).", dom.Cut(l.Path, 200), dom.Cut(l.Reason, 300)))
	}
	w.view.Arrived(&viewer.Arrival{Work: a.Work, From: from, Notes: notes[:min(len(notes), mostNames)], Apply: func() error {
		list, err := a.Apply(w.ctx)
		if err != nil {
			return plain(err)
		}
		end()
		return w.took(fmt.Sprintf("Applied %s. Undo takes all of it back.", consent.Count(len(list), "change")), nil)
	}, Discard: func() {
		end()
		dom.Status("Your folder stays as it is.")
	}})
	dom.SetText("arrived-text", fmt.Sprintf("%s came from %s. Your folder has none of it yet.", consent.Count(len(list), "changed file"), from))
	dom.Hide("arrived", false)
	return nil
}

// Waits reports whether changes of a box elsewhere wait for the user.
func (w *Workspace) Waits() bool { return w.arrived }

// Takes asks whether a file of a dangerous kind is taken over.
func (w *Workspace) Takes(ctx context.Context, q fsaccess.Question) (bool, error) {
	diff, err := q.Diff(ctx)
	if err != nil {
		return false, err
	}
	pre := dom.Pre("", "diff", "Its content")
	inview.ShowDiff(pre, diff)
	answer, _ := dialog.Ask(dialog.Question{Title: "Look at " + dom.Cut(q.Path, 200) + " too?", Text: fmt.Sprintf("It can run something when it is opened (%s). If you agree, it is among the changes to review.", q.Kind),
		Body: []js.Value{pre}, Answers: []string{"Leave out", "Review it"}})
	return answer == "Review it", nil
}
