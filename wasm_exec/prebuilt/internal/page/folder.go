//go:build js && wasm

package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
)

const (
	maxName = 4096 // bytes of a path or a name
	maxHits = 1000 // matches of one search, if the page names no other number
	// undoRoot is the folder of the origin private file system with the steps that last longer than the page.
	undoRoot = "bailey-undo"
)

// folders returns the ways to open a folder.
func (a *API) folders() (jsx.Value, error) {
	return a.Object(a.scope, map[string]Method{
		"pick":       {Run: a.pick},
		"upload":     {Run: a.upload},
		"storage":    {Run: a.storage},
		"memory":     {Run: a.memory},
		"remembered": {Run: a.remembered},
		"restore":    {Run: a.restore},
	})
}

// opening are the options of the functions that open a folder.
type opening struct {
	undo  string // where the steps are kept: "" for the page's time, off, or a name in the origin private file system
	off   bool
	mode  fsaccess.Mode
	pick  fsaccess.PickOptions
	limit fsaccess.MemoryOptions
}

// openOptions reads FolderOptions and PickOptions of api.d.mts, of which each function allows some.
func openOptions(args []jsx.Value, i int, what, allowed string) (opening, error) {
	o := opening{mode: fsaccess.ReadOnly}
	if i >= len(args) || jsx.Nullish(args[i]) {
		return o, nil
	}
	return o, Each(args[i], what, func(key string, value jsx.Value) (err error) {
		if !slices.Contains(strings.Fields(allowed), key) {
			return ErrNoOption
		}
		switch key {
		case "undo":
			if jsx.TypeOf(value) == "boolean" {
				var on bool
				on, err = jsx.Bool(value)
				o.off = !on
			} else if o.undo, err = jsx.String(value, 200); err == nil && (o.undo == "." || !fs.ValidPath(o.undo) || strings.Contains(o.undo, "/")) {
				err = errors.New("must be true, false or a name without a slash")
			}
		case "write":
			var on bool
			if on, err = jsx.Bool(value); on {
				o.mode = fsaccess.ReadWrite
			}
		case "id":
			o.pick.ID, err = jsx.String(value, 32)
		case "startIn":
			o.pick.StartIn, err = jsx.String(value, 20)
		case "remember":
			o.pick.Remember, err = jsx.String(value, 256)
		case "files":
			o.pick.Files, err = jsx.Bool(value)
		case "maxBytes":
			var n float64
			if n, err = jsx.Finite(value); err == nil && n < 1 {
				err = errors.New("must be a number of bytes above 0")
			}
			o.limit.MaxBytes = int64(n)
		}
		return err
	})
}

func (a *API) pick(ctx context.Context, args []jsx.Value) (any, error) {
	o, err := openOptions(args, 0, "folder.pick(options)", "undo write id startIn remember files")
	if err != nil {
		return nil, err
	}
	f, err := fsaccess.Pick(ctx, o.mode, o.pick)
	if err != nil {
		return nil, Named(err)
	}
	return a.folder(ctx, f.Name(), f, f, o)
}

// upload returns a copy of an uploaded folder that can be changed. The copy's changes are in memory.
func (a *API) upload(ctx context.Context, args []jsx.Value) (any, error) {
	o, err := openOptions(args, 0, "folder.upload(options)", "undo")
	if err != nil {
		return nil, err
	}
	f, err := fsaccess.Upload(ctx)
	if err != nil {
		return nil, Named(err)
	}
	return a.folder(ctx, f.Name(), fsaccess.NewOverlay(f, fsaccess.NewMemory(fsaccess.MemoryOptions{})), f, o)
}

func (a *API) storage(ctx context.Context, args []jsx.Value) (any, error) {
	name, err := Text(args, 0, "folder.storage(name): name")
	if err != nil {
		return nil, err
	}
	if top, _, _ := strings.Cut(name, "/"); name == "." || !fs.ValidPath(name) || top == undoRoot {
		return nil, fmt.Errorf("folder.storage(name): %q: must be a path such as \"notes\", and not in %s, which has the steps of undo", name, undoRoot)
	}
	o, err := openOptions(args, 1, "folder.storage(name, options)", "undo")
	if err != nil {
		return nil, err
	}
	f, err := fsaccess.OPFS(ctx, name)
	if err != nil {
		return nil, Named(err)
	}
	return a.folder(ctx, f.Name(), f, f, o)
}

func (a *API) memory(ctx context.Context, args []jsx.Value) (any, error) {
	o, err := openOptions(args, 0, "folder.memory(options)", "undo maxBytes")
	if err != nil {
		return nil, err
	}
	f := fsaccess.NewMemory(o.limit)
	return a.folder(ctx, "", f, f, o)
}

