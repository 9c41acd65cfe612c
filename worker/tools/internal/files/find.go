package files

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/worker/tools/internal/tool"
)

const findHelp = `  -name GLOB  -iname GLOB  -path GLOB  -regex RE  -type f|d|l  -size [+-]N[ckMG]  -mtime [+-]N  -mmin [+-]N  -newer FILE  -empty
  -maxdepth N  -mindepth N  -prune  -print  -print0  -delete  -quit  -exec COMMAND {} ;  -exec COMMAND {} +
  ! -not  -a  -o  ( )     COMMAND is one of the same binary.`

// visit is the file to which an expression is applied.
type visit struct {
	name  string
	info  fs.FileInfo
	prune bool
}

type test func(v *visit) (bool, error)

type finder struct {
	e        *tool.Env
	args     []string
	min, max int
	acts     bool // the expression has an action, so -print is not added
	depth    bool
	pending  []func() error // the calls collected by -exec +
}

func find(e *tool.Env) error {
	f := &finder{e: e, max: 1 << 30}
	args := e.Args
	var roots []string
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "!" && args[0] != "(" {
		roots, args = append(roots, args[0]), args[1:]
	}
	if len(args) > 0 && args[0] == "--help" {
		_, err := e.Options("", "")
		return err
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	f.args = args
	t, err := f.or()
	if err != nil {
		return err
	}
	if len(f.args) > 0 {
		return tool.Errorf("unexpected '%s'", f.args[0])
	}
	for _, root := range roots {
		info, err := os.Lstat(root)
		if err != nil {
			e.Warn("'"+root+"'", err)
			continue
		}
		if err := f.walk(root, info, 0, t); err != nil {
			return err
		}
	}
	for _, run := range f.pending {
		if err := run(); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) walk(name string, info fs.FileInfo, depth int, t test) error {
	v := &visit{name: name, info: info}
	look := func() error {
		if depth < f.min {
			return nil
		}
		ok, err := t(v)
		if err == nil && ok && !f.acts {
			_, err = fmt.Fprintln(f.e.Stdout, name)
		}
		return err
	}
	if !f.depth {
		if err := look(); err != nil {
			return err
		}
	}
	if info.IsDir() && !v.prune && depth < f.max {
		entries, err := os.ReadDir(name)
		if err != nil {
			f.e.Warn("'"+name+"'", err)
		}
		for _, d := range entries {
			info, err := d.Info()
			if err != nil {
				continue
			}
			sub := name + "/" + d.Name()
			if strings.HasSuffix(name, "/") {
				sub = name + d.Name()
			}
			if err := f.walk(sub, info, depth+1, t); err != nil {
				return err
			}
		}
	}
	if f.depth {
		return look()
	}
	return nil
}

func (f *finder) take() string {
	if len(f.args) == 0 {
		return ""
	}
	a := f.args[0]
	f.args = f.args[1:]
	return a
}

func (f *finder) or() (test, error) {
	left, err := f.and()
	for err == nil && len(f.args) > 0 && (f.args[0] == "-o" || f.args[0] == "-or") {
		f.take()
		a := left
		var b test
		b, err = f.and()
		left = func(v *visit) (bool, error) {
			if ok, err := a(v); ok || err != nil {
				return ok, err
			}
			return b(v)
		}
	}
	return left, err
}

func (f *finder) and() (test, error) {
	left := func(*visit) (bool, error) { return true, nil }
	for len(f.args) > 0 && !slices.Contains([]string{"-o", "-or", ")"}, f.args[0]) {
		if f.args[0] == "-a" || f.args[0] == "-and" {
			f.take()
			continue
		}
		b, err := f.one()
		if err != nil {
			return nil, err
		}
		a := left
		left = func(v *visit) (bool, error) {
			if ok, err := a(v); !ok || err != nil {
				return false, err
			}
			return b(v)
		}
	}
	return left, nil
}

// unary are the tests that take a value.
var unary = []string{"-name", "-iname", "-path", "-wholename", "-ipath", "-regex", "-type", "-size", "-mtime", "-mmin", "-newer", "-maxdepth", "-mindepth"}

func (f *finder) one() (test, error) {
	op, value := f.take(), ""
	if slices.Contains(unary, op) {
		if len(f.args) == 0 {
			return nil, tool.Errorf("missing argument to '%s'", op)
		}
		value = f.take()
	}
	always := func(*visit) (bool, error) { return true, nil }
	switch op {
	case "!", "-not":
		t, err := f.one()
		return func(v *visit) (bool, error) { ok, err := t(v); return !ok, err }, err
	case "(":
		t, err := f.or()
		if err == nil && f.take() != ")" {
			err = tool.Errorf("missing ')'")
		}
		return t, err
	case "-name", "-iname", "-path", "-wholename", "-ipath", "-regex":
		return matcher(op, value)
	case "-type":
		return func(v *visit) (bool, error) {
			return strings.Contains(value, map[bool]string{true: "d", false: "f"}[v.info.IsDir()]) && v.info.Mode()&fs.ModeSymlink == 0 ||
				strings.Contains(value, "l") && v.info.Mode()&fs.ModeSymlink != 0, nil
		}, nil
	case "-size":
		return sized(value)
	case "-mtime", "-mmin":
		unit := 24 * time.Hour
		if op == "-mmin" {
			unit = time.Minute
		}
		c, n, err := compared(value)
		now := time.Now()
		return func(v *visit) (bool, error) { return c(int64(now.Sub(v.info.ModTime())/unit), n), nil }, err
	case "-newer":
		info, err := os.Stat(value)
		return func(v *visit) (bool, error) { return v.info.ModTime().After(info.ModTime()), nil }, err
	case "-empty":
		return func(v *visit) (bool, error) {
			if v.info.IsDir() {
				entries, err := os.ReadDir(v.name)
				return err == nil && len(entries) == 0, nil
			}
			return v.info.Mode().IsRegular() && v.info.Size() == 0, nil
		}, nil
	case "-maxdepth", "-mindepth":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return nil, tool.Errorf("expected a positive number after %s, but got '%s'", op, value)
		}
		if op == "-maxdepth" {
			f.max = n
		} else {
			f.min = n
		}
		return always, nil
	case "-depth":
		f.depth = true
		return always, nil
	case "-true":
		return always, nil
	}
	return f.action(op)
}

func (f *finder) action(op string) (test, error) {
	e := f.e
	if op != "-prune" {
		f.acts = true
	}
	switch op {
	case "-prune":
		return func(v *visit) (bool, error) { v.prune = true; return true, nil }, nil
	case "-print":
		return func(v *visit) (bool, error) { _, err := fmt.Fprintln(e.Stdout, v.name); return true, err }, nil
	case "-print0":
		return func(v *visit) (bool, error) { _, err := fmt.Fprint(e.Stdout, v.name, "\x00"); return true, err }, nil
	case "-quit":
		return func(*visit) (bool, error) { return false, tool.Code(0) }, nil
	case "-delete":
		f.depth = true
		return func(v *visit) (bool, error) {
			if v.name == "." {
				return true, nil
			}
			if err := os.Remove(v.name); err != nil {
				e.Warn("cannot delete '"+v.name+"'", err)
				return false, nil
			}
			return true, nil
		}, nil
	case "-exec":
		return f.exec()
	}
	return nil, tool.Errorf("unknown predicate '%s'", op)
}

func (f *finder) exec() (test, error) {
	var argv []string
	for {
		if len(f.args) == 0 {
			return nil, tool.Errorf("missing argument to '-exec'")
		}
		switch a := f.take(); {
		case a == ";":
			return func(v *visit) (bool, error) {
				args := slices.Clone(argv)
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "{}", v.name)
				}
				return call(f.e, args) == 0, nil
			}, nil
		case a == "+" && len(argv) > 0 && argv[len(argv)-1] == "{}":
			argv = argv[:len(argv)-1]
			var names []string
			f.pending = append(f.pending, func() error {
				if len(names) > 0 && call(f.e, append(argv, names...)) != 0 {
					f.e.SetFailed()
				}
				return nil
			})
			return func(v *visit) (bool, error) { names = append(names, v.name); return true, nil }, nil
		default:
			argv = append(argv, a)
		}
	}
}

