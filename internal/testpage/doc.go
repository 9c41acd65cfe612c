// Package testpage is for tests that run in a real browser under
// browsertest: through it, a test in the page asks the runner outside
// for what a page cannot do by itself. It runs a test in a fresh top-level page
// with headers of its own, serves answers from other origins, watches for
// traffic that should not be, makes trusted input, takes screenshots, freezes
// and kills, and counts what is left over.
//
// It speaks to the runner through the file /dev/browsertest and needs no
// syscall/js; under any other runner, and natively, [Available] is false and
// the other functions fail the test with the command that would do. It is never
// part of a program, only of tests, and trusts the test wholly.
package testpage
