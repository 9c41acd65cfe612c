//go:build !js

package iframe

import (
	"errors"
	"fmt"
)

type elementImpl struct{}

func elementByID(id string) (Element, error) {
	return Element{}, fmt.Errorf("iframe: element #%s: no page outside a browser: %w", id, errors.ErrUnsupported)
}
