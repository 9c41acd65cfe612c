//go:build !js

package iframe

import (
	"errors"
	"fmt"
)

func describe(ParentDOMOptions, string) (any, error) {
	return nil, fmt.Errorf("iframe: dom_querySelector: there is no page here: %w", errors.ErrUnsupported)
}
