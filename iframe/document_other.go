//go:build !js

package iframe

import (
	"context"
	"errors"
	"fmt"
)

type documentImpl struct{}

func newDocument(_ context.Context, _ Element, opts DocumentOptions) (*Document, error) {
	if _, err := opts.withDefaults(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("iframe: a document needs a browser; natively use Srcdoc: %w", errors.ErrUnsupported)
}

func (documentImpl) flush(context.Context) error { return errors.ErrUnsupported }
func (documentImpl) currentHeight() int          { return 0 }
func (documentImpl) failure() error              { return errors.ErrUnsupported }
func (documentImpl) close() error                { return nil }

func openLink(context.Context, string) error { return errors.ErrUnsupported }
