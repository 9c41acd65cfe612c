package jsx

import (
	"errors"
	"testing"
)

// The brand check of DOMException throws for an ordinary error; describing that
// one must not check it again.
func TestOrdinaryErrorIsDescribed(t *testing.T) {
	_, err := Call(Global(), "decodeURIComponent", "%")
	var e *Error
	if !errors.As(err, &e) || e.Name != "URIError" {
		t.Fatalf("got %v", err)
	}
}
