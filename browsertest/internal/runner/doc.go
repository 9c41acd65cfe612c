// Package runner runs one Go test binary, compiled with GOOS=js GOARCH=wasm, in a page of a real
// browser. It behaves as the binary itself would in a terminal: the same output in the same order,
// the same files, the same exit code. The command browsertest calls it for `go test -exec
// browsertest`.
//
// A page gets its program, its files and its arguments over HTTP from a server on 127.0.0.1, under
// a path with a random token. Other pages and frames of the same origin cannot reach it without the
// token. The package trusts the test binary as much as `go test` does natively, except that the
// binary may write only the outputs named by go test, and a temporary folder.
package runner
