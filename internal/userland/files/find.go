package files

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bailey-go/bailey/internal/userland/posix"
	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/internal/userland/when"
)

const findHelp = `  -name GLOB  -iname GLOB  -path GLOB  -ipath GLOB  -regex RE  -iregex RE  -regextype TYPE  -type f,d,l  -size [+-]N[ckMG]  -empty
  -mtime [+-]N  -mmin [+-]N  -newer FILE  -newermt TIME  -perm [-/]MODE  -readable  -writable  -executable  -true  -false
  -maxdepth N  -mindepth N  -depth  -prune  -print  -print0  -printf FORMAT  -ls  -delete  -quit
  -exec COMMAND {} ;  -exec COMMAND {} +  -execdir …
  ! -not  -a -and  -o -or  , ( )`

// visit is the file to which an expression is applied.
type visit struct {
	name, root string
	depth      int
	info       fs.FileInfo
	prune      bool
	links      int // that -L followed on the way
}

type test func(v *visit) (bool, error)

type finder struct {
	e        *tool.Env
	args     []string
	min, max int
	acts     bool // the expression has an action, so -print is not added
	depth    bool
	syntax   posix.Syntax
	pending  []func() error // the calls collected by -exec +
	emacs    bool           // the expressions of -regex are those of Emacs
	follow   bool           // -L
}

func find(e *tool.Env) error {
	f := &finder{e: e, max: 1 << 30, syntax: posix.Basic, emacs: true}
	args := e.Args
	var roots []string
	for len(args) > 0 && (args[0] == "-L" || args[0] == "-H" || args[0] == "-P") {
		f.follow = args[0] == "-L"
		args = args[1:]
	}
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
	t, err := f.list()
	if err != nil {
		return err
	}
	if len(f.args) > 0 {
		return tool.Errorf("unexpected '%s'", f.args[0])
	}
	var quit error
	for _, root := range roots {
		info, err := e.World.Lstat(root)
		if f.follow {
			info, err = e.World.Stat(root)
		}
		if err != nil {
			e.Warn("'"+root+"'", err)
			continue
		}
		if err := f.walk(&visit{name: root, root: root, info: info}, t); err != nil {
			if exit, ok := err.(*tool.Exit); ok && exit.Code == 0 {
				quit = err
				break
			}
			return err
		}
	}
	for _, run := range f.pending {
		if err := run(); err != nil {
			return err
		}
	}
	return quit
}

