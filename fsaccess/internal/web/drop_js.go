package web

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// dropArea receives drops. It must ask for the handles during the event, but can wait for
// them later.
type dropArea struct {
	s     *jsx.Scope
	drops chan droppedItem
}

type droppedItem struct {
	promise jsx.Value // of a FileSystemHandle
	entry   jsx.Value // or a FileSystemEntry
}

// NewDropArea makes the first element that matches a CSS selector accept drops.
func NewDropArea(selector string) (*dropArea, error) {
	doc, err := jsx.Lookup(jsx.Global(), "document")
	if err != nil || jsx.Nullish(doc) {
		return nil, fmt.Errorf("dropping needs a page: %w", errors.ErrUnsupported)
	}
	el, err := jsx.Call(doc, "querySelector", selector)
	if err != nil {
		return nil, err
	}
	if jsx.Nullish(el) {
		return nil, fmt.Errorf("no element for %q: %w", selector, core.ErrNotExist)
	}
	z := &dropArea{s: jsx.NewScope(jsx.ScopeOptions{}), drops: make(chan droppedItem, 256)}
	over := func(e jsx.Value) { _, _ = jsx.Call(e, "preventDefault") }
	_, err1 := z.s.Listen(el, "dragover", over)
	_, err2 := z.s.Listen(el, "drop", func(e jsx.Value) {
		over(e)
		z.take(e)
	})
	_, err3 := z.s.Listen(el, "dragenter", over) // a drag from a frame must be accepted here, or the element gets no dragover
	_, err4 := jsx.Aside(z.s, el, func(on bool) { _, _ = jsx.Call(el, "toggleAttribute", "data-drop", on) })
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		z.s.Close()
		return nil, err
	}
	return z, nil
}

func (z *dropArea) take(event jsx.Value) {
	items, err := jsx.Lookup(event, "dataTransfer.items")
	if err != nil {
		return
	}
	n, err := jsx.Length(items)
	if err != nil {
		return
	}
	for i := range n {
		item, err := jsx.Index(items, i)
		if err != nil {
			return
		}
		if kind, err := StringOf(item, "kind"); err != nil || kind != "file" {
			continue
		}
		var d droppedItem
		if jsx.Has(item, "getAsFileSystemHandle") {
			d.promise, err = jsx.Call(item, "getAsFileSystemHandle")
		} else {
			d.entry, err = jsx.Call(item, "webkitGetAsEntry")
		}
		if err != nil || jsx.Nullish(d.promise) && jsx.Nullish(d.entry) { // a picture of the page
			continue
		}
		select {
		case z.drops <- d:
		default: // more items at once than a user drops on purpose
		}
	}
}

func (z *dropArea) Close() error { return z.s.Close() }

// Next waits for the next dropped item and returns its folder.
func (z *dropArea) Next(ctx context.Context) (core.Core, error) {
	for {
		var d droppedItem
		select {
		case d = <-z.drops:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if jsx.Nullish(d.promise) {
			return dropEntry(ctx, d.entry)
		}
		handle, err := jsx.Await(ctx, d.promise)
		if err != nil {
			return nil, WebErr(err)
		}
		if !jsx.Nullish(handle) { // the handle of a page's own picture is null
			return dropHandle(ctx, handle)
		}
	}
}

func dropHandle(ctx context.Context, handle jsx.Value) (core.Core, error) {
	name, err := StringOf(handle, "name")
	if err != nil {
		return nil, err
	}
	kind, err := StringOf(handle, "kind")
	if err != nil {
		return nil, err
	}
	if kind == "directory" {
		mode := modeRead
		if p, err := QueryPermission(ctx, handle, ModeWrite); err == nil && p == PermGranted {
			mode = ModeWrite
		}
		h, err := NewHandles(handle, "drop", mode, "picked:"+name)
		if err != nil {
			return nil, err
		}
		return h, nil
	}
	file, err := Await(ctx, handle, "getFile")
	if err != nil {
		return nil, err
	}
	t := NewTree("drop")
	t.Name = name
	if err := t.Add(name, file, handle); err != nil {
		return nil, err
	}
	p, err := QueryPermission(ctx, handle, ModeWrite)
	t.Writable = err == nil && p == PermGranted
	return t, nil
}

// dropEntry reads a dropped tree in browsers with only the older API, whose functions take
// callbacks.
func dropEntry(ctx context.Context, entry jsx.Value) (core.Core, error) {
	if jsx.Nullish(entry) {
		return nil, core.ErrUnsupported
	}
	name, err := StringOf(entry, "name")
	if err != nil {
		return nil, err
	}
	t := NewTree("drop")
	t.Name = name
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	isDir, err := boolOf(entry, "isDirectory")
	if err != nil {
		return nil, err
	}
	if isDir {
		err = addEntries(ctx, s, t, entry, ".", 0)
	} else {
		err = addEntryFile(ctx, s, t, entry, name)
	}
	return t, err
}

func boolOf(v jsx.Value, name string) (bool, error) {
	b, err := jsx.Get(v, name)
	if err != nil {
		return false, err
	}
	return jsx.Bool(b)
}

// called returns the argument of the ok callback, or an error if the other one is called.
func called(ctx context.Context, s *jsx.Scope, call func(ok, failed jsx.Value) error) (jsx.Value, error) {
	type answer struct {
		v   jsx.Value
		err error
	}
	c := make(chan answer, 2)
	ok, freeOK, err1 := s.Func(func(args []jsx.Value) {
		a := answer{}
		if len(args) > 0 {
			a.v = args[0]
		}
		c <- a //blocklint:ok room for two, and one of the two comes, once
	})
	failed, freeFailed, err2 := s.Func(func([]jsx.Value) { c <- answer{err: core.ErrConflict} }) //blocklint:ok room for two
	if err := errors.Join(err1, err2); err != nil {
		return jsx.Value{}, err
	}
	defer freeOK()
	defer freeFailed()
	if err := call(ok, failed); err != nil {
		return jsx.Value{}, err
	}
	select {
	case a := <-c:
		return a.v, a.err
	case <-ctx.Done():
		return jsx.Value{}, context.Cause(ctx)
	}
}

func addEntryFile(ctx context.Context, s *jsx.Scope, t *Tree, entry jsx.Value, name string) error {
	f, err := called(ctx, s, func(ok, failed jsx.Value) error {
		_, err := jsx.Call(entry, "file", ok, failed)
		return err
	})
	if err != nil {
		return err
	}
	return t.Add(name, f, jsx.Undefined())
}

func addEntries(ctx context.Context, s *jsx.Scope, t *Tree, dir jsx.Value, at string, depth int) error {
	if depth > 200 {
		return core.ErrTooLarge
	}
	reader, err := jsx.Call(dir, "createReader")
	if err != nil {
		return err
	}
	for {
		page, err := called(ctx, s, func(ok, failed jsx.Value) error {
			_, err := jsx.Call(reader, "readEntries", ok, failed)
			return err
		})
		if err != nil {
			return err
		}
		n, err := jsx.Length(page)
		if err != nil || n == 0 {
			return err
		}
		for i := range n {
			e, err := jsx.Index(page, i)
			if err != nil {
				return err
			}
			name, err := StringOf(e, "name")
			if err != nil {
				return err
			}
			isDir, err := boolOf(e, "isDirectory")
			if err != nil {
				return err
			}
			if !isDir {
				err = addEntryFile(ctx, s, t, e, core.Join(at, name))
			} else if err = t.addDir(core.Join(at, name)); err == nil {
				err = addEntries(ctx, s, t, e, core.Join(at, name), depth+1)
			}
			if err != nil {
				return err
			}
		}
	}
}
