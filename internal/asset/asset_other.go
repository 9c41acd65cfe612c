//go:build !js

package asset

import (
	"context"
	"errors"
	"fmt"
)

// Text returns an error that matches [errors.ErrUnsupported]: outside a browser there is no page.
func Text(_ context.Context, address string, _ int) (string, error) {
	return "", fmt.Errorf("%s: %w outside a browser", address, errors.ErrUnsupported)
}
