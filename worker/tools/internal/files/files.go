// Package files holds the commands that read and change files and folders.
package files

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gabriel-vasile/mimetype"
	"github.com/u-root/u-root/pkg/core"
	"github.com/u-root/u-root/pkg/core/cp"
	"github.com/u-root/u-root/pkg/core/mkdir"
	"github.com/u-root/u-root/pkg/core/mv"
	"github.com/u-root/u-root/pkg/core/rm"
	"github.com/u-root/u-root/pkg/core/touch"

	"github.com/bailey-go/bailey/worker/tools/internal/tool"
)

// Commands returns the commands of this package.
func Commands() tool.Set {
	const c = "files"
	return tool.Set{
		{Name: "ls", Usage: "[-laAR1hSrt] [FILE]...", Summary: "list folders", Category: c, Files: "read", Trouble: 2, Run: ls,
			Help: "  -l  long    -a  hidden ones too    -R  folders in folders    -h  sizes for people    -S  by size    -t  by time    -r  reversed"},
		{Name: "find", Usage: "[PATH]... [EXPRESSION]", Summary: "find files by name, type, size, time", Category: c, Files: "readwrite", Run: find, Help: findHelp},
		{Name: "xargs", Usage: "[-0rt] [-n N] [-I TEXT] [-d C] COMMAND [ARG]...", Summary: "call a command of this binary with arguments from the input", Category: c, Files: "readwrite", Run: xargs,
			Help: "  -0  arguments end in NUL    -d C  they end in C    -n N  N for each call    -I TEXT  replace TEXT by each line\n  -r  no call without arguments    -t  say each call\n  Only commands of the same binary can be called: a program in a sandbox starts no other."},
		{Name: "tree", Usage: "[-adfs] [-L N] [-I GLOB] [FOLDER]...", Summary: "draw folders as a tree", Category: c, Files: "read", Run: tree,
			Help: "  -a  hidden ones too    -d  folders only    -f  whole paths    -s  sizes    -L N  N levels    -I GLOB  leave out"},
		{Name: "du", Usage: "[-abchs] [-d N] [FILE]...", Summary: "sum the sizes of files", Category: c, Files: "read", Run: du,
			Help: "  Sizes are those of the contents, in KiB.\n  -a  files too    -b  bytes    -c  a total    -h  for people    -s  only the sum    -d N  N levels"},
		{Name: "stat", Usage: "[-c FORMAT] FILE...", Summary: "say what is known of a file", Category: c, Files: "read", Run: stat,
			Help: "  -c FORMAT  %n name  %s size  %F type  %a mode in octal  %A mode  %y time  %Y time in seconds"},
		{Name: "file", Usage: "[-bi] FILE...", Summary: "say what kind of content a file has", Category: c, Files: "read", Run: kind, Help: "  -b  no names    -i  the media type"},
		{Name: "truncate", Usage: "-s [+-<>/%]SIZE FILE...", Summary: "cut or lengthen files", Category: c, Files: "readwrite", Run: truncate, Help: "  -s SIZE  the size; +N more, -N less    -c  make no file"},
		{Name: "pwd", Usage: "", Summary: "print the working folder", Category: c, Files: "none", Run: pwd},
		{Name: "basename", Usage: "NAME [SUFFIX]", Summary: "the last part of a path", Category: c, Files: "none", Run: base},
		{Name: "dirname", Usage: "NAME...", Summary: "a path without its last part", Category: c, Files: "none", Run: dir},
		{Name: "cp", Usage: "[-rfv] FROM... TO", Summary: "copy files and folders", Category: c, Files: "readwrite", Run: borrowed(cp.New)},
		{Name: "mv", Usage: "[-fn] FROM... TO", Summary: "move or rename files and folders", Category: c, Files: "readwrite", Run: borrowed(mv.New)},
		{Name: "rm", Usage: "[-rfv] FILE...", Summary: "remove files and folders", Category: c, Files: "readwrite", Run: borrowed(rm.New)},
		{Name: "mkdir", Usage: "[-pv] FOLDER...", Summary: "make folders", Category: c, Files: "readwrite", Run: borrowed(mkdir.New)},
		{Name: "touch", Usage: "[-amc] [-d TIME] FILE...", Summary: "make files, or set their times", Category: c, Files: "readwrite", Run: borrowed(touch.New)},
	}
}

// borrowed returns a function that runs a command of u-root.
func borrowed(make func() core.Command) func(*tool.Env) error {
	return func(e *tool.Env) error {
		if len(e.Args) > 0 && e.Args[0] == "--help" {
			_, err := e.Options("", "")
			return err
		}
		c := make()
		c.SetIO(e.Stdin, e.Stdout, e.Stderr)
		return c.RunContext(context.Background(), e.Args...)
	}
}

func pwd(e *tool.Env) error {
	dir, err := os.Getwd()
	if err == nil {
		fmt.Fprintln(e.Stdout, cmp.Or(dir, "/")) // dir is "" if no folder is mounted
	}
	return err
}

func base(e *tool.Env) error {
	if len(e.Args) == 0 || len(e.Args) > 2 {
		return e.Usagef("want a name and perhaps a suffix")
	}
	name := filepath.Base(e.Args[0])
	if len(e.Args) == 2 && name != e.Args[1] {
		name = strings.TrimSuffix(name, e.Args[1])
	}
	fmt.Fprintln(e.Stdout, name)
	return nil
}

