package fsaccess

import (
	"context"
	"io"
	"io/fs"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// FS is a folder of files. Every source and every layer of this package is an FS, and so is
// any other type with these methods. The methods have the signatures and the errors of
// packages os and io/fs. Names are slash-separated and relative ([fs.ValidPath]). A failure
// is a *[fs.PathError], or for Rename an *os.LinkError. Use [errors.Is] to find the reason.
//
// FS makes two promises that package os does not make. WriteFile replaces the content in
// one step: a reader, or a program that starts after a crash, finds the old bytes or the
// new bytes, never a mixture. All changes of one path made through one source run one after
// the other.
//
// A folder of your own may also have Chmod(name string, mode fs.FileMode) error,
// Chtimes(name string, atime, mtime time.Time) error, and Features() Features. The layers of
// this package use them.
//
// No source of this package follows a symbolic link ([ErrLink]). Policies judge names, so
// an FS of your own must not follow links either. If it implements [fs.ReadLinkFS], this
// package checks each name with it and refuses links.
type FS interface {
	fs.FS
	fs.StatFS
	fs.ReadFileFS
	fs.ReadDirFS
	fs.SubFS
	fs.GlobFS

	// OpenFile opens a file with the flags of package os, as os.OpenFile does.
	OpenFile(name string, flag int, perm fs.FileMode) (fs.File, error)
	// Create makes or truncates a file and opens it for reading and writing.
	Create(name string) (fs.File, error)
	// WriteFile replaces the named file in one step. It makes the file if it does not
	// exist.
	WriteFile(name string, data []byte, perm fs.FileMode) error
	// Mkdir makes a folder. If the name exists, the error wraps [fs.ErrExist].
	Mkdir(name string, perm fs.FileMode) error
	// MkdirAll makes a folder and the folders above it. An existing folder is no error.
	MkdirAll(name string, perm fs.FileMode) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// RemoveAll removes a file or a whole tree. A missing name is no error.
	RemoveAll(name string) error
	// Rename moves a file or a folder. A file can replace a file. Nothing can replace a
	// folder. Renaming a file to its own name does nothing.
	Rename(oldname, newname string) error
	// Truncate sets the size of a file. Added bytes are zero.
	Truncate(name string, size int64) error
}

// File is an open file or folder. [FS.OpenFile] returns an [fs.File], as the standard
// library does. Every file that this package returns is a File.
//
// For an open folder, ReadDir(-1) returns all entries, sorted by name. ReadDir(100) returns
// up to 100 entries as soon as the platform has found them, in any order: a browser needs
// seconds to list a folder of 50,000 files, but has the first names at once. Entries that
// are added or removed during the listing may be in it or not. Close, or the end of the
// context, ends the listing.
//
// If [Features].Staged is true, other readers see written data only after Sync or Close,
// and then all of it at once. Until then only this handle sees the data. Below a [Guard], a
// new file does not exist before Sync or Close. If Staged is false (a folder of the
// operating system, or the origin-private file system in a Worker), a write is visible at
// once, and a crash during a write leaves a partly written file.
type File interface {
	fs.ReadDirFile
	io.Writer
	io.Seeker
	io.ReaderAt
	io.WriterAt
	// Truncate sets the size of the file. Added bytes are zero.
	Truncate(size int64) error
	// Sync makes the written data visible to other readers and, where the platform can,
	// durable.
	Sync() error
}

// Features describes the abilities and limits of a folder on this platform. A missing
// ability is reported here and never hidden by an emulation.
type Features struct {
	Source   string // "memory", "os", "picked", "opfs", "upload", "files", "drop", "iofs", "foreign"
	ReadOnly bool   // every change fails with [ErrReadOnly]
	Chmod    bool   // permission bits are kept
	Chtimes  bool   // times can be set
	Links    bool   // symbolic links can be made
	DirMove  bool   // a folder is renamed in one step, not by copy and delete
	FileMove bool   // a file is renamed in one step, not by copy and delete
	Staged   bool   // writes through a handle become visible at Sync or Close
	Watch    bool   // the platform reports changes, so that [Watch] need not poll
	FoldCase bool   // names that differ only by case are one file, as far as is known
}

// chmodFS is a folder that can set permission bits. A folder of this package that cannot
// returns an error that wraps [errors.ErrUnsupported].
type chmodFS interface {
	// Chmod sets the permission bits of a file or folder.
	Chmod(name string, mode fs.FileMode) error
}

// chtimesFS is a folder that can set the access and modification times of its files.
type chtimesFS interface {
	// Chtimes sets the times of a file or folder.
	Chtimes(name string, atime, mtime time.Time) error
}

// featuresFS is a folder that reports its abilities.
type featuresFS interface {
	// Features returns the abilities of the folder.
	Features() Features
}

// WithContext returns the same folder bound to ctx, with the methods of [Folder]. After ctx is
// done, operations fail with the cause of ctx. Operations in progress are cancelled where the
// platform allows it. ctx also carries the cause ([WithCause]) that a [Journal] stores with
// each change. The result is not a [Journal] or an [Overlay] even if fsys is one. If fsys is
// not of this package, all users of one result share its locks. An [FS] of this package keeps
// its own locks.
func WithContext(ctx context.Context, fsys FS) *Folder { return folderOf(ctx, fsys) }

// WithCause returns a context that carries the reason for changes, for example the trace ID
// of a tool call. A [Journal] stores it with each record ([Change].Cause).
func WithCause(ctx context.Context, cause string) context.Context {
	return core.WithCause(ctx, cause)
}
