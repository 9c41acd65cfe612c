package iframe

import (
	"encoding/hex"

	"github.com/bailey-go/bailey/internal/jsx"
)

// nonce is 128 bits of the page's own randomness in hexadecimal. crypto/rand
// would give the same bytes, and cost every page that holds a document 50 KB of
// brotli.
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
