// Package sandboxtest helps to test programs that use package sandbox. It has an asker and a model
// that follow a script and record their requests, and a drill: a list of attacks, each with a
// legitimate call (its twin) that must still work. For folders in memory use [fsaccess.NewMemory].
// The package does not import package testing, and builds for a page too.
package sandboxtest
