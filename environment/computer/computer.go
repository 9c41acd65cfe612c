// Package computer makes a [sandbox.Box] over a folder of the machine, outside of a browser. It has the
// same tools, policy, sessions and questions as a box in a page, and these runners:
//
//   - code_run runs JavaScript in QuickJS compiled to WebAssembly, in the language of a page's enclave.
//   - tool_run and bash run the WASI programs that a page runs.
//   - They also run programs of the machine, but only those whose names the policy grants for
//     "shell.run". Each runs below a sandbox of the operating system, on a copy of the files that its
//     call may use. Its changes pass the gate after it has ended by itself.
//
// A program of the machine has no network but a proxy that applies the policy's hosts, and no value of
// a secret, but a placeholder that the proxy replaces for the secret's hosts.
//
// The package trusts the kernel, the folder of tools and the policy. It trusts no program, no file and
// no model. A main function that uses it calls [Main] first.
package computer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/bailey-go/bailey/environment/internal/compiled"
	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/environment/internal/proxy"
	"github.com/bailey-go/bailey/environment/internal/quickjs"
	"github.com/bailey-go/bailey/environment/internal/sessions"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/sandbox/command/native"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// Main must be the first call of a program's main function: a program of the machine is started by a
// copy of the calling program, which puts itself into the sandbox. In every other case Main returns at once.
func Main() { confine.Main() }

// Secret is a value that programs use without having it: they get a placeholder in the variable Name,
// and the proxy replaces it in the headers of HTTPS requests to Hosts.
type Secret struct {
	Name  string // of the environment variable
	Value string // at least 8 bytes
	Hosts []string
}

// Options configure a [Computer]. Dir and Box.Policy are required.
type Options struct {
	// Dir is the folder of the machine.
	Dir string
	// Box are the options of the box. FS, if nil, is the folder Dir with a journal in memory, so that changes can be
	// undone. Tools, if nil, are the standard tools, code_run, tool_run and bash.
	Box sandbox.Options
	// Tools is the folder with the WASI programs that `make tools` builds. Without it, or with fewer
	// files, there are fewer commands.
	Tools string
	// Engine is the path of quickjs.wasm of the npm package quickjs-wasi 3.6.2. Without it there is no
	// code_run.
	Engine string
	// Path are the folders in which programs of the machine are looked for. The default is /usr/local/bin,
	// /usr/bin and /bin.
	Path []string
	// Secrets are available to programs of the machine.
	Secrets []Secret
	// OnConnect is called with each decision about a connection of a program: the host with its port, and the
	// reason of a refusal.
	OnConnect func(host string, allowed bool, reason string)
	// Time is the time limit of a program of the machine. The default is 60 s.
	Time time.Duration
	// Cache is a folder for compiled programs, so that the next start does not compile them. It holds machine code
	// and is used only if nobody else can write to it. Otherwise [Computer.Notes] has the reason. The default is
	// bailey/wasm in [os.UserCacheDir], and "none" is no folder.
	Cache string

	// Sessions is where sessions are stored, in place of Box.Sessions. "memory:" forgets them when the program ends. A
	// folder must exist, with or without "file://" in front. "postgres://user@host/database" is a PostgreSQL database
	// (the tests use version 15), in which New makes five tables, with the parameters of libpq and its variables PGPASSWORD,
	// PGPASSFILE and PGSSLMODE. A connection to another machine is encrypted and the certificate checked
	// (sslmode=verify-full), unless sslmode is given.
	//
	// "s3://bucket/prefix?endpoint=https://host:port&region=name" is a bucket of an S3-compatible server that heeds If-Match
	// and If-None-Match, which New tries. Without an endpoint it is Amazon's. The credentials are in AWS_ACCESS_KEY_ID
	// and AWS_SECRET_ACCESS_KEY, or in the file that AWS_SHARED_CREDENTIALS_FILE names. An endpoint on another machine
	// begins with https.
	//
	// What is stored is not encrypted by Bailey: who can read the folder, the database or the bucket reads the sessions.
	//
	// Several programs can share a database or a bucket. The lock of a session is a lease of 30 s that is renewed while the session
	// is open. A program that died or did not reach its store for longer loses the session to the next that opens it,
	// and its later changes are refused with [github.com/bailey-go/bailey/protocol.ErrSession].
	Sessions string

	// Ports are further TCP ports that [Options.SandboxSelf] leaves open to connect to, such as that of a model's server.
	Ports []uint16

	nested bool // the calling process is in a sandbox itself, see SandboxSelf
	store  sessions.Store
	why    error // the reason why SandboxSelf found no folder of compiled programs
	off    []confine.Layer
}