func (a *API) remembered(ctx context.Context, _ []jsx.Value) (any, error) {
	list, err := fsaccess.Remembered(ctx)
	if err != nil {
		return nil, Named(err)
	}
	out := make([]any, len(list))
	for i, r := range list {
		out[i] = map[string]any{"name": r.Name, "folder": r.Folder, "write": r.Mode == fsaccess.ReadWrite, "lastUse": float64(r.LastUse.UnixMilli()), "granted": r.Permission == nil}
	}
	return out, nil
}

func (a *API) restore(ctx context.Context, args []jsx.Value) (any, error) {
	name, err := Text(args, 0, "folder.restore(name): name")
	if err != nil {
		return nil, err
	}
	o, err := openOptions(args, 1, "folder.restore(name, options)", "undo")
	if err != nil {
		return nil, err
	}
	f, err := fsaccess.Restore(ctx, name)
	if err != nil {
		return nil, Named(err)
	}
	return a.folder(ctx, f.Name(), f, f, o)
}

// folder returns the object for an open folder. Its files are those of fsys, and source has the permissions.
func (a *API) folder(ctx context.Context, name string, fsys fsaccess.FS, source *fsaccess.Folder, o opening) (any, error) {
	var journal *fsaccess.Journal
	if !o.off {
		steps := fsaccess.NewMemory(fsaccess.MemoryOptions{})
		if o.undo != "" {
			var err error
			if steps, err = fsaccess.OPFS(ctx, undoRoot+"/"+o.undo); err != nil {
				return nil, errors.Join(Named(err), source.Close())
			}
		}
		journal = fsaccess.NewJournal(fsys, steps, fsaccess.JournalOptions{})
		fsys = journal
	}
	scope, err := a.scope.Child()
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	methods := files(fsys)
	methods["requestWrite"] = Method{Run: func(ctx context.Context, _ []jsx.Value) (any, error) { return nil, source.RequestWrite(ctx) }}
	methods["remember"] = Method{Run: func(ctx context.Context, args []jsx.Value) (any, error) {
		as, err := Text(args, 0, "remember(name): name")
		if err != nil {
			return nil, err
		}
		return source.RememberAs(ctx, as)
	}}
	var object jsx.Value
	methods["close"] = Method{Run: func(context.Context, []jsx.Value) (any, error) {
		a.forget(object)
		err := source.Close()
		return nil, errors.Join(err, scope.Close())
	}}
	if journal != nil {
		a.steps(methods, scope, journal)
	}
	object, err = a.Object(scope, telling(methods))
	if err == nil {
		err = jsx.Set(object, "name", name)
	}
	if err != nil {
		return nil, errors.Join(err, scope.Close(), source.Close())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, openFolder{object, fsys, name})
	return object, nil
}

// openFolder is a folder that the page has, with its object.
type openFolder struct {
	object jsx.Value
	fsys   fsaccess.FS
	name   string
}

// Folder returns the files and the name of an open folder by its object. The files are those of its journal, if it has one.
func (a *API) Folder(object jsx.Value) (files fsaccess.FS, name string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.open, func(f openFolder) bool { return f.object.Equal(object) })
	if i < 0 {
		return nil, "", errors.New("must be an open folder of the same program, such as that of folder.pick()")
	}
	return a.open[i].fsys, a.open[i].name, nil
}

// forget removes a folder that is closed.
func (a *API) forget(object jsx.Value) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(f openFolder) bool { return f.object.Equal(object) })
}

// path returns an argument that names a file or a folder, or other if the page left it out.
func path(args []jsx.Value, i int, what, other string) (string, error) {
	if i >= len(args) || jsx.Nullish(args[i]) {
		if other != "" {
			return other, nil
		}
		return "", fmt.Errorf("%s is missing", what)
	}
	s, err := jsx.String(args[i], maxName)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return s, nil
}

