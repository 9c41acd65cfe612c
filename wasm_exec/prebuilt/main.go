//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/jsx"
)

// apiKey is the environment variable with the key of a symbol in the global registry. Under
// this symbol the page waits for the functions.
const apiKey = "BAILEY_API"

func main() {
	err := run(context.Background()) // returns only if it fails
	fmt.Fprintln(os.Stderr, "bailey:", err)
	os.Exit(1)
}

func run(ctx context.Context) error {
	key := os.Getenv(apiKey)
	if key == "" {
		return errors.New("nobody waits for the API: start this program with load() of api.mjs")
	}
	renderer, err := markdown.New(markdown.Options{})
	if err != nil {
		return err
	}
	a := &api{ctx: ctx, scope: jsx.NewScope(jsx.ScopeOptions{}), renderer: renderer}
	folders, err := a.folders()
	if err != nil {
		return err
	}
	functions, err := a.object(a.scope, map[string]method{
		"document": {run: a.document},
		"markdown": {quick: true, run: a.markdown},
		"enclave":  {run: a.enclave},
		"run":      {run: a.run},
	})
	if err == nil {
		err = jsx.Set(functions, "folder", folders)
	}
	if err != nil {
		return err
	}
	symbol, err := jsx.Call(must(jsx.Get(jsx.Global(), "Symbol")), "for", key)
	if err != nil {
		return err
	}
	give, err := jsx.Call(must(jsx.Get(jsx.Global(), "Reflect")), "get", jsx.Global(), symbol)
	if err != nil {
		return err
	}
	if _, err := jsx.Invoke(give, functions); err != nil {
		return fmt.Errorf("hand the API over: %w", err)
	}
	select {}
}

// must returns v. It is for built-ins that every page has, and panics if one is missing.
func must(v jsx.Value, err error) jsx.Value {
	if err != nil {
		panic(err)
	}
	return v
}

// method is a function of the API, whose result settles a promise. A quick method runs inside
// the call, so that calls take effect in their order. Other methods may wait, and run on a
// goroutine of their own.
type method struct {
	quick bool
	run   func(ctx context.Context, args []jsx.Value) (any, error)
	calls *sync.WaitGroup // counts the calls under way, if it is set
}

type api struct {
	ctx      context.Context
	scope    *jsx.Scope
	renderer *markdown.Renderer

	mu   sync.Mutex
	pool *iframe.EnclavePool // of run, made by its first call
}

// object returns a JavaScript object with methods. Its callbacks live as long as scope.
func (a *api) object(scope *jsx.Scope, methods map[string]method) (jsx.Value, error) {
	functions := map[string]any{}
	for name, m := range methods {
		f, _, err := scope.Function(func(args []jsx.Value) any {
			run := m.run
			if m.quick {
				result, err := m.run(a.ctx, args)
				run = func(context.Context, []jsx.Value) (any, error) { return result, err }
			}
			if m.calls != nil {
				m.calls.Add(1)
				counted := run
				run = func(ctx context.Context, args []jsx.Value) (any, error) {
					defer m.calls.Done()
					return counted(ctx, args)
				}
			}
			p, err := jsx.NewPromise(a.ctx, a.scope, func(ctx context.Context) (any, error) { return run(ctx, args) })
			if err != nil {
				if m.calls != nil {
					m.calls.Done()
				}
				return nil
			}
			return p
		})
		if err != nil {
			return jsx.Value{}, err
		}
		functions[name] = f
	}
	return jsx.ToJS(functions)
}

// maxText bounds the text that one call may pass in, in bytes.
const maxText = 64 << 20

func text(args []jsx.Value, i int, what string) (string, error) {
	if i >= len(args) {
		return "", fmt.Errorf("%s is missing", what)
	}
	s, err := jsx.String(args[i], maxText)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return s, nil
}

func (a *api) markdown(_ context.Context, args []jsx.Value) (any, error) {
	source, err := text(args, 0, "markdown(text): text")
	if err != nil {
		return nil, err
	}
	html, _, err := a.renderer.Render([]byte(source))
	if err != nil {
		return nil, err
	}
	return html.String(), nil
}
