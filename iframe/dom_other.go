//go:build !js

package iframe

import (
	"context"
	"errors"
	"fmt"
)

func connectionsClosed(context.Context, string) error {
	return fmt.Errorf("iframe: an enclave needs a browser: %w", errors.ErrUnsupported)
}
