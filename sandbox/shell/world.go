package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// world is what a command of the shell reaches: the folder through the gate, and the commands of the script.
type world struct {
	t   *task
	dir string
}

var _ tool.World = (*world)(nil)

func (w *world) path(name string) string { return resolve(w.dir, name) }

func (w *world) Stat(name string) (fs.FileInfo, error) {
	s := w.t.s
	if data, ok := s.w.substituted(name); ok {
		return device{name, int64(len(data))}, nil
	}
	if name == "/dev/null" || name == "/dev/stdin" || name == "/dev/stdout" || name == "/dev/stderr" {
		return device{name, 0}, nil
	}
	p := w.path(name)
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

func (w *world) Lstat(name string) (fs.FileInfo, error) { return w.Stat(name) }

func (w *world) Open(name string) (io.ReadCloser, error) {
	if data, ok := w.t.s.w.substituted(name); ok {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	data, err := w.t.s.readFile(w.t.ctx, w.path(name))
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
	p := w.path(name)
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
func (i info) Mode() fs.FileMode {
	if i.e.Dir {
		return fs.ModeDir | 0o755
	}
	if fi, err := i.w.Stat("/" + i.e.Path); err == nil {
		return fi.Mode()
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
	f, err := w.t.s.create(w.t.ctx, w.path(name), appends)
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
	s, ctx, p := w.t.s, w.t.ctx, w.path(name)
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
	s, p := w.t.s, w.path(name)
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
	s, a, b := w.t.s, w.path(from), w.path(to)
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
	errNotSupported = said{"Operation not supported: this folder has no permissions, times or links that can be set", errors.ErrUnsupported}
)

func (w *world) Chmod(name string, mode fs.FileMode) error {
	fi, err := w.Stat(name)
	if err == nil && fi.Mode().Perm() != mode.Perm() {
		err = &fs.PathError{Op: "chmod", Path: name, Err: errNotSupported}
	}
	return err
}

func (w *world) Chtimes(name string, _ time.Time) error {
	return &fs.PathError{Op: "chtimes", Path: name, Err: errNotSupported}
}

func (w *world) Link(_, name string, _ bool) error {
	return &fs.PathError{Op: "link", Path: name, Err: errNotSupported}
}

func (w *world) Readlink(name string) (string, error) {
	return "", &fs.PathError{Op: "readlink", Path: name, Err: errNotSupported}
}

func (w *world) Dir() string { return w.dir }

func (w *world) Chdir(dir string) error {
	fi, err := w.Stat(dir)
	if err == nil && !fi.IsDir() {
		err = &fs.PathError{Op: "chdir", Path: dir, Err: errNotDirectory}
	}
	if err == nil {
		w.dir = abs(w.path(dir))
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
