package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/bailey-go/bailey/internal/jsx"
	wire "github.com/bailey-go/bailey/internal/wire/wasm"
	"github.com/bailey-go/bailey/protocol"
)

// change is one change that a program made in a mount.
type change struct {
	wire.Change
	m *mount
}

// changes decodes the changes of a program. The worker that sends them is not trusted: names are
// checked, and a change in a read-only mount is an error.
func (f *files) changes(u *jsx.Unpacker) ([]change, error) {
	all, err := wire.ReadChanges(u)
	if err != nil {
		return nil, violation("%v", err)
	}
	list := make([]change, len(all))
	for i, c := range all {
		if c.Mount >= len(f.mounts) || f.mounts[c.Mount].readOnly {
			return nil, violation("a change in mount %d", c.Mount)
		}
		if !validName(c.Path) || (c.Kind == wire.Rename || c.Kind == wire.Link) && !validName(c.To) {
			return nil, violation("a change of %q, %q", c.Path, c.To)
		}
		list[i] = change{c, f.mounts[c.Mount]}
	}
	return list, nil
}

func validName(name string) bool { return fs.ValidPath(name) && name != "." }

func violation(format string, args ...any) error {
	return protocol.Errorf(protocol.ErrSecurityViolation, "run", "", "the worker sent a message that is not allowed: %s", fmt.Sprintf(format, args...))
}

// writeBack calls changing with all changes, and then apply.
func (f *files) writeBack(ctx context.Context, list []change, changing func(context.Context, []protocol.FileChange) error) (int, error) {
	for _, c := range list {
		if err := c.holds(); err != nil {
			return 0, err
		}
	}
	if changing != nil && len(list) > 0 {
		if err := changing(ctx, told(list)); err != nil {
			return 0, err
		}
	}
	return f.apply(ctx, list)
}

// told returns the changes as a person is shown them, with the names that the program uses. A name that is removed
// to make room for a file or link is not told twice.
func told(list []change) (out []protocol.FileChange) {
	made := map[string]bool{}
	for _, c := range list {
		made[path.Join(c.m.guest, c.Path)] = c.Kind == wire.Symlink || c.Kind == wire.Link
	}
	for _, c := range list {
		name := path.Join(c.m.guest, c.Path)
		base, was := c.m.shown()[c.Path]
		t := protocol.FileChange{Path: name, Before: -1}
		if was && !base.dir {
			t.Before = base.size
		}
		switch c.Kind {
		case wire.Remove, wire.RemoveDir:
			t.Size, t.Dir = -1, c.Kind == wire.RemoveDir
			if t.Dir {
				t.Before = 0
			} else if made[name] {
				continue
			}
		case wire.MakeDir:
			t.Dir, t.Before = true, -1
		case wire.Write:
			t.Size = int64(len(c.Data))
		case wire.Rename:
			t.Path, t.From, t.Size, t.Before = path.Join(c.m.guest, c.To), name, max(t.Before, 0), -1
		case wire.Symlink:
			t.Link, t.Size = c.To, int64(len(c.To))
		case wire.Link:
			t.Same = path.Join(c.m.guest, c.To)
		}
		out = append(out, t)
	}
	return out
}

// apply writes a program's changes back and returns the number written. It first checks that every
// affected file is still as the program was shown it. If one is not, nothing is written and the
// error is a *[ConflictError]. A failure half way leaves the changes made until then, which a
// journal can undo.
func (f *files) apply(ctx context.Context, list []change) (n int, err error) {
	var conflicts []string
	for _, c := range list {
		same, err := c.same()
		if err != nil {
			return 0, fmt.Errorf("worker: write back %s: %w", c.Path, err)
		}
		if !same {
			conflicts = append(conflicts, c.Path)
		}
	}
	if conflicts != nil {
		return 0, &ConflictError{Paths: conflicts}
	}
	for _, c := range list {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if same, err := c.still(); err == nil && !same {
			return n, &ConflictError{Paths: []string{c.Path}, made: n}
		} else if err != nil {
			return n, fmt.Errorf("worker: write back %s: %w", c.Path, err)
		}
		if err := c.do(c.m.fsys.(WriteFS)); errors.Is(err, errSlipped) {
			return n, &ConflictError{Paths: []string{c.Path}, made: n}
		} else if err != nil {
			return n, fmt.Errorf("worker: write back: %w", err)
		}
		n++
	}
	return n, nil
}

