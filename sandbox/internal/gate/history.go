package gate

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Journal reports whether changes of the folder can be undone.
func (f Folder) Journal() bool { return f.journal != nil }

// History returns the steps of the folder's journal, newest first. It takes no permit, and the
// steps contain names of files, so a caller must filter them before a model receives them. Like the
// methods below, it returns [protocol.ErrExecution] without a journal.
func (f Folder) History(ctx context.Context) ([]fsaccess.Change, error) {
	if f.journal == nil {
		return nil, errNoJournal
	}
	return f.journal.History(ctx)
}

var errNoJournal = protocol.Errorf(protocol.ErrExecution, "undo", "", "this folder keeps no journal, so nothing can be undone; open it through fsaccess.NewJournal")

// Diff returns the change of a step as a unified diff. The permit must cover reading each of the
// step's paths.
func (f Folder) Diff(ctx context.Context, p Permit, step fsaccess.Change) (string, error) {
	if f.journal == nil {
		return "", errNoJournal
	}
	for _, path := range step.Paths {
		if err := p.Check(read(path)); err != nil {
			return "", err
		}
	}
	return f.journal.Diff(ctx, step.ID)
}

// DiffBack returns the change that undoing a step would make, as a unified diff. The permit must
// cover reading each of the step's paths.
func (f Folder) DiffBack(ctx context.Context, p Permit, step fsaccess.Change) (string, error) {
	if f.journal == nil {
		return "", errNoJournal
	}
	for _, path := range step.Paths {
		if err := p.Check(read(path)); err != nil {
			return "", err
		}
	}
	return f.journal.DiffBack(ctx, step.ID)
}

// UndoNeeds returns the needs of undoing a step. A file that the step created is lost, so its need
// has Destroys.
func (f Folder) UndoNeeds(ctx context.Context, step fsaccess.Change) ([]policy.Need, error) {
	if f.journal == nil {
		return nil, errNoJournal
	}
	effects, err := f.journal.UndoEffects(ctx, step.ID)
	if err != nil {
		return nil, err
	}
	var out []policy.Need
	had := map[policy.Need]bool{}
	add := func(n policy.Need) {
		if !had[n] {
			had[n] = true
			out = append(out, n)
		}
	}
	for _, e := range effects {
		n := write(opOf(e), e.Path)
		switch {
		case f.unchecked:
			n.Op = protocol.OpWrite
		case e.Op == "rename":
			n.Tree = true
			add(policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: e.From, Tree: true})
		case e.Op == "remove":
			n.Destroys = !e.Dir
		}
		if f.unchecked && e.From != "" {
			add(write(protocol.OpWrite, e.From))
		}
		add(n)
	}
	return out, nil
}

func opOf(e fsaccess.UndoEffect) protocol.FSOp {
	switch e.Op {
	case "remove":
		return protocol.OpRemove
	case "mkdir":
		return protocol.OpMkdir
	}
	return protocol.OpWrite
}

// Undo undoes one step. The permit must cover all of [Folder.UndoNeeds]. If a folder moves back,
// each path below it is decided separately, as in [Folder.Rename].
func (f Folder) Undo(ctx context.Context, p Permit, step fsaccess.Change) error {
	needs, err := f.UndoNeeds(ctx, step)
	if err != nil {
		return err
	}
	for _, n := range needs {
		if err := p.Check(n); err != nil {
			return err
		}
	}
	effects, err := f.journal.UndoEffects(ctx, step.ID)
	if err != nil {
		return err
	}
	for i, e := range effects {
		if e.Op != "rename" || f.unchecked {
			continue
		}
		at := e.From // an earlier effect may move the folder here
		for _, before := range slices.Backward(effects[:i]) {
			if before.Op == "rename" && Below(before.Path, at) {
				at = before.From + at[len(before.Path):]
			}
		}
		if err := f.movesAt(ctx, p, at, e.From, e.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return f.journal.Revert(ctx, step.ID)
}

// Snapshot returns a name of the current state of the files, for [Folder.Rewind]. It is "" without
// a journal.
func (f Folder) Snapshot() (string, error) {
	if f.journal == nil {
		return "", nil
	}
	return f.journal.Snapshot()
}

// Rewind restores the state of a snapshot. It takes no permit, because the user requests it and not
// a tool. The sandbox calls it only for [sandbox.Session.Rewind].
//
// [sandbox.Session.Rewind]: https://pkg.go.dev/github.com/bailey-go/bailey/sandbox#Session.Rewind
func (f Folder) Rewind(ctx context.Context, snapshot string) error {
	if f.journal == nil {
		return errNoJournal
	}
	return f.journal.UndoTo(ctx, snapshot)
}
