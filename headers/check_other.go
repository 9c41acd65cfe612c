//go:build !js

package headers

import (
	"context"
	"errors"
	"fmt"
)

func check(context.Context) ([]Finding, error) {
	return nil, fmt.Errorf("headers: Check runs in a page: %w", errors.ErrUnsupported)
}