// call runs another command of the same binary and returns its exit code.
func call(e *tool.Env, argv []string) int {
	if len(argv) > 0 && e.Set.Find(argv[0]) == nil {
		fmt.Fprintf(e.Stderr, "%s: %s: there is no such command in this binary, and a program here can start no other\n", e.Name, argv[0])
		return 127
	}
	sub := &tool.Env{Stdin: strings.NewReader(""), Stdout: e.Stdout, Stderr: e.Stderr, Set: e.Set}
	return e.Set.Exec(sub, argv)
}

func matcher(op, value string) (test, error) {
	if op == "-regex" {
		re, err := regexp.Compile("^(?:" + value + ")$")
		return func(v *visit) (bool, error) { return re.MatchString(v.name), nil }, err
	}
	fold := strings.HasPrefix(op, "-i")
	if fold {
		value = strings.ToLower(value)
	}
	whole := strings.HasSuffix(op, "path") || op == "-wholename"
	if whole {
		re, err := regexp.Compile(globRegexp(value))
		return func(v *visit) (bool, error) {
			name := v.name
			if fold {
				name = strings.ToLower(name)
			}
			return re.MatchString(name), nil
		}, err
	}
	if _, err := path.Match(value, ""); err != nil {
		return nil, tool.Errorf("invalid pattern '%s'", value)
	}
	return func(v *visit) (bool, error) {
		name := filepath.Base(v.name)
		if fold {
			name = strings.ToLower(name)
		}
		return path.Match(value, name)
	}, nil
}

// globRegexp returns the regular expression of a glob in which * also matches slashes, as in -path.
func globRegexp(glob string) string {
	s := regexp.QuoteMeta(glob)
	s = strings.NewReplacer(`\*`, `.*`, `\?`, `.`, `\[!`, `[^`, `\[`, `[`, `\]`, `]`).Replace(s)
	return `(?s)^` + s + `$`
}

func compared(value string) (func(a, b int64) bool, int64, error) {
	op := func(a, b int64) bool { return a == b }
	if value != "" && value[0] == '+' {
		op, value = func(a, b int64) bool { return a > b }, value[1:]
	} else if value != "" && value[0] == '-' {
		op, value = func(a, b int64) bool { return a < b }, value[1:]
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		err = tool.Errorf("invalid number '%s'", value)
	}
	return op, n, err
}

func sized(value string) (test, error) {
	unit := int64(512)
	if value != "" {
		if u, ok := map[byte]int64{'c': 1, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'b': 512}[value[len(value)-1]]; ok {
			unit, value = u, value[:len(value)-1]
		}
	}
	c, n, err := compared(value)
	return func(v *visit) (bool, error) { return c((v.info.Size()+unit-1)/unit, n), nil }, err
}
