package fsaccess

import (
	"context"

	"github.com/bailey-go/bailey/internal/textdiff"
)

// UnifiedDiff returns the change from a to b in the unified format, like diff -u with three
// lines of context. For a missing side, pass /dev/null as its name. If a content is not
// UTF-8, contains a NUL, or both together exceed 4 MiB or 200,000 lines, the result is one
// line with the sizes. UnifiedDiff lets the page run at least every 10 ms, so do not call
// it in a callback. It returns only the error of ctx.
func UnifiedDiff(ctx context.Context, aName, bName string, a, b []byte) (string, error) {
	return textdiff.Unified(ctx, aName, bName, a, b)
}
