//go:build !js

package iframe

import (
	"context"
	"errors"
	"testing"
)

func TestNativelyUnsupported(t *testing.T) {
	if _, err := NewDocument(context.Background(), Element{}, DocumentOptions{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("NewDocument: %v", err)
	}
	if _, err := ElementByID("x"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("ElementByID: %v", err)
	}
	if err := (Link{URL: "https://example.org"}).Open(context.Background()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Open: %v", err)
	}
	if _, err := NewDocument(context.Background(), Element{}, DocumentOptions{MaxImage: -1}); errors.Is(err, errors.ErrUnsupported) {
		t.Error("a bad option is not named natively")
	}
}
