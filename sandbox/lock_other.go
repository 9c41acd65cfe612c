//go:build !js

package sandbox

import "context"

// lockAcross does nothing, since there are no other tabs natively.
func lockAcross(context.Context, string) (func(), error) { return func() {}, nil }
