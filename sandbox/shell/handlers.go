package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

// errIsDirectory has bash's own text, which begins with a capital letter.
//
//lint:ignore ST1005 the shell's users know it by these words
var errIsDirectory = errors.New("Is a directory")

var errTooLarge = errors.New("the file is larger than 64 MiB, which is all that a script reads")

// maxVars bounds the size of all variables of a script together, in bytes.
const maxVars = 1 << 20

const (
	maxPrefixes = 16
	maxTest     = 500
)

// call is called before each command. It checks the size of the variables. It replaces
// builtins that would query the host by the shell's own commands.
func (s *shell) call(ctx context.Context, args []string) ([]string, error) {
	hc := interp.HandlerCtx(ctx)
	size := 0
	for name, v := range hc.Env.Each {
		size += len(name) + len(v.Str)
		for _, e := range v.List {
			size += len(e) + 8
		}
		for k, e := range v.Map {
			size += len(k) + len(e) + 8
		}
	}
	if size > maxVars && !s.o.off.bounds {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "bash", "", "the script's variables have more than %d bytes; use files or pipes", maxVars)
	}
	// The interpreter calls this handler again for the command after builtin, command and
	// eval. For test it calls itself for the arguments.
	first := 0
	for first < len(args)-1 && (args[first] == "builtin" || args[first] == "command" || args[first] == "eval") {
		first++
	}
	if first > maxPrefixes {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "bash", "", "more than %d of builtin, command and eval before one command", maxPrefixes)
	}
	if (args[first] == "test" || args[first] == "[") && len(args) > maxTest {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "bash", "", "test has more than %d arguments", maxTest)
	}
	switch args[0] {
	case tickName:
		return []string{":"}, nil
	case "pwd":
		return []string{"pwd"}, nil
	case "which":
		return append([]string{whichName}, args[1:]...), nil
	}
	return args, nil
}

// exec runs a command that is neither a function nor a builtin.
func (s *shell) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	if args[0] == whichName {
		return status(which(s, hc, args[1:]))
	}
	code := s.start(&task{s: s, ctx: ctx, hc: hc, dir: hc.Dir, in: hc.Stdin, out: hc.Stdout, err: hc.Stderr, name: args[0], args: args[1:]})
	if err := s.w.err(); err != nil {
		return err
	}
	return status(code)
}

func status(code int) error {
	if code == 0 {
		return nil
	}
	return interp.ExitStatus(uint8(code))
}

func (s *shell) runnerCommands() []string {
	if s.o.Runner == nil {
		return nil
	}
	return s.o.Runner.Commands()
}

func (s *shell) hasRunner(name string) bool {
	return slices.Contains(s.runnerCommands(), name)
}

// external runs a command of the runner, in the shell's working directory and with its exported variables. It reads and
// writes the folder as the shell's own commands do: each file passes the gate when it is read or written.
func (s *shell) external(t *task) int {
	ctx := t.ctx
	need := policy.Need{Capability: protocol.ShellRun, Subject: t.name}
	p, err := s.c.Acquire(ctx, need, policy.Need{Capability: protocol.FSRead, Subject: ".", Tree: true, Filtered: true})
	if err != nil {
		t.errorf("%s", err)
		return 126
	}
	runner, err := s.runner.Get(p, need)
	if err != nil {
		t.errorf("%s", err)
		return 126
	}
	view, err := s.c.View(ctx, p, []string{"."}, nil)
	if err != nil {
		t.errorf("%s", err)
		return 126
	}
	files, err := withSubstitutions(t, view)
	if err != nil {
		t.errorf("%s", err)
		return 126
	}
	folder := &programFS{FS: files, w: &world{t: t, dir: "/"}}
	dir, err := s.real(ctx, t.dir, ".", true) // a program sees no links
	if err != nil {
		t.errorf("%s", err)
		return 126
	}
	code, err := runner.RunCommand(ctx, sandbox.Command{Name: t.name, Args: t.args, Stdin: t.in, Stdout: t.out, Stderr: t.err, Dir: abs(dir), Env: t.environ(),
		FS: folder, Changing: folder.changing})
	if err != nil {
		t.errorf("%s", protocol.Public(err).Message)
		return 126
	}
	return code
}

// may returns an error if something is not allowed. It does not ask again about a need
// that the consent to the script covers.
func (s *shell) may(ctx context.Context, n policy.Need) error {
	if s.c.Permit.Covers(n) {
		return nil
	}
	_, err := s.c.Acquire(ctx, n)
	return err
}

