package shell

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailey-go/bailey/sandbox/shell/internal/expand"

	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

// Options are the options of [Bash]. The zero value is the shell with its own commands.
type Options struct {
	// Runner has further commands, such as WASI modules. They run in the shell's working
	// directory, with its exported variables. They get the folder for reading if the policy
	// and the user allow all of it. Their changes pass the gate one by one after they have
	// ended, and files that they remove or move away are asked about together before any
	// change. nil is no runner.
	Runner sandbox.CommandRunner
	// Time is the time limit of a script. Default 60 s, at most 300 s. A call may set a
	// shorter one.
	Time time.Duration

	off off
}

// off switches off defences, for tests that show that an attack succeeds without them.
type off struct {
	contain bool // a panic in a goroutine of the interpreter ends the script, not the program
	compare bool // a redirect replaces only the content about which the user was asked
	bounds  bool // limits of a script's depth, an expansion's size and the variables' size
}

// Bash returns the tool bash. It runs a shell script over the folder and returns the
// output of the script, of at most 8 MiB, and its exit code.
func Bash(o Options) sandbox.Tool {
	if o.Time == 0 {
		o.Time = 60 * time.Second
	}
	gated := sandbox.Gate(o.Runner)
	return sandbox.Tool{
		Tool: protocol.Tool{ID: "bash", Time: o.Time,
			Requires:    []protocol.Grant{{Capability: protocol.ShellRun}, {Capability: protocol.FSRead}, {Capability: protocol.FSWrite}},
			Description: "Runs a shell script over the folder, which is /. Pipes, redirects, globs, loops, functions and here-documents work; the commands are " + strings.Join(commandsWith(o.Runner), ", ") + ". timeout is in milliseconds.",
			Parameters:  `{"type":"object","properties":{"command":{"type":"string","minLength":1,"maxLength":65536},"timeout":{"type":"integer","minimum":1,"maximum":300000}},"required":["command"],"additionalProperties":false}`},
		Needs: func(_ context.Context, c *sandbox.Call) ([]policy.Need, error) {
			f, err := o.parse(args(c).Command)
			if err != nil {
				return nil, err
			}
			out := []policy.Need{{Capability: protocol.ShellRun, Subject: "bash", Words: "run a shell script (bash)"}}
			for _, name := range named(f) {
				out = append(out, policy.Need{Capability: protocol.ShellRun, Subject: name})
			}
			return out, nil
		},
		Preview: func(_ context.Context, c *sandbox.Call) (string, string) {
			return "", args(c).Command
		},
		Run: func(ctx context.Context, c *sandbox.Call) (any, error) {
			s := &shell{c: c, o: o, runner: gated}
			return s.run(ctx)
		},
		Text: "output",
	}
}

type bashArgs struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

func args(c *sandbox.Call) (a bashArgs) {
	_ = c.Bind(&a) // it fits the schema
	return a
}

// shell is one run of a script.
type shell struct {
	c         *sandbox.Call
	o         Options
	runner    sandbox.Gated[sandbox.CommandRunner]
	out       output
	w         *watched
	fileDepth atomic.Int64 // shells that run one another
	wrote     sync.Map     // the permits of the files that the script wrote, by path
}

// output collects the output of all parts of a script, in order. It drops bytes over
// maxOutput.
type output struct {
	mu   sync.Mutex
	text []byte
	lost bool
}

const maxOutput = 8 << 20

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := maxOutput - len(o.text); len(p) > room {
		o.text, o.lost = append(o.text, p[:room]...), true
		return len(p), nil
	}
	o.text = append(o.text, p...)
	return len(p), nil
}

func (s *shell) run(ctx context.Context) (any, error) {
	a := args(s.c)
	f, err := s.o.parse(a.Command)
	if err != nil {
		return nil, err
	}
	if a.Timeout > 0 && time.Duration(a.Timeout)*time.Millisecond < s.o.Time {
		var limit *stopclock.Clock // a question of the script takes no time
		ctx, limit = stopclock.Start(ctx, stopclock.Options{Limit: time.Duration(a.Timeout) * time.Millisecond,
			Cause: protocol.Errorf(protocol.ErrTimeout, "bash", "", "the script took longer than %d ms; what it did until then is done", a.Timeout)})
		defer limit.Stop()
	}
	s.c.Partial(func() any {
		if out := s.result(); out["output"] != "" {
			return out
		}
		return nil
	})
	ctx, stop := context.WithCancel(ctx)
	defer stop() // also ends background jobs
	w := newWatched(ctx)
	w.off = s.o.off
	w.known, w.help = s.path, s.help
	s.w = w
	r, err := s.interpreter(expand.ListEnviron("PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LC_ALL=C.UTF-8", "UID=1000", "EUID=1000", "GID=1000"), "/", strings.NewReader(""), &s.out, &s.out)
	if err != nil {
		return nil, protocol.Errorf(protocol.ErrExecution, "bash", "", "the shell can't start: %v", err)
	}
	err = w.contain(func() error { return r.Run(w, f) })
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if w.err() != nil {
		return nil, w.err()
	}
	exit := 0
	var status interp.ExitStatus
	switch {
	case errors.As(err, &status):
		exit = int(status)
	case err != nil:
		return nil, denied(err)
	}
	out := s.result()
	out["exit_code"] = float64(exit)
	return out, nil
}

// interpreter returns an interpreter with the handlers of s.
func (s *shell) interpreter(env expand.Environ, dir string, in io.Reader, out, errs io.Writer) (*interp.Runner, error) {
	return interp.New(
		interp.Within(s.w.bounds()),
		interp.Env(env),
		interp.Dir(dir),
		interp.StdIO(in, out, errs),
		interp.CallHandler(s.call),
		interp.ExecHandler(s.exec),
		interp.OpenHandler(s.open),
		interp.StatHandler(s.stat),
		interp.ReadDirHandler2(s.readDir),
		interp.AccessHandler(s.access),
	)
}

// modes reports whether the folder has permission bits.
func (s *shell) modes() bool { return s.c.FS.Features().Chmod }

// result returns the output so far.
func (s *shell) result() map[string]any {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	out := map[string]any{"output": strings.ToValidUTF8(string(s.out.text), "\uFFFD")}
	if s.out.lost {
		out["note"] = "the output was longer than 8 MiB; the rest is lost"
	}
	return out
}

// denied returns the box's own errors unchanged, and any other error as
// [protocol.ErrExecution] with the same text.
func denied(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) {
		return e
	}
	return protocol.Errorf(protocol.ErrExecution, "bash", "", "%s", err.Error())
}

// resolve returns the folder's path for a path of the shell.
func resolve(dir, p string) string {
	if !path.IsAbs(p) {
		p = path.Join(dir, p)
	}
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	if p == "" {
		return "."
	}
	return p
}

// abs returns the shell's path for a path of the folder.
func abs(p string) string {
	if p == "." {
		return "/"
	}
	return "/" + p
}

var _ io.Writer = (*output)(nil)
