//go:build !js

package panel

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bailey-go/bailey/iframe"
)

type impl struct{ lists atomic.Pointer[lists] }

func (*impl) open(iframe.Element) error {
	return fmt.Errorf("panel: no page outside a browser: %w", errors.ErrUnsupported)
}

func (*impl) close() error { return nil }