// files are the methods of a folder for its files, whose changes pass the journal if there is one.
func files(fsys fsaccess.FS) map[string]Method {
	in := func(ctx context.Context) *fsaccess.Folder { return fsaccess.WithContext(ctx, fsys) }
	return map[string]Method{
		"list": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			dir, err := path(args, 0, "list(path): path", ".")
			if err != nil {
				return nil, err
			}
			list, err := fsaccess.List(ctx, fsys, dir)
			out := make([]any, len(list))
			for i, e := range list {
				out[i] = map[string]any{"name": e.Name(), "path": e.Path, "folder": e.Dir, "link": e.Link, "size": float64(e.Size), "modified": milli(e.ModTime)}
			}
			return out, err
		}},
		"read": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			name, err := path(args, 0, "read(path): path", "")
			if err != nil {
				return nil, err
			}
			return in(ctx).ReadFile(name)
		}},
		"text": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			name, err := path(args, 0, "text(path): path", "")
			if err != nil {
				return nil, err
			}
			data, err := in(ctx).ReadFile(name)
			if err == nil && !utf8.Valid(data) {
				return nil, fmt.Errorf("text(path): %s is not a text in UTF-8: read() returns its bytes", name)
			}
			return string(data), err
		}},
		"version": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			name, err := path(args, 0, "version(path): path", "")
			if err != nil {
				return nil, err
			}
			v, err := in(ctx).Version(name)
			return string(v), err
		}},
		"write": {Run: func(ctx context.Context, args []jsx.Value) (any, error) { return write(in(ctx), args) }},
		"mkdir": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			name, err := path(args, 0, "mkdir(path): path", "")
			if err != nil {
				return nil, err
			}
			return nil, in(ctx).MkdirAll(name, 0o755)
		}},
		"remove": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			name, err := path(args, 0, "remove(path): path", "")
			all := false
			if err == nil && len(args) > 1 && !jsx.Nullish(args[1]) {
				err = Each(args[1], "remove(path, options)", func(key string, value jsx.Value) (err error) {
					if key != "recursive" {
						return ErrNoOption
					}
					all, err = jsx.Bool(value)
					return err
				})
			}
			switch {
			case err != nil:
				return nil, err
			case all:
				if _, err := in(ctx).Stat(name); err != nil { // RemoveAll takes a missing name for a success
					return nil, err
				}
				return nil, in(ctx).RemoveAll(name)
			}
			return nil, in(ctx).Remove(name)
		}},
		"rename": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			from, err := path(args, 0, "rename(from, to): from", "")
			to, err2 := path(args, 1, "rename(from, to): to", "")
			if err = errors.Join(err, err2); err != nil {
				return nil, err
			}
			return nil, in(ctx).Rename(from, to)
		}},
		"search": {Run: func(ctx context.Context, args []jsx.Value) (any, error) { return search(ctx, fsys, args) }},
		"zip": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			dir, err := path(args, 0, "zip(path): path", ".")
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			err = fsaccess.ExportZIP(ctx, fsys, dir, &b, fsaccess.ZIPOptions{})
			return b.Bytes(), err
		}},
	}
}

