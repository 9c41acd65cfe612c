package computer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/environment/internal/proxy"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/printed"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command/native"
)

// Limits of a run of a program of the machine.
const (
	maxRead   = 256 << 20 // bytes of files that are copied for it
	maxWrite  = 256 << 20 // bytes of files that it may change
	maxFiles  = 20_000    // files and folders that it may have
	maxOutput = 64 << 20  // bytes on standard output and error together
	maxMemory = 2 << 30   // bytes of memory
	maxDisk   = maxRead + maxWrite + 64<<20
)

// runner runs WASI programs, and programs of the machine on a copy of the files of their call.
type runner struct {
	wasi     *native.Runner
	programs map[string]string // the path of each program
	proxy    *proxy.Proxy
	env      []string
	time     time.Duration
	nested   bool
	off      []confine.Layer
}

var _ sandbox.CommandRunner = (*runner)(nil)

// Commands returns the names of all commands, sorted.
func (r *runner) Commands() []string {
	out := slices.Collect(maps.Keys(r.programs))
	if r.wasi != nil {
		out = append(out, r.wasi.Commands()...)
	}
	slices.Sort(out)
	return out
}

func (r *runner) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	at := r.programs[c.Name]
	if at == "" {
		if r.wasi != nil {
			return r.wasi.RunCommand(ctx, c)
		}
		return 0, protocol.Errorf(protocol.ErrExecution, "run", c.Name, "there is no such command").WithReason(protocol.ReasonNotFound)
	}
	exit, err := r.machine(ctx, c, at)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return 0, cause
	}
	if e := (*protocol.Error)(nil); err != nil && !errors.As(err, &e) {
		err = protocol.Errorf(protocol.ErrExecution, "run", c.Name, "%w", err)
	}
	return exit, err
}

