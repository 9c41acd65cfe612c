//go:build !js

package typescript

import (
	"context"
	_ "embed"
)

//go:embed web/guests/typescript.js
var library string

// Library returns the embedded library.
func Library(context.Context) (string, error) { return library, nil }
