package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// world is what a command of the shell reaches: the folder through the gate, and the commands of the script.
type world struct {
	t   *task
	dir string
}

var _ tool.World = (*world)(nil)

// path returns the folder's path with its links followed, the last element only if last is set.
func (w *world) path(name string, last bool) (string, error) {
	return w.t.s.real(w.t.ctx, w.dir, name, last)
}

func (w *world) Stat(name string) (fs.FileInfo, error) { return w.stat(name, true) }

func (w *world) Lstat(name string) (fs.FileInfo, error) { return w.stat(name, false) }

func (w *world) stat(name string, follow bool) (fs.FileInfo, error) {
	s := w.t.s
	if data, ok := s.w.substituted(name); ok {
		return device{name, int64(len(data))}, nil
	}
	if name == "/dev/null" || name == "/dev/stdin" || name == "/dev/stdout" || name == "/dev/stderr" {
		return device{name, 0}, nil
	}
	p, err := w.path(name, follow)
	if err != nil {
		return nil, err
	}
	permit, err := s.c.Acquire(w.t.ctx, reading(p))
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: short(err)}
	}
	fi, err := s.c.FS.Stat(w.t.ctx, permit, p)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: short(err)}
	}
	if strings.HasSuffix(name, "/") && !fi.IsDir() {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: errNotDirectory}
	}
	return fi, nil
}

func (w *world) Open(name string) (io.ReadCloser, error) {
	if data, ok := w.t.s.w.substituted(name); ok {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	p, err := w.path(name, true)
	if err != nil {
		return nil, err
	}
	data, err := w.t.s.readFile(w.t.ctx, p)
	if err != nil {
		return nil, err
	}
	w.t.hold(len(data))
	w.t.spend(len(data) / 8)
	return &held{bytes.NewReader(data), w.t, len(data)}, nil
}

// held is an open file, whose content is held until it is closed.
type held struct {
	*bytes.Reader
	t *task
	n int
}

func (h *held) Close() error {
	h.t.s.w.release(h.n)
	h.t.held -= h.n
	h.n = 0
	return nil
}

func (w *world) ReadDir(name string) ([]fs.FileInfo, error) {
	p, err := w.path(name, true)
	if err != nil {
		return nil, err
	}
	list, err := w.t.s.list(w.t.ctx, p)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: short(err)}
	}
	out := make([]fs.FileInfo, len(list))
	for i, e := range list {
		out[i] = info{e, w}
	}
	w.t.spend(64 * len(list))
	return out, nil
}

// info is an [fs.FileInfo] for an entry of a list, whose permissions are read when they are needed.
type info struct {
	e fsaccess.Entry
	w *world
}

func (i info) Name() string       { return i.e.Name() }
func (i info) Size() int64        { return i.e.Size }
func (i info) ModTime() time.Time { return i.e.ModTime }
func (i info) IsDir() bool        { return i.e.Dir }
func (i info) Sys() any           { return nil }
func (i info) Link() bool         { return i.e.Link }
func (i info) Mode() fs.FileMode {
	switch {
	case i.e.Dir && !i.w.t.s.modes():
		return fs.ModeDir | 0o755
	case i.e.Link:
		return fs.ModeSymlink | 0o777
	}
	if fi, err := i.w.Lstat("/" + i.e.Path); err == nil {
		return fi.Mode()
	}
	if i.e.Dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

func (w *world) Create(name string, appends bool) (io.WriteCloser, error) {
	if name == "/dev/null" {
		return null{}, nil
	}
	if _, ok := w.t.s.w.substituted(name); ok {
		return substitution{w.t.s.w, name}, nil
	}
	if name == "/dev/stdout" || name == "/dev/stderr" {
		return stream{map[bool]io.Writer{true: w.t.out, false: w.t.err}[name == "/dev/stdout"]}, nil
	}
	p, err := w.path(name, true)
	if err != nil {
		return nil, err
	}
	f, err := w.t.s.create(w.t.ctx, p, appends)
	if err != nil {
		return nil, err
	}
	f.quiet = true
	return f, nil
}

type stream struct{ io.Writer }

func (stream) Close() error { return nil }

// Mkdir asks for nothing but leave to make the folder, so that its decision is that of the tool mkdir.
func (w *world) Mkdir(name string, all bool) error {
	s, ctx := w.t.s, w.t.ctx
	p, err := w.path(name, false)
	if err != nil {
		return err
	}
	fail := func(err error) error { return &fs.PathError{Op: "mkdir", Path: name, Err: short(err)} }
	permit, err := s.c.Acquire(ctx, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpMkdir, Subject: p})
	if err != nil {
		return fail(err)
	}
	if fi, err := s.c.FS.Stat(ctx, permit, p); err == nil {
		if all && fi.IsDir() {
			return nil
		}
		return fail(fs.ErrExist)
	}
	if up := path.Dir(p); !all && up != "." {
		if fi, err := s.c.FS.Stat(ctx, permit, up); errors.Is(err, fs.ErrNotExist) {
			return fail(err)
		} else if err == nil && !fi.IsDir() {
			return fail(errNotDirectory)
		}
	}
	if err := s.c.FS.Mkdir(ctx, permit, p); err != nil {
		return fail(err)
	}
	return nil
}

