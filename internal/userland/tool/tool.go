// Package tool holds the common parts of the commands of a binary: options, streams, errors, and
// the choice of a command by the program's name.
package tool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
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
	World  World

	// Context ends the work of packages that take one. nil is none.
	Context context.Context

	cmd    *Command
	failed bool
}

// Exit is an error that ends a command with an exit code of its own.
type Exit struct {
	Code int
	Text string // printed on standard error, if not empty
	Fine bool   // a recorded failure does not change Code
}

func (e *Exit) Error() string { return fmt.Sprintf("exit %d %s", e.Code, e.Text) }

// ClosedPipe is the exit code of a command whose reader has ended. In bash such a command ends by the signal SIGPIPE, without a message.
const ClosedPipe = 128 + 13

// Code returns an error that ends the command with an exit code and without a message.
func Code(n int) error { return &Exit{Code: n} }

// Errorf returns an error that ends the command with its usual exit code of a failure.
func Errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Lines calls do for each line, including its line end, which is a line break or another byte.
func (e *Env) Lines(r io.Reader, end byte, do func(line []byte) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for {
		part, err := br.ReadSlice(end)
		e.World.Spend(len(part) + 32)
		if errors.Is(err, bufio.ErrBufferFull) {
			e.World.Hold(len(part))
			long = append(long, part...)
			continue
		}
		if len(long) > 0 {
			long = append(long, part...)
			part = long
		}
		if len(part) > 0 {
			if err := do(part); err != nil {
				return err
			}
		}
		long = long[:0]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Main runs the command of the program's name or of its first argument.
func (s Set) Main() {
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	env := &Env{Stdin: os.Stdin, Stdout: out, Stderr: os.Stderr, Set: s, World: OS{}}
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
	case errors.Is(err, io.ErrClosedPipe):
		return ClosedPipe
	case errors.As(err, &exit):
		if exit.Text != "" {
			fmt.Fprintf(e.Stderr, "%s: %s\n", e.Name, exit.Text)
		}
		if exit.Code == 0 && e.failed && !exit.Fine {
			return e.trouble()
		}
		return exit.Code
	}
	fmt.Fprintf(e.Stderr, "%s: %s\n", e.Name, Say(err))
	return e.trouble()
}

// Ctx returns the context, which is never nil.
func (e *Env) Ctx() context.Context {
	if e.Context == nil {
		return context.Background()
	}
	return e.Context
}

// Bounded returns World.Spend, or nil if the work of this world is not counted.
func (e *Env) Bounded() func(int) {
	if _, ok := e.World.(OS); ok {
		return nil
	}
	return e.World.Spend
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
	if name == "/dev/stdin" {
		return io.NopCloser(e.Stdin), nil
	}
	if name == "/dev/null" {
		return io.NopCloser(strings.NewReader("")), nil
	}
	if e.IsDir(name) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	return e.World.Open(name)
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
	return e.Slurp(r)
}

// Slurp reads to the end, and counts the bytes as held.
func (e *Env) Slurp(r io.Reader) ([]byte, error) {
	// One growing buffer would be copied at a stretch each time that it grows.
	var parts [][]byte
	size := 0
	for {
		part := make([]byte, 64<<10)
		n, err := io.ReadFull(r, part)
		if n > 0 {
			size += n
			e.World.Hold(n)
			e.World.Spend(n)
			parts = append(parts, part[:n])
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	out := make([]byte, 0, size)
	for _, part := range parts {
		out = append(out, part...)
		e.World.Spend(len(part) / 8)
	}
	return out, nil
}

// Counted returns r with each read counted as work, so that a small file that expands to a large one can't keep the page.
func (e *Env) Counted(r io.Reader) io.Reader { return &counted{e.World, r} }

type counted struct {
	w World
	r io.Reader
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.w.Spend(n + 1)
	return n, err
}

// Replace writes a file's new content.
func (e *Env) Replace(name string, data []byte) error {
	w, err := e.World.Create(name, false)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}

// Errorf prints a message and records a failure for the exit code.
func (e *Env) Errorf(format string, args ...any) {
	e.failed = true
	e.Stdout.Flush()
	fmt.Fprintf(e.Stderr, e.Name+": "+format+"\n", args...)
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
	if said, ok := errors.AsType[interface {
		error
		Reason() string
	}](err); ok {
		return said.Reason()
	}
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

// Copy copies r to the output.
func (e *Env) Copy(r io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		e.World.Spend(n + 1)
		if _, err := e.Stdout.Write(buf[:n]); err != nil {
			return err
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Unescape returns s with the backslash sequences of echo -e, tr and paste replaced.
func Unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		j := i
		for j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '7' {
			j++
		}
		if j > i {
			n, _ := strconv.ParseUint(s[i:j], 8, 16)
			b.WriteByte(byte(n))
			i = j - 1
			continue
		}
		if k := strings.IndexByte(`abfnrtv\`, s[i]); k >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v\\"[k])
			continue
		}
		b.WriteByte('\\')
		b.WriteByte(s[i])
	}
	return b.String()
}
