package fsaccess

import (
	"context"

	"github.com/bailey-go/bailey/fsaccess/internal/textdiff"
)

// UnifiedDiff returns the change from a to b in the unified format, like diff -u with three
// lines of context. For a missing side, pass /dev/null as its name. If a content is not
// UTF-8, contains a NUL, or both together exceed 4 MiB or 200,000 lines, the result is one
// line with the sizes. UnifiedDiff lets the page run at least every 10 ms, so do not call
// it in a callback. It returns only the error of ctx.
func UnifiedDiff(ctx context.Context, aName, bName string, a, b []byte) (string, error) {
	return textdiff.Unified(ctx, aName, bName, a, b)
}

// QuestionDiff is [UnifiedDiff] for a question to the user. Every differing byte of the new
// content b is in the result, for any kind and size of content, so the user sees everything
// that would be written. Control characters are not escaped, so the caller should mark them.
//
// There is one exception: in a new content of more than 64 KiB of which less than 70 % is
// text, the runs of bytes that cannot be text are counted and not shown. An old content a
// that is not text, or has more than 4 MiB or 200,000 lines, is replaced by one line with
// its size, which begins with a backslash. A new content beyond those limits is returned as
// it is, without marks.
func QuestionDiff(ctx context.Context, aName, bName string, a, b []byte) (string, error) {
	return textdiff.Question(ctx, aName, bName, a, b)
}
