//go:build !js

package fetch

import (
	"context"
	"errors"

	"github.com/bailey-go/bailey/protocol"
)

// Browser returns a transport over the page's fetch. Natively its Do returns
// [errors.ErrUnsupported]. Use package nethttp there.
func Browser() Transport {
	return TransportFunc(func(context.Context, Request) (*Response, error) {
		return nil, protocol.Errorf(protocol.ErrExecution, "fetch", "", "this is no page; use fetch/nethttp: %w", errors.ErrUnsupported)
	})
}
