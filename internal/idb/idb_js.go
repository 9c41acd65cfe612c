package idb

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Error is an error of the database that has no error of the browser.
type Error string

const (
	// ErrNotDone is returned if a request or a transaction failed. The error also wraps the
	// browser's [jsx.Error], if there is one.
	ErrNotDone Error = "the browser's database failed"
	// ErrBlocked is returned if another tab has an older version of the database open.
	ErrBlocked Error = "another tab holds the browser's database open"
)

// Error returns the text of the error.
func (e Error) Error() string { return string(e) }

// The modes of a transaction.
const (
	Read  = "readonly"
	Write = "readwrite"
)

// A Database is one database of the page's origin, in version 1.
type Database struct {
	Name   string
	Stores []Store // made with the database
	// Strict makes a transaction complete only when its data is on the disk.
	Strict bool
}

// A Store is an object store. KeyPath is the property of a value that is its key, or "" if
// each request names the key.
type Store struct{ Name, KeyPath string }

// Do opens the database and calls do with a transaction over all its stores. The mode is
// [Read] or [Write]. Without IndexedDB the error is [errors.ErrUnsupported].
func (d Database) Do(ctx context.Context, mode string, do func(t *Transaction) error) error {
	if !jsx.Supported("indexedDB.open") {
		return errors.ErrUnsupported
	}
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	factory, err := jsx.Lookup(jsx.Global(), "indexedDB")
	if err != nil {
		return err
	}
	open, err := jsx.Call(factory, "open", d.Name, 1)
	if err != nil {
		return err
	}
	_, err = s.Listen(open, "upgradeneeded", func(jsx.Value) { d.make(open) })
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
	names := make([]any, len(d.Stores))
	for i, store := range d.Stores {
		names[i] = store.Name
	}
	options := map[string]any{}
	if d.Strict {
		options["durability"] = "strict"
	}
	tx, err := jsx.Call(db, "transaction", names, mode, options)
	if err != nil {
		return err
	}
	return do(&Transaction{s, tx})
}

// make makes the object stores of a new database.
func (d Database) make(open jsx.Value) {
	db, err := jsx.Get(open, "result")
	if err != nil {
		return
	}
	for _, store := range d.Stores {
		options := map[string]any{}
		if store.KeyPath != "" {
			options["keyPath"] = store.KeyPath
		}
		_, _ = jsx.Call(db, "createObjectStore", store.Name, options)
	}
}

// settle waits for the first of the events that end a request or a transaction.
func settle(ctx context.Context, s *jsx.Scope, target jsx.Value, good string, bad ...string) error {
	done := make(chan string, 1)
	for _, event := range append([]string{good}, bad...) {
		_, err := s.Listen(target, event, func(jsx.Value) {
			select {
			case done <- event:
			default:
			}
		})
		if err != nil {
			return err
		}
	}
	select {
	case event := <-done:
		switch event {
		case good:
			return nil
		case "blocked":
			return ErrBlocked
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	why, err := jsx.Get(target, "error")
	if err != nil || jsx.Nullish(why) {
		return ErrNotDone
	}
	return fmt.Errorf("%w: %w", ErrNotDone, jsx.ErrorOf(why))
}

// A Transaction makes requests to the stores of a database. The browser commits it when no
// request is open any more, so nothing else may be awaited between two requests.
type Transaction struct {
	s  *jsx.Scope
	tx jsx.Value
}

// Ask calls a method of an object store and waits for its result.
func (t *Transaction) Ask(ctx context.Context, store, method string, args ...any) (jsx.Value, error) {
	req, err := t.Start(store, method, args...)
	if err != nil {
		return req, err
	}
	if err := settle(ctx, t.s, req, "success", "error"); err != nil {
		return req, err
	}
	return jsx.Get(req, "result")
}

// Start calls a method of an object store and returns the request, without waiting for it.
func (t *Transaction) Start(store, method string, args ...any) (jsx.Value, error) {
	from, err := jsx.Call(t.tx, "objectStore", store)
	if err != nil {
		return from, err
	}
	return jsx.Call(from, method, args...)
}

// Finish waits until all requests are committed, also after the end of ctx.
func (t *Transaction) Finish(ctx context.Context) error {
	return settle(context.WithoutCancel(ctx), t.s, t.tx, "complete", "abort")
}

// Abort takes back all requests.
func (t *Transaction) Abort() { _, _ = jsx.Call(t.tx, "abort") }