// machine runs a program of the machine.
func (r *runner) machine(ctx context.Context, c sandbox.Command, at string) (exit int, err error) {
	base, err := os.MkdirTemp("", "bailey-run-")
	if err != nil {
		return 0, err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return 0, err
	}
	defer func() {
		if e := os.RemoveAll(base); e != nil && err == nil {
			err = e
		}
	}()
	if !r.nested { // below Landlock nothing can be mounted
		// Without it, and without root, only the size of each file has a limit, see Notes.
		if release, err := confine.Disk(base, maxDisk, 2*maxFiles); err == nil {
			defer func() {
				if e := release(); e != nil && err == nil {
					err = e
				}
			}()
		}
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	for _, dir := range []string{"work", "tmp", "home"} {
		if err := root.Mkdir(dir, 0o755); err != nil {
			return 0, err
		}
	}
	work, err := root.OpenRoot("work")
	if err != nil {
		return 0, err
	}
	defer work.Close()
	s := &staging{dir: work, fs: c.FS, name: c.Name, was: map[string]entry{}}
	if err := s.fill(ctx); err != nil {
		return 0, err
	}
	if err := r.certificates(root); err != nil {
		return 0, err
	}
	if err := confine.Own(base); err != nil {
		return 0, err
	}
	// The user is asked before and after the run alone. A question of another command of a pipeline counts, because
	// nothing tells whether a process waits for it.
	timed, stop := context.WithTimeoutCause(ctx, r.time, protocol.Errorf(protocol.ErrTimeout, "run", c.Name, "the program ran longer than %s", r.time))
	defer stop()
	inner, end := context.WithCancelCause(timed)
	defer end(nil)
	out := printed.New(maxOutput, func() {
		end(protocol.Errorf(protocol.ErrOutputTooLarge, "run", c.Name, "the program printed more than %d bytes", maxOutput))
	})
	ca := filepath.Join(base, "ca.pem")
	env := append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + filepath.Join(base, "home"), "TMPDIR=" + filepath.Join(base, "tmp"),
		"SSL_CERT_FILE=" + ca, "CURL_CA_BUNDLE=" + ca, "GIT_SSL_CAINFO=" + ca, "REQUESTS_CA_BUNDLE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}, r.env...)
	for _, v := range c.Env { // a script's variables don't reach those of the loader and of the sandbox
		name, _, _ := strings.Cut(v, "=")
		if !reserved(name) {
			env = append(env, v)
		}
	}
	var serving sync.WaitGroup
	spec := confine.Spec{Dir: base, Sub: path.Join("work", strings.TrimPrefix(path.Clean("/"+c.Dir), "/")), Env: env, Memory: maxMemory, Off: r.off, Nested: r.nested, Time: max(time.Second, r.time.Truncate(time.Second)),
		Listener: func(l net.Listener) { serving.Go(func() { r.proxy.Serve(inner, l) }) }}
	cmd, err := confine.Command(inner, &spec, at, c.Args...)
	if err != nil {
		return 0, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, out.To(c.Stdout), out.To(c.Stderr)
	if err := cmd.Start(); err != nil {
		if cause := context.Cause(inner); cause != nil {
			return 0, cause
		}
		return 0, err
	}
	werr := cmd.Wait()
	cause := context.Cause(inner)
	end(nil)
	serving.Wait()
	if cause != nil {
		return 0, cause
	}
	if slices.Contains(cmd.Hit(), "memory") {
		return 0, s.limit("the program and those that it started needed more memory than they may have together (%d bytes, or what is left of their job's), so it was ended, and nothing was written back", maxMemory)
	}
	if status := (*exec.ExitError)(nil); errors.As(werr, &status) {
		exit = status.ExitCode()
	} else if werr != nil && !errors.Is(werr, exec.ErrWaitDelay) {
		return 0, werr
	}
	if c.FS != nil {
		if err := s.back(ctx, c); err != nil {
			return 0, err
		}
	}
	return exit, nil
}

// reserved reports whether a variable belongs to the sandbox or changes what a program is.
func reserved(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasPrefix(upper, "LD_") || strings.HasSuffix(upper, "_PROXY") || slices.Contains([]string{"PATH", "HOME", "TMPDIR", "PWD", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "UID", "EUID", "GID"}, upper)
}

// certificates writes the system's authorities and the proxy's own.
func (r *runner) certificates(root *os.Root) error {
	var b bytes.Buffer
	for _, name := range []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"} {
		if data, err := os.ReadFile(name); err == nil {
			b.Write(data)
			b.WriteByte('\n')
			break
		}
	}
	b.Write(r.proxy.Certificate())
	return root.WriteFile("ca.pem", b.Bytes(), 0o644)
}

// staging is the copy of the files of a call that a program works on.
type staging struct {
	dir  *os.Root
	fs   fsaccess.FS
	name string
	was  map[string]entry // what was copied, by the path
}

type entry struct {
	dir  bool
	data []byte
	mode fs.FileMode
}

func (s *staging) limit(format string, args ...any) error {
	return protocol.Errorf(protocol.ErrResourceLimit, "run", s.name, format, args...)
}

// fill copies the files.
func (s *staging) fill(ctx context.Context) error {
	if s.fs == nil {
		return nil
	}
	room := int64(maxRead)
	var copied func(dir string) error
	copied = func(dir string) error {
		list, err := s.fs.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range list {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			name := path.Join(dir, e.Name())
			if len(s.was) >= maxFiles {
				return s.limit("the call may use more than %d files: name fewer in read and write", maxFiles)
			}
			switch {
			case e.IsDir():
				s.was[name] = entry{dir: true}
				if err := s.dir.Mkdir(name, 0o755); err != nil {
					return err
				}
				if err := copied(name); err != nil {
					return err
				}
			case e.Type().IsRegular():
				info, err := e.Info()
				if err != nil {
					if info, err = s.fs.Stat(name); err != nil {
						return err
					}
				}
				if room -= info.Size(); room < 0 {
					return s.limit("the files of the call have more than %d bytes: name fewer in read and write", maxRead)
				}
				data, err := s.fs.ReadFile(name)
				if err != nil {
					return err
				}
				mode := info.Mode().Perm() | 0o600
				s.was[name] = entry{data: data, mode: mode}
				if err := s.dir.WriteFile(name, data, mode); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return copied(".")
}

// back makes the program's changes in the folder. All of its processes have ended.
func (s *staging) back(ctx context.Context, c sandbox.Command) error {
	now := map[string]entry{}
	room := int64(maxWrite)
	var names []string
	err := fs.WalkDir(s.dir.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if len(now) >= 2*maxFiles {
			return s.limit("the program made more than %d files", maxFiles)
		}
		switch {
		case d.IsDir():
			now[name] = entry{dir: true}
			return nil
		case !d.Type().IsRegular():
			return protocol.Errorf(protocol.ErrCapabilityDenied, "run", name, "the program made a link or a special file, so nothing was written back")
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		old, known := s.was[name]
		if !known || old.dir || info.Size() != int64(len(old.data)) {
			if room -= info.Size(); room < 0 {
				return s.limit("the program wrote more than %d bytes to files", maxWrite)
			}
		}
		data, err := s.dir.ReadFile(name)
		if err != nil {
			return err
		}
		now[name] = entry{data: data, mode: info.Mode().Perm()}
		if !known || old.dir || !bytes.Equal(data, old.data) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var gone []string
	var changes []protocol.FileChange
	for name, old := range s.was {
		if n, ok := now[name]; !ok || n.dir != old.dir {
			gone = append(gone, name)
			changes = append(changes, protocol.FileChange{Path: name, Dir: old.dir, Before: int64(len(old.data)), Size: -1})
		}
	}
	slices.Sort(gone)
	for _, name := range names {
		before := int64(-1)
		if old, ok := s.was[name]; ok && !old.dir {
			before = int64(len(old.data))
		}
		changes = append(changes, protocol.FileChange{Path: name, Before: before, Size: int64(len(now[name].data))})
	}
	for name, n := range now {
		if old, known := s.was[name]; n.dir && !(known && old.dir) {
			changes = append(changes, protocol.FileChange{Path: name, Dir: true, Before: -1})
		}
	}
	slices.SortFunc(changes, func(x, y protocol.FileChange) int {
		return cmp.Or(strings.Compare(x.Path, y.Path), cmp.Compare(x.Size, y.Size))
	})
	switch {
	case len(changes) == 0:
	case c.Changing != nil:
		if err := c.Changing(ctx, changes); err != nil {
			return err
		}
	case len(gone) > 0:
		return protocol.Errorf(protocol.ErrCapabilityDenied, "run", c.Name, "it may not remove files here, or move them away; nothing was written back")
	}
	// The folder may have changed in the meantime. Then nothing is written.
	for _, name := range append(slices.Clone(names), gone...) {
		old, known := s.was[name]
		data, err := s.fs.ReadFile(name)
		switch {
		case known && old.dir:
		case known && err == nil && bytes.Equal(data, old.data):
		case !known && errors.Is(err, fs.ErrNotExist):
		default:
			return protocol.Errorf(protocol.ErrExecution, "run", name, "the file changed while the program ran, or it may not be read, so nothing was written back").WithReason(protocol.ReasonStale)
		}
	}
	step := func(err error) error {
		if err == nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	slices.Reverse(gone) // files before their folders
	for _, name := range gone {
		if err := step(s.fs.Remove(name)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if old, known := s.was[name]; now[name].dir && !(known && old.dir) {
			if err := step(s.fs.Mkdir(name, 0o755)); err != nil {
				return err
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := step(s.fs.WriteFile(name, now[name].data, now[name].mode)); err != nil {
			return err
		}
	}
	return nil
}
