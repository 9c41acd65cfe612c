package guests

import (
	"context"
	"sync"

	"github.com/bailey-go/bailey/iframe"
)

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
