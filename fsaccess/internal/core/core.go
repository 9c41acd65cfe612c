package core

import (
	"context"
	"io"
	"io/fs"
)

// Core is the interface of a source or a layer: the few operations from which Folder makes
// an FS. Names are clean and valid. Errors are bare, and Folder adds the name. Each call
// has its context. A core takes no lock, because Folder takes it once, at the bottom.
type Core interface {
	Features() Features
	// Base returns the state shared by all users of one source: locks and own writes.
	Base() *Shared
	Open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error)
	Stat(ctx context.Context, name string) (fs.FileInfo, error)
	ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) // sorted
	ReadFile(ctx context.Context, name string) ([]byte, error)
	// Replace starts a new content for a file. The content becomes visible at Commit, all
	// at once.
	Replace(ctx context.Context, name string, perm fs.FileMode) (Replacement, error)
	Mkdir(ctx context.Context, name string, perm fs.FileMode) error
	Remove(ctx context.Context, name string) error
	RemoveAll(ctx context.Context, name string) error
	// Rename is called after [CheckRename]: the old name exists, and the new name is free or
	// is a file that a file may replace.
	Rename(ctx context.Context, from, to string) error
}

// Replacement is the next content of a file.
type Replacement interface {
	io.Writer
	Commit(ctx context.Context) error
	Abort() // idempotent, harmless after Commit
}

// File is an open file or folder. Package fsaccess documents it.
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

// Features describes the abilities and limits of a folder. Package fsaccess documents it.
type Features struct {
	Source   string // "memory", "os", "picked", "opfs", "upload", "files", "drop", "iofs", "foreign"
	ReadOnly bool   // every change fails with [ErrReadOnly]
	Chmod    bool   // permission bits are kept
	Chtimes  bool   // times can be set
	Links    bool   // symbolic links can be made
	DirMove  bool   // a folder is renamed in one step, not by copy and delete
	FileMove bool   // a file is renamed in one step, not by copy and delete
	Staged   bool   // writes through a handle become visible at Sync or Close
	Watch    bool   // the platform reports changes, so that a watch need not poll
	FoldCase bool   // names that differ only by case are one file, as far as is known
}
