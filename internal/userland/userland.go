// Package userland holds the commands of Bailey: those of the tool bash, in the page and natively, and those of the WASI
// binary core, which tool_run calls. There is one source for all of them. A command reaches files, other commands and the
// environment only through its [tool.World].
package userland

import (
	"slices"

	"github.com/bailey-go/bailey/internal/userland/archive"
	"github.com/bailey-go/bailey/internal/userland/coding"
	"github.com/bailey-go/bailey/internal/userland/files"
	"github.com/bailey-go/bailey/internal/userland/patching"
	"github.com/bailey-go/bailey/internal/userland/system"
	"github.com/bailey-go/bailey/internal/userland/text"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

// Page returns the commands that work in a page before any tool is loaded.
func Page() tool.Set {
	return slices.Concat(text.Commands(), files.Commands(), patching.Small(), system.Small())
}

// All returns all commands.
func All() tool.Set {
	return slices.Concat(text.Commands(), text.More(), files.Commands(), files.More(), coding.Commands(), archive.Commands(), patching.Commands(), system.Small(), system.Large())
}
