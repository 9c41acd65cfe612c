package protocol

import (
	"context"

	"github.com/bailey-go/bailey/internal/stopclock"
)

// Asking pauses the time limits of a tool's call until done is called, because a person may need
// longer to read a question and to answer it. It pauses [Limits.ToolTime] and [Tool].Time of the
// call, [Limits.Time] of the run of code that made it, and the limits of calls around that run. ctx
// is the context of [Tool].Execute, or one made from it. Another context has no such limits, so
// Asking does nothing.
//
//	done := protocol.Asking(ctx)
//	ok, err := dialog.Confirm(ctx, "Send the letter?")
//	done()
//
// All pauses of one run last at most an hour in total. Code that works without a pause while a
// person is asked is counted nevertheless. The tools and the questions of package sandbox pause by
// themselves. Further calls of done do nothing. Asking and done are safe for concurrent use.
func Asking(ctx context.Context) (done func()) { return stopclock.Hold(ctx) }
