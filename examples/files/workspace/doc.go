// Package workspace holds the open folder, the copy that is worked on instead of it, and the list of
// its changes with their undo.
package workspace
