package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// change is one change that a program made in a mount.
type change struct {
	kind byte
	m    *mount
	name string
	data []byte // of a write
	to   string // of a rename
}

// changes decodes the changes of a program. The worker that sends them is not trusted: names are
// checked, and a change in a read-only mount is an error.
func (f *files) changes(u *jsx.Unpacker) ([]change, error) {
	list := make([]change, 0, u.Count(6))
	for range cap(list) {
		c := change{kind: u.U8()}
		i := int(u.U8())
		c.name = u.String()
		switch c.kind {
		case frame.WasmWrite:
			c.data = u.Bytes()
		case frame.WasmRename:
			c.to = u.String()
		case frame.WasmRemove, frame.WasmRemoveDir, frame.WasmMakeDir:
		default:
			return nil, violation("a change of kind %d", c.kind)
		}
		if u.Err() != nil {
			return nil, violation("%v", u.Err())
		}
		if i >= len(f.mounts) || f.mounts[i].readOnly {
			return nil, violation("a change in mount %d", i)
		}
		c.m = f.mounts[i]
		if !validName(c.name) || c.kind == frame.WasmRename && !validName(c.to) {
			return nil, violation("a change of %q, %q", c.name, c.to)
		}
		list = append(list, c)
	}
	if err := u.Close(); err != nil {
		return nil, violation("%v", err)
	}
	return list, nil
}

func validName(name string) bool { return fs.ValidPath(name) && name != "." }

func violation(format string, args ...any) error {
	return protocol.Errorf(protocol.ErrSecurityViolation, "run", "", "the worker was made to say what it must not: %s", fmt.Sprintf(format, args...))
}

// writeBack calls losing with the files that will be lost, and then apply.
func (f *files) writeBack(ctx context.Context, list []change, losing func(context.Context, map[string]string) error) (int, error) {
	if lost := lostBy(list); losing != nil && len(lost) > 0 {
		if err := losing(ctx, lost); err != nil {
			return 0, err
		}
	}
	return f.apply(ctx, list)
}

// lostBy returns the files and folders that a program removed ("") or renamed (the new name), by
// the names that the program uses.
func lostBy(list []change) map[string]string {
	lost := map[string]string{}
	for _, c := range list {
		switch c.kind {
		case frame.WasmRemove, frame.WasmRemoveDir:
			lost[path.Join(c.m.guest, c.name)] = ""
		case frame.WasmRename:
			lost[path.Join(c.m.guest, c.name)] = path.Join(c.m.guest, c.to)
		}
	}
	return lost
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
			return 0, fmt.Errorf("worker: write back %s: %w", c.name, err)
		}
		if !same {
			conflicts = append(conflicts, c.name)
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
			return n, &ConflictError{Paths: []string{c.name}, made: n}
		} else if err != nil {
			return n, fmt.Errorf("worker: write back %s: %w", c.name, err)
		}
		if err := c.do(c.m.fsys.(WriteFS)); errors.Is(err, errSlipped) {
			return n, &ConflictError{Paths: []string{c.name}, made: n}
		} else if err != nil {
			return n, fmt.Errorf("worker: write back: %w", err)
		}
		n++
	}
	return n, nil
}

// same reports whether the file that c replaces is still as the program was shown it.
func (c change) same() (bool, error) {
	base, was := c.m.shown()[c.name]
	switch c.kind {
	case frame.WasmMakeDir:
		// Another writer may have made the same folder. If a file stood there, it was checked when
		// it was removed.
		info, err := fs.Stat(c.m.fsys, c.name)
		return was || err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist), refusal(err)
	case frame.WasmRemoveDir:
		info, err := fs.Stat(c.m.fsys, c.name)
		return err == nil && info.IsDir(), refusal(err)
	case frame.WasmRename:
		if _, err := fs.Stat(c.m.fsys, c.to); !errors.Is(err, fs.ErrNotExist) {
			return false, refusal(err)
		}
	}
	if !was || base.dir { // a new file, or a file in place of a removed folder
		_, err := fs.Stat(c.m.fsys, c.name)
		return base.dir || errors.Is(err, fs.ErrNotExist), refusal(err)
	}
	info, err := fs.Stat(c.m.fsys, c.name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != base.size {
		return false, refusal(err)
	}
	if !base.known {
		return info.ModTime().Equal(base.mtime), nil
	}
	now, err := fs.ReadFile(c.m.fsys, c.name)
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
	switch c.kind {
	case frame.WasmRemove, frame.WasmRemoveDir:
		return fsys.Remove(c.name)
	case frame.WasmMakeDir:
		err := fsys.Mkdir(c.name, 0o777)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	case frame.WasmRename:
		return fsys.Rename(c.name, c.to)
	}
	if u, ok := fsys.(UpdateFS); ok {
		err := u.UpdateFile(c.name, 0o666, c.swap)
		// If reading is not allowed, a new file can't be compared. An earlier check found that it
		// does not exist.
		if _, was := c.m.shown()[c.name]; was || !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return fsys.WriteFile(c.name, c.data, 0o666)
}

var errSlipped = errors.New("changed by somebody else")

// swap returns c's content, or errSlipped if old is not the content that the program was shown.
func (c change) swap(old []byte) ([]byte, error) {
	base, was := c.m.shown()[c.name]
	switch {
	case !was || base.dir:
		if old != nil {
			return nil, errSlipped
		}
	case old == nil && base.size > 0, int64(len(old)) != base.size, base.known && !bytes.Equal(old, base.data):
		return nil, errSlipped
	}
	return c.data, nil
}

// still compares once more, right before a removal or a rename.
func (c change) still() (bool, error) {
	if c.kind != frame.WasmRemove && c.kind != frame.WasmRename {
		return true, nil
	}
	return c.same()
}
