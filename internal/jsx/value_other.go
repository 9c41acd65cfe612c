//go:build !js

package jsx

import (
	"context"
	"fmt"
	"os"
	"runtime"
)

// Value is a JavaScript value. Natively there are none. The type exists so that structs with one
// compile everywhere.
type Value struct{ _ [0]func() }

func reportError(err error) { fmt.Fprintln(os.Stderr, err) }

func yield(ctx context.Context) error {
	runtime.Gosched()
	return ctx.Err()
}
