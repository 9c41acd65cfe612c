//go:build !js

package guests

import (
	"context"
	"errors"
	"fmt"
)

func runner(context.Context) func(context.Context, string, any) (any, error) {
	return func(context.Context, string, any) (any, error) {
		return nil, fmt.Errorf("guests: %w outside a browser", errors.ErrUnsupported)
	}
}