func (f *finder) walk(v *visit, t test) error {
	f.e.World.Spend(1024)
	look := func() error {
		if v.depth < f.min {
			return nil
		}
		ok, err := t(v)
		if err == nil && ok && !f.acts {
			_, err = fmt.Fprintln(f.e.Stdout, v.name)
		}
		return err
	}
	if !f.depth {
		if err := look(); err != nil {
			return err
		}
	}
	if v.info.IsDir() && !v.prune && v.depth < f.max {
		entries, err := f.e.World.ReadDir(v.name)
		if err != nil {
			f.e.Warn("'"+v.name+"'", err)
		}
		for _, info := range entries {
			next := &visit{name: tool.Join(v.name, info.Name()), root: v.root, depth: v.depth + 1, info: info, links: v.links}
			if f.follow && tool.IsLink(info) {
				if to, err := f.e.World.Stat(next.name); err == nil { // a broken link stays one
					next.info = to
				}
				if next.links++; next.links > maxLinks {
					f.e.Warn("'"+next.name+"'", syscall.ELOOP)
					continue
				}
			}
			if err := f.walk(next, t); err != nil {
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

// list parses expressions with commas between them, of which the last one counts.
func (f *finder) list() (test, error) {
	left, err := f.or()
	for err == nil && len(f.args) > 0 && f.args[0] == "," {
		f.take()
		a := left
		var b test
		b, err = f.or()
		left = func(v *visit) (bool, error) {
			if _, err := a(v); err != nil {
				return false, err
			}
			return b(v)
		}
	}
	return left, err
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
	var list []test
	for len(f.args) > 0 && !slices.Contains([]string{"-o", "-or", ")", ","}, f.args[0]) {
		if f.args[0] == "-a" || f.args[0] == "-and" {
			f.take()
			continue
		}
		t, err := f.one(0)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return func(v *visit) (bool, error) {
		for _, t := range list {
			if ok, err := t(v); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}, nil
}

// unary are the tests that take a value.
var unary = []string{"-name", "-iname", "-path", "-wholename", "-ipath", "-iwholename", "-regex", "-iregex", "-regextype", "-samefile", "-inum", "-type", "-xtype", "-size", "-mtime", "-mmin", "-atime", "-ctime", "-amin", "-cmin",
	"-newer", "-newermt", "-maxdepth", "-mindepth", "-perm", "-printf", "-user", "-group", "-fstype", "-links"}

const maxParens = 200

func (f *finder) one(depth int) (test, error) {
	op, value := f.take(), ""
	if slices.Contains(unary, op) {
		if len(f.args) == 0 {
			return nil, tool.Errorf("missing argument to '%s'", op)
		}
		value = f.take()
	}
	constant := func(b bool) test { return func(*visit) (bool, error) { return b, nil } }
	mode := func(bits fs.FileMode) test {
		return func(v *visit) (bool, error) { return v.info.Mode().Perm()&bits != 0, nil }
	}
	switch op {
	case "!", "-not":
		if depth > maxParens || len(f.args) == 0 {
			return nil, tool.Errorf("expected an expression after '%s'", op)
		}
		t, err := f.one(depth + 1)
		return func(v *visit) (bool, error) { ok, err := t(v); return !ok, err }, err
	case "(":
		if depth > maxParens || len(f.args) == 0 {
			return nil, tool.Errorf("missing ')'")
		}
		if strings.Count(strings.Join(f.args, " "), "(") > maxParens {
			return nil, tool.Errorf("too many parentheses")
		}
		t, err := f.list()
		if err == nil && f.take() != ")" {
			err = tool.Errorf("missing ')'")
		}
		return t, err
	case "-name", "-iname", "-path", "-wholename", "-ipath", "-iwholename":
		return matcher(op, value)
	case "-regextype":
		switch {
		case strings.Contains(value, "extended") || strings.Contains(value, "egrep") || strings.Contains(value, "awk"):
			f.syntax = posix.Extended
		case strings.Contains(value, "basic") || value == "grep" || value == "sed" || value == "ed" || value == "emacs" || value == "findutils-default":
			f.syntax = posix.Basic
		default:
			return nil, tool.Errorf("Unknown regular expression type '%s'", value)
		}
		f.emacs = value == "emacs" || value == "findutils-default"
		return constant(true), nil
	case "-regex", "-iregex":
		flags := ""
		if op == "-iregex" {
			flags = "i"
		}
		if f.emacs { // as in basic ones, where + and ? repeat too
			value = emacs(value)
		}
		re, err := posix.Any([]string{value}, f.syntax, flags, true)
		if err != nil {
			return nil, err
		}
		re.Spend = f.e.Bounded()
		return func(v *visit) (bool, error) { return re.Match([]byte(v.name)), nil }, nil
	case "-type", "-xtype":
		if value == "" || strings.Trim(value, "fdlbcps,") != "" {
			return nil, tool.Errorf("Unknown argument to %s: %s", op, value)
		}
		return func(v *visit) (bool, error) { return strings.Contains(value, typeLetter(v.info)), nil }, nil
	case "-size":
		return sized(value)
	case "-mtime", "-mmin", "-atime", "-ctime", "-amin", "-cmin": // a folder here has one time for each file
		unit := 24 * time.Hour
		if strings.HasSuffix(op, "min") {
			unit = time.Minute
		}
		c, n, err := compared(value)
		now := time.Now()
		return func(v *visit) (bool, error) {
			age := now.Sub(v.info.ModTime())
			if unit == time.Minute && value[0] != '+' {
				age += unit - 1 // as GNU's find, which rounds minutes up
			}
			return c(int64(age/unit), n), nil
		}, err
	case "-newer":
		info, err := f.e.World.Stat(value)
		return func(v *visit) (bool, error) { return v.info.ModTime().After(info.ModTime()), nil }, err
	case "-newermt":
		t, err := when.Parse(value, time.Now())
		return func(v *visit) (bool, error) { return v.info.ModTime().After(t), nil }, err
	case "-perm":
		return permitted(value)
	case "-readable":
		return mode(0o444), nil
	case "-writable":
		return mode(0o222), nil
	case "-executable":
		return mode(0o111), nil
	case "-user", "-group":
		return constant(value == owner || value == "1000"), nil
	case "-links":
		return constant(value == "1"), nil
	case "-samefile":
		full := f.e.Abs(value)
		if _, err := f.e.World.Stat(value); err != nil {
			return nil, err
		}
		return func(v *visit) (bool, error) { return f.e.Abs(v.name) == full, nil }, nil
	case "-inum":
		return constant(value == "1"), nil
	case "-empty":
		return func(v *visit) (bool, error) {
			if v.info.IsDir() {
				entries, err := f.e.World.ReadDir(v.name)
				return err == nil && len(entries) == 0, nil
			}
			return v.info.Mode().IsRegular() && v.info.Size() == 0, nil
		}, nil
	case "-maxdepth", "-mindepth":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return nil, tool.Errorf("Expected a positive decimal integer argument to %s, but got '%s'", op, value)
		}
		if op == "-maxdepth" {
			f.max = n
		} else {
			f.min = n
		}
		return constant(true), nil
	case "-depth", "-d":
		f.depth = true
		return constant(true), nil
	case "-true", "-follow", "-xdev", "-mount", "-noleaf", "-daystart", "-warn", "-nowarn", "-ignore_readdir_race":
		return constant(true), nil
	case "-false":
		return constant(false), nil
	}
	return f.action(op, value)
}

func typeLetter(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "d"
	case tool.IsLink(info):
		return "l"
	}
	return "f"
}

func (f *finder) action(op, value string) (test, error) {
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
	case "-printf":
		return func(v *visit) (bool, error) {
			_, err := e.Stdout.WriteString(printed(value, v))
			return true, err
		}, nil
	case "-ls":
		return func(v *visit) (bool, error) {
			_, err := fmt.Fprintf(e.Stdout, "%9d %6d %s %3d %-8s %-8s %8d %s %s\n", 1, (v.info.Size()+1023)/1024, modeString(v.info.Mode()), 1, owner, owner, v.info.Size(), v.info.ModTime().UTC().Format("Jan _2 15:04"), v.name)
			return true, err
		}, nil
	case "-quit":
		return func(*visit) (bool, error) { return false, tool.Code(0) }, nil
	case "-delete":
		f.depth = true
		return func(v *visit) (bool, error) {
			if v.name == "." {
				return true, nil
			}
			if err := e.World.Remove(v.name, false); err != nil {
				e.Warn("cannot delete '"+v.name+"'", err)
				return false, nil
			}
			return true, nil
		}, nil
	case "-exec", "-execdir", "-ok", "-okdir":
		if strings.HasPrefix(op, "-ok") {
			run, err := f.exec(strings.HasSuffix(op, "dir"))
			return func(v *visit) (bool, error) {
				if !agreed(e, "< "+op[1:]+" ... "+v.name+" >") {
					return false, nil
				}
				return run(v)
			}, err
		}
		return f.exec(strings.HasSuffix(op, "dir"))
	}
	return nil, tool.Errorf("unknown predicate '%s'", op)
}

// emacs returns a regular expression of Emacs, find's own, as a basic one: + and ? are \+ and \? there.
func emacs(expr string) string {
	var b strings.Builder
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; c {
		case '\\':
			if i++; i < len(expr) {
				b.WriteString(expr[i-1 : i+1])
			}
			continue
		case '[':
			end := strings.IndexByte(expr[min(i+2, len(expr)):], ']')
			if end >= 0 {
				b.WriteString(expr[i : i+2+end+1])
				i += 2 + end
				continue
			}
		case '+', '?':
			if i > 0 {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(expr[i])
	}
	return b.String()
}

const maxLinks = 3 // of a path that -L follows: most likely they lead to a folder above

// maxCommand is the most bytes of the arguments of one command that find or xargs runs.
const maxCommand = 16 << 20

// Substitute replaces {} or another text in the arguments of a command. It ends the command if the result is too long.
func substitute(argv []string, from, to string) []string {
	out, total := make([]string, len(argv)), 0
	for i, a := range argv {
		if total += len(a) + strings.Count(a, from)*max(len(to)-len(from), 0); total > maxCommand {
			panic(tool.TooMuch("the command is longer than 16 MiB"))
		}
		out[i] = strings.ReplaceAll(a, from, to)
	}
	return out
}

// batch is the most bytes of the names that one command gets.
const batch = 128 << 10

func (f *finder) exec(inDir bool) (test, error) {
	var argv []string
	run := func(argv []string) int {
		f.e.Stdout.Flush()
		return f.e.World.Run(f.e, argv, nil)
	}
	for {
		if len(f.args) == 0 {
			return nil, tool.Errorf("missing argument to '-exec'")
		}
		switch a := f.take(); {
		case a == ";":
			if len(argv) == 0 {
				return nil, tool.Errorf("missing argument to '-exec'")
			}
			return func(v *visit) (bool, error) {
				name := v.name
				if inDir {
					back := f.e.World.Dir()
					if err := f.e.World.Chdir(path.Dir(name)); err != nil {
						return false, err
					}
					defer f.e.World.Chdir(back)
					name = "./" + path.Base(name)
				}
				return run(substitute(argv, "{}", name)) == 0, nil
			}, nil
		case a == "+" && len(argv) > 1 && argv[len(argv)-1] == "{}":
			argv = argv[:len(argv)-1]
			var names []string
			total := 0
			flush := func() error {
				if len(names) > 0 && run(append(slices.Clone(argv), names...)) != 0 {
					f.e.SetFailed()
				}
				names, total = nil, 0
				return nil
			}
			f.pending = append(f.pending, flush)
			return func(v *visit) (bool, error) {
				names, total = append(names, v.name), total+len(v.name)+16
				if total > batch {
					return true, flush()
				}
				return true, nil
			}, nil
		default:
			argv = append(argv, a)
		}
	}
}

func matcher(op, value string) (test, error) {
	fold := strings.HasPrefix(op, "-i")
	if fold {
		value = strings.ToLower(value)
	}
	if len(value) > 1024 {
		return nil, tool.Errorf("the pattern is longer than 1,024 bytes")
	}
	whole := strings.HasSuffix(op, "path") || strings.HasSuffix(op, "wholename")
	return func(v *visit) (bool, error) {
		name := v.name
		if !whole {
			name = path.Base(v.name)
		}
		if fold {
			name = strings.ToLower(name)
		}
		return glob(value, name), nil
	}, nil
}

// glob reports whether a whole name matches a pattern, in which * also matches slashes. It takes time in proportion to the
// product of the lengths.
func glob(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				star, mark = p, n
				p++
				continue
			}
			if size, ok := globOne(pattern[p:], name[n]); ok {
				p += size
				n++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, n = star+1, mark
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// globOne matches one byte with the first element of a pattern, and returns the element's length.
func globOne(pattern string, c byte) (int, bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
	case '[':
		i, not, hit := 1, false, false
		if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
			not = true
			i++
		}
		for first := true; i < len(pattern) && (pattern[i] != ']' || first); first = false {
			if i+2 < len(pattern) && pattern[i+1] == '-' && pattern[i+2] != ']' {
				hit = hit || c >= pattern[i] && c <= pattern[i+2]
				i += 3
				continue
			}
			hit = hit || pattern[i] == c
			i++
		}
		if i < len(pattern) {
			return i + 1, hit != not
		}
	}
	return 1, pattern[0] == c
}

func permitted(value string) (test, error) {
	how, text := byte(0), value
	if text != "" && (text[0] == '-' || text[0] == '/') {
		how, text = text[0], text[1:]
	}
	m, err := newMode(strings.TrimPrefix(text, "+"), 0, false)
	if strings.HasPrefix(text, "+") {
		m, err = newMode(text, 0, false)
	}
	if err != nil {
		return nil, tool.Errorf("invalid mode '%s'", value)
	}
	return func(v *visit) (bool, error) {
		bits := v.info.Mode().Perm()
		switch how {
		case '-':
			return bits&m == m, nil
		case '/':
			return bits&m != 0 || m == 0, nil
		}
		return bits == m, nil
	}, nil
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
		if u, ok := map[byte]int64{'c': 1, 'w': 2, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'b': 512}[value[len(value)-1]]; ok {
			unit, value = u, value[:len(value)-1]
		}
	}
	c, n, err := compared(value)
	return func(v *visit) (bool, error) {
		size := v.info.Size()
		if v.info.IsDir() {
			size = 4096
		}
		return c((size+unit-1)/unit, n), nil
	}, err
}

// printed returns the text of -printf.
func printed(format string, v *visit) string {
	format = tool.Unescape(format)
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		from := i
		for i+1 < len(format) && strings.IndexByte("-0123456789.", format[i]) >= 0 {
			i++
		}
		flags := format[from:i]
		if len(flags) > 4 {
			flags = ""
		}
		t := v.info.ModTime().UTC()
		below := strings.TrimPrefix(strings.TrimPrefix(v.name, v.root), "/")
		text := ""
		switch c := format[i]; c {
		case 'p':
			text = v.name
		case 'P':
			text = below
		case 'f':
			text = path.Base(v.name)
		case 'h':
			text = path.Dir(v.name)
			if !strings.Contains(v.name, "/") {
				text = "."
			} else if dir, _, ok := cutLast(v.name); ok {
				text = dir
			}
		case 'H':
			text = v.root
		case 's':
			text = fmt.Sprint(size(row{FileInfo: v.info}))
		case 'k':
			text = fmt.Sprint((v.info.Size() + 1023) / 1024)
		case 'b':
			text = fmt.Sprint((v.info.Size() + 511) / 512)
		case 'd':
			text = fmt.Sprint(v.depth)
		case 'y', 'Y':
			text = typeLetter(v.info)
		case 'm':
			text = fmt.Sprintf("%o", v.info.Mode().Perm())
		case 'M':
			text = modeString(v.info.Mode())
		case 'u', 'g':
			text = owner
		case 'U', 'G':
			text = "1000"
		case 'n', 'i':
			text = "1"
		case 't', 'a', 'c':
			text = t.Format("Mon Jan _2 15:04:05.0000000000 2006")
		case 'T', 'A', 'C':
			if i+1 < len(format) {
				i++
				switch format[i] {
				case '@':
					text = fmt.Sprintf("%d.%010d", t.Unix(), int64(t.Nanosecond())*10)
				case '+':
					text = t.Format("2006-01-02+15:04:05.0000000000")
				case 'S':
					text = t.Format("05.0000000000")
				case 'T':
					text = t.Format("15:04:05.0000000000")
				default:
					text, _ = when.Format(t, "%"+string(format[i]))
				}
			}
		case 'l':
		case '%':
			text = "%"
		default:
			text = "%" + string(c)
		}
		fmt.Fprintf(&b, "%"+flags+"s", text)
	}
	return b.String()
}

func cutLast(name string) (dir, base string, ok bool) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}
