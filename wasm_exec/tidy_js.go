package main

// The templates import these packages. With them here, the first go mod tidy of a module that has the command as a
// tool lists their modules as well, and no second one is needed after init. go mod tidy reads the files of all
// platforms. The command itself is never built for this one.
import (
	_ "github.com/bailey-go/bailey/iframe"
	_ "github.com/bailey-go/bailey/sandbox/provider"
)
