package web

import (
	"context"
	"errors"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// webLocks returns a function that takes the exclusive locks of a set across all tabs of
// the origin, or nil if the browser has no locks. The shared locks on the folders above are
// only for the goroutines of this program. If one tab moves a folder while another tab
// writes in it, the versions reveal it.
func webLocks(scope string) func(context.Context, []core.LockWant) (func(), error) {
	if scope == "" || !jsx.Supported("navigator.locks.request") {
		return nil
	}
	return func(ctx context.Context, want []core.LockWant) (func(), error) {
		s := jsx.NewScope(jsx.ScopeOptions{})
		release := func() { _ = s.Close() }
		for _, w := range want {
			if !w.Exclusive {
				continue
			}
			if err := webLock(ctx, s, "bailey:fs:"+scope+":"+w.Name); err != nil {
				release()
				return nil, err
			}
		}
		return release, nil
	}
}

// webLock waits for one lock, which is held until the scope is closed. The browser holds a
// lock as long as the promise that its callback returns is pending.
func webLock(ctx context.Context, s *jsx.Scope, name string) error {
	locks, err := jsx.Lookup(jsx.Global(), "navigator.locks")
	if err != nil {
		return err
	}
	held, err := jsx.NewPromise(context.Background(), s, func(ctx context.Context) (any, error) {
		<-ctx.Done() // until Close of the scope
		return nil, nil
	})
	if err != nil {
		return err
	}
	granted := make(chan struct{}, 1)
	callback, _, err := s.Function(func([]jsx.Value) any {
		granted <- struct{}{} //blocklint:ok room for one, and a lock is granted once
		return held
	})
	if err != nil {
		return err
	}
	signal, stop := jsx.Signal(ctx)
	defer stop()
	p, err := jsx.Call(locks, "request", name, map[string]any{"signal": signal}, callback)
	if err != nil {
		return WebErr(err)
	}
	failed := make(chan error, 1)
	_, err = jsx.NewPromise(context.Background(), s, func(ctx context.Context) (any, error) {
		// The promise settles when the lock is released, and rejects when the lock cannot
		// be taken.
		_, err := jsx.Await(ctx, p)
		failed <- err
		return nil, nil
	})
	if err != nil {
		return err
	}
	select {
	case <-granted:
		return nil
	case err := <-failed:
		if cerr := context.Cause(ctx); cerr != nil {
			return cerr
		}
		return errors.Join(core.ErrBusy, err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
