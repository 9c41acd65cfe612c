//go:build js && wasm

package main

import (
	"context"
	"fmt"
	"strconv"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/markdown"
)

// documents adds the functions for the document.* benches. Each returns a promise.
func documents(api js.Value, renderer *markdown.Renderer) {
	var kept *iframe.Document
	open := func(parent js.Value) (*iframe.Document, error) {
		return iframe.NewDocument(context.Background(), iframe.ElementOf(parent), iframe.DocumentOptions{Renderer: renderer})
	}
	// create(parent) returns the milliseconds until a document is ready. Then it closes the
	// document.
	api.Set("create", promise(func(args []js.Value) (any, error) {
		start := time.Now()
		d, err := open(args[0])
		if err != nil {
			return nil, err
		}
		took := time.Since(start)
		return float64(took.Microseconds()) / 1000, d.Close()
	}))
	// sections(parent, text, n) opens a document with n sections, which stays open for the
	// measurement of its memory.
	api.Set("sections", promise(func(args []js.Value) (any, error) {
		d, err := open(args[0])
		if err != nil {
			return nil, err
		}
		kept = d
		for i := range args[2].Int() {
			s := d.Section(strconv.Itoa(i))
			if _, err := s.WriteString(args[1].String()); err != nil {
				return nil, err
			}
			if err := s.Close(); err != nil {
				return nil, err
			}
		}
		return nil, d.Flush(context.Background())
	}))
	api.Set("drop", promise(func([]js.Value) (any, error) {
		if kept == nil {
			return nil, nil
		}
		err := kept.Close()
		kept = nil
		return nil, err
	}))
	// heights(parent, n) writes a line that makes the document taller, n times. It returns the
	// milliseconds from each write until the frame has its new height.
	api.Set("heights", promise(func(args []js.Value) (any, error) {
		d, err := open(args[0])
		if err != nil {
			return nil, err
		}
		defer d.Close()
		s := d.Section("a")
		frame := args[0].Call("querySelector", "iframe")
		var list []any
		for i := range args[1].Int() {
			before := frame.Get("offsetHeight").Int()
			start := time.Now()
			if _, err := fmt.Fprintf(s, "Line %d of a stream.\n\n", i); err != nil {
				return nil, err
			}
			if err := d.Flush(context.Background()); err != nil {
				return nil, err
			}
			if after := frame.Get("offsetHeight").Int(); after <= before {
				return nil, fmt.Errorf("the frame stays at %d px after line %d", after, i)
			}
			list = append(list, float64(time.Since(start).Microseconds())/1000)
			time.Sleep(time.Duration(3+i%17) * time.Millisecond) // at different times within a frame
		}
		return list, nil
	}))
}

// promise returns a JavaScript function that returns a promise for the result of fn.
func promise(fn func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		var executor js.Func
		executor = js.FuncOf(func(_ js.Value, settle []js.Value) any {
			go func() {
				defer executor.Release()
				v, err := fn(args)
				if err != nil {
					settle[1].Invoke(err.Error())
					return
				}
				settle[0].Invoke(v)
			}()
			return nil
		})
		return js.Global().Get("Promise").New(executor)
	})
}
