package web

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// natives are functions of the browser, combined so that loops over many handles run inside
// the browser and return packed results. No script is made for this, because a script would
// need an exception in the page's Content-Security-Policy.
type natives struct {
	mapOver jsx.Method // Array.prototype.map
	joinAll jsx.Method // Array.prototype.join
	flatMap jsx.Method // Array.prototype.flatMap
	filter  jsx.Method // Array.prototype.filter
	all     jsx.Value  // Promise.all, bound
	settled jsx.Value  // Promise.allSettled, bound
	gather  jsx.Value  // Array.fromAsync, bound; undefined if the browser has none
	floats  jsx.Value  // Float64Array.from, bound

	arrayFrom    jsx.Value // Array.from, bound
	objectValues jsx.Value // Object.values
	isObject     jsx.Value // Object.isExtensible: false for a value that is no object

	getFile                jsx.Value // uncurried, for mapping over handles
	createWritable         jsx.Value // uncurried, to follow the promise of a handle
	handleName, handleKind jsx.Value
	fileSize, fileTime     jsx.Value
}

var nativeOnce = sync.OnceValues(newNatives)

func newNatives() (n *natives, err error) {
	n = new(natives)
	g := jsx.Global()
	look := func(path string) jsx.Value {
		v, lerr := jsx.Lookup(g, path)
		if err == nil && lerr != nil {
			err = lerr
		}
		return v
	}
	bound := func(path, owner string) jsx.Value {
		fn := look(path)
		if err != nil || jsx.Nullish(fn) {
			return jsx.Undefined()
		}
		v, berr := jsx.Call(fn, "bind", look(owner))
		err = errors.Join(err, berr)
		return v
	}
	// f.call bound to a function takes the receiver as its first argument, and map passes
	// the element as the first argument.
	call := look("Function.prototype.call")
	uncurry := func(fn jsx.Value) jsx.Value {
		if err != nil {
			return jsx.Undefined()
		}
		v, berr := jsx.Call(call, "bind", fn)
		err = errors.Join(err, berr)
		return v
	}
	getter := func(class, name string) jsx.Value {
		proto := look(class + ".prototype")
		if err != nil {
			return jsx.Undefined()
		}
		d, derr := jsx.Call(look("Object"), "getOwnPropertyDescriptor", proto, name)
		if derr != nil || jsx.Nullish(d) {
			err = errors.Join(err, derr, core.ErrUnsupported)
			return jsx.Undefined()
		}
		get, gerr := jsx.Get(d, "get")
		err = errors.Join(err, gerr)
		return uncurry(get)
	}
	if n.mapOver, err = jsx.NewMethod("Array.prototype.map"); err != nil {
		return nil, err
	}
	if n.joinAll, err = jsx.NewMethod("Array.prototype.join"); err != nil {
		return nil, err
	}
	if n.flatMap, err = jsx.NewMethod("Array.prototype.flatMap"); err != nil {
		return nil, err
	}
	if n.filter, err = jsx.NewMethod("Array.prototype.filter"); err != nil {
		return nil, err
	}
	n.arrayFrom = bound("Array.from", "Array")
	n.objectValues, n.isObject = look("Object.values"), look("Object.isExtensible")
	n.all, n.settled = bound("Promise.all", "Promise"), bound("Promise.allSettled", "Promise")
	if jsx.Supported("Array.fromAsync") {
		n.gather = bound("Array.fromAsync", "Array")
	}
	n.floats = bound("Float64Array.from", "Float64Array")
	n.getFile = uncurry(look("FileSystemFileHandle.prototype.getFile"))
	n.createWritable = uncurry(look("FileSystemFileHandle.prototype.createWritable"))
	n.handleName, n.handleKind = getter("FileSystemHandle", "name"), getter("FileSystemHandle", "kind")
	n.fileSize, n.fileTime = getter("Blob", "size"), getter("File", "lastModified")
	if err != nil {
		return nil, err
	}
	return n, nil
}

