package asset

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Text returns the text of a file of the page, at most max bytes. The address may be relative to the page.
func Text(ctx context.Context, address string, max int) (string, error) {
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
	return jsx.String(text, max)
}
