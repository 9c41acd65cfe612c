package tool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A World is all that a command can reach besides its arguments and streams. [OS] is the one of a program, and package
// shell has one in which each access passes a gate. Names are as the command was given them.
type World interface {
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Open(name string) (io.ReadCloser, error)
	// ReadDir lists a folder by name.
	ReadDir(name string) ([]fs.FileInfo, error)
	// Create opens a file for writing. The content is in place when it is closed without an error.
	Create(name string, appends bool) (io.WriteCloser, error)
	Mkdir(name string, all bool) error
	Remove(name string, all bool) error
	Rename(from, to string) error
	Chmod(name string, mode fs.FileMode) error
	Chtimes(name string, t time.Time) error
	Link(target, name string, symbolic bool) error
	Readlink(name string) (string, error)
	// Dir is the working folder, and Chdir changes it for this command.
	Dir() string
	Chdir(dir string) error
	Environ() []string
	// Run runs another command with the streams of e, whose output was flushed, and returns its exit code. env has
	// further variables. dir, if set, is its working folder.
	Run(e *Env, argv []string, env []string) int
	// Spend counts n bytes of work. It may let others run, and does not return if the command has to end.
	Spend(n int)
	// Hold counts n bytes as held until the command ends. It does not return if that is too much.
	Hold(n int)
}

// TooMuch is the panic value of a command that exceeds a limit of its [World], with the message.
type TooMuch string

// OS is the world of a program: its working folder, and the commands of its own set.
type OS struct{}

func (OS) Stat(name string) (fs.FileInfo, error)   { return os.Stat(name) }
func (OS) Lstat(name string) (fs.FileInfo, error)  { return os.Lstat(name) }
func (OS) Open(name string) (io.ReadCloser, error) { return os.Open(name) }
func (OS) Rename(from, to string) error            { return os.Rename(from, to) }
func (OS) Chmod(name string, mode fs.FileMode) error {
	if runtime.GOOS == "wasip1" { // os.Chmod changes nothing there, and returns no error
		fi, err := os.Stat(name)
		if err == nil && fi.Mode().Perm() != mode.Perm() {
			err = &fs.PathError{Op: "chmod", Path: name, Err: errors.ErrUnsupported}
		}
		return err
	}
	return os.Chmod(name, mode)
}

func (OS) Chtimes(name string, t time.Time) error { return os.Chtimes(name, t, t) }
func (OS) Readlink(name string) (string, error)   { return os.Readlink(name) }
func (OS) Chdir(dir string) error                 { return os.Chdir(dir) }
func (OS) Environ() []string                      { return os.Environ() }
func (OS) Spend(int)                              {}
func (OS) Hold(int)                               {}

func (OS) ReadDir(name string) ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(name)
	list := make([]fs.FileInfo, 0, len(entries))
	for _, d := range entries {
		if info, err := d.Info(); err == nil {
			list = append(list, info)
		}
	}
	return list, err
}

func (OS) Create(name string, appends bool) (io.WriteCloser, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if appends {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	return os.OpenFile(name, flags, 0o644)
}

func (OS) Mkdir(name string, all bool) error {
	if all {
		return os.MkdirAll(name, 0o755)
	}
	return os.Mkdir(name, 0o755)
}

func (OS) Remove(name string, all bool) error {
	if all {
		return os.RemoveAll(name)
	}
	return os.Remove(name)
}

func (OS) Link(target, name string, symbolic bool) error {
	if symbolic {
		return os.Symlink(target, name)
	}
	return os.Link(target, name)
}

func (OS) Dir() string {
	dir, err := os.Getwd()
	if err != nil || dir == "" { // no folder is mounted
		return "/"
	}
	return dir
}

// Run runs a command of the same set, because a program in a sandbox starts no other.
func (OS) Run(e *Env, argv []string, env []string) int {
	for _, v := range env {
		key, value, _ := strings.Cut(v, "=")
		_ = os.Setenv(key, value)
	}
	if len(argv) > 0 && e.Set.Find(argv[0]) == nil {
		e.Errorf("%s: there is no such command in this binary, and a program here can start no other", argv[0])
		return 127
	}
	sub := &Env{Stdin: e.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Set: e.Set, World: e.World}
	return e.Set.Exec(sub, argv)
}

// Walk calls do for root and all that is below it, in the order of the names. If do returns [fs.SkipDir] for a folder, its
// content is left out.
func (e *Env) Walk(root string, do func(name string, info fs.FileInfo, err error) error) error {
	info, err := e.World.Lstat(root)
	if err != nil {
		return do(root, nil, err)
	}
	err = e.walk(root, info, do)
	if err == fs.SkipDir {
		return nil
	}
	return err
}

func (e *Env) walk(name string, info fs.FileInfo, do func(name string, info fs.FileInfo, err error) error) error {
	e.World.Spend(512)
	if err := do(name, info, nil); err != nil || !info.IsDir() {
		return err
	}
	list, err := e.World.ReadDir(name)
	if err != nil {
		return do(name, info, err)
	}
	for _, sub := range list {
		if err := e.walk(Join(name, sub.Name()), sub, do); err != nil && err != fs.SkipDir {
			return err
		}
	}
	return nil
}

// IsLink reports whether a file is a symbolic link. It costs no further look at the file, as its mode may.
func IsLink(info fs.FileInfo) bool {
	if l, ok := info.(interface{ Link() bool }); ok {
		return l.Link()
	}
	return info.Mode()&fs.ModeSymlink != 0
}

// Join is the name of something in a folder, without any other change of the folder's name.
func Join(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// IsDir reports whether a name is a folder.
func (e *Env) IsDir(name string) bool {
	info, err := e.World.Stat(name)
	return err == nil && info.IsDir()
}

// Abs returns the whole path of a name.
func (e *Env) Abs(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(filepath.ToSlash(e.World.Dir()), name)
}

// Getenv returns a variable of the environment.
func (e *Env) Getenv(key string) string {
	for _, v := range e.World.Environ() {
		if k, value, _ := strings.Cut(v, "="); k == key {
			return value
		}
	}
	return ""
}
