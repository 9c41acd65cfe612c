//go:build js && wasm

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
	"github.com/bailey-go/bailey/worker"
)

const (
	maxModule  = 256 << 20 // bytes of a WebAssembly module, and of a catalogue
	maxGiven   = 256 << 20 // bytes of standard input, and of all files given to a program
	maxFiles   = 10_000    // files given to a program, and files that it may change
	maxChanged = 256 << 20 // bytes of the files that it changed
)

// workers has the pool for WASI programs, which is made for the first of them. It is untrusted: programs run behind two frames.
type workers struct {
	mu       sync.Mutex
	pool     *worker.Pool
	programs kept[*worker.Module] // of wasi.run
}

func (w *workers) get(ctx context.Context) (*worker.Pool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pool != nil {
		return w.pool, nil
	}
	pool, err := worker.NewPool(context.WithoutCancel(ctx), worker.Options{})
	if err == nil {
		w.pool = pool
	}
	return pool, err
}

// catalogue is the name of the catalogue itself for fetch. The modules are beside it.
const catalogue = "tools.json"

// commands reads the option commands of a box: its function fetch returns the bytes of the catalogue, and of a module.
func (b opener) commands(ctx context.Context, v jsx.Value) (*command.Runner, error) {
	fetch := func(ctx context.Context, name string) ([]byte, error) {
		if name == catalogue {
			name = ""
		}
		signal, stop := jsx.Signal(ctx)
		defer stop()
		p, err := jsx.Call(v, "fetch", name, signal)
		if err == nil {
			p, err = jsx.Await(ctx, p)
		}
		if err != nil {
			return nil, err
		}
		return jsx.Bytes(p, maxModule)
	}
	o, err := command.Catalogue(ctx, fetch, catalogue)
	if err != nil {
		return nil, err
	}
	pool, err := b.workers.get(ctx)
	if err != nil {
		return nil, err
	}
	return command.New(pool, o)
}

// wasiRun is the WASIRun of agent.d.mts.
type wasiRun struct {
	wasm   []byte
	args   []string
	env    []string
	stdin  []byte
	folder fsaccess.FS
	given  *fsaccess.Folder // of files that are no folder, or nil
	before map[string][]byte
	limits worker.Limits
	signal jsx.Value
}

// wasi implements wasi.run(program, options), whose program is a Uint8Array here. A run that fails is a result, too.
func (b opener) wasi(ctx context.Context, args []jsx.Value) (any, error) {
	o, err := b.wasiOptions(args)
	if err != nil {
		return nil, named(err)
	}
	scope, err := b.api.Scope().Child()
	if err != nil {
		return nil, err
	}
	defer scope.Close()
	ctx, release, err := jsx.WithSignal(ctx, scope, o.signal)
	if err != nil {
		return nil, err
	}
	defer release()
	pool, err := b.workers.get(ctx)
	if err != nil {
		return nil, named(err)
	}
	var stdout, stderr bytes.Buffer
	begin := time.Now()
	program, err := b.workers.programs.use(o.wasm, o.limits.Memory, func() (*worker.Module, error) { return pool.Compile(ctx, o.wasm) })
	code, changes := -1, 0
	if err == nil {
		defer b.workers.programs.done(program)
		cmd := pool.Command(ctx, program.module, o.args[0], o.args[1:]...)
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Limits = o.env, bytes.NewReader(o.stdin), &stdout, &stderr, o.limits
		if o.folder != nil {
			cmd.FS = o.folder
		}
		err = cmd.Run()
		if cmd.ProcessState != nil {
			code, changes = cmd.ProcessState.ExitCode(), cmd.ProcessState.Stats().Changes
		}
	}
	out := map[string]any{
		"success": err == nil, "exitCode": float64(code), "stdout": stdout.Bytes(), "stderr": stderr.Bytes(),
		"stats": map[string]any{"duration": float64(time.Since(begin)) / float64(time.Millisecond), "changes": float64(changes)},
	}
	if failure := failed(err); failure != nil {
		out["error"] = failure
	}
	if o.given != nil {
		files, err := changed(o.given, o.before)
		if err != nil {
			return nil, named(err)
		}
		out["files"] = files
	}
	return out, nil
}

// failed returns the error of a run for the page, nil without one. An exit code that is not 0 is no error.
func failed(err error) map[string]any {
	if err == nil {
		return nil
	}
	var exit *worker.ExitError
	code, message := protocol.CodeOf(err), err.Error()
	switch {
	case errors.As(err, &exit):
		if exit.Code == protocol.ErrExecution && exit.Reason == "" {
			return nil
		}
		code = exit.Code
	case errors.Is(err, worker.ErrBlocked):
		code = protocol.ErrSecurityViolation
	}
	return map[string]any{"code": string(code), "message": message}
}

