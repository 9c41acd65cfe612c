// Package files holds the commands that read and change files and folders.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// Commands returns the commands of this package.
func Commands() tool.Set {
	const c = "files"
	return tool.Set{
		{Name: "ls", Usage: "[-laAR1hSrtXdFpmi] [FILE]...", Summary: "list folders", Category: c, Files: "read", Trouble: 2, Run: ls,
			Help: "  -l  long    -a  hidden ones too    -R  folders in folders    -h  sizes for people    -S  by size    -t  by time    -r  reversed"},
		{Name: "find", Usage: "[PATH]... [EXPRESSION]", Summary: "find files by name, type, size, time", Category: c, Files: "readwrite", Run: find, Help: findHelp},
		{Name: "xargs", Usage: "[-0rt] [-n N] [-L N] [-P N] [-I TEXT] [-d C] COMMAND [ARG]...", Summary: "call a command with arguments from the input", Category: c, Files: "readwrite", Run: xargs,
			Help: "  -0  arguments end in NUL    -d C  they end in C    -n N  N for each call    -I TEXT  replace TEXT by each line\n  -r  no call without arguments    -t  say each call    -L N  N lines for each call    -P N  is accepted: the calls run one after the other"},
		{Name: "pwd", Usage: "", Summary: "print the working folder", Category: c, Files: "none", Run: pwd},
		{Name: "basename", Usage: "NAME [SUFFIX]", Summary: "the last part of a path", Category: c, Files: "none", Run: base, Help: "  -a  several names    -s SUFFIX  without this end"},
		{Name: "dirname", Usage: "NAME...", Summary: "a path without its last part", Category: c, Files: "none", Run: dir},
		{Name: "realpath", Usage: "[-emq] [--relative-to=FOLDER] NAME...", Summary: "whole paths", Category: c, Files: "read", Run: realpath},
		{Name: "cp", Usage: "[-rapnuvb] [-t FOLDER] FROM... TO", Summary: "copy files and folders", Category: c, Files: "readwrite", Run: cp},
		{Name: "mv", Usage: "[-fnuvb] [-t FOLDER] FROM... TO", Summary: "move or rename files and folders", Category: c, Files: "readwrite", Run: mv},
		{Name: "rm", Usage: "[-rfdv] FILE...", Summary: "remove files and folders", Category: c, Files: "readwrite", Run: rm},
		{Name: "rmdir", Usage: "[-pv] FOLDER...", Summary: "remove empty folders", Category: c, Files: "readwrite", Run: rmdir},
		{Name: "mkdir", Usage: "[-pv] [-m MODE] FOLDER...", Summary: "make folders", Category: c, Files: "readwrite", Run: mkdir},
		{Name: "touch", Usage: "[-acm] [-d TIME] [-r FILE] FILE...", Summary: "make files, or set their times", Category: c, Files: "readwrite", Run: touch},
		{Name: "chmod", Usage: "[-R] MODE FILE...", Summary: "set permissions, where the folder supports them", Category: c, Files: "readwrite", Run: chmod},
		{Name: "stat", Usage: "[-c FORMAT] FILE...", Summary: "say what is known of a file", Category: c, Files: "read", Run: stat,
			Help: "  -c FORMAT  %n name  %s size  %F type  %a mode in octal  %A mode  %y time  %Y time in seconds"},
		{Name: "readlink", Usage: "[-femn] NAME...", Summary: "the target of a link, or with -f a whole path", Category: c, Files: "read", Run: readlink},
		{Name: "ln", Usage: "[-sfv] TARGET... NAME", Summary: "make links, where the folder supports them", Category: c, Files: "readwrite", Run: ln},
	}
}

// More returns the commands that a page can do without until a tool is loaded.
func More() tool.Set {
	const c = "files"
	return tool.Set{
		{Name: "dd", Usage: "[if=FILE] [of=FILE] [bs=N] [count=N] [skip=N] [seek=N] [conv=LIST]", Summary: "copy blocks of a file", Category: c, Files: "readwrite", Run: dd},
		{Name: "install", Usage: "[-dDv] [-m MODE] FILE... TARGET", Summary: "copy files and set their permissions, or make folders", Category: c, Files: "readwrite", Run: install},
		{Name: "unlink", Usage: "FILE", Summary: "remove one file", Category: c, Files: "write", Run: unlink},
		{Name: "tree", Usage: "[-adfs] [-L N] [-I GLOB] [FOLDER]...", Summary: "draw folders as a tree", Category: c, Files: "read", Run: tree,
			Help: "  -a  hidden ones too    -d  folders only    -f  whole paths    -s  sizes    -L N  N levels    -I GLOB  leave out"},
		{Name: "du", Usage: "[-abchs] [-d N] [FILE]...", Summary: "sum the sizes of files", Category: c, Files: "read", Run: du,
			Help: "  Sizes are those of the contents, in KiB.\n  -a  files too    -b  bytes    -c  a total    -h  for people    -s  only the sum    -d N  N levels"},
		{Name: "truncate", Usage: "-s [+-<>/%]SIZE FILE...", Summary: "cut or lengthen files", Category: c, Files: "readwrite", Run: truncate, Help: "  -s SIZE  the size; +N more, -N less    -c  make no file"},
		{Name: "mktemp", Usage: "[-d] [-u] [-p FOLDER] [TEMPLATE]", Summary: "make a file or folder with a new name", Category: c, Files: "readwrite", Run: mktemp},
	}
}

