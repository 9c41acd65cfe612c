package sandbox

import (
	"context"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// lockAcross locks a name against the origin's other tabs with the browser's Web Locks. The browser
// releases the locks of a tab that dies. In a browser without Web Locks it does nothing.
func lockAcross(ctx context.Context, name string) (func(), error) {
	if !jsx.Supported("navigator.locks.request") {
		return func() {}, nil
	}
	s := jsx.NewScope(jsx.ScopeOptions{})
	released := make(chan error, 1)
	got, asked, err := requestLock(ctx, s, name, released)
	unlock := func() {
		_ = s.Close()
		if asked { // the next request for the lock must find it free
			<-released
		}
	}
	if err == nil && !got {
		err = protocol.Errorf(protocol.ErrSession, "session", name, "the session is open in another tab; close it there, or fork it")
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// requestLock requests a lock that must be free now. The browser holds the lock as long as the
// promise that the callback returned is pending, which is until the scope is closed.
func requestLock(ctx context.Context, s *jsx.Scope, name string, released chan error) (got, asked bool, err error) {
	locks, err := jsx.Lookup(jsx.Global(), "navigator.locks")
	if err != nil {
		return false, false, err
	}
	held, err := s.Promise(context.Background(), func(ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, nil
	})
	if err != nil {
		return false, false, err
	}
	answer := make(chan bool, 1)
	callback, _, err := s.Function(func(args []jsx.Value) any {
		got := len(args) > 0 && !args[0].IsNull()
		answer <- got //blocklint:ok room for one, and it is called once
		if !got {
			return nil
		}
		return held
	})
	if err != nil {
		return false, false, err
	}
	p, err := jsx.Call(locks, "request", name, map[string]any{"ifAvailable": true}, callback)
	if err != nil {
		return false, false, err
	}
	go func() {
		_, err := jsx.Await(context.WithoutCancel(ctx), p) // settles when the lock is released
		released <- err
	}()
	select {
	case got := <-answer:
		return got, true, nil
	case err := <-released:
		return false, false, err
	case <-ctx.Done():
		return false, true, context.Cause(ctx)
	}
}
