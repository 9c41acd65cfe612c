// Package testpage is for tests that run in a real browser under browsertest. A test in the page
// sends requests to the runner outside, for actions that a page cannot do itself. The package runs
// a test in a new top-level page with headers of its own, serves responses from other origins,
// records unwanted traffic, makes trusted input, takes screenshots, freezes and kills pages, and
// counts the resources that are left over.
//
// It exchanges messages with the runner through the file /dev/browsertest and needs no syscall/js.
// Under any other runner, and natively, [Available] returns false, and the other functions fail the
// test with the command to use. The package is only for tests, never part of a program, and it
// trusts the test.
package testpage
