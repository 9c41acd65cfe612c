// Package tool is what the commands of one binary have in common: their options, their
// streams, their errors, and how one of them is chosen by the program's name.
package tool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// A Command is one of a binary's commands.
type Command struct {
	Name     string
	Also     []string // other names
	Usage    string   // what follows the name: "[-n] [FILE]..."
	Summary  string   // one line
	Help     string   // the options, a line each
	Category string
	Files    string // the access to files that it needs: none, read, readwrite
	Trouble  int    // the exit code of a failure; 0 is 1
	Run      func(*Env) error
}

// A Set is the commands of a binary.
type Set []Command

// Env is what a running command has.
type Env struct {
	Name   string // as which it was called
	Args   []string
	Stdin  io.Reader
	Stdout *bufio.Writer
	Stderr io.Writer
	Set    Set // for commands that call others

	cmd    *Command
	failed bool
}

// Exit ends a command with a code of its own.
type Exit struct {
	Code int
	Text string // said on standard error, if not empty
}

func (e *Exit) Error() string { return fmt.Sprintf("exit %d %s", e.Code, e.Text) }

// Code is the end with nothing to say.
func Code(n int) error { return &Exit{Code: n} }

// Errorf is a failure that ends the command with its usual exit code.
func Errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Main runs the command that the program's name or its first argument says.
func (s Set) Main() {
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	env := &Env{Stdin: os.Stdin, Stdout: out, Stderr: os.Stderr, Set: s}
	code := s.Exec(env, os.Args)
	if err := out.Flush(); err != nil && code == 0 && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintf(os.Stderr, "write error: %s\n", Reason(err))
		code = 1
	}
	os.Exit(code)
}

// Find is the command of a name, or nil.
func (s Set) Find(name string) *Command {
	for i := range s {
		if s[i].Name == name || slices.Contains(s[i].Also, name) {
			return &s[i]
		}
	}
	return nil
}

// Exec runs a command with the streams of env. argv[0] may be the command's name, or the
// binary's with the command's name behind it.
func (s Set) Exec(env *Env, argv []string) int {
	name, args := "", []string(nil)
	if len(argv) > 0 {
		name, args = strings.TrimSuffix(path.Base(argv[0]), ".wasm"), argv[1:]
	}
	cmd := s.Find(name)
	if cmd == nil && len(args) > 0 {
		if args[0] == "--list" {
			for _, c := range s {
				fmt.Fprintf(env.Stdout, "%-10s %s\n", c.Name, c.Summary)
			}
			return 0
		}
		name, args = args[0], args[1:]
		cmd = s.Find(name)
	}
	if cmd == nil {
		fmt.Fprintf(env.Stderr, "%s: there is no such command; --list names those of this binary\n", name)
		return 127
	}
	sub := *env
	sub.Name, sub.Args, sub.cmd, sub.failed, sub.Set = name, args, cmd, false, s
	return sub.end(cmd.Run(&sub))
}

func (e *Env) trouble() int { return max(e.cmd.Trouble, 1) }

// end says what is wrong and gives the exit code.
func (e *Env) end(err error) int {
	var exit *Exit
	switch {
	case err == nil && e.failed:
		return e.trouble()
	case err == nil || errors.Is(err, syscall.EPIPE):
		return 0
	case errors.As(err, &exit):
		if exit.Text != "" {
			fmt.Fprintf(e.Stderr, "%s: %s\n", e.Name, exit.Text)
		}
		if exit.Code == 0 && e.failed {
			return e.trouble()
		}
		return exit.Code
	}
	fmt.Fprintf(e.Stderr, "%s: %s\n", e.Name, Say(err))
	return e.trouble()
}

// Failed reports whether something went wrong that did not end the command.
func (e *Env) Failed() bool { return e.failed }

// SetFailed lets the exit code tell of a failure that nothing is said of.
func (e *Env) SetFailed() { e.failed = true }

// Warn says what went wrong with a file and goes on; the exit code will tell.
func (e *Env) Warn(name string, err error) {
	e.failed = true
	e.Stdout.Flush()
	fmt.Fprintf(e.Stderr, "%s: %s: %s\n", e.Name, name, Reason(err))
}

// Open opens a file, or standard input for "-".
func (e *Env) Open(name string) (io.ReadCloser, error) {
	if name == "-" || name == "" {
		return io.NopCloser(e.Stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	return f, nil
}

// Each calls do with each of the files, or with standard input if there is none. A file
// that can't be read is said, and the next one follows.
func (e *Env) Each(names []string, do func(name string, r io.Reader) error) error {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		r, err := e.Open(name)
		if err != nil {
			e.Warn(name, err)
			continue
		}
		err = do(name, r)
		r.Close()
		var bad *fs.PathError
		if errors.As(err, &bad) && bad.Op == "read" {
			e.Warn(name, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// ReadAll reads a file, or standard input for "-".
func (e *Env) ReadAll(name string) ([]byte, error) {
	r, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// Replace writes a file's new content, in its mode.
func (e *Env) Replace(name string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return os.WriteFile(name, data, mode)
}

// Say is an error as a person knows it from a command: the file and the reason.
func Say(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p) && err == error(p):
		return p.Path + ": " + Reason(p.Err)
	case errors.As(err, &l) && err == error(l):
		return l.Old + " to " + l.New + ": " + Reason(l.Err)
	}
	return err.Error()
}

// Reason is the reason alone, in the words of the C library.
func Reason(err error) string {
	for _, row := range []struct {
		err  error
		text string
	}{
		{syscall.EISDIR, "Is a directory"}, {syscall.ENOTDIR, "Not a directory"}, {syscall.ENOTEMPTY, "Directory not empty"},
		{syscall.EROFS, "Read-only file system"}, {syscall.ENOSPC, "No space left on device"}, {syscall.EMFILE, "Too many open files"},
		{syscall.ELOOP, "Too many levels of symbolic links"}, {syscall.ENOSYS, "Function not implemented"},
		{fs.ErrNotExist, "No such file or directory"}, {fs.ErrExist, "File exists"}, {fs.ErrPermission, "Permission denied"},
	} {
		if errors.Is(err, row.err) {
			return row.text
		}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
