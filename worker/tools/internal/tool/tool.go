// Package tool holds the common parts of the commands of a binary: options, streams, errors, and
// the choice of a command by the program's name.
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
	Usage    string   // the text after the name: "[-n] [FILE]..."
	Summary  string   // one line
	Help     string   // the options, a line each
	Category string
	Files    string // the access to files that it needs: none, read, readwrite
	Trouble  int    // the exit code of a failure; 0 is 1
	Run      func(*Env) error
}

// A Set holds the commands of a binary.
type Set []Command

// Env is the environment of a running command.
type Env struct {
	Name   string // the name by which it was called
	Args   []string
	Stdin  io.Reader
	Stdout *bufio.Writer
	Stderr io.Writer
	Set    Set // for commands that call others

	cmd    *Command
	failed bool
}

// Exit is an error that ends a command with an exit code of its own.
type Exit struct {
	Code int
	Text string // printed on standard error, if not empty
}

func (e *Exit) Error() string { return fmt.Sprintf("exit %d %s", e.Code, e.Text) }

// Code returns an error that ends the command with an exit code and without a message.
func Code(n int) error { return &Exit{Code: n} }

// Errorf returns an error that ends the command with its usual exit code of a failure.
func Errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Main runs the command of the program's name or of its first argument.
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

// Find returns the command with a name, or nil.
func (s Set) Find(name string) *Command {
	for i := range s {
		if s[i].Name == name || slices.Contains(s[i].Also, name) {
			return &s[i]
		}
	}
	return nil
}

// Exec runs a command with the streams of env and returns its exit code. argv[0] is the command's
// name, or the binary's name followed by the command's name. The exit code is 127 if there is no
// such command.
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

// end prints the message of an error and returns the exit code.
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

// Failed reports whether a failure was recorded that did not end the command.
func (e *Env) Failed() bool { return e.failed }

// SetFailed records a failure without a message. The exit code then reports it.
func (e *Env) SetFailed() { e.failed = true }

// Warn prints an error about a file, and records a failure for the exit code.
func (e *Env) Warn(name string, err error) {
	e.failed = true
	e.Stdout.Flush()
	fmt.Fprintf(e.Stderr, "%s: %s: %s\n", e.Name, name, Reason(err))
}

// Open returns an open file, or standard input for "-" or "".
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

// Each calls do for each file, or for standard input if there is none. If a file can't be read,
// Each prints a warning and continues with the next.
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

// ReadAll returns the content of a file, or standard input for "-".
func (e *Env) ReadAll(name string) ([]byte, error) {
	r, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// Replace writes a file's new content and keeps its mode.
func (e *Env) Replace(name string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return os.WriteFile(name, data, mode)
}

// Say returns the text of an error as commands print it: the file and the reason.
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

// Reason returns only the reason of an error, in the words of the C library.
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