// write implements write(path, data, options), and returns the version of the new content.
func write(f *fsaccess.Folder, args []jsx.Value) (any, error) {
	name, err := path(args, 0, "write(path, data): path", "")
	if err != nil {
		return nil, err
	}
	if len(args) < 2 {
		return nil, errors.New("write(path, data): data is missing")
	}
	var data []byte
	if jsx.InstanceOf(args[1], "Uint8Array") {
		data, err = jsx.Bytes(args[1], 1<<30)
	} else if jsx.TypeOf(args[1]) == "string" {
		var s string
		s, err = jsx.String(args[1], 1<<30)
		data = []byte(s)
	} else {
		err = errors.New("must be a text or a Uint8Array")
	}
	if err != nil {
		return nil, fmt.Errorf("write(path, data): data: %w", err)
	}
	want := fsaccess.AnyVersion
	if len(args) > 2 && !jsx.Nullish(args[2]) {
		err := Each(args[2], "write(path, data, options)", func(key string, value jsx.Value) error {
			if key != "version" {
				return ErrNoOption
			}
			v, err := jsx.String(value, 200)
			if err == nil && v == "" {
				err = errors.New(`must be what version() or write() returned; leave it out to write in any case`)
			}
			want = fsaccess.Version(v)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	v, err := f.WriteVersion(name, data, 0o644, want)
	return string(v), err
}

// search implements search(pattern, options).
func search(ctx context.Context, fsys fsaccess.FS, args []jsx.Value) (any, error) {
	pattern, err := Text(args, 0, "search(pattern): pattern")
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("search(pattern): %w (the syntax is RE2's: https://github.com/google/re2/wiki/Syntax)", err)
	}
	dir, most := ".", maxHits
	if len(args) > 1 && !jsx.Nullish(args[1]) {
		err := Each(args[1], "search(pattern, options)", func(key string, value jsx.Value) (err error) {
			switch key {
			case "path":
				dir, err = jsx.String(value, maxName)
			case "max":
				if most, err = jsx.Int(value); err == nil && most < 1 {
					err = errors.New("must be a number above 0")
				}
			default:
				err = ErrNoOption
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	out := []any{}
	for m, err := range fsaccess.Grep(ctx, fsys, dir, re, fsaccess.GrepOptions{Max: most}) {
		if err != nil {
			return nil, err
		}
		out = append(out, map[string]any{"path": m.Path, "line": m.Line, "column": m.Column, "text": m.Text})
	}
	return out, nil
}

// steps adds the methods for the history of a folder.
func (a *API) steps(methods map[string]Method, scope *jsx.Scope, j *fsaccess.Journal) {
	id := func(args []jsx.Value, what string) (int64, error) {
		if len(args) == 0 {
			return 0, fmt.Errorf("%s is missing", what)
		}
		n, err := jsx.Int(args[0])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", what, err)
		}
		return int64(n), nil
	}
	methods["history"] = Method{Run: func(ctx context.Context, _ []jsx.Value) (any, error) {
		list, err := j.History(ctx)
		out := make([]any, len(list))
		for i, c := range list {
			paths := make([]any, len(c.Paths))
			for k, p := range c.Paths {
				paths[k] = p
			}
			out[i] = map[string]any{"id": float64(c.ID), "time": milli(c.Time), "op": c.Op, "label": c.Label, "paths": paths, "undone": c.Undone, "bytes": float64(c.Bytes)}
		}
		return out, err
	}}
	methods["undo"] = Method{Run: func(ctx context.Context, _ []jsx.Value) (any, error) { return nil, j.Undo(ctx) }}
	methods["redo"] = Method{Run: func(ctx context.Context, _ []jsx.Value) (any, error) { return nil, j.Redo(ctx) }}
	methods["revert"] = Method{Run: func(ctx context.Context, args []jsx.Value) (any, error) {
		n, err := id(args, "revert(id): id")
		if err != nil {
			return nil, err
		}
		return nil, j.Revert(ctx, n)
	}}
	methods["diff"] = Method{Run: func(ctx context.Context, args []jsx.Value) (any, error) {
		n, err := id(args, "diff(id): id")
		if err != nil {
			return nil, err
		}
		return j.Diff(ctx, n)
	}}
	methods["group"] = Method{Run: func(ctx context.Context, args []jsx.Value) (any, error) {
		label, err := Text(args, 0, "group(label, change): label")
		if err != nil {
			return nil, err
		}
		if len(args) < 2 || jsx.TypeOf(args[1]) != "function" {
			return nil, errors.New("group(label, change): change must be a function, which gets a folder and returns a promise")
		}
		return nil, j.Group(ctx, label, func(work fsaccess.FS) error {
			inner, err := scope.Child()
			if err != nil {
				return err
			}
			methods, calls := telling(files(work)), new(sync.WaitGroup)
			for name, m := range methods {
				m.calls = calls
				methods[name] = m
			}
			defer calls.Wait()  // a change that ends after the step would not belong to it
			defer inner.Close() // no call begins any more
			object, err := a.Object(inner, methods)
			if err != nil {
				return err
			}
			promise, err := jsx.Invoke(args[1], object)
			if err == nil {
				_, err = jsx.Await(ctx, promise)
			}
			return err
		})
	}}
}

// telling returns methods whose errors have the names that the page tells apart.
func telling(methods map[string]Method) map[string]Method {
	for key, m := range methods {
		methods[key] = Method{Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			v, err := m.Run(ctx, args)
			return v, Named(err)
		}}
	}
	return methods
}

// milli returns a time in milliseconds since 1970, 0 if it is unknown.
func milli(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli())
}

// names are those of DOMException where it has one.
var names = []struct {
	err  error
	name string
}{
	{fsaccess.ErrConflict, "ConflictError"},
	{fsaccess.ErrNothing, "NothingError"},
	{fsaccess.ErrBusy, "NoModificationAllowedError"},
	{fsaccess.ErrQuota, "QuotaExceededError"},
	{fsaccess.ErrTooLarge, "QuotaExceededError"},
	{fsaccess.ErrReadOnly, "ReadOnlyError"},
	{fsaccess.ErrGesture, "SecurityError"}, // as the browser's own dialogue
	{fsaccess.ErrCancelled, "AbortError"},
	{fs.ErrExist, "InvalidModificationError"},
}

// Named returns an error with the name that api.d.mts gives for its reason.
func Named(err error) error {
	for _, n := range names {
		if errors.Is(err, n.err) {
			return &jsx.Error{Name: n.name, Message: err.Error()}
		}
	}
	return err
}
