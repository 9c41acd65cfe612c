package shell

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

// task is one run of a command.
type task struct {
	s    *shell
	ctx  context.Context
	dir  string
	name string
	args []string // without the name
	in   io.Reader
	out  io.Writer
	err  io.Writer
	work int // bytes of work since it last yielded to the page
	held int // bytes held
}

func (t *task) errorf(format string, args ...any) {
	fmt.Fprintf(t.err, t.name+": "+format+"\n", args...)
}

// fail prints an error and returns the exit code 1.
func (t *task) fail(format string, args ...any) int {
	t.errorf(format, args...)
	return 1
}

// options parses the flags. plain lists the letters without an argument, and valued those
// with one. Of a repeated letter the last one counts. "--" ends the flags. ok is false
// after an error, which has been printed.
func (t *task) options(plain, valued string) (opts map[byte]string, rest []string, ok bool) {
	opts = map[byte]string{}
	args := t.args
	for len(args) > 0 {
		a := args[0]
		if a == "--" {
			return opts, args[1:], true
		}
		if len(a) < 2 || a[0] != '-' || a[1] == '-' && len(a) > 2 {
			if strings.HasPrefix(a, "--") {
				t.errorf("unknown option %s", a)
				return nil, nil, false
			}
			break
		}
		args = args[1:]
		for i := 1; i < len(a); i++ {
			c := a[i]
			switch {
			case strings.IndexByte(plain, c) >= 0:
				opts[c] = "true"
			case strings.IndexByte(valued, c) >= 0:
				v := a[i+1:]
				if v == "" {
					if len(args) == 0 {
						t.errorf("option -%c needs a value", c)
						return nil, nil, false
					}
					v, args = args[0], args[1:]
				}
				opts[c] = v
				i = len(a)
			case i == 1 && c >= '0' && c <= '9' && strings.IndexByte(valued, 'n') >= 0 && strings.Trim(a[1:], "0123456789") == "":
				opts['n'] = a[1:]
				i = len(a)
			default:
				t.errorf("unknown option -%c", c)
				return nil, nil, false
			}
		}
	}
	return opts, args, true
}

func has(o map[byte]string, c byte) bool { _, ok := o[c]; return ok }

// number returns an option's value as a whole number, or standard if it was not given.
func (t *task) number(o map[byte]string, c byte, standard int) (int, bool) {
	text, ok := o[c]
	if !ok {
		return standard, true
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.errorf("%s is not a number", strconv.Quote(text))
		return 0, false
	}
	return n, true
}

// read returns the content of a file, or the input for "-".
func (t *task) read(name string) ([]byte, error) {
	if name == "-" {
		return t.readAll(), nil
	}
	data, err := t.s.readFile(t.ctx, resolve(t.dir, name))
	t.hold(len(data))
	t.spend(len(data))
	return data, err
}

// each calls do for each file, or for the input if there are none. It returns the highest
// exit code. For a file that can't be read it prints the error, and the code is 1.
func (t *task) each(files []string, do func(name string, data []byte) int) int {
	if len(files) == 0 {
		files = []string{"-"}
	}
	code := 0
	for _, name := range files {
		data, err := t.read(name)
		if err != nil {
			code = t.fail("%s: %s", name, short(err))
			continue
		}
		if c := do(name, data); c > code {
			code = c
		}
	}
	return code
}

// all returns the concatenated content of all files.
func (t *task) all(files []string) (data []byte, code int) {
	code = t.each(files, func(_ string, d []byte) int {
		joined(maxFile, len(data), len(d))
		if data == nil {
			data = d
		} else {
			data = append(data, d...)
		}
		return 0
	})
	return data, code
}

// lines returns the lines of a text without their ends.
func (t *task) lines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	text, ends := t.text(data)
	t.hold(16 * ends)
	list := make([]string, 0, 1+ends)
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		t.spend(8 + len(line)/8)
		list = append(list, line)
	}
	return list
}

// print writes lines and returns the exit code.
func (t *task) print(list []string) int {
	w := bufio.NewWriter(t.out)
	for _, l := range list {
		w.WriteString(l)
		w.WriteByte('\n')
		t.spend(len(l) + 1)
	}
	if w.Flush() != nil {
		return 1
	}
	return 0
}

const whichName = "\x00which"

// which prints the names that are commands. It returns 1 if one of them is not.
func which(s *shell, hc interp.HandlerContext, names []string) int {
	code := 0
	for _, n := range names {
		if strings.HasPrefix(n, "-") {
			continue
		}
		if s.cmds[n] != nil || interp.IsBuiltin(n) || s.hasRunner(n) {
			fmt.Fprintln(hc.Stdout, n)
			continue
		}
		code = 1
	}
	return code
}

func known(name string) bool { _, ok := commands()[name]; return ok }

// Commands returns the names of the shell's own commands, sorted. The builtins are not
// included.
func Commands() []string {
	var out []string
	for name := range commands() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// write replaces the content of a file, or appends to it.
func (t *task) write(name string, d []byte, add bool) error {
	w, err := t.s.create(t.ctx, resolve(t.dir, name), add)
	if err != nil {
		return err
	}
	if _, err := w.Write(d); err != nil {
		return err
	}
	return w.Close()
}

// paths calls do for each path. It prints the failures and returns the exit code.
func (t *task) paths(names []string, do func(p string) error) int {
	if len(names) == 0 {
		return t.fail("missing operand")
	}
	code := 0
	for _, n := range names {
		if err := do(resolve(t.dir, n)); err != nil {
			code = t.fail("%s: %s", n, short(err))
		}
	}
	return code
}
