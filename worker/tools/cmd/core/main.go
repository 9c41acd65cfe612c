// Core is the binary of the commands for text, files, bytes, archives and differences.
package main

import (
	"slices"

	"github.com/bailey-go/bailey/worker/tools/internal/archive"
	"github.com/bailey-go/bailey/worker/tools/internal/coding"
	"github.com/bailey-go/bailey/worker/tools/internal/files"
	"github.com/bailey-go/bailey/worker/tools/internal/patching"
	"github.com/bailey-go/bailey/worker/tools/internal/text"
)

func main() {
	slices.Concat(text.Commands(), files.Commands(), coding.Commands(), archive.Commands(), patching.Commands()).Main()
}
