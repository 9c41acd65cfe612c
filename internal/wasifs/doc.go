// Package wasifs gives a WASI program folders: the file-system half of WASI
// preview1 over io/fs. It is pure Go, knows no browser and no memory of a guest,
// and takes a file system by small interfaces: any fs.FS can be read, one that
// also has the write methods of [Writer] can be written. So a program in a
// sandbox and the Go program around it see the same bytes, the same errors and
// the same versions of one folder.
//
// Each method of [FS] is one call of preview1, with Go values for pointers and
// lengths, and answers an [Errno]. The sandbox is the fd table: a path is always
// relative to an open folder and never leaves it, whatever "..", "/" or NUL it
// holds. There are no links: what could make one is refused.
//
// Where the file system shows what was written only at Sync or Close, the
// program still sees its own writes at once, through every descriptor and every
// name; all others see them when the program syncs or closes, all at once.
package wasifs