func pwd(e *tool.Env) error {
	fmt.Fprintln(e.Stdout, e.World.Dir())
	return nil
}

func base(e *tool.Env) error {
	o, err := e.Operands("+as:z", "multiple=a suffix=s zero=z")
	if err != nil {
		return err
	}
	names, suffix := o.Args, o.Value('s')
	if !o.Has('a') && !o.Has('s') {
		if len(names) > 2 {
			return e.Usagef("extra operand '%s'", names[2])
		}
		if len(names) == 2 {
			names, suffix = names[:1], names[1]
		}
	}
	for _, name := range names {
		b := path.Base(name)
		if name == "" {
			b = ""
		}
		if b != suffix {
			b = strings.TrimSuffix(b, suffix)
		}
		fmt.Fprintln(e.Stdout, b)
	}
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
		at := strings.LastIndexByte(name, '/')
		switch dir := strings.TrimRight(name[:max(at, 0)], "/"); {
		case at < 0:
			name = "."
		case dir == "":
			name = "/"
		default:
			name = dir // as it is, with ./ in front
		}
		fmt.Fprintln(e.Stdout, name)
	}
	return nil
}

// random returns n random letters.
func random(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
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
	o, err := e.Operands("c:L1:ft", "format=c printf=1 dereference=L terse=t file-system=f")
	if err != nil {
		return err
	}
	if o.Has('f') {
		return e.Usagef("-f is not here; use -c FORMAT")
	}
	format, end := "  File: %n\n  Size: %s\t%F\nAccess: (%04a/%A)\nModify: %y", "\n"
	if o.Has('c') {
		format = o.Value('c')
	}
	if o.Has('t') {
		format = "%n %s %b %f %u %g %d %i %h 0 0 %X %Y %Z %W %o"
	}
	if o.Has('1') {
		format, end = tool.Unescape(o.Value('1')), ""
	}
	for _, name := range o.Args {
		get := e.World.Lstat
		if o.Has('L') {
			get = e.World.Stat
		}
		info, err := get(name)
		if err != nil {
			e.Warn("cannot statx '"+name+"'", err)
			continue
		}
		shown := "'" + name + "'"
		if tool.IsLink(info) {
			if to, err := e.World.Readlink(name); err == nil {
				shown += " -> '" + to + "'"
			}
		}
		long := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000000 -0700") }
		unix := fmt.Sprint(info.ModTime().Unix())
		e.Stdout.WriteString(strings.NewReplacer("%%", "%", "%n", name, "%N", shown, "%s", fmt.Sprint(info.Size()), "%F", typeName(info), "%04a", fmt.Sprintf("%04o", info.Mode().Perm()),
			"%a", fmt.Sprintf("%o", info.Mode().Perm()), "%A", modeString(info.Mode()), "%f", fmt.Sprintf("%x", info.Mode().Perm()|map[bool]fs.FileMode{true: 0o40000, false: 0o100000}[info.IsDir()]),
			"%y", long(info.ModTime()), "%x", long(info.ModTime()), "%z", long(info.ModTime()), "%w", "-", "%Y", unix, "%X", unix, "%Z", unix, "%W", "0",
			"%U", owner, "%G", owner, "%u", "1000", "%g", "1000", "%h", "1", "%i", "1", "%b", fmt.Sprint((info.Size()+511)/512), "%B", "512", "%o", "4096", "%d", "0", "%m", "/").Replace(format) + end)
	}
	return nil
}

const owner = "user" // files have no owners here

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

const maxTruncate = 64 << 20

func truncate(e *tool.Env) error {
	o, err := e.Options("s:cr:", "size=s no-create=c reference=r")
	if err != nil {
		return err
	}
	if o.Has('s') == o.Has('r') || len(o.Args) == 0 {
		return e.Usagef("want a size or a reference, and a file")
	}
	for _, name := range o.Args {
		info, err := e.World.Stat(name)
		if err != nil && (!errors.Is(err, fs.ErrNotExist) || o.Has('c')) {
			if !o.Has('c') {
				e.Warn(name, err)
			}
			continue
		}
		old := int64(0)
		if err == nil {
			old = info.Size()
		}
		size, err := newSize(e, o, old)
		if err != nil {
			return err
		}
		if size > maxTruncate {
			return tool.Errorf("a file may have at most 64 MiB here")
		}
		var data []byte
		if old > 0 {
			if data, err = e.ReadAll(name); err != nil {
				e.Warn(name, err)
				continue
			}
		}
		if grow := int(size) - len(data); grow > 0 {
			e.World.Hold(grow)
			data = append(data, make([]byte, grow)...)
		}
		if err := e.Replace(name, data[:size]); err != nil {
			e.Warn("failed to truncate '"+name+"'", err)
		}
	}
	return nil
}

func newSize(e *tool.Env, o *tool.Opts, old int64) (int64, error) {
	if o.Has('r') {
		info, err := e.World.Stat(o.Value('r'))
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
