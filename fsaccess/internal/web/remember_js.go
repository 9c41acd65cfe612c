package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/idb"
	"github.com/bailey-go/bailey/internal/jsx"
)

// folders is the database of remembered folders. It can store handles.
var folders = idb.Database{Name: "bailey-fsaccess", Stores: []idb.Store{{Name: dbStore, KeyPath: "name"}}}

const dbStore = "folders"

// asked makes one request to the database and calls do with its result, in the transaction.
func asked(ctx context.Context, mode string, do func(result jsx.Value) error, method string, args ...any) error {
	err := folders.Do(ctx, mode, func(t *idb.Transaction) error {
		result, err := t.Ask(ctx, dbStore, method, args...)
		if err != nil || do == nil {
			return err
		}
		return do(result)
	})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return core.ErrUnsupported
	case errors.Is(err, idb.ErrBlocked):
		return core.ErrBusy
	case errors.Is(err, idb.ErrNotDone):
		if errors.Is(err, jsx.ErrQuota) {
			return core.ErrQuota
		}
		return err
	}
	return WebErr(err)
}

// Remember stores the folder under a name.
func (h *Handles) Remember(ctx context.Context, name string) error {
	if name == "" || len(name) > 256 {
		return core.ErrInvalid
	}
	return asked(ctx, idb.Write, nil, "put", map[string]any{"name": name, "handle": h.Root, "mode": h.mode, "used": float64(time.Now().UnixMilli())})
}

// RememberAs stores the folder under a name that no other folder has, and returns it.
func (h *Handles) RememberAs(ctx context.Context, name string) (string, error) {
	rows, err := allKept(ctx)
	if err != nil {
		return "", err
	}
	as := name
	for n := 2; ; n++ {
		i := slices.IndexFunc(rows, func(k Stored) bool { return k.Name == as })
		if i < 0 {
			return as, h.Remember(ctx, as)
		}
		answer, err := jsx.CallAwait(ctx, rows[i].handle, "isSameEntry", h.Root)
		if err != nil {
			return "", WebErr(err)
		}
		same, err := jsx.Bool(answer)
		if err != nil {
			return "", err
		}
		if same {
			return as, h.Remember(ctx, as)
		}
		as = fmt.Sprintf("%s (%d)", name, n)
	}
}

// Stored is a row of the database: a stored folder.
type Stored struct {
	Name, Folder, Mode string
	LastUse            time.Time
	Permission         error // nil if Mode is granted
	handle             jsx.Value
}

func allKept(ctx context.Context) ([]Stored, error) {
	var out []Stored
	err := asked(ctx, idb.Read, func(rows jsx.Value) error {
		n, err := jsx.Length(rows)
		if err != nil {
			return err
		}
		for i := range n {
			row, err := jsx.Index(rows, i)
			if err != nil {
				return err
			}
			k := Stored{}
			name, nerr := StringOf(row, "name")
			mode, merr := StringOf(row, "mode")
			used, uerr := NumberOf(row, "used")
			if k.handle, err = jsx.Get(row, "handle"); errors.Join(nerr, merr, uerr, err) != nil {
				continue // not a row of this package
			}
			if k.Folder, err = StringOf(k.handle, "name"); err != nil {
				continue
			}
			k.Name, k.Mode, k.LastUse = name, mode, millis(used)
			out = append(out, k)
		}
		return nil
	}, "getAll")
	slices.SortFunc(out, func(a, b Stored) int { return b.LastUse.Compare(a.LastUse) })
	return out, err
}

// Remembered returns the stored folders, the last used first.
func Remembered(ctx context.Context) ([]Stored, error) {
	rows, err := allKept(ctx)
	if err != nil {
		return nil, err
	}
	for i, k := range rows {
		p, err := QueryPermission(ctx, k.handle, k.Mode)
		if err != nil {
			return nil, err
		}
		rows[i].Permission = permissionErr(p)
	}
	return rows, nil
}

// Restore opens a stored folder, or for "last" the one that was used last.
func Restore(ctx context.Context, name string) (*Handles, error) {
	rows, err := allKept(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(k Stored) bool { return k.Name == name })
	if i < 0 && name == "last" && len(rows) > 0 {
		i = 0
	}
	if i < 0 {
		return nil, core.PathErr("restore", name, core.ErrNotExist)
	}
	k := rows[i]
	p, err := QueryPermission(ctx, k.handle, k.Mode)
	if err == nil && p == permPrompt {
		p, err = RequestPermission(ctx, k.handle, k.Mode)
	}
	if err != nil {
		return nil, core.PathErr("restore", name, err)
	}
	if p != PermGranted {
		return nil, core.PathErr("restore", name, core.ErrDenied)
	}
	h, err := NewHandles(k.handle, "picked", k.Mode, "kept:"+k.Name)
	if err != nil {
		return nil, err
	}
	return h, h.Remember(ctx, k.Name)
}

// Forget removes a stored folder.
func Forget(ctx context.Context, name string) error {
	return asked(ctx, idb.Write, nil, "delete", name)
}

// The browser's words for a permission.
const (
	PermGranted = "granted"
	permPrompt  = "prompt"
	permDenied  = "denied"
)

// QueryPermission returns the present permission, without a dialogue.
func QueryPermission(ctx context.Context, handle jsx.Value, mode string) (string, error) {
	if !jsx.Has(handle, "queryPermission") {
		return PermGranted, nil // the origin's own folders need no permission
	}
	v, err := Await(ctx, handle, "queryPermission", map[string]any{"mode": mode})
	if err != nil {
		return permDenied, err
	}
	return jsx.String(v, 64)
}

// permissionErr returns the error for one of the browser's words.
func permissionErr(p string) error {
	switch p {
	case PermGranted:
		return nil
	case permPrompt:
		return core.ErrGesture
	}
	return core.ErrDenied
}

// CheckPermission returns the error for the present permission, without a dialogue.
func (h *Handles) CheckPermission(ctx context.Context, mode string) error {
	p, err := QueryPermission(ctx, h.Root, mode)
	if err != nil {
		return err
	}
	return permissionErr(p)
}

// RequestPermission shows the browser's question. Without a gesture the browser shows none.
// It then rejects with a SecurityError, or leaves the permission at prompt.
func RequestPermission(ctx context.Context, handle jsx.Value, mode string) (string, error) {
	if !jsx.Has(handle, "requestPermission") {
		return permDenied, core.ErrReadOnly
	}
	v, err := Await(ctx, handle, "requestPermission", map[string]any{"mode": mode})
	if errors.Is(err, core.ErrDenied) {
		return permPrompt, core.ErrGesture
	}
	if err != nil {
		return permDenied, err
	}
	s, err := jsx.String(v, 64)
	if err == nil && s == permPrompt {
		err = core.ErrGesture
	}
	return s, err
}

// RequestWrite asks the user for write access.
func (h *Handles) RequestWrite(ctx context.Context) error {
	p, err := QueryPermission(ctx, h.Root, ModeWrite)
	if err == nil && p == permPrompt {
		p, err = RequestPermission(ctx, h.Root, ModeWrite)
	}
	if err != nil {
		return err
	}
	if p != PermGranted {
		return core.ErrDenied
	}
	h.mode = ModeWrite
	return nil
}

// Name returns the folder's own name, or "".
func (h *Handles) Name() string {
	name, err := StringOf(h.Root, "name")
	if err != nil {
		return ""
	}
	return name
}
