package shell

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

func find(t *task) int {
	var roots []string
	args := t.args
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "!" {
		roots, args = append(roots, args[0]), args[1:]
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	var tests []func(shown string, e fsaccess.Entry) bool
	depth, erase := 0, false
	for len(args) > 0 {
		not := args[0] == "!" || args[0] == "-not"
		if not {
			args = args[1:]
		}
		if len(args) == 0 {
			return t.fail("! of what?")
		}
		op, v := args[0], ""
		if op != "-print" && op != "-delete" && op != "-empty" {
			if len(args) < 2 {
				return t.fail("%s needs a value", op)
			}
			v, args = args[1], args[1:]
		}
		args = args[1:]
		var f func(string, fsaccess.Entry) bool
		switch op {
		case "-name", "-iname":
			f = func(_ string, e fsaccess.Entry) bool {
				a, b := v, e.Name()
				if op == "-iname" {
					a, b = strings.ToLower(a), strings.ToLower(b)
				}
				ok, _ := path.Match(a, b)
				return ok
			}
		case "-path":
			if len(v) > 1024 {
				return t.fail("the pattern is longer than 1,024 bytes")
			}
			re, err := wild(v)
			if err != nil {
				return t.fail("bad pattern %q", v)
			}
			f = func(s string, _ fsaccess.Entry) bool { return re.MatchString(s) }
		case "-type":
			f = func(_ string, e fsaccess.Entry) bool { return e.Dir == (v == "d") }
		case "-maxdepth":
			n, err := strconv.Atoi(v)
			if err != nil {
				return t.fail("bad depth %q", v)
			}
			depth = n + 1
			continue
		case "-size":
			n, err := strconv.ParseInt(strings.TrimRight(strings.TrimLeft(v, "+-"), "ckM"), 10, 64)
			if err != nil {
				return t.fail("bad size %q", v)
			}
			for unit, times := range map[string]int64{"k": 1 << 10, "M": 1 << 20} {
				if strings.HasSuffix(v, unit) {
					n *= times
				}
			}
			f = func(_ string, e fsaccess.Entry) bool {
				return !e.Dir && (v[0] == '+' && e.Size > n || v[0] == '-' && e.Size < n || v[0] != '+' && v[0] != '-' && e.Size == n)
			}
		case "-empty":
			f = func(_ string, e fsaccess.Entry) bool { return !e.Dir && e.Size == 0 }
		case "-print":
			continue
		case "-delete":
			erase = true
			continue
		default:
			return t.fail("%s is not known; there are -name -iname -path -type -maxdepth -size -empty -delete and !", op)
		}
		tests = append(tests, func(s string, e fsaccess.Entry) bool { return f(s, e) != not })
	}
	code := 0
	for _, root := range roots {
		p := resolve(t.dir, root)
		fi, err := t.s.stat(t.ctx, abs(p), true)
		if err != nil {
			code = t.fail("%s: %s", root, short(err))
			continue
		}
		list := []fsaccess.Entry{{Path: p, Dir: fi.IsDir(), Size: fi.Size()}}
		if fi.IsDir() {
			more, err := t.s.walk(t, p)
			if err != nil {
				code = t.fail("%s: %s", root, short(err))
			}
			list = append(list, more...)
		}
		var hits []fsaccess.Entry
		for i, e := range list {
			t.spend(1024)
			name := root
			if i > 0 {
				name = shown(root, p, e)
			}
			if depth > 0 && i > 0 && strings.Count(strings.TrimPrefix(name, strings.TrimSuffix(root, "/")+"/"), "/")+1 >= depth {
				continue
			}
			if !slices.ContainsFunc(tests, func(f func(string, fsaccess.Entry) bool) bool { return !f(name, e) }) {
				hits = append(hits, e)
				if !erase {
					fmt.Fprintln(t.out, name)
				}
			}
		}
		if erase {
			for _, e := range slices.Backward(hits) {
				if err := t.s.removal(t, e.Path, false); err != nil {
					code = t.fail("%s: %s", e.Path, short(err))
				}
			}
		}
	}
	return code
}

// wild compiles a glob in which * also matches slashes.
func wild(pattern string) (*regexp.Regexp, error) {
	var re strings.Builder
	for _, r := range pattern {
		switch r {
		case '*':
			re.WriteString(".*")
		case '?':
			re.WriteByte('.')
		default:
			re.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.Compile("^(?s:" + re.String() + ")$")
}

func ls(t *task) int {
	o, rest, ok := t.options("la1ARrFhdt", "")
	if !ok {
		return 2
	}
	if len(rest) == 0 {
		rest = []string{"."}
	}
	code, wrote := 0, false
	var dirs []string
	for _, name := range rest {
		fi, err := t.s.stat(t.ctx, abs(resolve(t.dir, name)), true)
		if err != nil {
			t.errorf("cannot access '%s': %s", name, short(err))
			code = 2
			continue
		}
		if fi.IsDir() && !has(o, 'd') {
			dirs = append(dirs, name)
			continue
		}
		lsLine(t.out, o, name, fi.IsDir(), fi.Size())
		wrote = true
	}
	for i := 0; i < len(dirs); i++ {
		list, err := t.s.list(t.ctx, resolve(t.dir, dirs[i]))
		if err != nil {
			code = t.fail("%s: %s", dirs[i], short(err))
			continue
		}
		if len(rest) > 1 || has(o, 'R') {
			if wrote {
				fmt.Fprintln(t.out)
			}
			fmt.Fprintln(t.out, dirs[i]+":")
		}
		if has(o, 'r') {
			slices.Reverse(list)
		}
		var below []string
		for _, e := range list {
			if strings.HasPrefix(e.Name(), ".") && !has(o, 'a') && !has(o, 'A') {
				continue
			}
			lsLine(t.out, o, e.Name(), e.Dir, e.Size)
			if e.Dir && has(o, 'R') {
				below = append(below, path.Join(dirs[i], e.Name()))
			}
		}
		wrote = true
		dirs = slices.Insert(dirs, i+1, below...)
	}
	return code
}

func lsLine(out io.Writer, o map[byte]string, name string, dir bool, size int64) {
	if has(o, 'F') && dir {
		name += "/"
	}
	if !has(o, 'l') {
		fmt.Fprintln(out, name)
		return
	}
	kind := "-"
	if dir {
		kind = "d"
	}
	fmt.Fprintf(out, "%s %10d %s\n", kind, size, name)
}

func diff(t *task) int {
	o, rest, ok := t.options("uqbw", "")
	if !ok || len(rest) != 2 {
		return 2
	}
	a, err := t.read(rest[0])
	if err == nil {
		var b []byte
		if b, err = t.read(rest[1]); err == nil {
			text, err := fsaccess.UnifiedDiff(t.ctx, rest[0], rest[1], a, b)
			if err != nil {
				panic(ended{})
			}
			if text == "" {
				return 0
			}
			if has(o, 'q') {
				text = "Files " + rest[0] + " and " + rest[1] + " differ\n"
			}
			fmt.Fprint(t.out, text)
			return 1
		}
	}
	return t.fail("%s", err) + 1
}

// xargs runs one of the shell's own commands, with words of its input as arguments.
func xargs(t *task) int {
	o, rest, ok := t.options("0rt", "nI")
	if !ok {
		return 2
	}
	if len(rest) == 0 {
		rest = []string{"echo"}
	}
	d, err := t.read("-")
	if err != nil {
		return 1
	}
	var text string
	if !has(o, 'I') || has(o, '0') {
		text, _ = t.text(d)
	}
	if has(o, '0') && strings.Count(text, "\x00") > maxLines {
		return t.fail("more than 2,000,000 words")
	}
	var words []string
	switch {
	case has(o, '0'):
		words = strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
	case has(o, 'I'):
		words = t.lines(d)
	default:
		words = strings.Fields(text)
	}
	n, ok := t.number(o, 'n', max(len(words), 1))
	if !ok || n < 1 {
		return 2
	}
	run := func(args []string) int { return t.s.runArgs(t, args) }
	code := 0
	if has(o, 'I') {
		for _, w := range words {
			t.spend(1024)
			var args []string
			for _, a := range rest {
				args = append(args, replaceAll(a, o['I'], w))
			}
			code = max(code, run(args))
		}
		return code
	}
	for len(words) > 0 {
		t.spend(1024)
		k := min(n, len(words))
		code = max(code, run(append(slices.Clone(rest), words[:k]...)))
		words = words[k:]
	}
	return code
}

// runArgs runs a command on behalf of another one, without input, and returns its exit
// code.
func (s *shell) runArgs(t *task, args []string) int {
	if args[0] == "echo" {
		fmt.Fprintln(t.out, strings.Join(args[1:], " "))
		return 0
	}
	err := s.exec(t.ctx, args)
	if err == nil {
		return 0
	}
	if st, ok := err.(interp.ExitStatus); ok {
		return int(st)
	}
	return t.fail("%s", err)
}
