package shell

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// programFS is the folder for a program of the runner. It reads through a view of the permitted files. Its changes pass
// the gate one by one, as those of the shell's own commands do.
type programFS struct {
	fsaccess.FS
	w *world
}

func (f *programFS) WriteFile(name string, data []byte, _ fs.FileMode) error {
	out, err := f.w.Create("/"+name, false)
	if err != nil {
		return err
	}
	if _, err := out.Write(data); err != nil {
		return err
	}
	return out.Close()
}

func (f *programFS) Mkdir(name string, _ fs.FileMode) error    { return f.w.Mkdir("/"+name, false) }
func (f *programFS) MkdirAll(name string, _ fs.FileMode) error { return f.w.Mkdir("/"+name, true) }
func (f *programFS) Remove(name string) error                  { return f.w.Remove("/"+name, false) }
func (f *programFS) RemoveAll(name string) error               { return f.w.Remove("/"+name, true) }
func (f *programFS) Rename(from, to string) error              { return f.w.Rename("/"+from, "/"+to) }

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

// maxLost is the most files that one program may remove or move away.
const maxLost = 1000

// losing asks about all files that a program is about to remove or move away, in one question, before any change is made.
func (s *shell) losing(t *task) func(context.Context, map[string]string) error {
	return func(ctx context.Context, lost map[string]string) error {
		if len(lost) > maxLost {
			return protocol.Errorf(protocol.ErrResourceLimit, "bash", t.name, "the command would remove or move away %d files; %d is the most, as the user is asked about each", len(lost), maxLost)
		}
		var needs []policy.Need
		for _, p := range slices.Sorted(maps.Keys(lost)) {
			if !fs.ValidPath(p) {
				return protocol.Errorf(protocol.ErrCapabilityDenied, "bash", p, "the command names a file that can't be")
			}
			needs = append(needs, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: p, Destroys: lost[p] == ""})
		}
		if len(needs) == 0 {
			return nil
		}
		_, err := s.c.Acquire(ctx, needs...)
		return err
	}
}
