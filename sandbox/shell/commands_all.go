//go:build !js

package shell

import (
	"github.com/bailey-go/bailey/internal/userland"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

// ownCommands are all commands: a program outside of a page has room for them.
func ownCommands() tool.Set { return userland.All() }
