// Package tools is a starter set of commands for package worker: some hundred commands in seven WASI
// binaries, three of Go and four of C. A binary runs the command of its own name or of its first argument:
//
//	cmd := pool.Command(ctx, core, "sort", "-n", "numbers.txt")
//
// `make tools` builds them into build/tools. There it also writes tools.json, which describes each
// command like the manifest of a tool package, and NOTICES.txt, the licences of all included works.
//
// The module is nested so that a program that uses Bailey does not require the modules of the
// commands. It exports nothing. Only the binaries are used.
package tools
