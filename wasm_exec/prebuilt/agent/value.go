//go:build js && wasm

package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

// limits are those of a value that a tool, an answer or an option of the page has.
var limits = protocol.JSONLimits{Bytes: 16 << 20, Depth: 64, Nodes: 1_000_000}

// tree returns a value of the page as JSON has it. JSON.stringify, and not this program, calls its getters and its toJSON.
// undefined is null.
func tree(v jsx.Value) (any, error) {
	if jsx.Nullish(v) {
		return nil, nil
	}
	text, err := page.Stringify(v)
	if err != nil {
		return nil, err
	}
	return protocol.ParseJSON(text, limits)
}

// parsed returns the value of a JSON text that this program wrote.
func parsed(text string) (jsx.Value, error) {
	return jsx.Call(page.Must(jsx.Get(jsx.Global(), "JSON")), "parse", text)
}

// thrown returns an error that a function of the page threw, whose message the model receives.
func thrown(err error) error {
	var e *jsx.Error
	if errors.As(err, &e) {
		return protocol.Errorf(protocol.ErrExecution, "", "", "%s", e.Message)
	}
	return err
}

// named returns an error with the name that agent.d.mts gives for its reason: that of page.Named, or the code of docs/errors.
func named(err error) error {
	if err = page.Named(err); err == nil {
		return nil
	}
	var done *jsx.Error
	if errors.As(err, &done) {
		if text := err.Error(); text != done.Error() { // it names the option, too
			return &jsx.Error{Name: done.Name, Message: text}
		}
		return err
	}
	var e *protocol.Error
	var m *sandbox.ModelError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &jsx.Error{Name: string(jsx.ErrNotFound), Message: err.Error()}
	case errors.As(err, &e):
		return &jsx.Error{Name: string(e.Code), Message: err.Error()}
	case errors.As(err, &m):
		return &jsx.Error{Name: string(protocol.ErrExecution), Message: err.Error()}
	}
	return err
}

// naming returns methods whose errors have names.
func naming(methods map[string]page.Method) map[string]page.Method {
	for key, m := range methods {
		run := m.Run
		m.Run = func(ctx context.Context, args []jsx.Value) (any, error) {
			v, err := run(ctx, args)
			return v, named(err)
		}
		methods[key] = m
	}
	return methods
}
