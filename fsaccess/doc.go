// Package fsaccess gives a program access to a folder that the user chose. The folder is an
// [FS] that works like package os. A [Guard] in front checks each operation, an [Overlay]
// holds changes in a copy, and a [Journal] can undo every change.
//
// Most programs need four lines:
//
//	dir, err := fsaccess.Pick(ctx, fsaccess.ReadWrite, fsaccess.PickOptions{}) // or OPFS, Upload, NewDropZone, Restore
//	guarded := fsaccess.Guard(dir, policy, fsaccess.GuardOptions{})
//	work := fsaccess.NewJournal(guarded, undoStore, fsaccess.JournalOptions{})
//	err = work.WriteFile("notes.md", data, 0o644) // and work.Undo(ctx)
//
// A source holds the files: a picked folder, the origin-private file system, an upload,
// memory, or a folder of the operating system. A layer is an [FS] over another [FS]:
// [Guard] decides which operations are allowed, [Overlay] stores changes separately until
// they are applied, and [Journal] makes changes undoable. Layers can be combined in any
// order. fs.WalkDir, template.ParseFS and other functions of the standard library work on
// all of them.
//
// The package trusts the browser, or os.Root, to keep a handle inside its folder. It trusts
// no name, no file content and no policy text. It never follows a name out of the folder.
// [FS.WriteFile] never leaves a file half written. [Folder.WriteVersion], [Overlay.Apply]
// and [Journal.Undo] never overwrite a change that another program has made in between.
package fsaccess
