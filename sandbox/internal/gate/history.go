package gate

import (
	"context"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// Journal reports whether changes can be undone here.
func (f Folder) Journal() bool { return f.journal != nil }

// History lists the steps that can be undone, newest first, to whom may read.
func (f Folder) History(ctx context.Context) ([]fsaccess.Change, error) {
	if f.journal == nil {
		return nil, errNoJournal
	}
	return f.journal.History(ctx)
}

var errNoJournal = protocol.Errorf(protocol.ErrExecution, "undo", "", "this folder keeps no journal, so nothing can be undone; open it through fsaccess.NewJournal")

// Diff shows what a step of the history changed. The permit must cover reading each
// of its paths.
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

// Undo takes back one step. The permit must cover writing each of its paths.
func (f Folder) Undo(ctx context.Context, p Permit, step fsaccess.Change) error {
	if f.journal == nil {
		return errNoJournal
	}
	for _, path := range step.Paths {
		if err := p.Check(write(protocol.OpWrite, path)); err != nil {
			return err
		}
	}
	return f.journal.Revert(ctx, step.ID)
}

// Snapshot names the state of the files, to come back to; "" without a journal.
func (f Folder) Snapshot() (string, error) {
	if f.journal == nil {
		return "", nil
	}
	return f.journal.Snapshot()
}

// Rewind brings back a snapshot. It is the person's doing, not a tool's, and so takes
// no permit: the sandbox calls it for a rewound session only.
func (f Folder) Rewind(ctx context.Context, snapshot string) error {
	if f.journal == nil {
		return errNoJournal
	}
	return f.journal.UndoTo(ctx, snapshot)
}
