// Package progress carries a listener for the progress of a call in its context. Package mcp sends
// notifications with it, without a name in the API of package sandbox.
package progress

import "context"

type key struct{}

// With returns a context whose calls report their lines to do, which must return at once.
func With(ctx context.Context, do func(text string)) context.Context {
	return context.WithValue(ctx, key{}, do)
}

// Report reports a line.
func Report(ctx context.Context, text string) {
	if do, ok := ctx.Value(key{}).(func(string)); ok {
		do(text)
	}
}
