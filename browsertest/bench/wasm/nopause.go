//go:build js && wasm && !conversions

package main

import "syscall/js"

// The program of the other suites has no shell and no converters. Their tables would be looked through at each collection
// of garbage, which would be measured.
func pauses(js.Value) {}
