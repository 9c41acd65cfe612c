package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Remembered folders are stored in IndexedDB, which can store handles.
const (
	dbName  = "bailey-fsaccess"
	dbStore = "folders"
)

// request waits for an IDBRequest and returns its result.
func request(ctx context.Context, s *jsx.Scope, req jsx.Value, upgrade func()) (jsx.Value, error) {
	done := make(chan error, 4)
	on := func(event string, err error) error {
		_, lerr := s.Listen(req, event, func(jsx.Value) {
			select {
			case done <- err:
			default:
			}
		})
		return lerr
	}
	err := errors.Join(on("success", nil), on("error", errNotDone), on("blocked", ErrBusy))
	if err != nil {
		return jsx.Value{}, err
	}
	if upgrade != nil {
		if _, err := s.Listen(req, "upgradeneeded", func(jsx.Value) { upgrade() }); err != nil {
			return jsx.Value{}, err
		}
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		return jsx.Value{}, context.Cause(ctx)
	}
	if err != nil {
		if why, gerr := jsx.Get(req, "error"); gerr == nil && !jsx.Nullish(why) {
			if name, serr := stringOf(why, "name"); serr == nil && jsx.Code(name) == jsx.ErrQuota {
				return jsx.Value{}, ErrQuota
			}
		}
		return jsx.Value{}, err
	}
	return jsx.Get(req, "result")
}

var errNotDone = errors.New("the browser's database did not do it")

// withStore opens the database, calls do with the object store, and closes the database.
func withStore(ctx context.Context, mode string, do func(s *jsx.Scope, store jsx.Value) error) error {
	if !jsx.Supported("indexedDB.open") {
		return errUnsupported
	}
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	idb, err := jsx.Lookup(jsx.Global(), "indexedDB")
	if err != nil {
		return err
	}
	open, err := jsx.Call(idb, "open", dbName, 1)
	if err != nil {
		return webErr(err)
	}
	db, err := request(ctx, s, open, func() {
		if db, err := jsx.Get(open, "result"); err == nil {
			_, _ = jsx.Call(db, "createObjectStore", dbStore, map[string]any{"keyPath": "name"})
		}
	})
	if err != nil {
		return err
	}
	defer jsx.Call(db, "close")
	tx, err := jsx.Call(db, "transaction", dbStore, mode)
	if err != nil {
		return webErr(err)
	}
	store, err := jsx.Call(tx, "objectStore", dbStore)
	if err != nil {
		return webErr(err)
	}
	return do(s, store)
}

func remember(ctx context.Context, f *Folder, name string) error {
	h, err := handlesOf(f)
	if err != nil {
		return err
	}
	if name == "" || len(name) > 256 {
		return errInvalid
	}
	return withStore(ctx, "readwrite", func(s *jsx.Scope, store jsx.Value) error {
		req, err := jsx.Call(store, "put", map[string]any{"name": name, "handle": h.root, "mode": string(h.mode), "used": float64(time.Now().UnixMilli())})
		if err != nil {
			return webErr(err)
		}
		_, err = request(ctx, s, req, nil)
		return err
	})
}

func rememberAs(ctx context.Context, f *Folder, name string) (string, error) {
	h, err := handlesOf(f)
	if err != nil {
		return "", err
	}
	rows, err := allKept(ctx)
	if err != nil {
		return "", err
	}
	as := name
	for n := 2; ; n++ {
		i := slices.IndexFunc(rows, func(k kept) bool { return k.Name == as })
		if i < 0 {
			return as, remember(ctx, f, as)
		}
		answer, err := jsx.CallAwait(ctx, rows[i].handle, "isSameEntry", h.root)
		if err != nil {
			return "", webErr(err)
		}
		same, err := jsx.Bool(answer)
		if err != nil {
			return "", err
		}
		if same {
			return as, remember(ctx, f, as)
		}
		as = fmt.Sprintf("%s (%d)", name, n)
	}
}

// kept is a row of the database.
type kept struct {
	RememberedFolder
	handle jsx.Value
}

