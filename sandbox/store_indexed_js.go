package sandbox

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/bailey-go/bailey/internal/idb"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// The database has two object stores: the sessions' records by id, and the texts of their messages
// by id and number. The second one also has the contents of files in base64, by id and SHA-256. All
// other values are JSON text.
const (
	idbSessions = "sessions"
	idbSegments = "segments"
	maxText     = 256 << 20 // maximum bytes of one text
)

// indexedFiles stores the texts in IndexedDB.
type indexedFiles struct{ db idb.Database }

func openIndexed(ctx context.Context, name string) (textFiles, error) {
	if !jsx.Supported("indexedDB.open") {
		return nil, fmt.Errorf("sandbox: this page has no IndexedDB: %w", errors.ErrUnsupported)
	}
	f := indexedFiles{idb.Database{Name: name, Stores: []idb.Store{{Name: idbSessions}, {Name: idbSegments}}, Strict: true}}
	return f, f.with(ctx, idb.Read, func(*idb.Transaction) error { return nil })
}

// with calls do with a transaction over both object stores.
func (f indexedFiles) with(ctx context.Context, mode string, do func(t *idb.Transaction) error) error {
	err := f.db.Do(ctx, mode, do)
	if !errors.Is(err, idb.ErrNotDone) && !errors.Is(err, idb.ErrBlocked) {
		return err
	}
	var why *jsx.Error
	switch {
	case !errors.As(err, &why):
		return protocol.Errorf(protocol.ErrSession, "store", "", "the browser's database failed; another tab may hold it open")
	case errors.Is(why, jsx.ErrQuota):
		return protocol.Errorf(protocol.ErrResourceLimit, "store", "", "the browser's storage is full; delete sessions, or export them first")
	}
	return protocol.Errorf(protocol.ErrSession, "store", "", "the browser's database failed: %w", why)
}

// sessions reads all records in one transaction. Opening the database for each record would take
// seconds in a page with a thousand sessions, and memory that the browser is slow to release.
func (f indexedFiles) sessions(ctx context.Context, do func(id string, text []byte)) error {
	return f.with(ctx, idb.Read, func(t *idb.Transaction) error {
		keys, err := t.Ask(ctx, idbSessions, "getAllKeys")
		if err != nil {
			return err
		}
		rows, err := t.Ask(ctx, idbSessions, "getAll") // in the order of the keys
		if err != nil {
			return err
		}
		var ids []string
		if err := eachText(keys, func(id []byte) { ids = append(ids, string(id)) }); err != nil {
			return err
		}
		n := 0
		return eachText(rows, func(text []byte) {
			if n < len(ids) {
				do(ids[n], text)
			}
			n++
		})
	})
}

func eachText(rows jsx.Value, do func([]byte)) error {
	n, err := jsx.Length(rows)
	if err != nil {
		return err
	}
	for i := range n {
		row, err := jsx.Index(rows, i)
		if err != nil {
			return err
		}
		text, err := jsx.String(row, maxText)
		if err != nil {
			return err
		}
		do([]byte(text))
	}
	return nil
}

func (f indexedFiles) session(ctx context.Context, id string) (data []byte, err error) {
	err = f.with(ctx, idb.Read, func(t *idb.Transaction) error {
		row, err := t.Ask(ctx, idbSessions, "get", id)
		if err != nil {
			return err
		}
		if row.IsUndefined() {
			return fs.ErrNotExist
		}
		text, err := jsx.String(row, maxText)
		data = []byte(text)
		return err
	})
	return data, err
}

// segmentRange returns the range of all keys that begin with id and have last or less as their second
// element. In IndexedDB all numbers sort before all strings, and those before all arrays.
func segmentRange(id string, last any) (jsx.Value, error) {
	keys, err := jsx.Lookup(jsx.Global(), "IDBKeyRange")
	if err != nil {
		return keys, err
	}
	return jsx.Call(keys, "bound", []any{id}, []any{id, last})
}

func (f indexedFiles) segments(ctx context.Context, id string) (files [][]byte, err error) {
	keys, err := segmentRange(id, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	err = f.with(ctx, idb.Read, func(t *idb.Transaction) error {
		rows, err := t.Ask(ctx, idbSegments, "getAll", keys)
		if err != nil {
			return err
		}
		return eachText(rows, func(data []byte) { files = append(files, data) })
	})
	return files, err
}

func (f indexedFiles) segment(ctx context.Context, id string, n int) (data []byte, err error) {
	err = f.with(ctx, idb.Read, func(t *idb.Transaction) error {
		row, err := t.Ask(ctx, idbSegments, "get", []any{id, n})
		if err != nil {
			return err
		}
		if row.IsUndefined() {
			return fs.ErrNotExist
		}
		text, err := jsx.String(row, maxText)
		data = []byte(text)
		return err
	})
	return data, err
}

// change makes all requests of a transaction at once and waits for the end of the transaction.
func (f indexedFiles) change(ctx context.Context, do func(t *idb.Transaction) error) error {
	return f.with(ctx, idb.Write, func(t *idb.Transaction) error {
		if err := do(t); err != nil {
			t.Abort()
			return err
		}
		return t.Finish(ctx) // the requests are committed or not, even if the context ends
	})
}

func (f indexedFiles) write(ctx context.Context, id string, session []byte, segments map[int][]byte) error {
	return f.change(ctx, func(t *idb.Transaction) error {
		for n, text := range segments {
			if _, err := t.Start(idbSegments, "put", string(text), []any{id, n}); err != nil {
				return err
			}
		}
		_, err := t.Start(idbSessions, "put", string(session), id)
		return err
	})
}

func (f indexedFiles) file(ctx context.Context, id, name string) (data []byte, err error) {
	err = f.with(ctx, idb.Read, func(t *idb.Transaction) error {
		row, err := t.Ask(ctx, idbSegments, "get", []any{id, name})
		if err != nil {
			return err
		}
		if row.IsUndefined() {
			return fs.ErrNotExist
		}
		text, err := jsx.String(row, maxText)
		if err == nil {
			data, err = base64.StdEncoding.DecodeString(text)
		}
		return err
	})
	return data, err
}

func (f indexedFiles) putFile(ctx context.Context, id, name string, data []byte) error {
	return f.change(ctx, func(t *idb.Transaction) error {
		_, err := t.Start(idbSegments, "put", base64.StdEncoding.EncodeToString(data), []any{id, name})
		return err
	})
}

func (f indexedFiles) remove(ctx context.Context, id string) error {
	keys, err := segmentRange(id, []any{})
	if err != nil {
		return err
	}
	return f.change(ctx, func(t *idb.Transaction) error {
		_, err := t.Start(idbSegments, "delete", keys)
		_, err2 := t.Start(idbSessions, "delete", id)
		return errors.Join(err, err2)
	})
}

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
	held, err := jsx.NewPromise(context.Background(), s, func(ctx context.Context) (any, error) {
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
