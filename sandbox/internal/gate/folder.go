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
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Folder is the person's folder as tools see it: each method takes a permit that
// covers what it does, and is checked against it. The policy's guard stands below, so
// that a permit for too much would still open nothing the policy denies.
type Folder struct {
	fs      fsaccess.FS
	raw     fsaccess.FS // without the guard: for decisions about files that may not be read, and for questions
	journal *fsaccess.Journal
	still   *still

	unchecked bool // see [Unchecked]
}

// NewFolder guards a folder. A *[fsaccess.Journal] gives undo too. A nil folder has
// no files.
func NewFolder(fsys fsaccess.FS, p *policy.Policy, o fsaccess.GuardOptions) Folder {
	if fsys == nil {
		fsys = fsaccess.NewMemory(fsaccess.MemoryOptions{MaxBytes: 1})
	}
	f := Folder{fs: fsaccess.Guard(fsys, p.FS, o), raw: fsys, still: &still{}}
	f.journal, _ = fsys.(*fsaccess.Journal)
	return f
}

func read(name string) policy.Need {
	return policy.Need{Capability: protocol.FSRead, Subject: name}
}

func write(op protocol.FSOp, name string) policy.Need {
	return policy.Need{Capability: protocol.FSWrite, Op: op, Subject: name}
}

// Read reads a file and says which version it is.
func (f Folder) Read(ctx context.Context, p Permit, name string) ([]byte, fsaccess.Version, error) {
	if err := p.Check(read(name)); err != nil {
		return nil, "", err
	}
	return fsaccess.ReadVersion(ctx, f.fs, name)
}

// Stat tells about a file that may be read or written.
func (f Folder) Stat(ctx context.Context, p Permit, name string) (fs.FileInfo, error) {
	rerr := p.CheckAny(read(name), write(protocol.OpWrite, name), write(protocol.OpRemove, name), write(protocol.OpMkdir, name))
	if rerr != nil {
		return nil, rerr
	}
	return fsaccess.WithContext(ctx, f.fs).Stat(name)
}

// Write writes a file if it still has the wanted version; see [fsaccess.WriteVersion].
// Folders above it that are missing are made.
func (f Folder) Write(ctx context.Context, p Permit, name string, data []byte, want fsaccess.Version) (fsaccess.Version, error) {
	if err := p.Check(write(protocol.OpWrite, name)); err != nil {
		return "", err
	}
	end, err := f.still.change(name)
	if err != nil {
		return "", err
	}
	defer end()
	if err := p.lands(name); err != nil {
		return "", err
	}
	bound := fsaccess.WithContext(ctx, f.fs)
	var made string
	if dir := parent(name); dir != "." {
		if _, err := bound.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			made = firstMissing(bound, dir)
			if err := bound.MkdirAll(dir, 0o755); err != nil {
				return "", err
			}
		}
	}
	v, err := fsaccess.WriteVersion(ctx, f.fs, name, data, 0o644, want)
	if err != nil && made != "" {
		_ = fsaccess.WithContext(context.WithoutCancel(ctx), f.fs).RemoveAll(made) // it was made for this alone
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

func parent(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[:i]
		}
	}
	return "."
}

// Mkdir makes a folder and those above it.
func (f Folder) Mkdir(ctx context.Context, p Permit, name string) error {
	if err := p.Check(write(protocol.OpMkdir, name)); err != nil {
		return err
	}
	end, err := f.still.change(name)
	if err != nil {
		return err
	}
	defer end()
	return fsaccess.WithContext(ctx, f.fs).MkdirAll(name, 0o755)
}

// Remove removes a file or an empty folder; with all, a folder and what is in it.
func (f Folder) Remove(ctx context.Context, p Permit, name string, all bool) error {
	n := write(protocol.OpRemove, name)
	n.Tree = all
	if err := p.Check(n); err != nil {
		return err
	}
	end, err := f.still.change(name)
	if err != nil {
		return err
	}
	defer end()
	bound := fsaccess.WithContext(ctx, f.fs)
	if !all {
		return bound.Remove(name)
	}
	if err := f.below(ctx, p, name, func(e fsaccess.Entry) error { return p.Check(write(protocol.OpRemove, e.Path)) }); err != nil {
		return err
	}
	return bound.RemoveAll(name)
}

