package iframe

import (
	"encoding/hex"

	"github.com/bailey-go/bailey/internal/jsx"
)

// nonce returns 128 random bits from the page's crypto.getRandomValues, in hexadecimal.
// crypto/rand would return the same bytes, but would add 50 KB of brotli to every page that
// holds a document.
func nonce() (string, error) {
	source, err := jsx.Get(jsx.Global(), "crypto")
	if err != nil {
		return "", err
	}
	array, err := jsx.NewGlobal("Uint8Array", 16)
	if err != nil {
		return "", err
	}
	if _, err := jsx.Call(source, "getRandomValues", array); err != nil {
		return "", err
	}
	b, err := jsx.Bytes(array, 16)
	return hex.EncodeToString(b), err
}
