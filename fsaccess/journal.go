package fsaccess

import (
	"context"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/journal"
)

// Journal is a folder in which every change can be undone. Before a file is changed or
// removed, its content is saved in another folder, the store, together with a record of the
// planned change. Both survive a reload, a crash and a killed tab. When a journal is opened
// again, an interrupted change is undone. An interrupted move of a folder is completed.
//
// Undo never overwrites a change that another program has made since. It then returns an
// error with the path that wraps [ErrConflict], and changes nothing.
//
// Changes of permission bits and times are passed on and not recorded.
type Journal struct {
	*Folder
	j *journal.Journal
}

// JournalOptions limits the size of a journal. The zero value has the defaults. If a limit is exceeded, the oldest steps are
// dropped, but never the newest step.
type JournalOptions struct {
	MaxBytes   int64            // bytes of saved contents and records, default 256 MiB
	MaxEntries int              // records, default 1,000
	MaxAge     time.Duration    // age of a record, default 30 days
	Now        func() time.Time // the clock, default time.Now
}

// NewJournal returns a journal over fsys that stores its records in store. store must not
// be inside fsys, and it serves one journal. It is read at the first use. A change with
// more than MaxBytes to save could not be undone, so it is refused with [ErrTooLarge].
func NewJournal(fsys, store FS, o JournalOptions) *Journal {
	v := viewOf(fsys)
	j := journal.New(v.rooted(), viewOf(store).rooted(), journal.Options(o))
	return &Journal{&Folder{view{c: j, dir: ".", ctx: v.ctx}}, j}
}

// WithContext is [WithContext] for a Journal. The result shares the records with w.
func (w *Journal) WithContext(ctx context.Context) *Journal {
	return &Journal{folderOf(ctx, w), w.j}
}

// Snapshot returns a name for the present state, for [Journal.UndoTo].
func (w *Journal) Snapshot() (string, error) { return w.j.Snapshot(w.ctx) }

// Group makes all changes of fn through work one step for Undo, with a label for the
// history. If fn returns an error, its changes are undone before Group returns that error.
func (w *Journal) Group(ctx context.Context, label string, fn func(work FS) error) error {
	return w.j.Grouping(ctx, label, func(ctx context.Context) error { return fn(folderOf(ctx, w)) })
}

// Undo undoes the last step that is in force. The undo is a step itself, which
// [Journal.Redo] takes back. If no step is left, the error is [ErrNothing]. If a path is
// not as the journal left it, the error wraps [ErrConflict] and nothing is changed.
func (w *Journal) Undo(ctx context.Context) error { return w.j.Undo(ctx) }

// Redo takes back the last Undo, provided that no other change was made since. If no undo
// is left, the error is [ErrNothing].
func (w *Journal) Redo(ctx context.Context) error { return w.j.Redo(ctx) }

// UndoTo restores the state that [Journal.Snapshot] named, by undoing all changes since,
// including undos. This is one step, which Undo takes back. If the state is no longer in
// the journal, the error wraps [ErrNothing]. If snapshot is not a name from Snapshot, the
// error wraps [fs.ErrInvalid].
func (w *Journal) UndoTo(ctx context.Context, snapshot string) error {
	return w.j.UndoTo(ctx, snapshot)
}

// Revert undoes any step of the history, not only the last. If a later step depends on it,
// the error wraps [ErrConflict]. If the step does not exist or is undone already, the error
// wraps [ErrNothing].
func (w *Journal) Revert(ctx context.Context, id int64) error { return w.j.UndoStep(ctx, id) }

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
	list, err := w.j.History(ctx)
	return convert(list, func(c journal.Change) Change { return Change(c) }), err
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
	list, err := w.j.UndoEffects(ctx, id)
	return convert(list, func(e journal.UndoEffect) UndoEffect { return UndoEffect(e) }), err
}

// Diff returns the changes of a step of the history, as unified diffs. A file of more than
// 4 MiB is a line with its sizes. If the step does not exist, the error wraps [ErrNothing].
func (w *Journal) Diff(ctx context.Context, id int64) (string, error) {
	return w.j.Diff(ctx, id, false)
}

// DiffBack returns the changes that undoing a step would make, each in the form of
// [Overlay.DiffText]. It is the change of [Journal.Diff] in the other direction.
func (w *Journal) DiffBack(ctx context.Context, id int64) (string, error) {
	return w.j.Diff(ctx, id, true)
}

// convert returns a list of an internal type as a list of the public type with the same
// fields. nil stays nil.
func convert[A, B any](list []A, one func(A) B) []B {
	if list == nil {
		return nil
	}
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = one(a)
	}
	return out
}
