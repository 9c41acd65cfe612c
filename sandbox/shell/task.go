package shell

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/sandbox/shell/internal/expand"

	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/sandbox/internal/near"
	"github.com/bailey-go/bailey/sandbox/policy"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

// task is one run of a command.
type task struct {
	s     *shell
	ctx   context.Context
	hc    interp.HandlerContext
	dir   string
	name  string
	args  []string // without the name
	in    io.Reader
	out   io.Writer
	err   io.Writer
	env   []string // the environment, or nil for that of the shell
	depth int      // commands that run one another
	work  int      // bytes of work since it last yielded to the page
	held  int      // bytes held
}

func (t *task) errorf(format string, args ...any) {
	fmt.Fprintf(t.err, t.name+": "+format+"\n", args...)
}

// environ returns the exported variables.
func (t *task) environ() []string {
	if t.env != nil {
		return slices.Clone(t.env)
	}
	out := map[string]string{}
	for name, v := range t.hc.Env.Each {
		if v.Exported && v.IsSet() {
			out[name] = name + "=" + v.String()
		} else {
			delete(out, name)
		}
	}
	list := make([]string, 0, len(out))
	for _, v := range out {
		list = append(list, v)
	}
	slices.Sort(list)
	return list
}

// command runs one of the shell's own commands.
func (t *task) command(c *tool.Command) int {
	w := &world{t: t, dir: t.dir}
	out := bufio.NewWriterSize(t.out, 16<<10)
	e := &tool.Env{Name: t.name, Args: t.args, Stdin: t.in, Stdout: out, Stderr: t.err, World: w, Context: t.ctx}
	if e.Stdin == nil {
		e.Stdin = strings.NewReader("")
	}
	code := 1
	err := t.contained(func() error {
		defer out.Flush()
		code = tool.Set{*c}.Exec(e, append([]string{c.Name}, t.args...))
		return nil
	})
	if st, ok := err.(interp.ExitStatus); ok {
		return int(st)
	}
	return code
}

// own returns the shell's own commands by their names.
var own = sync.OnceValue(func() map[string]*tool.Command {
	out := map[string]*tool.Command{}
	for _, c := range ownCommands() {
		for _, name := range append([]string{c.Name}, c.Also...) {
			sub := c
			if name != c.Name {
				sub.Name, sub.Also = name, nil
			}
			out[name] = &sub
		}
	}
	return out
})

func known(name string) bool { return own()[name] != nil || name == "bash" || name == "sh" }

