// Package reach lets a listing of package fsaccess visit the entries that a guard hides. Package
// sandbox needs them to decide whether a folder may be removed or moved. No other package may use
// it, because the names are hidden from the caller for a reason.
package reach

import "context"

type key struct{}

// Hidden returns a context in which a listing visits hidden entries too.
func Hidden(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// IsHidden reports whether ctx is from [Hidden].
func IsHidden(ctx context.Context) bool { return ctx.Value(key{}) != nil }
