//go:build !js

package ui

import (
	"errors"
	"testing"

	"github.com/bailey-go/bailey/iframe"
)

func TestNativelyUnsupported(t *testing.T) {
	if s, err := New(iframe.Element{}, Options{}); s != nil || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("New: %v, %v", s, err)
	}
}
