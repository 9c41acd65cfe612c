//go:build js

package shell

import (
	"github.com/bailey-go/bailey/internal/userland"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

// ownCommands are the commands that a page has before any tool is loaded. The others are in the binary core of package
// worker/tools, which is made of the same source.
func ownCommands() tool.Set { return userland.Page() }
