// Package journal is the layer that makes every change of a folder undoable. It stores the
// old content and a record of the planned change before it makes the change, so that an
// interrupted change can be settled later. It never overwrites a change of another program.
package journal
