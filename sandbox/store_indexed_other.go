//go:build !js

package sandbox

import (
	"context"
	"errors"
	"fmt"
)

func openIndexed(context.Context, string) (textFiles, error) {
	return nil, fmt.Errorf("sandbox: IndexedDB needs a browser: %w", errors.ErrUnsupported)
}

// lockAcross does nothing, since there are no other tabs natively.
func lockAcross(context.Context, string) (func(), error) { return func() {}, nil }