// strings returns a property of many handles. The browser joins the values to one string,
// which is split here: two calls instead of two for each handle. No name contains a slash.
func (n *natives) strings(list, getter jsx.Value) ([]string, error) {
	names, err := n.mapOver.Call(list, getter)
	if err != nil {
		return nil, err
	}
	all, err := n.joinAll.Call(names, "/")
	if err != nil {
		return nil, err
	}
	s, err := jsx.String(all, 0)
	if err != nil || s == "" {
		return nil, err
	}
	return strings.Split(s, "/"), nil
}

// described returns the names of many handles, and which are folders.
func (n *natives) described(list jsx.Value) (names []string, isDir []bool, err error) {
	if names, err = n.strings(list, n.handleName); err != nil {
		return nil, nil, WebErr(err)
	}
	kinds, err := n.strings(list, n.handleKind)
	if err != nil {
		return nil, nil, WebErr(err)
	}
	if len(kinds) != len(names) {
		return nil, nil, core.ErrBadName
	}
	isDir = make([]bool, len(kinds))
	for i, k := range kinds {
		isDir[i] = k == "directory"
	}
	return names, isDir, nil
}

// numbers returns a numeric property of many objects.
func (n *natives) numbers(list, getter jsx.Value, count int) ([]float64, error) {
	values, err := n.mapOver.Call(list, getter)
	if err != nil {
		return nil, err
	}
	packed, err := jsx.Invoke(n.floats, values)
	if err != nil {
		return nil, err
	}
	raw, err := jsx.Bytes(packed, 8*count)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(raw)/8)
	for i := range out {
		var bits uint64
		for k := 7; k >= 0; k-- {
			bits = bits<<8 | uint64(raw[8*i+k])
		}
		out[i] = math.Float64frombits(bits)
	}
	return out, nil
}

// WebErr returns the error of this package for an error of the browser.
func WebErr(err error) error {
	var e *jsx.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch jsx.Code(e.Name) {
	case jsx.ErrNotFound:
		return core.ErrNotExist
	case jsx.ErrTypeMismatch:
		return core.ErrNotDir // the caller knows which kind it expected
	case jsx.ErrInvalidModification:
		return core.ErrNotEmpty
	case jsx.ErrQuota:
		return core.ErrQuota
	case jsx.ErrNotAllowed:
		return core.ErrRevoked
	case jsx.ErrSecurity:
		return core.ErrDenied
	case jsx.ErrLocked:
		return core.ErrBusy
	case jsx.ErrNotReadable, jsx.ErrInvalidState:
		return core.ErrConflict
	case jsx.ErrType:
		return core.ErrBadName
	}
	return err
}

// Await calls a method, waits for its promise and returns the result.
func Await(ctx context.Context, v jsx.Value, method string, args ...any) (jsx.Value, error) {
	r, err := jsx.CallAwait(ctx, v, method, args...)
	if err != nil {
		if cerr := context.Cause(ctx); cerr != nil {
			return r, cerr
		}
		return r, WebErr(err)
	}
	return r, nil
}

func AwaitCall(ctx context.Context, fn jsx.Value, args ...any) (jsx.Value, error) {
	p, err := jsx.Invoke(fn, args...)
	if err == nil {
		p, err = jsx.Await(ctx, p)
	}
	if err != nil {
		if cerr := context.Cause(ctx); cerr != nil {
			return p, cerr
		}
		return p, WebErr(err)
	}
	return p, nil
}

func millis(ms float64) time.Time { return time.UnixMilli(int64(ms)) }

func StringOf(v jsx.Value, name string) (string, error) {
	s, err := jsx.Get(v, name)
	if err != nil {
		return "", err
	}
	return jsx.String(s, 4096)
}

func NumberOf(v jsx.Value, name string) (float64, error) {
	n, err := jsx.Get(v, name)
	if err != nil {
		return 0, err
	}
	return jsx.Finite(n)
}
