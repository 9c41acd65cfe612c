// Package core has the commands of the binary core, for the binary and for the catalogue.
package core

import (
	"slices"

	"github.com/bailey-go/bailey/internal/userland"
	"github.com/bailey-go/bailey/internal/userland/system"
	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/worker/tools/internal/fuzzy"
)

// Commands returns the commands.
func Commands() tool.Set {
	return slices.Concat(userland.All(), system.Programs(), fuzzy.Commands())
}
