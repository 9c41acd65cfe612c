// Core is the binary of the commands for text, files, bytes, archives and differences.
package main

import (
	"slices"

	"github.com/bailey-go/bailey/internal/userland/archive"
	"github.com/bailey-go/bailey/internal/userland/coding"
	"github.com/bailey-go/bailey/internal/userland/files"
	"github.com/bailey-go/bailey/internal/userland/patching"
	"github.com/bailey-go/bailey/internal/userland/text"
)

func main() {
	slices.Concat(text.Commands(), files.Commands(), coding.Commands(), archive.Commands(), patching.Commands()).Main()
}
