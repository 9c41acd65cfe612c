// Each line marked with "must not" is an effect without a permit. None of them compiles.
package main

import (
	"context"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func main() {
	ctx := context.Background()
	var c sandbox.Call
	c.FS.Read(ctx, "a")                       // must not
	c.FS.Write(ctx, "a", nil, "")             // must not
	c.FS.Remove(ctx, "a", true)               // must not
	c.FS.Rename(ctx, "a", "b")                // must not
	_ = sandbox.Permit{p: nil}                // must not
	_ = c.FS.f                                // must not
	_, _ = sandbox.Gate(1).Get(policy.Need{}) // must not
}
