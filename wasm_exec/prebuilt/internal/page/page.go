//go:build js && wasm

package page

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/typescript"
)

// apiKey is the environment variable with the key of a symbol in the global registry. Under
// this symbol the page waits for the functions.
const apiKey = "BAILEY_API"

// Serve gives the page the API, and the functions that more returns, by name. It returns only if it fails.
func Serve(ctx context.Context, more func(a *API) map[string]Method) error {
	key := os.Getenv(apiKey)
	if key == "" {
		return errors.New("nobody waits for the API: start this program with load() of api.mjs")
	}
	renderer, err := markdown.New(markdown.Options{})
	if err != nil {
		return err
	}
	a := &API{ctx: ctx, scope: jsx.NewScope(jsx.ScopeOptions{}), renderer: renderer}
	a.removeTypes()
	folders, err := a.folders()
	if err != nil {
		return err
	}
	methods := map[string]Method{
		"document": {Run: a.document},
		"markdown": {Quick: true, Run: a.markdown},
		"enclave":  {Run: a.enclave},
		"run":      {Run: a.run},
	}
	if more != nil {
		maps.Copy(methods, more(a))
	}
	functions, err := a.Object(a.scope, methods)
	if err == nil {
		err = jsx.Set(functions, "folder", folders)
	}
	if err != nil {
		return err
	}
	symbol, err := jsx.Call(Must(jsx.Get(jsx.Global(), "Symbol")), "for", key)
	if err != nil {
		return err
	}
	give, err := jsx.Call(Must(jsx.Get(jsx.Global(), "Reflect")), "get", jsx.Global(), symbol)
	if err != nil {
		return err
	}
	if _, err := jsx.Invoke(give, functions); err != nil {
		return fmt.Errorf("hand the API over: %w", err)
	}
	select {}
}

// Must returns v. It is for built-ins that every page has, and panics if one is missing.
func Must(v jsx.Value, err error) jsx.Value {
	if err != nil {
		panic(err)
	}
	return v
}

// Method is a function of the API, whose result settles a promise. A quick method runs inside
// the call, so that calls take effect in their order. Other methods may wait, and run on a
// goroutine of their own.
type Method struct {
	Quick bool
	Run   func(ctx context.Context, args []jsx.Value) (any, error)
	calls *sync.WaitGroup // counts the calls under way, if it is set
}

// API is the program's side of the API.
type API struct {
	ctx      context.Context
	scope    *jsx.Scope
	renderer *markdown.Renderer
	types    typescript.Stripper

	mu   sync.Mutex
	pool *iframe.EnclavePool // of run, made by its first call
	open []openFolder
}

// Scope returns the scope of the program, which is never closed.
func (a *API) Scope() *jsx.Scope { return a.scope }

// Object returns a JavaScript object with methods. Its callbacks live as long as scope.
func (a *API) Object(scope *jsx.Scope, methods map[string]Method) (jsx.Value, error) {
	functions := map[string]any{}
	for name, m := range methods {
		f, _, err := scope.Function(func(args []jsx.Value) any {
			run := m.Run
			if m.Quick {
				result, err := m.Run(a.ctx, args)
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

// Text returns an argument that must be a text. what names it in the error.
func Text(args []jsx.Value, i int, what string) (string, error) {
	if i >= len(args) {
		return "", fmt.Errorf("%s is missing", what)
	}
	s, err := jsx.String(args[i], maxText)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return s, nil
}

func (a *API) markdown(_ context.Context, args []jsx.Value) (any, error) {
	source, err := Text(args, 0, "markdown(text): text")
	if err != nil {
		return nil, err
	}
	html, _, err := a.renderer.Render([]byte(source))
	if err != nil {
		return nil, err
	}
	return html.String(), nil
}
