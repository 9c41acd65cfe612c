package core

import (
	"io/fs"
	"time"
)

// Info is the [fs.FileInfo] and [fs.DirEntry] of this package.
type Info struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

// NewInfo returns an Info with the last element of a path as its name.
func NewInfo(name string, size int64, mode fs.FileMode, mtime time.Time) Info {
	return Info{name: BaseOf(name), size: size, mode: mode, mtime: mtime}
}

// Name returns the last element of the path.
func (i Info) Name() string { return i.name }

// Size returns the number of bytes of a file.
func (i Info) Size() int64 { return i.size }

// Mode returns the type and the permission bits.
func (i Info) Mode() fs.FileMode { return i.mode }

// ModTime returns the time of the last change. It is zero if the platform has none.
func (i Info) ModTime() time.Time { return i.mtime }

// IsDir reports whether the entry is a folder.
func (i Info) IsDir() bool { return i.mode.IsDir() }

// Sys returns nil.
func (i Info) Sys() any { return nil }

// Type returns the type bits of the mode.
func (i Info) Type() fs.FileMode { return i.mode.Type() }

// Info returns i and no error.
func (i Info) Info() (fs.FileInfo, error) { return i, nil }

// String returns one line with the mode, size, time and name, from [fs.FormatFileInfo].
func (i Info) String() string { return fs.FormatFileInfo(i) }