// linkFS is a file system that holds links. The methods are those of [os.Root].
type linkFS interface {
	Symlink(oldname, newname string) error
	Link(oldname, newname string) error
}

// holds returns an error for a link that the file system can't hold, or that leads out of it.
func (c change) holds() error {
	if c.Kind != wire.Symlink && c.Kind != wire.Link {
		return nil
	}
	if _, ok := c.m.fsys.(linkFS); !ok {
		return protocol.Errorf(protocol.ErrExecution, "run", c.Path, "the program left a link (%s to %s), and this folder holds none, so nothing was written back; let it copy the file: %w", c.Path, c.To, errors.ErrUnsupported)
	}
	if c.Kind == wire.Symlink && !(protocol.FileChange{Path: c.Path, Link: c.To}).LinkStays() {
		return protocol.Errorf(protocol.ErrCapabilityDenied, "run", c.Path, "the program left a symbolic link to %q, which may lead out of the folder, so nothing was written back", c.To)
	}
	return nil
}

// same reports whether the file that c replaces is still as the program was shown it.
func (c change) same() (bool, error) {
	base, was := c.m.shown()[c.Path]
	switch c.Kind {
	case wire.MakeDir:
		// Another writer may have made the same folder. If a file stood there, it was checked when
		// it was removed.
		info, err := fs.Stat(c.m.fsys, c.Path)
		return was || err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist), refusal(err)
	case wire.Symlink, wire.Link:
		_, err := fs.Stat(c.m.fsys, c.Path)
		return was || errors.Is(err, fs.ErrNotExist), refusal(err)
	case wire.RemoveDir:
		info, err := fs.Stat(c.m.fsys, c.Path)
		return err == nil && info.IsDir(), refusal(err)
	case wire.Rename:
		if _, err := fs.Stat(c.m.fsys, c.To); !errors.Is(err, fs.ErrNotExist) {
			return false, refusal(err)
		}
	}
	if !was || base.dir { // a new file, or a file in place of a removed folder
		_, err := fs.Stat(c.m.fsys, c.Path)
		return base.dir || errors.Is(err, fs.ErrNotExist), refusal(err)
	}
	info, err := fs.Stat(c.m.fsys, c.Path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != base.size {
		return false, refusal(err)
	}
	if !base.known {
		return info.ModTime().Equal(base.mtime), nil
	}
	now, err := fs.ReadFile(c.m.fsys, c.Path)
	return bytes.Equal(now, base.data), refusal(err)
}

// refusal returns err if a policy denied access. Any other error that prevents a look at a name
// counts as a change by another writer, and refusal returns nil.
func refusal(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func (c change) do(fsys WriteFS) error {
	switch c.Kind {
	case wire.Remove, wire.RemoveDir:
		return fsys.Remove(c.Path)
	case wire.MakeDir:
		err := fsys.Mkdir(c.Path, 0o777)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	case wire.Rename:
		return fsys.Rename(c.Path, c.To)
	case wire.Symlink:
		return fsys.(linkFS).Symlink(c.To, c.Path)
	case wire.Link:
		return fsys.(linkFS).Link(c.To, c.Path)
	}
	if u, ok := fsys.(updateFS); ok {
		err := u.UpdateFile(c.Path, 0o666, c.swap)
		// If reading is not allowed, a new file can't be compared. An earlier check found that it
		// does not exist.
		if _, was := c.m.shown()[c.Path]; was || !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return fsys.WriteFile(c.Path, c.Data, 0o666)
}

var errSlipped = errors.New("changed by something else")

// swap returns c's content, or errSlipped if old is not the content that the program was shown.
func (c change) swap(old []byte) ([]byte, error) {
	base, was := c.m.shown()[c.Path]
	switch {
	case !was || base.dir:
		if old != nil {
			return nil, errSlipped
		}
	case old == nil && base.size > 0, int64(len(old)) != base.size, base.known && !bytes.Equal(old, base.data):
		return nil, errSlipped
	}
	return c.Data, nil
}

// still compares once more, right before a removal or a rename.
func (c change) still() (bool, error) {
	if c.Kind != wire.Remove && c.Kind != wire.Rename {
		return true, nil
	}
	return c.same()
}
