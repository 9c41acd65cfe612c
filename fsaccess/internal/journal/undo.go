package journal

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"

	"github.com/bailey-go/bailey/internal/textdiff"
)

// Change is one step of the history.
type Change struct {
	ID     int64
	Time   time.Time
	Op     string // of the first record: "write", "create", "mkdir", "remove", "rename", "symlink", "undo", "redo", "undoto"
	Label  string // the label of its group, or ""
	Cause  string // from withCause
	Paths  []string
	Undone bool  // an undo of the step is in force
	Bytes  int64 // size of the saved contents and records
}

// History returns the steps in the journal, the newest first.
func (j *Journal) History(ctx context.Context) ([]Change, error) {
	leave, err := j.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	undone := j.undone()
	var out []Change
	index := make(map[int64]int)
	had := make(map[int]map[string]bool) // the paths of the steps with many
	for _, r := range j.records {
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
		j.eachBlob(r, func(_ string, size int64) { c.Bytes += size })
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

// UndoEffects returns the effects that undoStep would have, in their order.
func (j *Journal) UndoEffects(ctx context.Context, id int64) ([]UndoEffect, error) {
	leave, err := j.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if undo, _ := j.stacks(); !slices.Contains(undo, id) {
		return nil, fmt.Errorf("step %d: %w", id, core.ErrNothing)
	}
	var out []UndoEffect
	for _, r := range j.Backwards(id) {
		for _, e := range ordered(Invert(r.Effects)) {
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

// Diff returns the changes of a step of the history as unified diffs, or, with back, the
// changes that undoing it would make as question diffs.
func (j *Journal) Diff(ctx context.Context, id int64, back bool) (string, error) {
	leave, err := j.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	var out []string
	found := false
	kept := j.befores()
	for _, r := range j.records {
		if r.Group != id {
			continue
		}
		found = true
		for _, e := range r.Effects {
			d, err := j.diffEffect(ctx, r, e, kept, back)
			if err != nil {
				return "", err
			}
			out = append(out, d)
		}
	}
	if !found {
		return "", fmt.Errorf("step %d: %w", id, core.ErrNothing)
	}
	if back {
		slices.Reverse(out) // in the order of the undo
	}
	return strings.Join(out, ""), nil
}

func (j *Journal) diffEffect(ctx context.Context, r *record, e effect, kept map[string]before, back bool) (string, error) {
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
	} else if e.Before.Size > textdiff.DiffLimit && back {
		return fmt.Sprintf("--- %s\n+++ %s\nThe file of %d bytes becomes the one of %d bytes that was there before; both are too large to be shown.\n", a, b, e.After.Size, e.Before.Size), nil
	} else if e.Before.Size > textdiff.DiffLimit {
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
		return textdiff.Question(ctx, swap(b, "b/", "a/"), swap(a, "a/", "b/"), now, old)
	}
	return textdiff.Unified(ctx, a, b, old, now)
}

// before is a content that a record keeps.
type before struct {
	r *record
	s state
}

// befores returns the last record that keeps each content, by the content's hash.
func (j *Journal) befores() map[string]before {
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
func (j *Journal) afterwards(ctx context.Context, r *record, e effect, kept map[string]before) ([]byte, error) {
	if later, ok := kept[e.After.Hash]; ok && later.r.Seq > r.Seq {
		return j.store.content(ctx, later.r, later.s)
	}
	if e.After.Size > textdiff.DiffLimit {
		return []byte(fmt.Sprintf("(%d bytes)\n", e.After.Size)), nil
	}
	data, err := j.contentOf(ctx, e.Path, e.After)
	if err == nil && core.HashOf(data) == e.After.Hash {
		return data, nil
	}
	return []byte("(changed since, or moved)\n"), nil
}

// Undo undoes the last step that is in force, as a step of its own.
func (j *Journal) Undo(ctx context.Context) error {
	return j.revert(ctx, "undo", func() ([]*record, int64, int64, error) {
		undo, _ := j.stacks()
		if len(undo) == 0 {
			return nil, 0, 0, core.ErrNothing
		}
		id := undo[len(undo)-1]
		return j.Backwards(id), id, 0, nil
	})
}

// Redo takes back the last undo.
func (j *Journal) Redo(ctx context.Context) error {
	return j.revert(ctx, "redo", func() ([]*record, int64, int64, error) {
		_, redo := j.stacks()
		if len(redo) == 0 {
			return nil, 0, 0, core.ErrNothing
		}
		id := redo[len(redo)-1]
		return j.Backwards(id), id, 0, nil
	})
}

// UndoTo undoes all changes since a snapshot, as one step.
func (j *Journal) UndoTo(ctx context.Context, snapshot string) error {
	to, err := strconv.ParseInt(snapshot, 10, 64)
	if err != nil || to < 0 {
		return fmt.Errorf("snapshot %q: %w", snapshot, core.ErrInvalid)
	}
	return j.revert(ctx, "undoto", func() ([]*record, int64, int64, error) {
		if to > j.last() || len(j.records) > 0 && j.records[0].Seq > to+1 {
			return nil, 0, 0, fmt.Errorf("snapshot %s is no longer in the journal: %w", snapshot, core.ErrNothing)
		}
		return j.backTo(to, j.last()), 0, to, nil
	})
}

// revertGroup undoes a step at any place in the history.
func (j *Journal) revertGroup(ctx context.Context, id int64) error {
	return j.revert(ctx, "undo", func() ([]*record, int64, int64, error) {
		return j.Backwards(id), id, 0, nil
	})
}

// UndoStep undoes any step of the history.
func (j *Journal) UndoStep(ctx context.Context, id int64) error {
	return j.revert(ctx, "undo", func() ([]*record, int64, int64, error) {
		if undo, _ := j.stacks(); !slices.Contains(undo, id) {
			return nil, 0, 0, fmt.Errorf("step %d: %w", id, core.ErrNothing)
		}
		return j.Backwards(id), id, 0, nil
	})
}

// Backwards returns the records of a group, the last first.
func (j *Journal) Backwards(id int64) []*record {
	var out []*record
	for _, r := range slices.Backward(j.records) {
		if r.Group == id {
			out = append(out, r)
		}
	}
	return out
}

// backTo returns the records with a Seq over to and up to upto, the last first.
func (j *Journal) backTo(to, upto int64) []*record {
	var out []*record
	for _, r := range slices.Backward(j.records) {
		if r.Seq > to && r.Seq <= upto {
			out = append(out, r)
		}
	}
	return out
}

// stacks replays the history. It returns the steps that Undo would undo and the undos that
// Redo would take back. The next one is last in each list.
func (j *Journal) stacks() (undo, redo []int64) {
	seen := make(map[int64]bool)
	drop := func(s []int64, id int64) []int64 {
		return slices.DeleteFunc(s, func(x int64) bool { return x == id })
	}
	for _, r := range j.records {
		if seen[r.Group] {
			continue
		}
		seen[r.Group] = true
		switch r.Op {
		case "undo":
			undo, redo = drop(undo, r.Of), append(redo, r.Group)
		case "redo":
			undo, redo = append(undo, r.Group), drop(redo, r.Of)
		default:
			undo, redo = append(undo, r.Group), nil
		}
	}
	return undo, redo
}

// undone returns a function that reports whether an undo of a step is in force.
func (j *Journal) undone() func(int64) bool {
	by := make(map[int64][]int64)
	for _, r := range j.records {
		if r.Of != 0 && !slices.Contains(by[r.Of], r.Group) {
			by[r.Of] = append(by[r.Of], r.Group)
		}
	}
	var undone func(int64) bool
	undone = func(id int64) bool {
		return slices.ContainsFunc(by[id], func(u int64) bool { return !undone(u) })
	}
	return undone
}

// revert undoes records as one step, in the order of the plan that pick returns. Like every
// change it locks the paths first and the journal second. Therefore pick runs twice, and
// revert starts again if the two plans differ.
func (j *Journal) revert(ctx context.Context, op string, pick func() (plan []*record, of, to int64, err error)) error {
	ctx = context.WithValue(ctx, core.GroupKey{}, (*core.Group)(nil))
	for {
		leave, err := j.enter(ctx)
		if err != nil {
			return err
		}
		plan, _, _, err := pick()
		leave()
		if err != nil || len(plan) == 0 {
			return err
		}
		var paths []string
		for _, r := range plan {
			paths = append(paths, r.paths()...)
		}
		again := false
		err = core.Locked(ctx, j, func(string) error {
			leave, err := j.enter(ctx)
			if err != nil {
				return err
			}
			defer leave()
			now, of, to, err := pick()
			if err != nil {
				return err
			}
			if !sameRecords(now, plan) {
				again = true
				return nil
			}
			if err := j.check(ctx, now); err != nil {
				return err
			}
			return j.takeBack(ctx, now, &record{Op: op, Of: of, To: to})
		}, paths...)
		if err != nil || !again {
			return err
		}
	}
}

func sameRecords(a, b []*record) bool {
	return slices.EqualFunc(a, b, func(x, y *record) bool { return x.Seq == y.Seq && x.Time.Equal(y.Time) })
}

// takeBack applies the inverse of each record of plan. The new records take their common
// fields from like.
func (j *Journal) takeBack(ctx context.Context, plan []*record, like *record) error {
	j.pin = plan[0].Seq
	for _, r := range plan {
		j.pin = min(j.pin, r.Seq)
	}
	defer func() { j.pin = 0 }()
	for i, r := range plan {
		n := &record{Op: like.Op, Of: like.Of, To: like.To, Group: like.Group, Left: len(plan) - 1 - i, Effects: Invert(r.Effects)}
		err := j.changeLocked(ctx, n, func() error {
			return j.Apply(context.WithoutCancel(ctx), n.Effects, r)
		})
		if err != nil {
			if i > 0 {
				j.loaded = false // the next change resumes here
			}
			return err
		}
		like.Group = n.Group
	}
	return nil
}

// resume continues an undo of several records that was interrupted between two of them.
func (j *Journal) resume(ctx context.Context) error {
	if len(j.records) == 0 {
		return nil
	}
	r := j.records[len(j.records)-1]
	if r.Left == 0 {
		return nil
	}
	var plan []*record
	if r.Of != 0 {
		plan = j.Backwards(r.Of)
	} else {
		plan = j.backTo(r.To, r.Group-1)
	}
	done := len(j.Backwards(r.Group))
	if done+r.Left != len(plan) {
		return nil // records were pruned in between, so the rest is unknown
	}
	plan = plan[done:]
	if err := j.check(ctx, plan); err != nil {
		return nil // another program changed a file since, so it stays as it is
	}
	return j.takeBack(ctx, plan, &record{Op: r.Op, Of: r.Of, To: r.To, Group: r.Group})
}

// check simulates the undo: every path must be as the journal left it. Otherwise it returns
// an error, and nothing is changed.
func (j *Journal) check(ctx context.Context, plan []*record) error {
	sim := &rehearsal{j: j, ctx: ctx, set: make(map[string]simState)}
	for _, r := range plan {
		for _, e := range ordered(Invert(r.Effects)) {
			if err := sim.play(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// rehearsal is the state that the folder would have after some effects.
type rehearsal struct {
	j     *Journal
	ctx   context.Context
	set   map[string]simState
	moves [][2]string
}

// simState is the simulated state of a path. If fresh, it is a folder that the rehearsal
// made, and holds only entries of the rehearsal. Any other folder also holds its real
// entries.
type simState struct {
	state
	fresh bool
}

// real returns the present path of the entry that would be at name.
func (s *rehearsal) real(name string) string {
	for _, m := range slices.Backward(s.moves) {
		if core.Within(m[1], name) {
			name = m[0] + name[len(m[1]):]
		}
	}
	return name
}

func (s *rehearsal) look(name string) (simState, error) {
	if st, ok := s.set[name]; ok {
		return st, nil
	}
	for p := core.ParentOf(name); p != "."; p = core.ParentOf(p) {
		if st, ok := s.set[p]; ok {
			if !st.dir() || st.fresh {
				return simState{}, nil
			}
			break
		}
	}
	st, err := s.j.look(s.ctx, s.real(name))
	return simState{state: st}, err
}

func (s *rehearsal) play(e effect) error {
	if s.j.Core.Features().FoldCase {
		e.Path, e.From = core.FoldName(e.Path), core.FoldName(e.From)
	}
	if e.From != "" {
		return s.move(e)
	}
	now, err := s.look(e.Path)
	if err != nil {
		return err
	}
	if !now.same(e.Before) {
		return core.PathErr("undo", e.Path, core.ErrConflict)
	}
	if now.dir() && e.After.none() {
		if err := s.empty(e.Path, now.fresh); err != nil {
			return err
		}
	}
	if !e.After.none() {
		if err := s.hasParent(e.Path); err != nil {
			return err
		}
	}
	s.set[e.Path] = simState{e.After, e.After.dir()}
	return nil
}

func (s *rehearsal) hasParent(name string) error {
	p := core.ParentOf(name)
	if p == "." {
		return nil
	}
	st, err := s.look(p)
	if err == nil && !st.dir() {
		err = core.PathErr("undo", name, core.ErrConflict)
	}
	return err
}

// empty returns an error unless every entry of a folder is removed before the folder.
func (s *rehearsal) empty(dir string, fresh bool) error {
	for p, st := range s.set {
		if p != dir && core.ParentOf(p) == dir && !st.none() {
			return core.PathErr("undo", p, core.ErrConflict)
		}
	}
	if fresh {
		return nil
	}
	list, err := s.j.Core.ReadDir(s.ctx, s.real(dir))
	if err != nil {
		return err
	}
	for _, d := range list {
		p := core.Join(dir, d.Name())
		if s.j.Core.Features().FoldCase {
			p = core.FoldName(p)
		}
		if st, ok := s.set[p]; !ok || !st.none() {
			return core.PathErr("undo", p, core.ErrConflict)
		}
	}
	return nil
}

func (s *rehearsal) move(e effect) error {
	from, err := s.look(e.From)
	if err != nil {
		return err
	}
	if from.Kind != e.Before.Kind {
		return core.PathErr("undo", e.From, core.ErrConflict)
	}
	// On a file system that ignores case, a change of case finds its own old name.
	if e.From != e.Path {
		to, err := s.look(e.Path)
		if err != nil {
			return err
		}
		if !to.none() {
			return core.PathErr("undo", e.Path, core.ErrConflict)
		}
		if err := s.hasParent(e.Path); err != nil {
			return err
		}
	}
	moved := map[string]simState{e.Path: from}
	for p, st := range s.set {
		switch {
		case core.Within(e.From, p):
			moved[e.Path+p[len(e.From):]] = st
			delete(s.set, p)
		case core.Within(e.Path, p):
			delete(s.set, p)
		}
	}
	s.moves = append(s.moves, [2]string{e.From, e.Path})
	s.set[e.From] = simState{}
	for p, st := range moved {
		s.set[p] = st
	}
	return nil
}
