//go:build !js

package iframe

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/protocol"
)

type poolImpl struct{}

func newPool(context.Context, PoolOptions) (*EnclavePool, error) {
	return nil, fmt.Errorf("iframe: an enclave needs a browser: %w", errors.ErrUnsupported)
}

func (*poolImpl) run(context.Context, string, RunOptions) (*protocol.RunResult, error) {
	return nil, errors.ErrUnsupported
}
func (*poolImpl) snapshot() PoolStats { return PoolStats{} }
func (*poolImpl) close() error        { return nil }
