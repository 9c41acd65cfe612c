package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// The database has two object stores: the sessions' records by id, and the texts of their messages
// by id and number. All values are JSON text.
const (
	idbVersion  = 1
	idbSessions = "sessions"
	idbSegments = "segments"
	maxText     = 256 << 20 // maximum bytes of one text
)

// indexedFiles stores the texts in IndexedDB. It opens the database for each operation, so that an
// open connection of one tab never blocks another tab's upgrade.
type indexedFiles struct{ name string }

func openIndexed(ctx context.Context, name string) (textFiles, error) {
	if !jsx.Supported("indexedDB.open") {
		return nil, fmt.Errorf("sandbox: this page has no IndexedDB: %w", errors.ErrUnsupported)
	}
	f := indexedFiles{name}
	return f, f.with(ctx, "readonly", func(*jsx.Scope, jsx.Value) error { return nil })
}

// settle waits for the first of the events that end a request or a transaction.
func settle(ctx context.Context, s *jsx.Scope, target jsx.Value, good string, bad ...string) error {
	done := make(chan bool, 1)
	for _, event := range append([]string{good}, bad...) {
		_, err := s.Listen(target, event, func(jsx.Value) {
			select {
			case done <- event == good:
			default:
			}
		})
		if err != nil {
			return err
		}
	}
	select {
	case ok := <-done:
		if ok {
			return nil
		}
		return idbError(target)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// idbError returns the error of a failed request or transaction.
func idbError(target jsx.Value) error {
	why, err := jsx.Get(target, "error")
	if err != nil || jsx.Nullish(why) {
		return protocol.Errorf(protocol.ErrSession, "store", "", "the browser's database did not do it; another tab may hold it open")
	}
	e := jsx.ErrorOf(why)
	if errors.Is(e, jsx.ErrQuota) {
		return protocol.Errorf(protocol.ErrResourceLimit, "store", "", "the browser's storage is full; delete sessions, or export them first")
	}
	return protocol.Errorf(protocol.ErrSession, "store", "", "the browser's database did not do it: %w", e)
}

// with opens the database and calls do with a transaction over both object stores.
func (f indexedFiles) with(ctx context.Context, mode string, do func(s *jsx.Scope, tx jsx.Value) error) error {
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	idb, err := jsx.Lookup(jsx.Global(), "indexedDB")
	if err != nil {
		return err
	}
	open, err := jsx.Call(idb, "open", f.name, idbVersion)
	if err != nil {
		return err
	}
	_, err = s.Listen(open, "upgradeneeded", func(jsx.Value) {
		if db, err := jsx.Get(open, "result"); err == nil {
			_, _ = jsx.Call(db, "createObjectStore", idbSessions)
			_, _ = jsx.Call(db, "createObjectStore", idbSegments)
		}
	})
	if err != nil {
		return err
	}
	if err := settle(ctx, s, open, "success", "error", "blocked"); err != nil {
		return err
	}
	db, err := jsx.Get(open, "result")
	if err != nil {
		return err
	}
	defer jsx.Call(db, "close")
	tx, err := jsx.Call(db, "transaction", []any{idbSessions, idbSegments}, mode, map[string]any{"durability": "strict"})
	if err != nil {
		return err
	}
	return do(s, tx)
}

// ask makes one request to an object store and returns its result.
func ask(ctx context.Context, s *jsx.Scope, tx jsx.Value, store, method string, args ...any) (jsx.Value, error) {
	from, err := jsx.Call(tx, "objectStore", store)
	if err != nil {
		return from, err
	}
	req, err := jsx.Call(from, method, args...)
	if err != nil {
		return req, err
	}
	if err := settle(ctx, s, req, "success", "error"); err != nil {
		return req, err
	}
	return jsx.Get(req, "result")
}

// sessions reads all records in one transaction. Opening the database for each record would take
// seconds in a page with a thousand sessions, and memory that the browser is slow to release.
func (f indexedFiles) sessions(ctx context.Context, do func(id string, text []byte)) error {
	return f.with(ctx, "readonly", func(s *jsx.Scope, tx jsx.Value) error {
		keys, err := ask(ctx, s, tx, idbSessions, "getAllKeys")
		if err != nil {
			return err
		}
		rows, err := ask(ctx, s, tx, idbSessions, "getAll") // in the order of the keys
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
	err = f.with(ctx, "readonly", func(s *jsx.Scope, tx jsx.Value) error {
		row, err := ask(ctx, s, tx, idbSessions, "get", id)
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

// segmentRange returns the range of all keys that begin with id. In IndexedDB an array sorts after
// all strings and numbers.
func segmentRange(id string) (jsx.Value, error) {
	keys, err := jsx.Lookup(jsx.Global(), "IDBKeyRange")
	if err != nil {
		return keys, err
	}
	return jsx.Call(keys, "bound", []any{id}, []any{id, []any{}})
}

func (f indexedFiles) segments(ctx context.Context, id string) (files [][]byte, err error) {
	keys, err := segmentRange(id)
	if err != nil {
		return nil, err
	}
	err = f.with(ctx, "readonly", func(s *jsx.Scope, tx jsx.Value) error {
		rows, err := ask(ctx, s, tx, idbSegments, "getAll", keys)
		if err != nil {
			return err
		}
		return eachText(rows, func(data []byte) { files = append(files, data) })
	})
	return files, err
}

// change makes all requests of a transaction at once and waits for the end of the transaction.
func (f indexedFiles) change(ctx context.Context, do func(sessions, segments jsx.Value) error) error {
	return f.with(ctx, "readwrite", func(s *jsx.Scope, tx jsx.Value) error {
		sessions, err := jsx.Call(tx, "objectStore", idbSessions)
		if err != nil {
			return err
		}
		segments, err := jsx.Call(tx, "objectStore", idbSegments)
		if err != nil {
			return err
		}
		if err := do(sessions, segments); err != nil {
			_, _ = jsx.Call(tx, "abort")
			return err
		}
		// The requests are committed or not, even if the context ends.
		return settle(context.WithoutCancel(ctx), s, tx, "complete", "abort")
	})
}

func (f indexedFiles) write(ctx context.Context, id string, session []byte, segments map[int][]byte) error {
	return f.change(ctx, func(inSessions, inSegments jsx.Value) error {
		for n, text := range segments {
			if _, err := jsx.Call(inSegments, "put", string(text), []any{id, n}); err != nil {
				return err
			}
		}
		_, err := jsx.Call(inSessions, "put", string(session), id)
		return err
	})
}

func (f indexedFiles) remove(ctx context.Context, id string) error {
	keys, err := segmentRange(id)
	if err != nil {
		return err
	}
	return f.change(ctx, func(inSessions, inSegments jsx.Value) error {
		_, err := jsx.Call(inSegments, "delete", keys)
		_, err2 := jsx.Call(inSessions, "delete", id)
		return errors.Join(err, err2)
	})
}
