package gate

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"regexp"
	"slices"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/reach"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Folder is the user's folder for tools. Each method that a tool uses takes a permit and checks it.
// The policy's guard is below the permit, so a permit for too much still opens no file that the
// policy denies.
type Folder struct {
	fs      fsaccess.FS
	raw     fsaccess.FS // without the guard: for decisions about unreadable files, and for questions
	journal *fsaccess.Journal
	still   *still

	unchecked bool // see [Unchecked]
}

// NewFolder returns a folder with a guard. If fsys is a *[fsaccess.Journal], changes can be undone.
// A nil fsys is an empty folder.
func NewFolder(fsys fsaccess.FS, p *policy.Policy, o fsaccess.GuardOptions) Folder {
	if fsys == nil {
		fsys = fsaccess.NewMemory(fsaccess.MemoryOptions{MaxBytes: 1})
	}
	f := Folder{fs: fsaccess.Guard(fsys, p.FS, o), raw: fsys, still: &still{}}
	f.journal, _ = fsys.(*fsaccess.Journal)
	return f
}

func read(path string) policy.Need {
	return policy.Need{Capability: protocol.FSRead, Subject: path}
}

func write(op protocol.FSOp, path string) policy.Need {
	return policy.Need{Capability: protocol.FSWrite, Op: op, Subject: path}
}

// Read returns the content of a file and its version.
func (f Folder) Read(ctx context.Context, p Permit, path string) ([]byte, fsaccess.Version, error) {
	if err := p.Check(read(path)); err != nil {
		return nil, "", err
	}
	return fsaccess.WithContext(ctx, f.fs).ReadVersion(path)
}

// ReadFile returns the content of a file without its version, which takes a hash of all of it.
func (f Folder) ReadFile(ctx context.Context, p Permit, path string) ([]byte, error) {
	if err := p.Check(read(path)); err != nil {
		return nil, err
	}
	return fsaccess.WithContext(ctx, f.fs).ReadFile(path)
}

// Stat returns information about a file. The permit must cover reading, writing, creating or
// removing it.
func (f Folder) Stat(ctx context.Context, p Permit, path string) (fs.FileInfo, error) {
	rerr := p.CheckAny(read(path), write(protocol.OpWrite, path), write(protocol.OpRemove, path), write(protocol.OpMkdir, path))
	if rerr != nil {
		return nil, rerr
	}
	return fsaccess.WithContext(ctx, f.fs).Stat(path)
}

// Write writes a file if its version is still want, see [fsaccess.Folder.WriteVersion], and returns the
// new version. It creates missing parent folders.
func (f Folder) Write(ctx context.Context, p Permit, path string, data []byte, want fsaccess.Version) (fsaccess.Version, error) {
	if err := p.Check(write(protocol.OpWrite, path)); err != nil {
		return "", err
	}
	end, err := f.still.change(path)
	if err != nil {
		return "", err
	}
	defer end()
	if err := p.lands(path); err != nil {
		return "", err
	}
	bound := fsaccess.WithContext(ctx, f.fs)
	var made string
	if dir := parent(path); dir != "." {
		if _, err := bound.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			made = firstMissing(bound, dir)
			if err := bound.MkdirAll(dir, 0o755); err != nil {
				return "", err
			}
		}
	}
	v, err := fsaccess.WithContext(ctx, f.fs).WriteVersion(path, data, 0o644, want)
	if err != nil && made != "" {
		_ = fsaccess.WithContext(context.WithoutCancel(ctx), f.fs).RemoveAll(made) // it was created for this file only
	}
	return v, err
}

func firstMissing(fsys fsaccess.FS, dir string) string {
	missing := dir
	for d := dir; d != "."; d = parent(d) {
		if _, err := fsys.Stat(d); err == nil {
			break
		}
		missing = d
	}
	return missing
}

func parent(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "."
}

// Mkdir creates a folder and its missing parents.
func (f Folder) Mkdir(ctx context.Context, p Permit, path string) error {
	if err := p.Check(write(protocol.OpMkdir, path)); err != nil {
		return err
	}
	end, err := f.still.change(path)
	if err != nil {
		return err
	}
	defer end()
	return fsaccess.WithContext(ctx, f.fs).MkdirAll(path, 0o755)
}

