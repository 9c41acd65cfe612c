//go:build !js

// Npm makes the npm package of the prebuilt programs from a folder that `wasm_exec build` has written:
//
//	go run ./wasm_exec/npm -o dist build/prebuilt
//
// The files have fixed names, because a bundler names and hashes its output itself. integrity.json has
// the hash of each file, and NOTICES the licences of all works in the program. The command trusts the
// build folder, and never asks a registry. `make dist` runs it.
package main
