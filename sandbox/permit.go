package sandbox

import (
	"context"
	"io/fs"
	"iter"
	"regexp"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// A Permit allows the effects that a call declared in Needs, until the call ends. Only the box
// creates permits. The zero Permit permits nothing. The methods of [Folder] that read or change
// files take a permit, and so does [Gated.Get]. A Permit is safe for concurrent use.
type Permit struct{ p gate.Permit }

// Check returns nil if the permit covers n. If the call did not declare n, or has ended, Check
// records a violation and returns [protocol.ErrSecurityViolation], because the user agreed to
// something else. If n is below a declared tree and is denied by itself, the error is
// [protocol.ErrCapabilityDenied].
func (p Permit) Check(n policy.Need) error { return p.p.Check(n) }

// Covers reports whether the permit covers n. Unlike [Permit.Check] it records no violation. A tool
// uses it to decide whether it must [Call.Acquire] another permit.
func (p Permit) Covers(n policy.Need) bool { return p.p.Covers(n) }

// Gated is a value that acts outside of the folder, such as an enclave or access to the network.
// Only a call with a permit gets the value. [Gate] makes a Gated.
type Gated[T any] struct{ v T }

// Gate returns v behind permits.
func Gate[T any](v T) Gated[T] { return Gated[T]{v} }

// Get returns the value if p covers n. Otherwise it returns the zero value and the error of
// [Permit.Check].
func (g Gated[T]) Get(p Permit, n policy.Need) (T, error) {
	if err := p.Check(n); err != nil {
		var zero T
		return zero, err
	}
	return g.v, nil
}

// Folder is the user's folder for tools, as in [Call].FS. Methods that read or change a file take a
// [Permit] and return the error of [Permit.Check] if it does not cover their effect. The policy's
// guard is below the permit, so a permit for too much still opens no file that the policy denies.
// Paths are relative to the folder, as in package [io/fs]. The zero Folder must not be used.
type Folder struct {
	f    gate.Folder
	read func(path ...string) // called with each file whose text a method has returned, may be nil
}

// Journal reports whether changes of the folder can be undone.
func (f Folder) Journal() bool { return f.f.Journal() }

// Read returns the content of a file and its version.
func (f Folder) Read(ctx context.Context, p Permit, path string) ([]byte, fsaccess.Version, error) {
	data, v, err := f.f.Read(ctx, p.p, path)
	if err == nil && f.read != nil {
		f.read(path)
	}
	return data, v, err
}

// ReadFile returns the content of a file without its version. For a file of several megabytes it takes a fraction of the time of
// Read, which computes a hash of all of it.
func (f Folder) ReadFile(ctx context.Context, p Permit, path string) ([]byte, error) {
	data, err := f.f.ReadFile(ctx, p.p, path)
	if err == nil && f.read != nil {
		f.read(path)
	}
	return data, err
}

// Stat returns information about a file. The permit must cover reading, writing, creating or
// removing it.
func (f Folder) Stat(ctx context.Context, p Permit, path string) (fs.FileInfo, error) {
	return f.f.Stat(ctx, p.p, path)
}

// Write writes a file if its version is still want, see [fsaccess.Folder.WriteVersion], and returns the
// new version. It creates missing parent folders.
func (f Folder) Write(ctx context.Context, p Permit, path string, data []byte, want fsaccess.Version) (fsaccess.Version, error) {
	return f.f.Write(ctx, p.p, path, data, want)
}

// Append appends data to a file, and creates the file if it does not exist. It returns nothing
// about the existing content.
func (f Folder) Append(ctx context.Context, p Permit, path string, data []byte) error {
	return f.f.Append(ctx, p.p, path, data)
}

// Mkdir creates a folder and its missing parents.
func (f Folder) Mkdir(ctx context.Context, p Permit, path string) error {
	return f.f.Mkdir(ctx, p.p, path)
}

// Remove removes a file or an empty folder. If all is set, it also removes a folder with its
// content. Each path in it must be permitted.
func (f Folder) Remove(ctx context.Context, p Permit, path string, all bool) error {
	return f.f.Remove(ctx, p.p, path, all)
}

// Rename moves a file or a folder and creates missing parents of the new path. An existing file
// there is replaced if the permit covers removing it. Each path below a folder must be permitted at
// its old and its new place.
func (f Folder) Rename(ctx context.Context, p Permit, from, to string) error {
	return f.f.Rename(ctx, p.p, from, to)
}

// Features returns the abilities of the folder.
func (f Folder) Features() fsaccess.Features { return f.f.Features() }

// Chmod sets the permission bits of a file or folder. A journal does not undo them. The error wraps
// [errors.ErrUnsupported] if the folder has none.
func (f Folder) Chmod(ctx context.Context, p Permit, path string, mode fs.FileMode) error {
	return f.f.Chmod(ctx, p.p, path, mode)
}

// Chtimes sets the modification time of a file or folder, in nanoseconds where the folder has them. A journal does not
// undo it. The error wraps [errors.ErrUnsupported] if times can't be set.
func (f Folder) Chtimes(ctx context.Context, p Permit, path string, t time.Time) error {
	return f.f.Chtimes(ctx, p.p, path, t)
}

// Symlink makes a symbolic link. The permit must cover writing the link, and reading the path to which it leads. A link that
// would lead out of the folder, or to a path that may not be read or written, is refused. The error wraps [errors.ErrUnsupported]
// if the folder has no links.
func (f Folder) Symlink(ctx context.Context, p Permit, target, path string) error {
	return f.f.Symlink(ctx, p.p, target, path)
}

// ReadLink returns the target of a symbolic link. The permit must cover reading the link.
func (f Folder) ReadLink(ctx context.Context, p Permit, path string) (string, error) {
	return f.f.ReadLink(ctx, p.p, path)
}

// Follow returns the path to which path leads when its links are followed, and with last also a link that is its last element. It
// opens nothing. All other methods refuse a path with a link in it, so a tool asks for a permit for the returned path and uses that
// one. What takes the place of the link meanwhile has no effect.
func (f Folder) Follow(ctx context.Context, path string, last bool) (string, error) {
	return f.f.Follow(ctx, path, last)
}

// Walk returns an iterator over the files below root that may be read. If the permit does not cover
// root, it yields the error alone.
func (f Folder) Walk(ctx context.Context, p Permit, root string, o fsaccess.WalkOptions) iter.Seq2[fsaccess.Entry, error] {
	return f.f.Walk(ctx, p.p, root, o)
}

// Grep returns an iterator over the matches of re in the files below root that may be read. Its
// options limit it as in [fsaccess.Grep].
func (f Folder) Grep(ctx context.Context, p Permit, root string, re *regexp.Regexp, o fsaccess.GrepOptions) iter.Seq2[fsaccess.Match, error] {
	return func(yield func(fsaccess.Match, error) bool) {
		for m, err := range f.f.Grep(ctx, p.p, root, re, o) {
			if err == nil && f.read != nil {
				f.read(m.Path)
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// List returns the entries of a folder that may be read.
func (f Folder) List(ctx context.Context, p Permit, dir string) ([]fsaccess.Entry, error) {
	return f.f.List(ctx, p.p, dir)
}
