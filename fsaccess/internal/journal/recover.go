package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// reload reads all records again, settles a change that was interrupted, and removes
// before-images that no record needs.
func (j *Journal) reload(ctx context.Context) error {
	j.loaded = false
	j.records, j.blobs, j.bytes = nil, make(map[string]*blobUse), 0
	seqs, err := j.store.list(ctx)
	if err != nil {
		return err
	}
	damaged := false
	for i, seq := range seqs {
		r, err := j.store.load(ctx, seq)
		switch {
		case err == nil:
			j.add(r)
		case errors.Is(err, core.ErrCorrupt) && i == len(seqs)-1:
			// The record was cut off while it was written, so its change was never begun.
			if err := j.store.drop(ctx, seq); err != nil {
				return err
			}
		case errors.Is(err, core.ErrCorrupt):
			damaged = true // leave this record and all before-images alone
		default:
			return err
		}
	}
	if !damaged {
		if err := j.sweep(ctx); err != nil {
			return err
		}
	}
	if n := len(j.records); n > 0 {
		if err := j.settle(ctx, j.records[n-1]); err != nil {
			return err
		}
	}
	j.loaded = true
	if err := j.resume(ctx); err != nil {
		j.loaded = false
		return err
	}
	return nil
}

// sweep removes before-images whose record was never stored.
func (j *Journal) sweep(ctx context.Context) error {
	dirs, err := j.store.c.ReadDir(ctx, blobFolder)
	if core.NotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		list, err := j.store.c.ReadDir(ctx, blobFolder+"/"+d.Name())
		if err != nil {
			return err
		}
		for _, e := range list {
			if j.blobs[e.Name()] == nil {
				if err := j.store.c.Remove(ctx, blobFolder+"/"+d.Name()+"/"+e.Name()); err != nil && !core.NotExist(err) {
					return err
				}
			}
		}
	}
	return nil
}

// settle looks at the folder to find the outcome of a change. A change that did not happen
// is forgotten. A complete change stays. A partial change is undone, or, if it is a move,
// completed. A path that another program has changed since stays as it is, and then the
// record and its before-images stay too.
func (j *Journal) settle(ctx context.Context, r *record) (err error) {
	defer func() {
		if err != nil {
			j.loaded = false // check again before the next change
			err = fmt.Errorf("journal: change %d of %s is not settled: %w", r.Seq, strings.Join(r.paths(), ", "), err)
		}
	}()
	for i, e := range r.Effects {
		if e.From != "" {
			return j.settleMove(ctx, r, e, r.Effects[i+1:])
		}
	}
	var done []effect
	before, foreign := 0, 0
	begun := false
	for _, e := range r.Effects {
		now, err := j.look(ctx, e.Path)
		switch {
		case err != nil:
			return err
		case now.same(e.After):
			done = append(done, e)
		case now.same(e.Before):
			before++
		case e.Before.none() && e.After.file() && now.file() && now.Size == 0:
			// A browser makes a new file empty before its content can be written.
			done = append(done, e)
			begun = true
		default:
			foreign++
		}
	}
	switch {
	case before == len(r.Effects):
		return j.Forget(ctx, r)
	case !begun && before == 0 || len(done) == 0:
		return nil
	}
	if err := j.Apply(ctx, Invert(done), r); err != nil {
		return err
	}
	if foreign > 0 {
		return nil
	}
	return j.Forget(ctx, r)
}

// settleMove settles a record with a move. The effects before the move in the record happen
// together with it. The effects after it, in later, happen afterwards. For example, the
// undo of a rename that replaced a file moves first, and then restores the replaced file.
func (j *Journal) settleMove(ctx context.Context, r *record, e effect, later []effect) error {
	if len(later) > 0 {
		if all, err := j.holds(ctx, append([]effect{{Path: e.Path, After: e.After}}, later...)); err != nil || all {
			return err
		}
	}
	moved, err := j.begunAfterMove(ctx, e, later)
	if err == nil && !moved {
		moved, err = j.settleMoveAlone(ctx, r, e)
	}
	if err != nil || !moved || len(later) == 0 {
		return err
	}
	if err := j.Apply(ctx, Invert(append([]effect{e}, later...)), r); err != nil {
		return err
	}
	return j.Forget(ctx, r)
}

// begunAfterMove reports whether the move has happened and a file that returns under the
// old name was begun. A browser makes such a file empty first.
func (j *Journal) begunAfterMove(ctx context.Context, e effect, later []effect) (bool, error) {
	for _, f := range later {
		if !f.After.file() || f.After.Size == 0 || !f.Before.none() || !j.samePath(f.Path, e.From) {
			continue
		}
		at, err := j.look(ctx, f.Path)
		if err != nil || !at.file() || at.Size != 0 {
			return false, err
		}
		to, err := j.look(ctx, e.Path)
		return err == nil && to.file() && to.same(e.After), err
	}
	return false, nil
}

// holds reports whether all effects have happened.
func (j *Journal) holds(ctx context.Context, effects []effect) (bool, error) {
	for _, e := range effects {
		if now, err := j.look(ctx, e.Path); err != nil || !now.same(e.After) {
			return false, err
		}
	}
	return true, nil
}

