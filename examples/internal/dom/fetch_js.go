package dom

import (
	"context"
	"fmt"
	"path"
	"syscall/js"
	"time"
)

// Await waits until a promise settles or ctx ends. It returns the value of the promise, its
// rejection as a js.Error, or the cause of ctx.
func Await(ctx context.Context, promise js.Value) (js.Value, error) {
	type settled struct {
		v   js.Value
		err error
	}
	done := make(chan settled, 1)
	var well, badly js.Func
	settle := func(s settled) {
		well.Release()
		badly.Release()
		done <- s
	}
	well = js.FuncOf(func(_ js.Value, args []js.Value) any { settle(settled{v: args[0]}); return nil })
	badly = js.FuncOf(func(_ js.Value, args []js.Value) any {
		settle(settled{err: js.Error{Value: args[0]}})
		return nil
	})
	promise.Call("then", well, badly)
	select {
	case s := <-done:
		return s.v, s.err
	case <-ctx.Done():
		return js.Value{}, context.Cause(ctx)
	}
}

// Yield lets the browser handle events. Long work calls it after some milliseconds, because a page shows
// nothing and takes no input until the program waits.
func Yield(ctx context.Context) error {
	select {
	case <-time.After(time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Fetch returns a file of this page's own server. The name is relative to the page.
func Fetch(ctx context.Context, name string) ([]byte, error) {
	response, err := Await(ctx, js.Global().Call("fetch", name))
	if err != nil {
		return nil, fmt.Errorf("%s can't be fetched: there is no network, and no copy of it here", name)
	}
	if !response.Get("ok").Bool() {
		return nil, fmt.Errorf("%s: the server answered %d", name, response.Get("status").Int())
	}
	return Bytes(ctx, response)
}

// Bytes returns the content of a response, a blob or a file.
func Bytes(ctx context.Context, from js.Value) ([]byte, error) {
	buffer, err := Await(ctx, from.Call("arrayBuffer"))
	if err != nil {
		return nil, err
	}
	array := js.Global().Get("Uint8Array").New(buffer)
	data := make([]byte, array.Length())
	js.CopyBytesToGo(data, array)
	return data, nil
}

// Chosen returns the files that the user chose in the input with the id, and empties the input, so
// that the same files can be chosen again.
func Chosen(id string) []js.Value {
	list := Each(js.Global().Get("Array").Call("from", Element(id).Get("files")))
	SetValue(id, "")
	return list
}

// Download saves data by the browser's downloads, under the last part of name.
func Download(name string, data []byte) {
	array := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(array, data)
	url := js.Global().Get("URL")
	address := url.Call("createObjectURL", js.Global().Get("Blob").New([]any{array}))
	link := Create("a", "")
	link.Set("href", address)
	link.Set("download", path.Base(name))
	link.Call("click")
	url.Call("revokeObjectURL", address)
}

// Header returns the value of one of this page's response headers, "" if there is none or the
// request fails.
func Header(ctx context.Context, name string) string {
	response, err := Await(ctx, js.Global().Call("fetch", js.Global().Get("location").Get("pathname"), map[string]any{"cache": "no-store"}))
	if err != nil {
		return "" // a request that needs the network reports the failure
	}
	if v := response.Get("headers").Call("get", name); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}
