package guests

import (
	"context"
	"fmt"
	"sync"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/jsx"
)

// load returns the text of a file of the page.
func load(ctx context.Context, address string) (string, error) {
	signal, stop := jsx.Signal(ctx)
	defer stop()
	response, err := jsx.CallAwait(ctx, jsx.Global(), "fetch", address, map[string]any{"signal": signal})
	if err != nil {
		return "", fmt.Errorf("%s cannot be loaded: %w", address, err)
	}
	if ok, err := jsx.GetBool(response, "ok"); err != nil || !ok {
		return "", fmt.Errorf("%s is not there", address)
	}
	text, err := jsx.CallAwait(ctx, response, "text")
	if err != nil {
		return "", err
	}
	return jsx.String(text, maxScript)
}

// runner returns a function that runs code in an enclave, which is made when it is first called.
func runner(ctx context.Context) func(context.Context, string, any) (any, error) {
	var mu sync.Mutex
	var enclave *iframe.Enclave
	return func(run context.Context, code string, args any) (any, error) {
		mu.Lock()
		if enclave == nil {
			e, err := iframe.NewEnclave(ctx, iframe.EnclaveOptions{})
			if err != nil {
				mu.Unlock()
				return nil, err
			}
			enclave = e
			context.AfterFunc(ctx, func() { _ = e.Close() })
		}
		e := enclave
		mu.Unlock()
		result, err := e.Run(run, code, iframe.RunOptions{Args: args})
		if err != nil {
			return nil, err
		}
		return result.Value, nil
	}
}
