//go:build js && wasm

package main

import (
	"context"
	"errors"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

// plan implements plan(): a dry run over a copy of the folder, with a box of its own.
func (t *theBox) plan(ctx context.Context, _ []jsx.Value) (any, error) {
	p, err := t.box.Plan(ctx)
	if err != nil {
		return nil, err
	}
	scope, err := t.scope.Child()
	if err != nil {
		return nil, errClosed
	}
	dry := &theBox{api: t.api, scope: scope, box: p.Box, model: t.model, store: t.store, skills: t.skills, secrets: t.secrets, sessions: map[string]*theSession{}}
	inner, err := t.api.Object(scope, naming(dry.methods()))
	if err != nil {
		return nil, errors.Join(err, scope.Close())
	}
	object, err := t.api.Object(scope, naming(map[string]page.Method{
		"changes": {Run: func(ctx context.Context, _ []jsx.Value) (any, error) {
			list, err := p.Changes(ctx)
			return planChanges(list), err
		}},
		"diff": {Run: func(ctx context.Context, _ []jsx.Value) (any, error) { return p.Diff(ctx) }},
		"apply": {Run: func(ctx context.Context, _ []jsx.Value) (any, error) {
			ctx, done := t.applies(ctx)
			defer done()
			list, err := p.Apply(ctx)
			if errors.Is(err, protocol.ReasonStale) {
				err = &jsx.Error{Name: "ConflictError", Message: err.Error()}
			}
			return planChanges(list), err
		}},
		"close": {Run: func(ctx context.Context, _ []jsx.Value) (any, error) {
			t.mu.Lock()
			delete(t.plans, dry)
			t.mu.Unlock()
			return nil, dry.close(ctx)
		}},
	}))
	if err == nil {
		err = jsx.Set(object, "box", inner)
	}
	if err != nil {
		return nil, errors.Join(err, scope.Close())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plans == nil {
		t.plans = map[*theBox]bool{}
	}
	t.plans[dry] = true
	return object, nil
}

// applies returns the context of an apply(), which stop() ends. done is called after it.
func (t *theBox) applies(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	key := new(byte)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.applying == nil {
		t.applying = map[*byte]context.CancelCauseFunc{}
	}
	t.applying[key] = cancel
	return ctx, func() {
		t.mu.Lock()
		delete(t.applying, key)
		t.mu.Unlock()
		cancel(nil)
	}
}

// halt ends all calls of a box and of its plans.
func (t *theBox) halt(why string) {
	t.box.Stop(why)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, cancel := range t.applying {
		cancel(protocol.Errorf(protocol.ErrAborted, "plan", "", "stopped: %s", why))
	}
	for dry := range t.plans {
		dry.box.Stop(why)
	}
}

// openSession returns an open session of a box, or of one of its plans. It returns nil without one.
func (t *theBox) openSession(id string) *theSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.sessions[id]; s != nil {
		return s
	}
	for dry := range t.plans {
		if s := dry.openSession(id); s != nil {
			return s
		}
	}
	return nil
}

func planChanges(list []fsaccess.FileChange) []any {
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = map[string]any{"path": c.Path, "kind": string(c.Kind), "folder": c.Dir, "size": float64(c.Size)}
	}
	return out
}