func (j *Journal) settleMoveAlone(ctx context.Context, r *record, e effect) (moved bool, err error) {
	if same, err := core.SameEntry(ctx, j.Core, e.From, e.Path); err != nil {
		return false, err
	} else if same {
		return j.settleRespelling(ctx, r, e)
	}
	from, err := j.look(ctx, e.From)
	if err != nil {
		return false, err
	}
	to, err := j.look(ctx, e.Path)
	if err != nil {
		return false, err
	}
	tmp, third, err := j.thirdName(ctx, e)
	if err != nil {
		return false, err
	}
	switch {
	case third:
		// Only one spelling exists, or none. The rest is at tmp.
		at := e.Path
		if to.none() && !from.none() {
			at = e.From
		}
		if err := j.finishMove(ctx, tmp, at); err != nil || at == e.Path {
			return true, err
		}
		return false, j.Forget(ctx, r)
	case from.none():
		return !to.none(), nil // moved, or removed by another program
	case to.none():
		return false, j.takeBackOverwritten(ctx, r, e)
	case from.file() && to.file() && from.Hash != to.Hash:
		// The new name still has its old content, so nothing has happened yet. Or another
		// program wrote it, and then both files stay.
		for _, f := range r.Effects {
			if f.From == "" && j.samePath(f.Path, e.Path) && f.Before.same(to) {
				return false, j.Forget(ctx, r)
			}
		}
		return false, nil
	default:
		return true, j.finishMove(ctx, e.From, e.Path)
	}
}

// takeBackOverwritten is called if the old name exists and the new name does not. If the
// new name had a content, the platform deleted it first and was interrupted then. The
// content is restored.
func (j *Journal) takeBackOverwritten(ctx context.Context, r *record, e effect) error {
	for _, f := range r.Effects {
		if f.From == "" && j.samePath(f.Path, e.Path) && f.Before.file() {
			if err := j.store.restore(ctx, r, f.Before, j.Core, f.Path); err != nil {
				return err
			}
		}
	}
	return j.Forget(ctx, r)
}

// settleRespelling settles a change of case on a file system that ignores case. The old and
// the new spelling are one entry there, and only the listing shows the present spelling.
func (j *Journal) settleRespelling(ctx context.Context, r *record, e effect) (moved bool, err error) {
	tmp, third, err := j.thirdName(ctx, e)
	if err != nil {
		return false, err
	}
	if third {
		// Copying to or from the third name was interrupted. The content at either name
		// belongs to the entry.
		if err := j.finishMove(ctx, tmp, e.Path); err != nil {
			return false, err
		}
	}
	list, err := j.Core.ReadDir(ctx, core.ParentOf(e.Path))
	if err != nil {
		return false, err
	}
	for _, d := range list {
		if d.Name() == core.BaseOf(e.Path) {
			return true, nil
		}
	}
	return false, j.Forget(ctx, r)
}

// thirdName returns the temporary name of an entry during a change of case on a platform
// without move(), and whether something exists there.
func (j *Journal) thirdName(ctx context.Context, e effect) (string, bool, error) {
	if !core.FoldEqual(e.From, e.Path) {
		return "", false, nil
	}
	tmp := core.RespellName(e.From)
	st, err := j.look(ctx, tmp)
	return tmp, !st.none(), err
}

// finishMove completes a copy-and-delete that was interrupted at any point. A file that is
// missing at the new place is copied, and a file that is the same there is deleted at the
// old place. If the files differ, another program wrote one of them, and both stay.
func (j *Journal) finishMove(ctx context.Context, from, to string) error {
	a, err := j.look(ctx, from)
	if err != nil || a.none() {
		return err
	}
	b, err := j.look(ctx, to)
	if err != nil {
		return err
	}
	if a.file() {
		if b.none() {
			if _, err := core.CopyFile(ctx, j.Core, from, j.Core, to, nil); err != nil {
				return err
			}
		} else if !a.same(b) {
			return nil
		}
		return j.Core.Remove(ctx, from)
	}
	if b.file() {
		return nil
	}
	if b.none() {
		if err := j.Core.Mkdir(ctx, to, a.perm(0o777)); err != nil {
			return err
		}
	}
	list, err := j.Core.ReadDir(ctx, from)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := j.finishMove(ctx, core.Join(from, e.Name()), core.Join(to, e.Name())); err != nil {
			return err
		}
	}
	if err := j.Core.Remove(ctx, from); err != nil && !errors.Is(err, core.ErrNotEmpty) {
		return err
	}
	return nil
}

// ordered sorts effects so that each finds the folder that it needs: removals begin at the
// leaves, additions begin at the root. A record with a move is in order already.
func ordered(effects []effect) []effect {
	if slices.ContainsFunc(effects, func(e effect) bool { return e.From != "" }) {
		return effects
	}
	effects = slices.Clone(effects)
	slices.SortStableFunc(effects, func(a, b effect) int {
		switch {
		case a.After.none() && b.After.none():
			return strings.Compare(b.Path, a.Path)
		case a.After.none():
			return -1
		case b.After.none():
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	return effects
}

// Apply makes effects happen, with contents from the record src. An effect that has
// happened already is no error, so apply can be repeated after a crash.
func (j *Journal) Apply(ctx context.Context, effects []effect, src *record) error {
	for _, e := range ordered(effects) {
		var err error
		switch {
		case e.From != "":
			err = j.Core.Rename(ctx, e.From, e.Path)
		case e.After.none():
			if err = j.Core.Remove(ctx, e.Path); core.NotExist(err) {
				err = nil
			}
			if errors.Is(err, core.ErrNotEmpty) {
				err = core.ErrConflict
			}
		case e.After.dir():
			err = j.Core.Mkdir(ctx, e.Path, e.After.perm(0o777))
			if errors.Is(err, core.ErrExist) {
				err = nil
			}
		default:
			err = j.store.restore(ctx, src, e.After, j.Core, e.Path)
		}
		if err != nil {
			return core.PathErr("restore", e.Path, err)
		}
		j.Core.Base().Note(e.Path)
	}
	return nil
}
