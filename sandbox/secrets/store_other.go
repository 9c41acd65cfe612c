//go:build !js

package secrets

import (
	"context"
	"errors"

	"github.com/bailey-go/bailey/protocol"
)

func openKeeper(_ context.Context, name string) (keeper, error) {
	return nil, protocol.Errorf(protocol.ErrSession, "secrets", name, "there is no browser to keep secrets in; use a Store in memory: %w", errors.ErrUnsupported)
}
