//go:build !js

package iframe

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/protocol"
)

type appImpl struct{}

func newApp(context.Context, Element, protocol.App, AppOptions) (*App, error) {
	return nil, fmt.Errorf("iframe: an app needs a browser: %w", errors.ErrUnsupported)
}

func (appImpl) failure() error { return errors.ErrUnsupported }
func (appImpl) close() error   { return nil }
