// Package sandboxtest helps to test what is built on package sandbox: an asker and a
// model that answer by a script and remember what they were asked, and the attacks of the
// drill, each with a twin that has to work. Folders in memory are
// [fsaccess.NewMemory]'s. It needs no package testing and builds for a page too.
package sandboxtest