func (w *world) Remove(name string, all bool) error {
	s := w.t.s
	p, err := w.path(name, false)
	if err != nil {
		return err
	}
	permit, err := s.c.Acquire(w.t.ctx, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: p, Tree: all, Destroys: true})
	if err == nil {
		if _, err = s.c.FS.Stat(w.t.ctx, permit, p); err == nil {
			err = s.c.FS.Remove(w.t.ctx, permit, p, all)
		}
	}
	if err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: short(err)}
	}
	return nil
}

func (w *world) Rename(from, to string) error {
	s := w.t.s
	a, err := w.path(from, false)
	if err != nil {
		return err
	}
	b, err := w.path(to, false)
	if err != nil {
		return err
	}
	permit, err := s.c.Acquire(w.t.ctx, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: a, Tree: true},
		policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: b, Tree: true, Replaces: true})
	if err == nil {
		err = s.c.FS.Rename(w.t.ctx, permit, a, b)
	}
	if err != nil {
		return &fs.PathError{Op: "rename", Path: from, Err: short(err)}
	}
	return nil
}

var (
	//lint:ignore ST1005 the shell's users know it by these words
	errNotDirectory = errors.New("Not a directory")
	errHard         = said{"Operation not supported: a file has one name here, because the rules decide by name; ln -s makes a symbolic link, and cp a copy", errors.ErrUnsupported}
)

// lacks returns the error for an ability that the folder does not have, with the reason.
func (w *world) lacks(of string) error {
	why := "this folder has no " + of
	switch source := w.t.s.c.FS.Features().Source; source {
	case "picked", "opfs", "upload", "files", "drop":
		why = "the browser gives a page no " + of + " of a folder"
	}
	return said{"Operation not supported: " + why, errors.ErrUnsupported}
}

// adjust asks for leave to change what is known of a file, and not its content. With wrote, leave to write the file in this script is enough.
func (w *world) adjust(op, name, words string, wrote bool, do func(permit sandbox.Permit, p string) error) error {
	p, err := w.path(name, true)
	if err == nil {
		need := policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: p, Words: words + " " + gate.Spelled(p)}
		was, ok := w.t.s.wrote.Load(p)
		permit, _ := was.(sandbox.Permit)
		if !ok || !wrote || !permit.Covers(need) {
			permit, err = w.t.s.c.Acquire(w.t.ctx, need)
		}
		if err == nil {
			err = do(permit, p)
		}
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: short(err)}
	}
	return nil
}

func (w *world) Chmod(name string, mode fs.FileMode) error {
	fi, err := w.Stat(name)
	if err != nil || fi.Mode().Perm() == mode.Perm() {
		return err
	}
	if !w.t.s.modes() {
		return &fs.PathError{Op: "chmod", Path: name, Err: w.lacks("permissions")}
	}
	return w.adjust("chmod", name, fmt.Sprintf("set the permissions %04o of", mode.Perm()), false, func(permit sandbox.Permit, p string) error {
		return w.t.s.c.FS.Chmod(w.t.ctx, permit, p, mode)
	})
}