func reading(p string) policy.Need { return policy.Need{Capability: protocol.FSRead, Subject: p} }

func writing(p string) policy.Need {
	return policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: p}
}

// real returns the folder's path for a path of the shell, with its links followed, the last element only if last is set. The gate decides
// about that path, and the folder follows no link: what takes its place after the question has no effect.
func (s *shell) real(ctx context.Context, dir, name string, last bool) (string, error) {
	p := resolve(dir, name)
	p, err := s.c.FS.Follow(ctx, p, last || len(name) > 1 && name[len(name)-1] == '/')
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: name, Err: short(err)}
	}
	return p, nil
}

// readFile reads a file through the gate. p is a path of the folder.
func (s *shell) readFile(ctx context.Context, p string) ([]byte, error) {
	permit, err := s.c.Acquire(ctx, reading(p))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: abs(p), Err: short(err)}
	}
	if fi, err := s.c.FS.Stat(ctx, permit, p); err == nil && !fi.IsDir() && fi.Size() > maxFile {
		return nil, &fs.PathError{Op: "open", Path: abs(p), Err: errTooLarge}
	}
	data, err := s.c.FS.ReadFile(ctx, permit, p)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: abs(p), Err: short(err)}
	}
	return data, nil
}

// short returns an error with the text that commands print for it.
func short(err error) error {
	for _, known := range []struct {
		is   error
		text string
	}{{fs.ErrNotExist, "No such file or directory"}, {protocol.ErrCapabilityDenied, "Permission denied"}, {fs.ErrPermission, "Permission denied"}, {fs.ErrExist, "File exists"}} {
		if errors.Is(err, known.is) {
			if known.is == fs.ErrNotExist || known.is == fs.ErrExist {
				return said{known.text, known.is}
			}
			return said{known.text + " (" + protocol.Public(err).Message + ")", fs.ErrPermission}
		}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// said is an error with the shell's usual text.
type said struct {
	text string
	is   error
}

func (e said) Error() string  { return e.text }
func (e said) Reason() string { return e.text }
func (e said) Unwrap() error  { return e.is }

// open implements redirects.
func (s *shell) open(ctx context.Context, name string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
	if name == "/dev/null" {
		return null{}, nil
	}
	if _, ok := s.w.substituted(name); ok {
		if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
			return substitution{s.w, name}, nil
		}
		data, _ := s.w.substituted(name)
		return &reader{bytes.NewReader(data)}, nil
	}
	p, err := s.real(ctx, interp.HandlerCtx(ctx).Dir, name, true)
	if err != nil {
		return nil, err
	}
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		data, err := s.readFile(ctx, p)
		if err != nil {
			return nil, err
		}
		return &reader{bytes.NewReader(data)}, nil
	}
	return s.create(ctx, p, flag&os.O_APPEND != 0)
}

// create asks for permission at once. The file is written at Close. The replaced content
// is lost, so the permission is for losing it.
func (s *shell) create(ctx context.Context, p string, add bool) (*writer, error) {
	fail := func(err error) (*writer, error) {
		return nil, &fs.PathError{Op: "open", Path: abs(p), Err: short(err)}
	}
	n := writing(p)
	n.Replaces = !add
	permit, err := s.c.Acquire(ctx, n)
	if err != nil {
		return fail(err)
	}
	w := &writer{s: s, ctx: ctx, p: p, permit: permit, want: fsaccess.AnyVersion, add: add}
	fi, err := s.c.FS.Stat(ctx, permit, p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.want = fsaccess.Absent
	case err != nil:
		return fail(err)
	case fi.IsDir():
		return fail(errIsDirectory)
	default:
		w.was = fi
	}
	return w, nil
}

type null struct{}

func (null) Read([]byte) (int, error)    { return 0, io.EOF }
func (null) Write(p []byte) (int, error) { return len(p), nil }
func (null) Close() error                { return nil }

type reader struct{ *bytes.Reader }

func (reader) Write([]byte) (int, error) { return 0, fs.ErrPermission }
func (reader) Close() error              { return nil }

// writer buffers the content of a file until Close.
type writer struct {
	s      *shell
	ctx    context.Context
	p      string
	permit sandbox.Permit
	want   fsaccess.Version
	was    fs.FileInfo // info of the replaced file when the user was asked, or nil
	add    bool
	buf    bytes.Buffer
	quiet  bool // the command prints the error
	closed bool
}

