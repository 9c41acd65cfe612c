package fsaccess

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Change is one step of the history, which Undo takes back as a whole.
type Change struct {
	ID     int64
	Time   time.Time
	Op     string // of the first record: "write", "create", "mkdir", "remove", "rename", "undo", "redo", "undoto"
	Label  string // the label of [Journal.Group], or ""
	Cause  string // from [WithCause]
	Paths  []string
	Undone bool  // an undo of the step is in force
	Bytes  int64 // size of the saved contents and records
}

// History returns the steps in the journal, the newest first.
func (w *Journal) History(ctx context.Context) ([]Change, error) {
	leave, err := w.j.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	undone := w.j.undone()
	var out []Change
	index := make(map[int64]int)
	had := make(map[int]map[string]bool) // the paths of the steps with many
	for _, r := range w.j.records {
		i, ok := index[r.Group]
		if !ok {
			i = len(out)
			index[r.Group] = i
			out = append(out, Change{ID: r.Group, Time: r.Time, Op: r.Op, Label: r.Label, Cause: r.Cause,
				Undone: undone(r.Group)})
		}
		c := &out[i]
		for _, p := range r.paths() {
			if had[i] == nil && len(c.Paths) == 32 {
				had[i] = make(map[string]bool)
				for _, p := range c.Paths {
					had[i][p] = true
				}
			}
			switch all := had[i]; {
			case all == nil && slices.Contains(c.Paths, p), all[p]:
				continue
			case all != nil:
				all[p] = true
			}
			c.Paths = append(c.Paths, p)
		}
		c.Bytes += r.size
		w.j.eachBlob(r, func(_ string, size int64) { c.Bytes += size })
	}
	slices.Reverse(out)
	return out, nil
}

// UndoEffect is one effect of undoing a step.
type UndoEffect struct {
	Op   string // "write", "mkdir", "remove" or "rename"
	Path string // for a rename, the new name
	From string // for a rename, the old name; everything below it moves too
	Dir  bool   // whether the path is a folder
}

// UndoEffects returns the effects that [Journal.Revert] of a step would have, in their
// order. If the step does not exist or is undone already, the error wraps [ErrNothing].
func (w *Journal) UndoEffects(ctx context.Context, id int64) ([]UndoEffect, error) {
	leave, err := w.j.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if undo, _ := w.j.stacks(); !slices.Contains(undo, id) {
		return nil, fmt.Errorf("step %d: %w", id, ErrNothing)
	}
	var out []UndoEffect
	for _, r := range w.j.backwards(id) {
		for _, e := range ordered(invert(r.Effects)) {
			u := UndoEffect{Op: "write", Path: e.Path, From: e.From, Dir: e.Before.dir() || e.After.dir()}
			switch {
			case e.From != "":
				u.Op = "rename"
			case e.After.none():
				u.Op = "remove"
			case e.After.dir():
				u.Op = "mkdir"
			}
			out = append(out, u)
		}
	}
	return out, nil
}

// Diff returns the changes of a step of the history, as unified diffs. A file of more than
// 4 MiB is a line with its sizes. If the step does not exist, the error wraps [ErrNothing].
func (w *Journal) Diff(ctx context.Context, id int64) (string, error) {
	return w.diff(ctx, id, false)
}

// DiffBack returns the changes that undoing a step would make, each as a [QuestionDiff]. It
// is the change of [Journal.Diff] in the other direction.
func (w *Journal) DiffBack(ctx context.Context, id int64) (string, error) {
	return w.diff(ctx, id, true)
}

func (w *Journal) diff(ctx context.Context, id int64, back bool) (string, error) {
	leave, err := w.j.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	var out []string
	found := false
	kept := w.j.befores()
	for _, r := range w.j.records {
		if r.Group != id {
			continue
		}
		found = true
		for _, e := range r.Effects {
			d, err := w.j.diffEffect(ctx, r, e, kept, back)
			if err != nil {
				return "", err
			}
			out = append(out, d)
		}
	}
	if !found {
		return "", fmt.Errorf("step %d: %w", id, ErrNothing)
	}
	if back {
		slices.Reverse(out) // in the order of the undo
	}
	return strings.Join(out, ""), nil
}

func (j *journal) diffEffect(ctx context.Context, r *record, e effect, kept map[string]before, back bool) (string, error) {
	a, b := "a/"+e.Path, "b/"+e.Path
	switch {
	case e.From != "" && back:
		return "rename from " + e.Path + "\nrename to " + e.From + "\n", nil
	case e.From != "":
		return "rename from " + e.From + "\nrename to " + e.Path + "\n", nil
	case e.Before.dir() || e.After.dir():
		if e.After.dir() != back {
			return "new folder " + e.Path + "\n", nil
		}
		return "deleted folder " + e.Path + "\n", nil
	}
	var old, now []byte
	var err error
	if e.Before.none() {
		a = "/dev/null"
	} else if e.Before.Size > diffLimit && back {
		return fmt.Sprintf("--- %s\n+++ %s\nThe file of %d bytes becomes the one of %d bytes that was there before; both are too large to be shown.\n", a, b, e.After.Size, e.Before.Size), nil
	} else if e.Before.Size > diffLimit {
		return fmt.Sprintf("--- %s\n+++ %s\nLarge files differ: %d bytes, then %d bytes.\n", a, b, e.Before.Size, e.After.Size), nil
	} else if old, err = j.store.content(ctx, r, e.Before); err != nil {
		return "", err
	}
	if e.After.none() {
		b = "/dev/null"
	} else if now, err = j.afterwards(ctx, r, e, kept); err != nil {
		return "", err
	}
	if back {
		swap := func(name, from, to string) string {
			if rest, ok := strings.CutPrefix(name, from); ok {
				return to + rest
			}
			return name
		}
		return QuestionDiff(ctx, swap(b, "b/", "a/"), swap(a, "a/", "b/"), now, old)
	}
	return UnifiedDiff(ctx, a, b, old, now)
}

// before is a content that a record keeps.
type before struct {
	r *record
	s state
}

// befores returns the last record that keeps each content, by the content's hash.
func (j *journal) befores() map[string]before {
	out := map[string]before{}
	for _, r := range j.records {
		for _, e := range r.Effects {
			if e.From == "" && e.Before.file() {
				out[e.Before.Hash] = before{r, e.Before}
			}
		}
	}
	return out
}

// afterwards returns the content that a change left. It is the before-image of a later
// change, or the present content of the file. Otherwise a line in parentheses replaces it.
func (j *journal) afterwards(ctx context.Context, r *record, e effect, kept map[string]before) ([]byte, error) {
	if later, ok := kept[e.After.Hash]; ok && later.r.Seq > r.Seq {
		return j.store.content(ctx, later.r, later.s)
	}
	if e.After.Size > diffLimit {
		return []byte(fmt.Sprintf("(%d bytes)\n", e.After.Size)), nil
	}
	data, err := j.core.readFile(ctx, e.Path)
	if err == nil && hashOf(data) == e.After.Hash {
		return data, nil
	}
	return []byte("(changed since, or moved)\n"), nil
}