func (b opener) wasiOptions(args []jsx.Value) (*wasiRun, error) {
	const what = "wasi.run(program, options)"
	if len(args) == 0 || jsx.Nullish(args[0]) {
		return nil, errors.New(what + ": program is missing")
	}
	o := &wasiRun{args: []string{"program"}, signal: jsx.Undefined()}
	var err error
	if o.wasm, err = jsx.Bytes(args[0], maxModule); err != nil {
		return nil, fmt.Errorf(what+": program: %w", err)
	}
	if len(args) < 2 || jsx.Nullish(args[1]) {
		return o, nil
	}
	return o, page.Each(args[1], what, func(key string, value jsx.Value) (err error) {
		switch key {
		case "args":
			var list []string
			if list, err = texts(value); err == nil {
				o.args = append(o.args[:1], list...)
			}
		case "name":
			o.args[0], err = jsx.String(value, 200)
		case "env":
			err = page.Each(value, "", func(name string, value jsx.Value) error {
				text, err := jsx.String(value, 1<<20)
				o.env = append(o.env, name+"="+text)
				return err
			})
		case "stdin":
			o.stdin, err = given(value)
		case "files":
			err = b.wasiFiles(o, value)
		case "limits":
			o.limits, err = wasiLimits(value)
		case "signal":
			if o.signal = value; !jsx.InstanceOf(value, "AbortSignal") {
				err = errors.New("must be an AbortSignal")
			}
		default:
			err = page.ErrNoOption
		}
		return err
	})
}

// texts returns a list of texts.
func texts(v jsx.Value) ([]string, error) {
	n, err := jsx.Length(v)
	if err != nil || !jsx.IsArray(v) || n > maxFiles {
		return nil, errors.New("must be a list of texts")
	}
	out := make([]string, n)
	for i := range n {
		item, err := jsx.Index(v, i)
		if err == nil {
			out[i], err = jsx.String(item, 1<<20)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// given returns the bytes of a text or a Uint8Array.
func given(v jsx.Value) ([]byte, error) {
	if jsx.TypeOf(v) == "string" {
		s, err := jsx.String(v, maxGiven)
		return []byte(s), err
	}
	return jsx.Bytes(v, maxGiven)
}

// wasiFiles reads the option files: an open folder, or the contents of files by path.
func (b opener) wasiFiles(o *wasiRun, v jsx.Value) error {
	if fsys, _, err := b.api.Folder(v); err == nil {
		o.folder = fsys
		return nil
	}
	o.given, o.before = fsaccess.NewMemory(fsaccess.MemoryOptions{}), map[string][]byte{}
	o.folder = o.given
	total := 0
	return page.Each(v, "", func(name string, value jsx.Value) error {
		data, err := given(value)
		if err != nil {
			return err
		}
		if total += len(data); total > maxGiven || len(o.before) >= maxFiles {
			return fmt.Errorf("more than %d files or %d bytes", maxFiles, maxGiven)
		}
		if !fs.ValidPath(name) || name == "." {
			return errors.New(`must have the path of a file, such as "notes/a.md"`)
		}
		if dir := path.Dir(name); dir != "." {
			if err := o.given.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		o.before[name] = data
		return o.given.WriteFile(name, data, 0o644)
	})
}

// changed returns the files that a program made or changed, by path, and null for those that it removed.
func changed(now *fsaccess.Folder, before map[string][]byte) (map[string]any, error) {
	out, total := map[string]any{}, 0
	for name := range before {
		if _, err := now.Stat(name); errors.Is(err, fs.ErrNotExist) {
			out[name] = nil
		}
	}
	return out, fs.WalkDir(now, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := now.ReadFile(name)
		if err != nil {
			return err
		}
		if old, ok := before[name]; ok && bytes.Equal(old, data) {
			return nil
		}
		if total += len(data); total > maxChanged || len(out) >= maxFiles {
			return protocol.Errorf(protocol.ErrResourceLimit, "wasi.run", "", "the program changed more than %d files or %d bytes; give it a folder in place of files", maxFiles, maxChanged)
		}
		out[name] = data
		return nil
	})
}

// wasiLimits reads the WASILimits of agent.d.mts.
func wasiLimits(v jsx.Value) (l worker.Limits, err error) {
	number := func(v jsx.Value) (int64, error) {
		n, err := jsx.Finite(v)
		if err == nil && (n < 1 || n > 1<<52 || n != float64(int64(n))) {
			err = errors.New("must be a whole number above 0")
		}
		return int64(n), err
	}
	err = page.Each(v, "", func(key string, value jsx.Value) (err error) {
		switch key {
		case "time":
			l.Time, err = page.Milliseconds(value)
		case "memory":
			l.Memory, err = number(value)
		case "output":
			l.Output, err = number(value)
		case "write":
			l.Write, err = number(value)
		case "read":
			l.Read, err = number(value)
		case "openFiles":
			var n int64
			n, err = number(value)
			l.Files = int(min(n, 1<<30))
		default:
			err = page.ErrNoOption
		}
		return err
	})
	return l, err
}