// Rename moves a file or a folder. A file there is replaced if the permit has a need
// to remove it.
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

// moves checks each path that a file or a folder and all below it move from and to.
func (f Folder) moves(ctx context.Context, p Permit, from, to string) error {
	return f.movesAt(ctx, p, from, from, to)
}

// movesAt is moves where the files still lie at another path.
func (f Folder) movesAt(ctx context.Context, p Permit, at, from, to string) error {
	if err := p.carries(from, to); err != nil {
		return err
	}
	return f.below(ctx, p, at, func(e fsaccess.Entry) error {
		out, in := from+e.Path[len(at):], to+e.Path[len(at):]
		return cmp.Or(p.Check(write(protocol.OpRemove, out)), p.Check(write(protocol.OpWrite, in)), p.carries(e.Path, in), p.carries(out, in))
	})
}

// below checks each path in a folder that is about to go, those that may not be read too.
// An error about one of those does not name it.
func (f Folder) below(ctx context.Context, p Permit, root string, check func(e fsaccess.Entry) error) error {
	if fi, err := fsaccess.WithContext(ctx, f.raw).Stat(root); err != nil || !fi.IsDir() {
		return err
	}
	all := fsaccess.Reach(ctx, f.raw, root)
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

// untold reports whether a model is not to learn that a file is there.
func (f Folder) untold(p Permit, e fsaccess.Entry) bool {
	return p.t != nil && p.t.reads(read(e.Path)) != nil
}

// Unread counts the files below root that the permit is for, and that neither a model nor a
// question may name.
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

// Walk visits what may be read below root.
func (f Folder) Walk(ctx context.Context, p Permit, root string, o fsaccess.WalkOptions) iter.Seq2[fsaccess.Entry, error] {
	n := read(root)
	n.Tree = true
	if err := cmp.Or(p.Check(n), f.alone(ctx, p, root)); err != nil {
		return func(yield func(fsaccess.Entry, error) bool) { yield(fsaccess.Entry{Path: root}, err) }
	}
	return fsaccess.Walk(ctx, f.fs, root, f.hiding(p, root, o))
}

// alone checks the root of a walk if it is a file: a walk leaves out files below its root
// only.
func (f Folder) alone(ctx context.Context, p Permit, root string) error {
	if f.IsDir(ctx, root) {
		return nil
	}
	return p.Check(read(root))
}

// hiding leaves out what the permit does not cover. A folder is passed through if
// something in it may be readable.
func (f Folder) hiding(p Permit, root string, o fsaccess.WalkOptions) fsaccess.WalkOptions {
	skip := o.Skip
	o.Skip = func(e fsaccess.Entry) bool {
		return skip != nil && skip(e) || !e.Dir && p.quiet(read(e.Path)) != nil
	}
	return o
}

// Grep searches what may be read below root.
func (f Folder) Grep(ctx context.Context, p Permit, root string, re *regexp.Regexp, o fsaccess.GrepOptions) iter.Seq2[fsaccess.Match, error] {
	n := read(root)
	n.Tree = true
	if err := cmp.Or(p.Check(n), f.alone(ctx, p, root)); err != nil {
		return func(yield func(fsaccess.Match, error) bool) { yield(fsaccess.Match{Path: root}, err) }
	}
	o.WalkOptions = f.hiding(p, root, o.WalkOptions)
	return fsaccess.Grep(ctx, f.fs, root, re, o)
}

// List gives the entries of one folder that may be read.
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

// IsDir reports whether a path is a folder. It tells nobody but the person.
func (f Folder) IsDir(ctx context.Context, name string) bool {
	fi, err := fsaccess.WithContext(ctx, f.raw).Stat(name)
	return err == nil && fi.IsDir()
}

// Resolve adds the needs that follow from what is there: to remove what is replaced.
// What is there is told to nobody but the person.
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

// Append adds to a file, making it if need be. Nothing of what is there is told.
func (f Folder) Append(ctx context.Context, p Permit, name string, data []byte) error {
	if err := p.Check(write(protocol.OpWrite, name)); err != nil {
		return err
	}
	end, err := f.still.change(name)
	if err != nil {
		return err
	}
	defer end()
	if err := p.lands(name); err != nil {
		return err
	}
	file, err := fsaccess.WithContext(ctx, f.fs).OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
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
