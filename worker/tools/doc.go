// Package tools is a starter set of commands for package worker: some sixty commands in four
// WASI binaries. A binary runs the command that its name or its first argument says:
//
//	cmd := pool.Command(ctx, core, "sort", "-n", "numbers.txt")
//
// `make tools` builds them into build/tools, with tools.json, which describes each command as
// the manifest of a tool package does, and NOTICES.txt, the licences of all that is in them.
//
// The module is nested so that what the commands are made of is no requirement of a program
// that uses Bailey. It exports nothing: the binaries are what is used.
package tools
