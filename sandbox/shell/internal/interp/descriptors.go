package interp

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/sandbox/shell/internal/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxDescriptors is the most open descriptors of a shell.
const maxDescriptors = 256

// A descriptor is an open file of a shell with a number from 3 on. It has a reader, a writer, or both.
type descriptor struct {
	in  io.ReadCloser
	out io.Writer
}

// reader returns the reader of a descriptor, or nil.
func readerOf(r *Runner, n int) io.Reader {
	if n == 0 {
		if r.stdin == nil {
			return nil
		}
		return r.stdin
	}
	if d, ok := r.fds[n]; ok && d.in != nil {
		return d.in
	}
	return nil
}

// writer returns the writer of a descriptor, or nil.
func writerOf(r *Runner, n int) io.Writer {
	switch n {
	case 1:
		return r.stdout
	case 2:
		return r.stderr
	}
	return r.fds[n].out
}

// setFd sets a descriptor for the statement, and for the rest of the shell if it is of exec.
func setFd(r *Runner, n int, in io.ReadCloser, out io.Writer) error {
	switch n {
	case 0:
		r.stdin = in
		return nil
	case 1, 2:
		if out == nil {
			out = io.Discard
		}
		if n == 1 {
			r.stdout = out
		} else {
			r.stderr = out
		}
		return nil
	}
	if len(r.fds) >= maxDescriptors {
		return r.bounds.Refuse("more than 256 open descriptors")
	}
	r.fds = maps.Clone(r.fds)
	if in == nil && out == nil {
		delete(r.fds, n)
		return nil
	}
	if r.fds == nil {
		r.fds = map[int]descriptor{}
	}
	r.fds[n] = descriptor{in, out}
	return nil
}

// duplicate implements n>&m and n<&m.
func duplicate(r *Runner, n int, arg string, input bool) error {
	move := strings.HasSuffix(arg, "-") && arg != "-"
	m, err := strconv.Atoi(strings.TrimSuffix(arg, "-"))
	switch {
	case arg == "-":
		d := r.fds[n]
		if err := setFd(r, n, nil, nil); err != nil {
			return err
		}
		// The file is in place when it is closed.
		if c, ok := d.out.(io.Closer); ok {
			if i := slices.Index(r.kept, c); i >= 0 {
				r.kept = slices.Delete(r.kept, i, i+1)
				return c.Close()
			}
		}
		return nil
	case err != nil:
		return fmt.Errorf("bash: %s: ambiguous redirect", arg)
	}
	in, out := readerOf(r, m), writerOf(r, m)
	if m == 0 && !input && n > 2 {
		out = nil
	}
	if in == nil && out == nil {
		return fmt.Errorf("bash: %d: Bad file descriptor", m)
	}
	var closer io.ReadCloser
	if in != nil {
		closer = io.NopCloser(in)
	}
	if err := setFd(r, n, closer, out); err != nil {
		return err
	}
	if move {
		return setFd(r, m, nil, nil)
	}
	return nil
}

// closeKept closes the files that exec opened.
func closeKept(r *Runner) {
	for _, c := range r.kept {
		c.Close()
	}
	r.kept = nil
}

// substitute runs the command of <( ) to its end and returns the name under which its output can be read. The command of
// >( ) gets its input when the statement ends.
func substitute(r *Runner, ps *syntax.ProcSubst) (string, error) {
	if ps.Op == syntax.CmdOut {
		name, err := r.bounds.Keep(nil)
		r.after = append(r.after, func() {
			data := r.bounds.Drop(name)
			r2 := r.subshell(false)
			r2.stdin = io.NopCloser(strings.NewReader(string(data)))
			r2.stmts(r.ectx, ps.Stmts)
			if r2.exit.fatalExit {
				r.exit.fatal(r2.exit.err)
			}
		})
		return name, err
	}
	var b strings.Builder
	was := r.printed
	r.printed = maxExpansion
	r2 := r.subshell(false)
	r2.stdout = &limited{w: &b, r: r, sub: r2}
	r2.stmts(r.ectx, ps.Stmts)
	r.printed = was
	if r2.exit.fatalExit {
		return "", r2.exit.err
	}
	name, err := r.bounds.Keep([]byte(b.String()))
	r.after = append(r.after, func() { r.bounds.Drop(name) })
	return name, err
}

// typeOf prints of which kind a name is, for type and command -v. It reports whether there is such a name.
func typeOf(r *Runner, name, mode string, quiet bool) bool {
	kind, text := "", ""
	switch {
	case r.aliases[name] != "":
		kind, text = "alias", fmt.Sprintf("%s is aliased to `%s'", name, r.aliases[name])
	case syntax.IsKeyword(name):
		kind, text = "keyword", name+" is a shell keyword"
	case r.Funcs[name] != nil:
		kind, text = "function", name+" is a function"
	case IsBuiltin(name):
		kind, text = "builtin", name+" is a shell builtin"
	default:
		if path := r.bounds.Known(name); path != "" {
			kind, text = "file", name+" is "+path
			if mode == "name" || mode == "-p" || mode == "-P" {
				r.out(path + "\n")
				return true
			}
		}
	}
	switch {
	case kind == "":
		if mode == "" && quiet {
			r.errf("bash: command: %s: not found\n", name)
		} else if mode == "" {
			r.errf("bash: type: %s: not found\n", name)
		}
		return false
	case mode == "-t":
		r.out(kind + "\n")
	case mode == "-p" || mode == "-P":
	case mode == "name" && kind == "alias":
		r.outf("alias %s='%s'\n", name, r.aliases[name])
	case mode == "name":
		r.out(name + "\n")
	default:
		r.out(text + "\n")
	}
	return true
}

// assignName assigns to a name or to an element of an array, such as x[1].
func assignName(r *Runner, target, value string) {
	name, index, indexed := strings.Cut(strings.TrimSuffix(target, "]"), "[")
	if !indexed {
		r.setVarString(name, value)
		return
	}
	x, err := r.bounds.arithmetic(index)
	if err != nil {
		r.exit.fatal(err)
		return
	}
	r.setVarWithIndex(r.lookupVar(name), name, x, expand.Variable{Set: true, Kind: expand.String, Str: value})
}

// special returns a variable that bash sets, or false.
func specialVar(r *Runner, name string) (string, bool) {
	switch name {
	case "SECONDS":
		return strconv.Itoa(int(time.Since(r.start) / time.Second)), true
	case "EPOCHSECONDS":
		return strconv.FormatInt(time.Now().Unix(), 10), true
	case "EPOCHREALTIME":
		return fmt.Sprintf("%.6f", float64(time.Now().UnixMicro())/1e6), true
	case "BASH_VERSION":
		return "5.2.15(1)-release", true
	case "BASH":
		return "/usr/bin/bash", true
	case "BASHPID":
		return "1", true
	case "OSTYPE":
		return "linux-gnu", true
	case "HOSTNAME":
		return "sandbox", true
	case "MACHTYPE", "HOSTTYPE":
		return "wasm32", true
	case "SHLVL":
		return "1", true
	}
	return "", false
}
