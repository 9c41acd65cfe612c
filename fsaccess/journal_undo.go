package fsaccess

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// Undo undoes the last step that is in force. The undo is a step itself, which
// [Journal.Redo] takes back. If no step is left, the error is [ErrNothing]. If a path is
// not as the journal left it, the error wraps [ErrConflict] and nothing is changed.
func (w *Journal) Undo(ctx context.Context) error {
	return w.revert(ctx, "undo", func() ([]*record, int64, int64, error) {
		undo, _ := w.j.stacks()
		if len(undo) == 0 {
			return nil, 0, 0, ErrNothing
		}
		id := undo[len(undo)-1]
		return w.j.backwards(id), id, 0, nil
	})
}

// Redo takes back the last Undo, provided that no other change was made since. If no undo
// is left, the error is [ErrNothing].
func (w *Journal) Redo(ctx context.Context) error {
	return w.revert(ctx, "redo", func() ([]*record, int64, int64, error) {
		_, redo := w.j.stacks()
		if len(redo) == 0 {
			return nil, 0, 0, ErrNothing
		}
		id := redo[len(redo)-1]
		return w.j.backwards(id), id, 0, nil
	})
}

// UndoTo restores the state that [Journal.Snapshot] named, by undoing all changes since,
// including undos. This is one step, which Undo takes back. If the state is no longer in
// the journal, the error wraps [ErrNothing]. If snapshot is not a name from Snapshot, the
// error wraps [fs.ErrInvalid].
func (w *Journal) UndoTo(ctx context.Context, snapshot string) error {
	to, err := strconv.ParseInt(snapshot, 10, 64)
	if err != nil || to < 0 {
		return fmt.Errorf("snapshot %q: %w", snapshot, errInvalid)
	}
	return w.revert(ctx, "undoto", func() ([]*record, int64, int64, error) {
		if to > w.j.last() || len(w.j.records) > 0 && w.j.records[0].Seq > to+1 {
			return nil, 0, 0, fmt.Errorf("snapshot %s is no longer in the journal: %w", snapshot, ErrNothing)
		}
		return w.j.backTo(to, w.j.last()), 0, to, nil
	})
}

// revertGroup undoes a step at any place in the history.
func (w *Journal) revertGroup(ctx context.Context, id int64) error {
	return w.revert(ctx, "undo", func() ([]*record, int64, int64, error) {
		return w.j.backwards(id), id, 0, nil
	})
}

// Revert undoes any step of the history, not only the last. If a later step depends on it,
// the error wraps [ErrConflict]. If the step does not exist or is undone already, the error
// wraps [ErrNothing].
func (w *Journal) Revert(ctx context.Context, id int64) error {
	return w.revert(ctx, "undo", func() ([]*record, int64, int64, error) {
		if undo, _ := w.j.stacks(); !slices.Contains(undo, id) {
			return nil, 0, 0, fmt.Errorf("step %d: %w", id, ErrNothing)
		}
		return w.j.backwards(id), id, 0, nil
	})
}

// backwards returns the records of a group, the last first.
func (j *journal) backwards(id int64) []*record {
	var out []*record
	for _, r := range slices.Backward(j.records) {
		if r.Group == id {
			out = append(out, r)
		}
	}
	return out
}

// backTo returns the records with a Seq over to and up to upto, the last first.
func (j *journal) backTo(to, upto int64) []*record {
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
func (j *journal) stacks() (undo, redo []int64) {
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
func (j *journal) undone() func(int64) bool {
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
func (w *Journal) revert(ctx context.Context, op string, pick func() (plan []*record, of, to int64, err error)) error {
	j := w.j
	ctx = context.WithValue(ctx, groupKey{}, (*group)(nil))
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
		err = locked(ctx, j, func(string) error {
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
func (j *journal) takeBack(ctx context.Context, plan []*record, like *record) error {
	j.pin = plan[0].Seq
	for _, r := range plan {
		j.pin = min(j.pin, r.Seq)
	}
	defer func() { j.pin = 0 }()
	for i, r := range plan {
		n := &record{Op: like.Op, Of: like.Of, To: like.To, Group: like.Group, Left: len(plan) - 1 - i, Effects: invert(r.Effects)}
		err := j.changeLocked(ctx, n, func() error {
			return j.apply(context.WithoutCancel(ctx), n.Effects, r)
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
func (j *journal) resume(ctx context.Context) error {
	if len(j.records) == 0 {
		return nil
	}
	r := j.records[len(j.records)-1]
	if r.Left == 0 {
		return nil
	}
	var plan []*record
	if r.Of != 0 {
		plan = j.backwards(r.Of)
	} else {
		plan = j.backTo(r.To, r.Group-1)
	}
	done := len(j.backwards(r.Group))
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
func (j *journal) check(ctx context.Context, plan []*record) error {
	sim := &rehearsal{j: j, ctx: ctx, set: make(map[string]simState)}
	for _, r := range plan {
		for _, e := range ordered(invert(r.Effects)) {
			if err := sim.play(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// rehearsal is the state that the folder would have after some effects.
type rehearsal struct {
	j     *journal
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
		if within(m[1], name) {
			name = m[0] + name[len(m[1]):]
		}
	}
	return name
}

func (s *rehearsal) look(name string) (simState, error) {
	if st, ok := s.set[name]; ok {
		return st, nil
	}
	for p := parentOf(name); p != "."; p = parentOf(p) {
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
	if s.j.core.features().FoldCase {
		e.Path, e.From = foldName(e.Path), foldName(e.From)
	}
	if e.From != "" {
		return s.move(e)
	}
	now, err := s.look(e.Path)
	if err != nil {
		return err
	}
	if !now.same(e.Before) {
		return pathErr("undo", e.Path, ErrConflict)
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
	p := parentOf(name)
	if p == "." {
		return nil
	}
	st, err := s.look(p)
	if err == nil && !st.dir() {
		err = pathErr("undo", name, ErrConflict)
	}
	return err
}

// empty returns an error unless every entry of a folder is removed before the folder.
func (s *rehearsal) empty(dir string, fresh bool) error {
	for p, st := range s.set {
		if p != dir && parentOf(p) == dir && !st.none() {
			return pathErr("undo", p, ErrConflict)
		}
	}
	if fresh {
		return nil
	}
	list, err := s.j.core.readDir(s.ctx, s.real(dir))
	if err != nil {
		return err
	}
	for _, d := range list {
		p := join(dir, d.Name())
		if s.j.core.features().FoldCase {
			p = foldName(p)
		}
		if st, ok := s.set[p]; !ok || !st.none() {
			return pathErr("undo", p, ErrConflict)
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
		return pathErr("undo", e.From, ErrConflict)
	}
	// On a file system that ignores case, a change of case finds its own old name.
	if e.From != e.Path {
		to, err := s.look(e.Path)
		if err != nil {
			return err
		}
		if !to.none() {
			return pathErr("undo", e.Path, ErrConflict)
		}
		if err := s.hasParent(e.Path); err != nil {
			return err
		}
	}
	moved := map[string]simState{e.Path: from}
	for p, st := range s.set {
		switch {
		case within(e.From, p):
			moved[e.Path+p[len(e.From):]] = st
			delete(s.set, p)
		case within(e.Path, p):
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