func (w *world) Chtimes(name string, t time.Time) error {
	if !w.t.s.c.FS.Features().Chtimes {
		return &fs.PathError{Op: "chtimes", Path: name, Err: w.lacks("times that can be set")}
	}
	return w.adjust("chtimes", name, "set the time of", true, func(permit sandbox.Permit, p string) error {
		return w.t.s.c.FS.Chtimes(w.t.ctx, permit, p, t)
	})
}

// Link makes a symbolic link. An absolute target is below the folder, and is written as a relative one. Hard links are refused: the rules
// decide by name, and would judge the second name otherwise than the first.
func (w *world) Link(target, name string, symbolic bool) error {
	fail := func(err error) error { return &fs.PathError{Op: "link", Path: name, Err: short(err)} }
	if !symbolic {
		return fail(errHard)
	}
	s := w.t.s
	if !s.c.FS.Features().Links {
		return fail(w.lacks("links"))
	}
	p, err := w.path(name, false)
	if err != nil {
		return fail(err)
	}
	if path.IsAbs(target) {
		target = relativeTo(path.Dir(p), resolve("/", target))
	} else {
		target = path.Clean(target)
	}
	to := path.Join(path.Dir(p), target)
	if to == ".." || strings.HasPrefix(to, "../") {
		return fail(protocol.Errorf(protocol.ErrCapabilityDenied, "link", name, "it would lead out of the folder"))
	}
	permit, err := s.c.Acquire(w.t.ctx, reading(to), policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: p, Words: "make the link " + gate.Spelled(p) + " to " + gate.Spelled(to)})
	if err == nil {
		err = s.c.FS.Symlink(w.t.ctx, permit, target, p)
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

// relativeTo returns the path from a folder to another path. Both are of the folder.
func relativeTo(dir, to string) string {
	if dir == "." {
		return to
	}
	a, b := strings.Split(dir, "/"), strings.Split(to, "/")
	if to == "." {
		b = nil
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return path.Join(strings.Repeat("../", len(a)-n), path.Join(b[n:]...))
}

func (w *world) Readlink(name string) (string, error) {
	p, err := w.path(name, false)
	if err != nil {
		return "", err
	}
	permit, err := w.t.s.c.Acquire(w.t.ctx, reading(p))
	if err == nil {
		var to string
		if to, err = w.t.s.c.FS.ReadLink(w.t.ctx, permit, p); err == nil {
			return to, nil
		}
	}
	return "", &fs.PathError{Op: "readlink", Path: name, Err: short(err)}
}

func (w *world) Dir() string { return w.dir }

func (w *world) Chdir(dir string) error {
	fi, err := w.Stat(dir)
	if err == nil && !fi.IsDir() {
		err = &fs.PathError{Op: "chdir", Path: dir, Err: errNotDirectory}
	}
	if err == nil {
		w.dir = abs(resolve(w.dir, dir))
	}
	return err
}

func (w *world) Environ() []string { return w.t.environ() }

func (w *world) Spend(n int) { w.t.spend(n) }
func (w *world) Hold(n int)  { w.t.hold(n) }

// Run runs another command with the streams of e.
func (w *world) Run(e *tool.Env, argv []string, env []string) int {
	return w.run(w.t.ctx, e, argv, env)
}

func (w *world) run(ctx context.Context, e *tool.Env, argv []string, env []string) int {
	next := &task{s: w.t.s, ctx: ctx, hc: w.t.hc, dir: w.dir, in: e.Stdin, out: w.t.out, err: w.t.err, name: argv[0], args: argv[1:], env: env, depth: w.t.depth + 1}
	if env == nil {
		next.env = w.t.env
	}
	return w.t.s.start(next)
}

// RunFor runs a command with a time limit, which pauses while the user is asked.
func (w *world) RunFor(d time.Duration, e *tool.Env, argv []string) (code int, late bool) {
	ctx, limit := stopclock.Start(w.t.ctx, stopclock.Options{Limit: d, Cause: context.DeadlineExceeded})
	defer limit.Stop()
	code = w.run(ctx, e, argv, nil)
	return code, ctx.Err() != nil && w.t.ctx.Err() == nil
}
