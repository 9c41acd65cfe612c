// Package fsaccess gives a program the folder a person chose, as an [FS] that
// works like package os: with a guard in front, a copy to work on, and an undo
// for every change.
//
// Most programs need three lines:
//
//	dir, err := fsaccess.Pick(ctx, fsaccess.ReadWrite) // or OPFS, Upload, Drop, Restore
//	work := fsaccess.NewJournal(fsaccess.Guard(dir, policy), undoStore)
//	err = work.WriteFile("notes.md", data, 0o644)      // and work.Undo(ctx)
//
// A source is where the files are: a picked folder, the origin's private file
// system, an upload, memory, a folder of the operating system. A layer is an
// [FS] over an [FS]: [Guard] decides what may be done, [Overlay] keeps changes
// aside until they are applied, [Journal] makes them undoable. They compose in
// any order, and fs.WalkDir, template.ParseFS and the rest work on all of them.
//
// The package trusts the browser, or os.Root, to keep a handle inside its
// folder; it trusts no name, no content and no policy text. It never follows a
// name out of the folder, never leaves a file half written, and never
// overwrites silently what somebody else has changed in between.
package fsaccess
