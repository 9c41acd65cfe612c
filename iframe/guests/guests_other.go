//go:build !js

package guests

import (
	"context"
	"errors"
	"fmt"
)

func load(context.Context, string) (string, error) {
	return "", fmt.Errorf("guests: %w outside a browser", errors.ErrUnsupported)
}

func runner(context.Context) func(context.Context, string, any) (any, error) {
	return func(context.Context, string, any) (any, error) {
		return nil, fmt.Errorf("guests: %w outside a browser", errors.ErrUnsupported)
	}
}
