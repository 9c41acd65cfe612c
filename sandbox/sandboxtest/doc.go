// Package sandboxtest helps to test what is built on package sandbox: an asker that
// answers by a script and remembers what it was asked. Folders in memory are
// [fsaccess.NewMemory]'s. It needs no package testing and builds for a page too.
package sandboxtest
