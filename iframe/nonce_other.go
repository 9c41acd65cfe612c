//go:build !js

package iframe

import (
	"crypto/rand"
	"encoding/hex"
)

func nonce() (string, error) {
	b := make([]byte, 16)
	_, err := rand.Read(b)
	return hex.EncodeToString(b), err
}
