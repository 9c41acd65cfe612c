//go:build !js

package fetch

import (
	"context"
	"errors"

	"github.com/bailey-go/bailey/protocol"
)

// Browser is a transport over the page's fetch. Natively there is none: its error is
// [errors.ErrUnsupported]; see package nethttp.
func Browser() Transport {
	return TransportFunc(func(context.Context, Request) (*Response, error) {
		return nil, protocol.Errorf(protocol.ErrExecution, "fetch", "", "this is no page; use fetch/nethttp: %w", errors.ErrUnsupported)
	})
}
