//go:build !js

package worker

import (
	"context"
	"errors"
	"fmt"
)

type poolImpl struct{}

type variantImpl struct{}

func (*variantImpl) set(context.Context, *Pool, *variant, []byte) error { return nil }
func (*variantImpl) release(*Pool, *variant)                            {}

func (*poolImpl) start(context.Context, *Pool) error {
	return fmt.Errorf("worker: a pool needs a browser: %w", errors.ErrUnsupported)
}
func (*poolImpl) features() Features                      { return Features{Missing: "there is no browser"} }
func (*poolImpl) stats() PoolStats                        { return PoolStats{} }
func (*poolImpl) close() error                            { return nil }
func (*poolImpl) compile(context.Context, *variant) error { return errors.ErrUnsupported }
func (*poolImpl) begin(*Cmd) error                        { return errors.ErrUnsupported }
