package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/worker"
)

// Tools that the user installed are commands with lower precedence than the built-in ones. The
// permissions of such a tool are the intersection of four: its manifest, the user's grant, the
// box's policy, and the needs of the call. Its only argument is a JSON object with its parameters,
// which is checked against the schema in its manifest.

var _ sandbox.CommandAsker = (*Runner)(nil)

// builtIn reports whether a built-in command has this name, ignoring case.
func (r *Runner) builtIn(name string) bool {
	return slices.ContainsFunc(r.names, func(n string) bool { return strings.EqualFold(n, name) })
}

// installed returns a package, or nil if there is none or a built-in command has its name.
func (r *Runner) installed(ctx context.Context, name string) (*worker.Package, error) {
	if r.o.Packages == nil || r.builtIn(name) {
		return nil, nil
	}
	pkg, err := r.o.Packages.Get(ctx, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, worker.ErrReserved) {
		return nil, nil
	}
	return pkg, err
}

// AskCommand implements [sandbox.CommandAsker]. It returns a reason if the command is a package
// with the decision [worker.PackageAsk]. The key is the package's SHA-256 hash.
func (r *Runner) AskCommand(ctx context.Context, name string) (reason, key string, err error) {
	pkg, err := r.installed(ctx, name)
	if pkg == nil || err != nil {
		return "", "", err
	}
	if pkg.Granted.Decision != worker.PackageAsk {
		return "", "", nil
	}
	author := pkg.Author
	if author == "" {
		author = "nobody named"
	}
	return fmt.Sprintf("the tool %s %s by %s is a package that was installed, and it is to be asked about", pkg.Name, pkg.Version, author), pkg.SHA256, nil
}

func (r *Runner) runPackage(ctx context.Context, pkg *worker.Package, c sandbox.Command) (int, error) {
	if pkg.Granted.Decision == worker.PackageAsk && !c.Asked {
		return 0, protocol.Errorf(protocol.ErrCapabilityDenied, "run", c.Name, "the user has to be asked about this package, and only tool_run asks")
	}
	if pkg.Granted.Decision == worker.PackageAsk && c.AskedKey != pkg.SHA256 {
		return 0, protocol.Errorf(protocol.ErrCapabilityDenied, "run", c.Name, "the package was replaced after the user was asked about it; call it again")
	}
	params, err := parameters(pkg, c.Args)
	if err != nil {
		return 0, err
	}
	m := r.hold("package:" + pkg.SHA256)
	defer r.release(m)
	prog, err := r.program(ctx, m, func(context.Context) ([]byte, string, error) { return pkg.Wasm(), "", nil })
	if err != nil {
		return 0, failure(ctx, c.Name, err)
	}
	exit, err := prog.runPackage(ctx, pkg, params, c)
	if err != nil {
		return 0, failure(ctx, c.Name, err)
	}
	return exit, nil
}

// parameters returns the parameters in the only argument of a package's tool.
func parameters(pkg *worker.Package, args []string) (map[string]any, error) {
	if len(args) == 0 {
		return map[string]any{}, nil
	}
	if len(args) == 1 {
		if tree, err := protocol.ParseJSON(args[0], protocol.JSONLimits{}); err == nil {
			if object, ok := tree.(map[string]any); ok {
				return object, nil
			}
		}
	}
	return nil, protocol.Errorf(protocol.ErrInvalidParams, "run", pkg.Name, "an installed tool takes one argument, its parameters as a JSON object; the schema is %s", pkg.Parameters)
}

func (p *poolProgram) runPackage(ctx context.Context, pkg *worker.Package, params map[string]any, c sandbox.Command) (int, error) {
	var folder fs.FS
	if c.FS != nil {
		folder = c.FS
	}
	cmd, err := pkg.Command(ctx, p.e.pool, p.m, params, folder)
	if err != nil {
		return 0, err
	}
	cmd.Stdout, cmd.Stderr, cmd.Files, cmd.Changing = c.Stdout, c.Stderr, p.e.o.Files, changing(c)
	if cmd.Stdin == nil && pkg.Pipeable {
		cmd.Stdin = c.Stdin
	} else if cmd.Stdin != nil && c.Stdin != nil {
		if n, _ := io.ReadFull(c.Stdin, make([]byte, 1)); n > 0 {
			return 0, protocol.Errorf(protocol.ErrInvalidParams, "run", c.Name, "there is input, and the parameter stdin too; give one")
		}
	}
	l := p.e.o.Limits
	if t := cmd.Limits.Time; t > 0 && (l.Time == 0 || t < l.Time) {
		l.Time = t
	}
	if n := cmd.Limits.Memory; n > 0 && (l.Memory == 0 || n < l.Memory) {
		l.Memory = n
	}
	cmd.Limits = l
	return exitOf(cmd.Run())
}

// exitOf returns a program's own exit code, or the error that ended the program.
func exitOf(err error) (int, error) {
	if e := (*worker.ExitError)(nil); errors.As(err, &e) && e.Exited() && e.Code == protocol.ErrExecution {
		return e.ExitCode(), nil
	}
	return 0, err
}
