//go:build js && wasm

// Wasm is the Go program that the benches put on their page: it gives page
// scripts what only Go code can call. Never part of what users import.
package main

import (
	"fmt"
	"os"
	"syscall/js"

	"github.com/bailey-go/bailey/iframe/markdown"
)

func main() {
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m := &streaming{renderer: r}
	js.Global().Call("baileyReady", js.ValueOf(map[string]any{
		"render": function(func(args []js.Value) any {
			h, _, err := r.Render([]byte(args[0].String()))
			if err != nil {
				return err.Error()
			}
			return h.String()
		}),
		"open":  function(m.open),
		"write": function(m.write),
		"paint": function(m.paint),
		"close": function(m.close),
	}))
	select {}
}

func function(fn func(args []js.Value) any) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any { return fn(args) })
}

// streaming is one stream at a time.
type streaming struct {
	renderer  *markdown.Renderer
	stream    *markdown.Stream
	set, drop js.Value
}

func (m *streaming) open(args []js.Value) any {
	m.stream = m.renderer.NewStream()
	m.set, m.drop = args[0], args[1]
	return nil
}

func (m *streaming) write(args []js.Value) any {
	m.stream.Write([]byte(args[0].String()))
	return nil
}

func (m *streaming) paint([]js.Value) any {
	for _, p := range m.stream.Patches() {
		if p.Op == markdown.Remove {
			m.drop.Invoke(p.Key)
		} else {
			m.set.Invoke(p.Key, p.HTML.String())
		}
	}
	return nil
}

func (m *streaming) close([]js.Value) any {
	m.stream.Close()
	return nil
}
