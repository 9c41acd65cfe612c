// Package runner runs one Go test binary, compiled with GOOS=js GOARCH=wasm, in
// a page of a real browser, and behaves as the binary itself would at a
// terminal: the same output in the same order, the same files, the same exit
// code. It is what `go test -exec browsertest` calls.
//
// A page gets its program, its files and its orders over HTTP from a server on
// 127.0.0.1, under a path that holds a random token: other pages and frames on
// the same origin cannot reach it without the token. It trusts the test binary
// as much as `go test` does natively, except that writing is limited to the
// outputs that go test names and to a temporary folder.
package runner
