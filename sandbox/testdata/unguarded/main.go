// Each line marked with "must not" is an effect without a permit. None of them compiles.
package main

import (
	"context"

	"github.com/bailey-go/bailey/sandbox"
)

func main() {
	ctx := context.Background()
	var c sandbox.Call
	c.FS.Read(ctx, "a")                        // must not
	c.FS.Write(ctx, "a", nil, "")              // must not
	c.FS.Remove(ctx, "a", true)                // must not
	c.FS.Rename(ctx, "a", "b")                 // must not
	_ = sandbox.Permit{t: nil}                 // must not
	_ = c.FS.fs                                // must not
	_, _ = sandbox.Hold(1).Use(sandbox.Need{}) // must not
}
