//go:build js && wasm

// Wasm is the program under test of the benches: Bailey as a page uses it. It puts its functions on
// the page's global object.
package main

import (
	"fmt"
	"os"
	"syscall/js"

	"github.com/bailey-go/bailey/iframe/markdown"
)

func main() {
	renderer, err := markdown.New(markdown.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var (
		stream *markdown.Stream
		set    js.Value
		drop   js.Value
	)
	function := func(fn func(args []js.Value) any) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any { return fn(args) })
	}
	api := js.Global().Get("Object").New()
	api.Set("render", function(func(args []js.Value) any {
		html, _, err := renderer.Render([]byte(args[0].String()))
		if err != nil {
			panic(err)
		}
		return html.String()
	}))
	api.Set("open", function(func(args []js.Value) any {
		stream = renderer.NewStream()
		set, drop = args[0], args[1]
		return nil
	}))
	api.Set("write", function(func(args []js.Value) any {
		if _, err := stream.Write([]byte(args[0].String())); err != nil {
			panic(err)
		}
		return nil
	}))
	api.Set("paint", function(func([]js.Value) any {
		for _, p := range stream.Patches() {
			if p.Remove {
				drop.Invoke(p.Key)
				continue
			}
			set.Invoke(p.Key, p.HTML.String())
		}
		return nil
	}))
	api.Set("close", function(func([]js.Value) any {
		if err := stream.Close(); err != nil {
			panic(err)
		}
		return nil
	}))
	documents(api, renderer)
	enclaves(api)
	folders(api)
	workers(api)
	boxes(api)
	pauses(api)
	js.Global().Call("baileyReady", api)
	select {}
}
