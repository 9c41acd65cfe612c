//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall/js"
	"unicode/utf8"
)

func element(id string) js.Value { return document.Call("getElementById", id) }

func create(tag, text string) js.Value {
	el := document.Call("createElement", tag)
	el.Set("textContent", text)
	return el
}

// on calls fn for each event, on a goroutine of its own, because a callback of the browser must not
// wait.
func on(target js.Value, event string, fn func()) {
	target.Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any {
		if event == "submit" {
			args[0].Call("preventDefault")
		}
		go fn()
		return nil
	}))
}

func button(parent js.Value, text, class string, fn func()) js.Value {
	b := create("button", text)
	b.Set("type", "button")
	b.Set("className", class)
	on(b, "click", fn)
	parent.Call("append", b)
	return b
}

func status(text string)          { element("status").Set("textContent", text) }
func enable(id string, on bool)   { element(id).Set("disabled", !on) }
func hide(id string, hidden bool) { element(id).Set("hidden", hidden) }

// say shows an error text. An empty text hides it.
func say(text string) {
	element("problem").Set("textContent", text)
	hide("problem", text == "")
}

// insert adds a word to the end of the pipe.
func insert(word string) {
	line := element("line")
	text := line.Get("value").String()
	if text != "" && !strings.HasSuffix(text, " ") {
		text += " "
	}
	line.Set("value", text+word)
	line.Call("focus")
}

// await waits until a promise settles or ctx ends. It returns the value of the promise or an error.
func await(ctx context.Context, promise js.Value) (js.Value, error) {
	type result struct {
		v   js.Value
		err error
	}
	done := make(chan result, 1)
	var good, bad js.Func
	good = js.FuncOf(func(_ js.Value, args []js.Value) any { done <- result{v: args[0]}; return nil })
	bad = js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- result{err: errors.New(js.Global().Get("String").Invoke(args[0]).String())}
		return nil
	})
	promise.Call("then", good, bad)
	select {
	case r := <-done:
		good.Release()
		bad.Release()
		return r.v, r.err
	case <-ctx.Done():
		return js.Value{}, ctx.Err()
	}
}

// fetch returns a file of this page's folder on the server.
func fetch(ctx context.Context, name string) ([]byte, error) {
	res, err := await(ctx, js.Global().Call("fetch", name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !res.Get("ok").Bool() {
		return nil, fmt.Errorf("%s: the server says %d; make wasitools builds the tools", name, res.Get("status").Int())
	}
	return content(ctx, res)
}

// content returns the bytes of a response or a file.
func content(ctx context.Context, body js.Value) ([]byte, error) {
	buf, err := await(ctx, body.Call("arrayBuffer"))
	if err != nil {
		return nil, err
	}
	array := js.Global().Get("Uint8Array").New(buf)
	data := make([]byte, array.Get("length").Int())
	js.CopyBytesToGo(data, array)
	return data, nil
}

// chosen returns the files chosen in an input, and empties the input.
func chosen(id string) (files []js.Value) {
	input := element(id)
	list := input.Get("files")
	for i := range list.Get("length").Int() {
		files = append(files, list.Index(i))
	}
	input.Set("value", "")
	return files
}

// download saves bytes by the browser's downloads, under the last part of name.
func download(name string, data []byte) {
	array := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(array, data)
	url := js.Global().Get("URL")
	address := url.Call("createObjectURL", js.Global().Get("Blob").New([]any{array}))
	link := create("a", "")
	link.Set("href", address)
	link.Set("download", name[strings.LastIndexByte(name, '/')+1:])
	link.Call("click")
	url.Call("revokeObjectURL", address)
}

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// shown returns the text of an output for the page: up to 200 kB of text, or the first 2 KiB of
// binary data in hexadecimal.
func shown(data []byte) string {
	const most = 200_000
	head := data[:min(len(data), most)]
	for i := 0; i < 3 && len(head) > 0 && !utf8.Valid(head); i++ {
		head = head[:len(head)-1] // an incomplete character
	}
	if utf8.Valid(head) && !strings.Contains(string(head), "\x00") {
		if len(data) > most {
			return string(head) + "\n… " + size(int64(len(data))) + " in all"
		}
		return string(head)
	}
	var b strings.Builder
	for at := 0; at < min(len(data), 2048); at += 16 {
		row := data[at:min(at+16, len(data))]
		text := strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '.'
			}
			return r
		}, latin(row))
		fmt.Fprintf(&b, "%08x  %-47s  %s\n", at, fmt.Sprintf("% x", row), text)
	}
	if len(data) > 2048 {
		b.WriteString("… " + size(int64(len(data))) + " in all")
	}
	return b.String()
}

func latin(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}