func allKept(ctx context.Context) ([]kept, error) {
	var out []kept
	err := withStore(ctx, "readonly", func(s *jsx.Scope, store jsx.Value) error {
		req, err := jsx.Call(store, "getAll")
		if err != nil {
			return webErr(err)
		}
		rows, err := request(ctx, s, req, nil)
		if err != nil {
			return err
		}
		n, err := jsx.Length(rows)
		if err != nil {
			return err
		}
		for i := range n {
			row, err := jsx.Index(rows, i)
			if err != nil {
				return err
			}
			k := kept{}
			name, nerr := stringOf(row, "name")
			mode, merr := stringOf(row, "mode")
			used, uerr := numberOf(row, "used")
			if k.handle, err = jsx.Get(row, "handle"); errors.Join(nerr, merr, uerr, err) != nil {
				continue // not a row of this package
			}
			if k.Folder, err = stringOf(k.handle, "name"); err != nil {
				continue
			}
			k.Name, k.Mode, k.LastUse = name, Mode(mode), millis(used)
			out = append(out, k)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b kept) int { return b.LastUse.Compare(a.LastUse) })
	return out, err
}

func remembered(ctx context.Context) ([]RememberedFolder, error) {
	rows, err := allKept(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]RememberedFolder, len(rows))
	for i, k := range rows {
		if k.Permission, err = queryPermission(ctx, k.handle, k.Mode); err != nil {
			return nil, err
		}
		out[i] = k.RememberedFolder
	}
	return out, nil
}

func restore(ctx context.Context, name string) (*Folder, error) {
	rows, err := allKept(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(k kept) bool { return k.Name == name })
	if i < 0 && name == "last" && len(rows) > 0 {
		i = 0
	}
	if i < 0 {
		return nil, pathErr("restore", name, errNotExist)
	}
	k := rows[i]
	p, err := queryPermission(ctx, k.handle, k.Mode)
	if err == nil && p == Prompt {
		p, err = requestPermission(ctx, k.handle, k.Mode)
	}
	if err != nil {
		return nil, pathErr("restore", name, err)
	}
	if p != Granted {
		return nil, pathErr("restore", name, ErrDenied)
	}
	f, err := newHandles(k.handle, "picked", k.Mode, "kept:"+k.Name)
	if err != nil {
		return nil, err
	}
	return f, remember(ctx, f, k.Name)
}

func forget(ctx context.Context, name string) error {
	return withStore(ctx, "readwrite", func(s *jsx.Scope, store jsx.Value) error {
		req, err := jsx.Call(store, "delete", name)
		if err != nil {
			return webErr(err)
		}
		_, err = request(ctx, s, req, nil)
		return err
	})
}

// handlesOf returns the source of f, if it has a browser handle and f is its root.
func handlesOf(f *Folder) (*handles, error) {
	if h, ok := f.c.(*handles); ok && f.dir == "." {
		return h, nil
	}
	return nil, errUnsupported
}

func nameOf(f *Folder) string {
	h, err := handlesOf(f)
	if err != nil {
		return ""
	}
	name, err := stringOf(h.root, "name")
	if err != nil {
		return ""
	}
	return name
}

func queryPermission(ctx context.Context, handle jsx.Value, mode Mode) (Permission, error) {
	if !jsx.Has(handle, "queryPermission") {
		return Granted, nil // the origin's own folders need no permission
	}
	v, err := await(ctx, handle, "queryPermission", map[string]any{"mode": string(mode)})
	if err != nil {
		return Denied, err
	}
	s, err := jsx.String(v, 64)
	return Permission(s), err
}

// requestPermission shows the browser's question. Without a gesture the browser shows none.
// It then rejects with a SecurityError, or leaves the permission at prompt.
func requestPermission(ctx context.Context, handle jsx.Value, mode Mode) (Permission, error) {
	if !jsx.Has(handle, "requestPermission") {
		return Denied, ErrReadOnly
	}
	v, err := await(ctx, handle, "requestPermission", map[string]any{"mode": string(mode)})
	if errors.Is(err, ErrDenied) {
		return Prompt, ErrGesture
	}
	if err != nil {
		return Denied, err
	}
	s, err := jsx.String(v, 64)
	if err == nil && Permission(s) == Prompt {
		err = ErrGesture
	}
	return Permission(s), err
}

func permissionOf(ctx context.Context, f *Folder, mode Mode) (Permission, error) {
	h, err := handlesOf(f)
	if err != nil {
		if f.Features().ReadOnly && mode == ReadWrite {
			return Denied, nil
		}
		return Granted, nil
	}
	return queryPermission(ctx, h.root, mode)
}

func requestWrite(ctx context.Context, f *Folder) error {
	h, err := handlesOf(f)
	if err != nil {
		return ErrReadOnly
	}
	p, err := queryPermission(ctx, h.root, ReadWrite)
	if err == nil && p == Prompt {
		p, err = requestPermission(ctx, h.root, ReadWrite)
	}
	if err != nil {
		return err
	}
	if p != Granted {
		return ErrDenied
	}
	h.mode = ReadWrite
	return nil
}