func dir(e *tool.Env) error {
	if len(e.Args) == 0 {
		return e.Usagef("missing operand")
	}
	for _, name := range e.Args {
		if t := strings.TrimRight(name, "/"); t != "" {
			name = t
		}
		fmt.Fprintln(e.Stdout, filepath.Dir(name))
	}
	return nil
}

func human(n int64) string {
	f := float64(n)
	for _, unit := range []string{"", "K", "M", "G"} {
		if f < 1024 || unit == "G" {
			if unit == "" {
				return fmt.Sprint(n)
			}
			if f < 10 {
				return fmt.Sprintf("%.1f%s", f, unit)
			}
			return fmt.Sprintf("%.0f%s", f, unit)
		}
		f /= 1024
	}
	return ""
}

func stat(e *tool.Env) error {
	o, err := e.Options("c:", "format=c printf=c")
	if err != nil {
		return err
	}
	if len(o.Args) == 0 {
		return e.Usagef("missing operand")
	}
	format := "  File: %n\n  Size: %s\t%F\n  Mode: %a/%A\nModify: %y"
	if o.Has('c') {
		format = o.Value('c')
	}
	for _, name := range o.Args {
		info, err := os.Lstat(name)
		if err != nil {
			e.Warn("cannot stat '"+name+"'", err)
			continue
		}
		fmt.Fprintln(e.Stdout, strings.NewReplacer("%%", "%", "%n", name, "%s", fmt.Sprint(info.Size()), "%F", typeName(info),
			"%a", fmt.Sprintf("%o", info.Mode().Perm()), "%A", modeString(info.Mode()), "%y", info.ModTime().UTC().Format("2006-01-02 15:04:05.000000000 -0700"),
			"%Y", fmt.Sprint(info.ModTime().Unix())).Replace(format))
	}
	return nil
}

func typeName(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case !mode.IsRegular():
		return "special file"
	case info.Size() == 0:
		return "regular empty file"
	}
	return "regular file"
}

func modeString(m fs.FileMode) string {
	s := m.String()
	return strings.Replace(s[:1], "L", "l", 1) + s[len(s)-9:]
}

func kind(e *tool.Env) error {
	o, err := e.Options("bi", "brief=b mime=i mime-type=i")
	if err != nil {
		return err
	}
	if len(o.Args) == 0 {
		return e.Usagef("missing operand")
	}
	for _, name := range o.Args {
		text, err := describe(e, name, o.Has('i'))
		if err != nil {
			e.SetFailed()
			text = fmt.Sprintf("cannot open `%s' (%s)", name, tool.Reason(err))
		}
		if !o.Has('b') {
			fmt.Fprintf(e.Stdout, "%s: ", name)
		}
		fmt.Fprintln(e.Stdout, text)
	}
	return nil
}

func describe(e *tool.Env, name string, media bool) (string, error) {
	if name != "-" {
		info, err := os.Stat(name)
		if err != nil {
			return "", err
		}
		if info.IsDir() {
			return map[bool]string{true: "inode/directory", false: "directory"}[media], nil
		}
		if info.Size() == 0 {
			return map[bool]string{true: "inode/x-empty", false: "empty"}[media], nil
		}
	}
	r, err := e.Open(name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	m, err := mimetype.DetectReader(r)
	if err != nil {
		return "", err
	}
	if media {
		return m.String(), nil
	}
	return strings.TrimSpace(m.String() + " " + m.Extension()), nil
}

func truncate(e *tool.Env) error {
	o, err := e.Options("s:cr:", "size=s no-create=c reference=r")
	if err != nil {
		return err
	}
	if o.Has('s') == o.Has('r') || len(o.Args) == 0 {
		return e.Usagef("want a size or a reference, and a file")
	}
	for _, name := range o.Args {
		info, err := os.Stat(name)
		if err != nil && (!os.IsNotExist(err) || o.Has('c')) {
			if !o.Has('c') {
				e.Warn(name, err)
			}
			continue
		}
		old := int64(0)
		if err == nil {
			old = info.Size()
		}
		size, err := newSize(o, old)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
		if err == nil {
			err = f.Truncate(size)
			f.Close()
		}
		if err != nil {
			e.Warn("failed to truncate '"+name+"'", err)
		}
	}
	return nil
}

func newSize(o *tool.Opts, old int64) (int64, error) {
	if o.Has('r') {
		info, err := os.Stat(o.Value('r'))
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	text := o.Value('s')
	sign := byte(0)
	if text != "" && strings.IndexByte("+-<>/%", text[0]) >= 0 {
		sign, text = text[0], text[1:]
	}
	n, err := tool.Size(text)
	if err != nil {
		return 0, err
	}
	switch sign {
	case '+':
		n = old + n
	case '-':
		n = max(old-n, 0)
	case '<':
		n = min(old, n)
	case '>':
		n = max(old, n)
	case '/', '%':
		if n == 0 {
			return 0, tool.Errorf("division by zero")
		}
		if sign == '%' {
			old += n - 1
		}
		n = old / n * n
	}
	return n, nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