// Commands returns the names of the shell's own commands, sorted. The builtins are not
// included.
func Commands() []string {
	out := []string{"bash", "sh"}
	for name := range own() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// commandsWith returns the names of the shell's own commands and those of a runner, sorted. Commands that the user installed are
// left out: their names are other people's texts, and a list of them may have to wait for a store.
func commandsWith(r sandbox.CommandRunner) []string {
	out := Commands()
	if r == nil {
		return out
	}
	more := r.Commands
	if b, ok := r.(interface{ BuiltIn() []string }); ok {
		more = b.BuiltIn
	}
	out = append(out, more()...)
	slices.Sort(out)
	return slices.Compact(out)
}

const whichName = "\x00which"

// maxDepth bounds how many commands may run one another, as in xargs xargs xargs echo.
const maxDepth = 16

// start runs a command that is no function, and no builtin unless another command runs it. It returns the exit code.
func (s *shell) start(t *task) int {
	if t.depth > maxDepth {
		_ = s.w.fail("more than 16 commands run one another")
		return 126
	}
	if s.w.err() != nil || t.ctx.Err() != nil {
		return 130
	}
	name := t.name
	if dir := path.Dir(name); strings.Contains(name, "/") {
		base := path.Base(name)
		system := dir == "/bin" || dir == "/usr/bin" || dir == "/usr/local/bin"
		if !system || !(known(base) || interp.IsBuiltin(base) || s.hasRunner(base)) {
			return s.file(t)
		}
		t.name, name = base, base
	}
	c := own()[name]
	script := name == "bash" || name == "sh"
	runs := s.hasRunner(name)
	if c == nil && !script && !runs {
		if t.depth > 0 && interp.IsBuiltin(name) {
			return s.builtin(t)
		}
		t.missing()
		return 127
	}
	if err := s.may(t.ctx, policy.Need{Capability: protocol.ShellRun, Subject: name}); err != nil {
		t.errorf("%s", err)
		return 126
	}
	switch {
	case script:
		return s.bash(t)
	case c != nil:
		return t.command(c)
	}
	return s.external(t)
}

// missing says that there is no such command, and which ones have a near name.
func (t *task) missing() {
	t.errorf("command not found")
	names := near.Names(t.name, append(Commands(), t.s.runnerCommands()...))
	if len(names) > 0 {
		fmt.Fprintf(t.err, "bash: did you mean %s? help lists the commands\n", strings.Join(names, ", "))
	}
}

// builtin runs a builtin for another command, such as echo for xargs.
func (s *shell) builtin(t *task) int {
	t.args = append([]string{t.name}, t.args...)
	return s.interpret(t, nil, `"$@"`, "bash", t.args)
}

// file runs a script of the folder by its path.
func (s *shell) file(t *task) int {
	p, err := s.real(t.ctx, t.dir, t.name, true)
	var data []byte
	if err == nil {
		data, err = s.readFile(t.ctx, p)
	}
	if err != nil {
		fmt.Fprintf(t.err, "bash: %s: %s\n", t.name, tool.Reason(err))
		if strings.HasPrefix(tool.Reason(err), "No such") {
			return 127
		}
		return 126
	}
	if !s.executable(t, p) {
		fmt.Fprintf(t.err, "bash: %s: Permission denied\n", t.name)
		return 126
	}
	line, _, _ := strings.Cut(string(data[:min(len(data), 256)]), "\n")
	program, ok := strings.CutPrefix(line, "#!")
	words := strings.Fields(program)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			words = words[1:]
		}
	}
	if ok && len(words) > 0 {
		words[0] = path.Base(words[0])
	} else {
		words = []string{"bash"}
	}
	if words[0] == "dash" || words[0] == "zsh" {
		words[0] = "sh"
	}
	t.args = append(append(words[1:], t.name), t.args...)
	t.name = words[0]
	t.depth++
	return s.start(t)
}

// executable reports whether a file may run. A folder without permissions has none to forbid it.
func (s *shell) executable(t *task, p string) bool {
	w := &world{t: t, dir: t.dir}
	fi, err := w.Stat(abs(p))
	return err == nil && (fi.Mode()&0o111 != 0 || !s.modes())
}

// bash runs the commands bash and sh.
func (s *shell) bash(t *task) int {
	args := t.args
	var options []string
	// option adds a group of options, such as -euo, whose last one may take the next argument.
	option := func(a string) {
		for _, c := range a[1:] {
			switch c {
			case 'c', 's', 'l', 'i':
			case 'o', 'O':
				if len(args) > 0 {
					if c == 'o' {
						options = append(options, a[:1]+"o", args[0])
					}
					args = args[1:]
				}
			default:
				options = append(options, a[:1]+string(c))
			}
		}
	}
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--":
		case a == "--version":
			io.WriteString(t.out, "GNU bash, version "+version+" (Bailey's interpreter in Go)\n")
			return 0
		case a == "--norc" || a == "--noprofile" || a == "--posix" || a == "--login" || a == "-l":
			continue
		case strings.HasPrefix(a, "--"):
			t.errorf("%s: invalid option", a)
			return 2
		case strings.ContainsAny(a, "cs") && a[0] == '-':
			option(a)
			for len(args) > 1 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
				a := args[0]
				if args = args[1:]; a == "--" {
					break
				}
				option(a)
			}
			if strings.Contains(a, "s") {
				return s.interpret(t, options, s.script(t), t.name, args)
			}
			if len(args) == 0 {
				t.errorf("-c: option requires an argument")
				return 2
			}
			zero := t.name
			if len(args) > 1 {
				zero = args[1]
			}
			return s.interpret(t, options, args[0], zero, args[min(len(args), 2):])
		default:
			option(a)
			continue
		}
		break
	}
	if len(args) == 0 {
		return s.interpret(t, options, s.script(t), t.name, nil)
	}
	p, err := s.real(t.ctx, t.dir, args[0], true)
	var data []byte
	if err == nil {
		data, err = s.readFile(t.ctx, p)
	}
	if err != nil {
		t.errorf("%s: %s", args[0], tool.Reason(err))
		return 127
	}
	return s.interpret(t, options, string(data), args[0], args[1:])
}