// Computer is a box over a folder of the machine, with its runners.
type Computer struct {
	// Box makes the calls.
	Box *sandbox.Box

	code  *quickjs.Runner
	wasi  *native.Runner
	proxy *proxy.Proxy
	cache wazero.CompilationCache
	store sessions.Store
	notes []string
}

// Notes returns the protections and savings that this machine does not have, a sentence for each.
func (c *Computer) Notes() []string { return slices.Clone(c.notes) }

// New returns a computer. Close it when it is no longer used.
func New(o Options) (c *Computer, err error) {
	if o.Dir == "" && o.Box.FS == nil {
		return nil, errors.New("computer: Options.Dir is empty: name the folder")
	}
	if o.Box.Policy == nil {
		return nil, errors.New("computer: Options.Box.Policy is nil: without a policy nothing is allowed")
	}
	if len(o.Path) == 0 {
		o.Path = []string{"/usr/local/bin", "/usr/bin", "/bin"}
	}
	if o.Time == 0 {
		o.Time = time.Minute
	}
	c = &Computer{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if o.Box.FS == nil {
		dir, err := fsaccess.OpenDir(o.Dir, fsaccess.DirOptions{})
		if err != nil {
			return nil, fmt.Errorf("computer: %w", err)
		}
		o.Box.FS = fsaccess.NewJournal(dir, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
	}
	if o.Sessions != "" {
		if o.Box.Sessions != nil {
			return nil, errors.New("computer: Options.Sessions and Options.Box.Sessions are both set: leave one out")
		}
		if c.store = o.store; c.store == nil {
			if c.store, err = o.openStore(); err != nil {
				return nil, err
			}
		}
		o.Box.Sessions = c.store
	}
	o.Box.Environment = sandbox.Computer
	if c.cache, err = o.cache(); o.why != nil {
		err = o.why
	}
	if err != nil {
		c.notes = append(c.notes, err.Error())
	}
	r := &runner{time: o.Time, nested: o.nested, off: o.off, programs: map[string]string{}}
	var tools command.Options
	if o.Tools != "" {
		tools, err = o.catalogue()
		if err != nil {
			return nil, fmt.Errorf("computer: Options.Tools: %w", err)
		}
		if c.wasi, err = native.New(native.Options{Commands: tools.Commands, Fetch: tools.Fetch, Cache: c.cache}); err != nil {
			return nil, err
		}
		r.wasi = c.wasi
	}
	for _, name := range granted(o.Box.Policy) {
		if tools.Commands[name] != "" || slices.Contains(shell.Commands(), name) {
			continue // there is one that needs no sandbox of the machine
		}
		for _, dir := range o.Path {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				r.programs[name] = path
				break
			}
		}
	}
	if len(r.programs) > 0 {
		c.notes = append(c.notes, lacking(o.nested)...)
	}
	if r.proxy, r.env, err = network(o); err != nil {
		return nil, err
	}
	c.proxy = r.proxy
	if o.Box.Tools == nil {
		var commands sandbox.CommandRunner
		if len(r.Commands()) > 0 {
			commands = r
		}
		code := sandbox.CodeRun(nil)
		code.Missing = "Options.Engine names no quickjs.wasm"
		if o.Engine != "" {
			c.code, err = quickjs.New(quickjs.Options{Level: o.Box.Policy.Level, Limits: o.Box.Policy.Limits, Cache: c.cache, Engine: o.engine})
			if err != nil {
				return nil, err
			}
			code = sandbox.CodeRun(c.code)
		}
		o.Box.Tools = append(sandbox.Standard(), code, sandbox.ToolRun(commands), shell.Bash(shell.Options{Runner: commands}))
	}
	c.Box, err = sandbox.New(o.Box)
	return c, err
}

// Close ends all programs and releases what New made.
func (c *Computer) Close() error {
	var errs []error
	if c.code != nil {
		errs = append(errs, c.code.Close())
	}
	if c.wasi != nil {
		errs = append(errs, c.wasi.Close())
	}
	if c.cache != nil {
		errs = append(errs, c.cache.Close(context.Background()))
	}
	if c.store != nil {
		c.store.Close()
	}
	return errors.Join(errs...)
}

func (o Options) openStore() (sessions.Store, error) {
	dir, _, err := sessions.Reach(o.Sessions)
	if err != nil {
		return nil, fmt.Errorf("computer: Options.Sessions: %w", err)
	}
	if root, err := filepath.EvalSymlinks(o.Dir); dir != "" && err == nil {
		if root, err = filepath.Abs(root); err != nil {
			return nil, fmt.Errorf("computer: %w", err)
		}
		if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
			return nil, fmt.Errorf("computer: Options.Sessions: %s is in the folder, where a model could change it: name one elsewhere", dir)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := sessions.Open(ctx, o.Sessions)
	if err != nil {
		return nil, fmt.Errorf("computer: Options.Sessions: %w", err)
	}
	return s, nil
}

// catalogue reads the catalogue of the WASI programs.
func (o Options) catalogue() (command.Options, error) {
	return command.Catalogue(context.Background(), func(_ context.Context, name string) ([]byte, error) { return os.ReadFile(filepath.Join(o.Tools, name)) }, "tools.json")
}

func (o Options) engine(context.Context) ([]byte, error) { return os.ReadFile(o.Engine) }

// cache opens the folder of compiled programs. It returns nil if there is none.
func (o Options) cache() (wazero.CompilationCache, error) {
	dir, err := o.cacheDir()
	if dir == "" || err != nil {
		return nil, err
	}
	if o.nested { // this process can't write to it
		return compiled.Frozen(dir)
	}
	return compiled.Open(dir)
}

func (o Options) cacheDir() (string, error) {
	switch o.Cache {
	case "none":
		return "", nil
	case "":
		return compiled.Dir()
	}
	return o.Cache, nil
}

// lacking returns what the sandbox of programs lacks here.
func lacking(nested bool) (out []string) {
	if err := confine.Supported(); err != nil {
		return []string{err.Error()}
	}
	if err := confine.Groups(); err != nil {
		out = append(out, err.Error())
	}
	if nested || os.Geteuid() != 0 {
		out = append(out, "a program may fill the disk with files of the largest size: only root, outside of a sandbox, can limit a folder")
	}
	return out
}

// program is the form of a name that can be a program's. A pattern is none.
var program = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$`)

// granted returns the commands that a policy grants by name.
func granted(p *policy.Policy) (out []string) {
	for _, g := range p.Grants {
		if g.Capability != protocol.ShellRun {
			continue
		}
		for _, name := range g.Scope {
			if program.MatchString(name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// network returns the proxy of the programs, and their variables.
func network(o Options) (*proxy.Proxy, []string, error) {
	compiled, err := policy.Compile(o.Box.Policy)
	if err != nil {
		return nil, nil, err
	}
	var env []string
	var list []proxy.Secret
	for _, s := range o.Secrets {
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(s.Name) {
			return nil, nil, fmt.Errorf("computer: Options.Secrets: %q is no name of a variable", s.Name)
		}
		b := make([]byte, 16)
		_, _ = rand.Read(b) // never fails
		x := proxy.Secret{Placeholder: "bailey-" + hex.EncodeToString(b), Value: s.Value}
		for _, h := range s.Hosts {
			p, err := protocol.ParseHost(h)
			if err != nil {
				return nil, nil, err
			}
			x.Hosts = append(x.Hosts, p)
		}
		list = append(list, x)
		env = append(env, s.Name+"="+x.Placeholder)
	}
	p, err := proxy.New(proxy.Options{Secrets: list,
		// Nobody can be asked while a program waits for its connection, so a question is a refusal.
		Allow: func(_ context.Context, hostport string) error {
			d := compiled.Explain(policy.Call{Tool: "tool_run", Needs: []policy.Need{{Capability: protocol.NetFetch, Subject: hostport}}}, compiled.Authority(), nil).Decision
			if d.Action == protocol.ActionAllow {
				return nil
			}
			why := d.Reason
			if d.Action == protocol.ActionAsk {
				why = "a program's connection can't be asked about: allow the host by a rule"
			}
			return protocol.Errorf(protocol.ErrCapabilityDenied, "connect", hostport, "%s", strings.TrimSpace(why))
		},
		Log: func(d proxy.Decision) {
			if o.OnConnect != nil {
				o.OnConnect(d.Host, d.Allowed, d.Reason)
			}
		},
	})
	return p, env, err
}