func (w *writer) Read([]byte) (int, error) { return 0, fs.ErrPermission }

func (w *writer) Write(p []byte) (int, error) {
	if w.buf.Len()+len(p) > maxFile {
		return 0, protocol.Errorf(protocol.ErrResourceLimit, "write", abs(w.p), "a script may write %d bytes to one file", maxFile)
	}
	if !w.s.w.hold(len(p)) {
		return 0, protocol.Errorf(protocol.ErrResourceLimit, "write", abs(w.p), "the commands of a script may hold %d bytes at once", maxHeld)
	}
	return w.buf.Write(p)
}

func (w *writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	defer w.s.w.release(w.buf.Len())
	var err error
	if w.add {
		err = w.s.c.FS.Append(w.ctx, w.permit, w.p, w.buf.Bytes())
	} else if err = w.moved(); err == nil {
		_, err = w.s.c.FS.Write(w.ctx, w.permit, w.p, w.buf.Bytes(), w.want)
	}
	if err == nil {
		w.s.wrote.Store(w.p, w.permit)
	} else if !w.quiet {
		_, _ = io.WriteString(&w.s.out, "bash: "+abs(w.p)+": "+short(err).Error()+"\n")
	}
	return err
}

// moved returns [fsaccess.ErrConflict] if the file has been changed since the user agreed
// to lose it.
func (w *writer) moved() error {
	if w.was == nil || w.s.o.off.compare {
		return nil
	}
	fi, err := w.s.c.FS.Stat(w.ctx, w.permit, w.p)
	if err != nil || fi.Size() == w.was.Size() && fi.ModTime().Equal(w.was.ModTime()) {
		return nil // a file that no longer exists has no content to lose
	}
	return fsaccess.ErrConflict
}

func (s *shell) stat(ctx context.Context, name string, follow bool) (fs.FileInfo, error) {
	if data, ok := s.w.substituted(name); ok {
		return device{name, int64(len(data))}, nil
	}
	if name == "/dev/null" {
		return device{name, 0}, nil
	}
	p, err := s.real(ctx, interp.HandlerCtx(ctx).Dir, name, follow)
	if err != nil {
		return nil, err
	}
	permit, err := s.c.Acquire(ctx, reading(p))
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: short(err)}
	}
	return s.c.FS.Stat(ctx, permit, p)
}

func (s *shell) access(ctx context.Context, name string, mode interp.AccessMode) error {
	fi, err := s.stat(ctx, name, true)
	if err != nil {
		return err
	}
	if mode&interp.AccessExec != 0 && !fi.IsDir() && fi.Mode()&0o111 == 0 {
		return fs.ErrPermission
	}
	return nil
}

func (s *shell) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	p, err := s.real(ctx, interp.HandlerCtx(ctx).Dir, name, true)
	if err != nil {
		return nil, err
	}
	list, err := s.list(ctx, p)
	if err != nil {
		return nil, err
	}
	var out []fs.DirEntry
	for _, e := range list {
		out = append(out, entry{e})
	}
	return out, nil
}

func (s *shell) list(ctx context.Context, p string) ([]fsaccess.Entry, error) {
	permit, err := s.c.Acquire(ctx, policy.Need{Capability: protocol.FSRead, Subject: p, Tree: true, Filtered: true})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: abs(p), Err: short(err)}
	}
	return s.c.FS.List(ctx, permit, p)
}

// entry is an [fs.DirEntry] for an entry of fsaccess.
type entry struct{ e fsaccess.Entry }

func (e entry) Name() string { return e.e.Name() }
func (e entry) IsDir() bool  { return e.e.Dir }
func (e entry) Type() fs.FileMode {
	switch {
	case e.e.Dir:
		return fs.ModeDir
	case e.e.Link:
		return fs.ModeSymlink
	}
	return 0
}
func (e entry) Info() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

// device is the info of a file that is not in the folder.
type device struct {
	name string
	size int64
}

func (d device) Name() string       { return path.Base(d.name) }
func (d device) Size() int64        { return d.size }
func (d device) Mode() fs.FileMode  { return 0o666 }
func (d device) ModTime() time.Time { return time.Time{} }
func (d device) IsDir() bool        { return false }
func (d device) Sys() any           { return nil }
