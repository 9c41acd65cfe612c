//go:build !js

package secrets_test

import (
	"errors"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

func TestOpenStoreWithoutABrowser(t *testing.T) {
	if _, err := secrets.OpenStore(t.Context(), ""); !errors.Is(err, protocol.ErrInvalidParams) {
		t.Errorf("without a name: %v", err)
	}
	if _, err := secrets.OpenStore(t.Context(), "x"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without a browser: %v", err)
	}
}
