package shell

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// programFS is the folder for a program of the runner. It reads through a view of the permitted files. Its changes pass
// the gate one by one, as those of the shell's own commands do.
type programFS struct {
	fsaccess.FS
	w      *world
	permit sandbox.Permit              // for the changes that the user was shown
	listed map[string]fsaccess.Version // their paths, with the versions that may be written over
}

// changing asks about all changes that a program is about to make, in one question, before the first one.
func (f *programFS) changing(ctx context.Context, changes []protocol.FileChange) error {
	for _, c := range changes {
		if isSubstitution(f.FS, c.Path) || c.From != "" && isSubstitution(f.FS, c.From) {
			return protocol.Errorf(protocol.ErrExecution, "run", f.w.t.name, "a program can only read <(…), and not write or remove it")
		}
	}
	needs, err := gate.Changes("bash", f.w.t.name, changes, true, nil)
	if err != nil || len(needs) == 0 {
		return err
	}
	if f.permit, err = f.w.t.s.c.Acquire(ctx, needs...); err != nil {
		return err
	}
	f.listed = map[string]fsaccess.Version{}
	for _, c := range changes {
		f.listed[c.From], f.listed[c.Path] = fsaccess.AnyVersion, fsaccess.AnyVersion
		if c.Before < 0 {
			f.listed[c.Path] = fsaccess.Absent
		}
	}
	return nil
}

// may returns the permit for a change that the question listed.
func (f *programFS) may(n policy.Need) (sandbox.Permit, bool) {
	_, ok := f.listed[n.Subject]
	return f.permit, ok && f.permit.Covers(n)
}

func (f *programFS) WriteFile(name string, data []byte, _ fs.FileMode) error {
	if p, ok := f.may(writing(name)); ok {
		f.w.t.spend(len(data))
		_, err := f.w.t.s.c.FS.Write(f.w.t.ctx, p, name, data, f.listed[name])
		return failed("write", name, err)
	}
	out, err := f.w.Create("/"+name, false)
	if err != nil {
		return err
	}
	if _, err := out.Write(data); err != nil {
		return err
	}
	return out.Close()
}

func failed(op, name string, err error) error {
	if err != nil {
		err = &fs.PathError{Op: op, Path: name, Err: short(err)}
	}
	return err
}

func (f *programFS) Mkdir(name string, _ fs.FileMode) error {
	if p, ok := f.may(policy.Need{Capability: protocol.FSWrite, Op: protocol.OpMkdir, Subject: name}); ok {
		return failed("mkdir", name, f.w.t.s.c.FS.Mkdir(f.w.t.ctx, p, name))
	}
	return f.w.Mkdir("/"+name, false)
}

func (f *programFS) Remove(name string) error {
	if p, ok := f.may(policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: name}); ok {
		return failed("remove", name, f.w.t.s.c.FS.Remove(f.w.t.ctx, p, name, false))
	}
	return f.w.Remove("/"+name, false)
}

func (f *programFS) Rename(from, to string) error {
	a, b := policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: from, Tree: true}, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: to, Tree: true}
	if p, ok := f.may(a); ok {
		if _, ok := f.may(b); ok {
			return failed("rename", from, f.w.t.s.c.FS.Rename(f.w.t.ctx, p, from, to))
		}
	}
	return f.w.Rename("/"+from, "/"+to)
}

func (f *programFS) MkdirAll(name string, _ fs.FileMode) error { return f.w.Mkdir("/"+name, true) }
func (f *programFS) RemoveAll(name string) error               { return f.w.Remove("/"+name, true) }

func (f *programFS) Truncate(name string, _ int64) error { return unsupported("truncate", name) }

func (f *programFS) Create(name string) (fs.File, error) {
	return nil, unsupported("create", name)
}

// OpenFile opens a file for reading. A runner writes whole files back by WriteFile.
func (f *programFS) OpenFile(name string, flag int, perm fs.FileMode) (fs.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0 {
		return nil, unsupported("open", name)
	}
	return f.FS.OpenFile(name, flag, perm)
}

func unsupported(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: errors.ErrUnsupported}
}
