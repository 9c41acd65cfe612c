package fsaccess

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// FS is a folder. Every source and every layer of this package is one, and so
// is anything else with these methods. They have the shapes and the errors of
// package os and io/fs: names are slash-separated and relative ([fs.ValidPath]),
// a failure is a *[fs.PathError] (for Rename an *os.LinkError), and what went
// wrong is asked with [errors.Is].
//
// Two promises go beyond package os. WriteFile replaces the content in one
// step: a reader, or a crash, finds the old bytes or the new ones, never a
// mixture. And all changes of one path made through one source are serialised.
//
// No source of this package follows a symbolic link ([ErrLink]). Policies judge
// names, so an FS of your own must not follow links either; one that has
// [fs.ReadLinkFS] is asked, and its links are refused.
type FS interface {
	fs.FS
	fs.StatFS
	fs.ReadFileFS
	fs.ReadDirFS
	fs.SubFS
	fs.GlobFS

	// OpenFile is os.OpenFile, with the flags of package os.
	OpenFile(name string, flag int, perm fs.FileMode) (fs.File, error)
	// Create makes or truncates a file and opens it for reading and writing.
	Create(name string) (fs.File, error)
	// WriteFile replaces the named file, making it if need be, in one step.
	WriteFile(name string, data []byte, perm fs.FileMode) error
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// RemoveAll removes a file or a whole tree; a missing name is no error.
	RemoveAll(name string) error
	// Rename moves a file or a folder. A file replaces a file; nothing
	// replaces a folder. A file renamed to its own name stays as it is.
	Rename(oldname, newname string) error
	Truncate(name string, size int64) error
}

// File is an open file or folder. [FS.OpenFile] promises only [fs.File], as
// the standard library does; every file of this package is a File.
//
// Of an open folder ReadDir(-1) gives all entries in order. ReadDir(n) gives some as soon
// as the platform has found them, in no order: a folder of 50,000 files takes a browser
// seconds to list, and the first names are there at once. What comes or goes meanwhile
// may be in the listing or not. Close, or the end of the context, gives it up.
//
// Where [Features.Staged] holds, what is written becomes visible to others at
// Sync or Close, all at once; until then only this handle sees it. Below a
// [Guard] that is so for a new file itself: it is made with its content.
// Elsewhere, in a folder of the operating system and in a Worker's
// origin-private file system, a write is there at once, and a crash in the
// middle leaves the file as far as it was written.
type File interface {
	fs.ReadDirFile
	io.Writer
	io.Seeker
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	// Sync makes what was written visible and, where the platform can,
	// durable.
	Sync() error
}

// Features says what a folder can do here and now. What a platform lacks is
// named, never faked.
type Features struct {
	Source   string // "memory", "os", "picked", "opfs", "upload", "drop", "iofs", "foreign"
	ReadOnly bool   // every change fails with [ErrReadOnly]
	Chmod    bool   // permission bits are kept
	Chtimes  bool   // times can be set
	DirMove  bool   // a folder is renamed in one step, not by copy and delete
	FileMove bool   // the same for files
	Staged   bool   // writes through a handle become visible at Sync or Close
	Watch    bool   // changes are pushed by the platform, not polled
	FoldCase bool   // names that differ only by case are one file, as far as is known
}

// ChmodFS is a folder that can set permission bits. A folder that cannot
// answers with an error that is [errors.ErrUnsupported].
type ChmodFS interface {
	Chmod(name string, mode fs.FileMode) error
}

// ChtimesFS is a folder that can set times.
type ChtimesFS interface {
	Chtimes(name string, atime, mtime time.Time) error
}

// FeaturesFS is a folder that says what it can do.
type FeaturesFS interface {
	Features() Features
}

// WithContext returns the same folder bound to a context: once ctx is done its
// operations fail with ctx's error, and those in flight are given up where the
// platform allows it. The context also carries the cause ([WithCause]) that a
// [Journal] notes with each change.
func WithContext(ctx context.Context, fsys FS) FS {
	return bind(ctx, fsys)
}

type causeKey struct{}

// WithCause returns a context that names why changes are made, such as the
// trace id of a tool call. A [Journal] stores it with each entry.
func WithCause(ctx context.Context, cause string) context.Context {
	return context.WithValue(ctx, causeKey{}, cause)
}

func causeOf(ctx context.Context) string {
	s, _ := ctx.Value(causeKey{}).(string)
	return s
}

// Info is the [fs.FileInfo] and [fs.DirEntry] of this package.
type Info struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (i Info) Name() string               { return i.name }
func (i Info) Size() int64                { return i.size }
func (i Info) Mode() fs.FileMode          { return i.mode }
func (i Info) ModTime() time.Time         { return i.mtime }
func (i Info) IsDir() bool                { return i.mode.IsDir() }
func (i Info) Sys() any                   { return nil }
func (i Info) Type() fs.FileMode          { return i.mode.Type() }
func (i Info) Info() (fs.FileInfo, error) { return i, nil }
func (i Info) String() string             { return fs.FormatFileInfo(i) }