// script reads a script from the input.
func (s *shell) script(t *task) string {
	if t.in == nil {
		return ""
	}
	data, _ := io.ReadAll(io.LimitReader(t.in, maxScript+1))
	return string(data)
}

const (
	maxScript = 64 << 10
	version   = "5.2.15(1)-release"
)

// interpret runs a script in a shell of its own, with the streams and the environment of t.
func (s *shell) interpret(t *task, options []string, text, zero string, params []string) int {
	if len(text) > maxScript {
		t.errorf("the script is longer than %d bytes", maxScript)
		return 126
	}
	f, err := s.o.parse(text)
	if err != nil {
		t.errorf("%s", protocol.Public(err).Message)
		return 2
	}
	if t.ctx.Err() != nil {
		return 130
	}
	s.fileDepth.Add(1)
	defer s.fileDepth.Add(-1)
	if s.fileDepth.Load() > maxDepth {
		_ = s.w.fail("more than 16 shells run one another")
		return 126
	}
	in := t.in
	if in == nil {
		in = strings.NewReader("")
	}
	r, err := s.interpreter(expand.ListEnviron(t.environ()...), t.dir, in, t.out, t.err)
	if err == nil {
		err = interp.Params(append(append(options, "--"), params...)...)(r)
	}
	if err != nil {
		t.errorf("%s", err)
		return 2
	}
	r.Zero = zero
	err = s.w.contain(func() error { return r.Run(&within{s.w, t.ctx}, f) })
	if st, ok := err.(interp.ExitStatus); ok {
		return int(st)
	}
	if err != nil {
		if t.ctx.Err() == nil && s.w.err() == nil {
			t.errorf("%s", err)
		}
		return 130
	}
	return 0
}

// within is the context of a shell in a shell. It counts the steps of the whole script and ends with its own context.
type within struct {
	*watched
	inner context.Context
}

func (w *within) Err() error {
	if err := w.inner.Err(); err != nil {
		return err
	}
	return w.watched.Err()
}

func (w *within) Done() <-chan struct{} { return w.inner.Done() }
func (w *within) Value(key any) any     { return w.inner.Value(key) }

// path returns the path of a command, or "".
func (s *shell) path(name string) string {
	if dir, base := path.Split(name); dir == "/usr/bin/" || dir == "/bin/" {
		name = base
	}
	if known(name) || s.hasRunner(name) {
		return "/usr/bin/" + name
	}
	return ""
}

// which prints the paths of commands. It returns 1 if one of the names is none.
func which(s *shell, hc interp.HandlerContext, names []string) int {
	code := 0
	for _, n := range names {
		if strings.HasPrefix(n, "-") {
			continue
		}
		p := s.path(n)
		if p == "" && interp.IsBuiltin(n) {
			p = "/usr/bin/" + n
		}
		if p == "" {
			code = 1
			continue
		}
		fmt.Fprintln(hc.Stdout, p)
	}
	return code
}

// help is the text of the builtin help.
func (s *shell) help(names []string) string {
	if len(names) == 0 {
		text := "This is a shell like bash over a folder, which is /. Builtins: " + strings.Join(builtins, " ") + "\nCommands, each with --help: " + strings.Join(Commands(), " ") + "\n"
		if more := slices.DeleteFunc(slices.Sorted(slices.Values(s.runnerCommands())), known); len(more) > 0 {
			text += "Programs, which are loaded when they first run: " + strings.Join(more, " ") + "\n"
		}
		return text
	}
	var b strings.Builder
	for _, n := range names {
		if c := own()[n]; c != nil {
			b.WriteString(c.Manual())
		} else if interp.IsBuiltin(n) {
			b.WriteString(n + ": as in bash\n")
		} else if s.hasRunner(n) {
			b.WriteString(n + ": a program; " + n + " --help shows its options\n")
		} else {
			b.WriteString("help: there is no command " + n + "\n")
		}
	}
	return b.String()
}

// builtins are those that do something here.
var builtins = strings.Fields("alias break cd command continue declare dirs echo eval exec exit export false getopts help let local mapfile popd printf pushd pwd read readarray readonly return set shift shopt source test times trap true type typeset umask unalias unset wait")