// Remove removes a file or an empty folder. If all is set, it also removes a folder with its
// content. Each path in it must be permitted.
func (f Folder) Remove(ctx context.Context, p Permit, path string, all bool) error {
	n := write(protocol.OpRemove, path)
	n.Tree = all
	if err := p.Check(n); err != nil {
		return err
	}
	end, err := f.still.change(path)
	if err != nil {
		return err
	}
	defer end()
	bound := fsaccess.WithContext(ctx, f.fs)
	if !all {
		return bound.Remove(path)
	}
	if err := f.below(ctx, p, path, func(e fsaccess.Entry) error { return p.Check(write(protocol.OpRemove, e.Path)) }); err != nil {
		return err
	}
	return bound.RemoveAll(path)
}

// Rename moves a file or a folder and creates missing parents of the new path. An existing file
// there is replaced if the permit covers removing it. Each path below a folder must be permitted at
// its old and its new place.
func (f Folder) Rename(ctx context.Context, p Permit, from, to string) error {
	out := write(protocol.OpRemove, from)
	out.Tree = true
	in := write(protocol.OpWrite, to)
	in.Tree = true
	for _, n := range []policy.Need{out, in} {
		if err := p.Check(n); err != nil {
			return err
		}
	}
	end, err := f.still.change(from)
	if err != nil {
		return err
	}
	defer end()
	bound := fsaccess.WithContext(ctx, f.fs)
	if _, err := bound.Stat(to); err == nil && from != to {
		if err := p.Check(write(protocol.OpRemove, to)); err != nil {
			return err
		}
	}
	if err := f.moves(ctx, p, from, to); err != nil {
		return err
	}
	if dir := parent(to); dir != "." && !f.IsDir(ctx, dir) {
		if err := bound.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return bound.Rename(from, to)
}

// moves checks the old and the new path of a file, or of a folder and everything below it.
func (f Folder) moves(ctx context.Context, p Permit, from, to string) error {
	return f.movesAt(ctx, p, from, from, to)
}

// movesAt is moves for files that are still at another path.
func (f Folder) movesAt(ctx context.Context, p Permit, at, from, to string) error {
	if err := p.carries(from, to); err != nil {
		return err
	}
	return f.below(ctx, p, at, func(e fsaccess.Entry) error {
		out, in := from+e.Path[len(at):], to+e.Path[len(at):]
		return cmp.Or(p.Check(write(protocol.OpRemove, out)), p.Check(write(protocol.OpWrite, in)), p.carries(e.Path, in), p.carries(out, in))
	})
}

// below calls check for each path below root, including paths that may not be read. An error about
// such a path does not contain the path.
func (f Folder) below(ctx context.Context, p Permit, root string, check func(e fsaccess.Entry) error) error {
	if fi, err := fsaccess.WithContext(ctx, f.raw).Stat(root); err != nil || !fi.IsDir() {
		return err
	}
	all := fsaccess.Walk(reach.Hidden(ctx), f.raw, root, fsaccess.WalkOptions{})
	if f.unchecked {
		all = fsaccess.Walk(ctx, f.fs, root, fsaccess.WalkOptions{})
	}
	for e, err := range all {
		if err != nil {
			return err
		}
		if err := check(e); err != nil {
			if f.untold(p, e) {
				return protocol.Errorf(protocol.ErrCapabilityDenied, "change", root, "the folder holds a file that may not be read, and that may not be removed or moved as this would")
			}
			return err
		}
	}
	return nil
}

// untold reports whether the file's existence must be hidden from a model.
func (f Folder) untold(p Permit, e fsaccess.Entry) bool {
	return p.t != nil && p.t.reads(read(e.Path)) != nil
}

// Unread returns the number of files below root that may not be read, so that neither a model nor a
// question may name them.
func (f Folder) Unread(ctx context.Context, p Permit, root string) (int, error) {
	n := 0
	err := f.below(ctx, p, root, func(e fsaccess.Entry) error {
		if !e.Dir && f.untold(p, e) {
			n++
		}
		return nil
	})
	return n, err
}

// Walk returns an iterator over the files below root that may be read. If the permit does not cover
// root, it yields the error alone.
func (f Folder) Walk(ctx context.Context, p Permit, root string, o fsaccess.WalkOptions) iter.Seq2[fsaccess.Entry, error] {
	n := read(root)
	n.Tree = true
	if err := cmp.Or(p.Check(n), f.alone(ctx, p, root)); err != nil {
		return func(yield func(fsaccess.Entry, error) bool) { yield(fsaccess.Entry{Path: root}, err) }
	}
	return fsaccess.Walk(ctx, f.fs, root, f.hiding(p, root, o))
}

// alone checks root if it is a file. A walk hides only files below its root.
func (f Folder) alone(ctx context.Context, p Permit, root string) error {
	if f.IsDir(ctx, root) {
		return nil
	}
	return p.Check(read(root))
}

// hiding returns options that hide the files that the permit does not cover. Folders are not
// hidden, because a file in them may be readable.
func (f Folder) hiding(p Permit, root string, o fsaccess.WalkOptions) fsaccess.WalkOptions {
	skip := o.Skip
	o.Skip = func(e fsaccess.Entry) bool {
		return skip != nil && skip(e) || !e.Dir && p.quiet(read(e.Path)) != nil
	}
	return o
}

// Grep returns an iterator over the matches of re in the files below root that may be read. Its
// options limit it as in [fsaccess.Grep].
func (f Folder) Grep(ctx context.Context, p Permit, root string, re *regexp.Regexp, o fsaccess.GrepOptions) iter.Seq2[fsaccess.Match, error] {
	n := read(root)
	n.Tree = true
	if err := cmp.Or(p.Check(n), f.alone(ctx, p, root)); err != nil {
		return func(yield func(fsaccess.Match, error) bool) { yield(fsaccess.Match{Path: root}, err) }
	}
	o.WalkOptions = f.hiding(p, root, o.WalkOptions)
	return fsaccess.Grep(ctx, f.fs, root, re, o)
}

// List returns the entries of a folder that may be read.
func (f Folder) List(ctx context.Context, p Permit, dir string) ([]fsaccess.Entry, error) {
	var out []fsaccess.Entry
	for e, err := range f.Walk(ctx, p, dir, fsaccess.WalkOptions{Depth: 1}) {
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, nil
}

// IsDir reports whether a path is a folder. It takes no permit, so its result may only be used for
// the user.
func (f Folder) IsDir(ctx context.Context, path string) bool {
	fi, err := fsaccess.WithContext(ctx, f.raw).Stat(path)
	return err == nil && fi.IsDir()
}

// Resolve returns needs with an additional need to remove each existing file that a need with
// Replaces would replace. The result shows whether a file exists, so it may only be used for the
// user.
func (f Folder) Resolve(ctx context.Context, needs []policy.Need) []policy.Need {
	out := needs
	for _, n := range needs {
		if !n.Replaces || n.Capability != protocol.FSWrite {
			continue
		}
		if _, err := fsaccess.WithContext(ctx, f.fs).Stat(n.Subject); err == nil {
			gone := write(protocol.OpRemove, n.Subject)
			gone.Destroys = true
			if slices.Contains(out, gone) {
				continue
			}
			out = append(out[:len(out):len(out)], gone)
		}
	}
	return out
}

// Append appends data to a file, and creates the file if it does not exist. It returns nothing
// about the existing content.
func (f Folder) Append(ctx context.Context, p Permit, path string, data []byte) error {
	if err := p.Check(write(protocol.OpWrite, path)); err != nil {
		return err
	}
	end, err := f.still.change(path)
	if err != nil {
		return err
	}
	defer end()
	if err := p.lands(path); err != nil {
		return err
	}
	file, err := fsaccess.WithContext(ctx, f.fs).OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	w, ok := file.(io.Writer)
	if !ok {
		file.Close()
		return errors.ErrUnsupported
	}
	if _, err := w.Write(data); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
