package shell

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"

	"github.com/bailey-go/bailey/fsaccess"
)

func sortLines(t *task) int {
	o, files, ok := t.options("nruf", "kt")
	if !ok {
		return 2
	}
	d, code := t.all(files)
	l := lines(d)
	column := 0
	if k, ok := o['k']; ok {
		n, err := strconv.Atoi(strings.SplitN(strings.TrimRight(k, "nr"), ",", 2)[0])
		if err != nil || n < 1 {
			return t.fail("bad key %q", k)
		}
		column = n
		if strings.Contains(k, "n") {
			o['n'] = ""
		}
		if strings.Contains(k, "r") {
			o['r'] = ""
		}
	}
	key := func(s string) string {
		if column > 0 {
			fields := strings.Fields(s)
			if sep, ok := o['t']; ok {
				fields = strings.Split(s, sep)
			}
			if column > len(fields) {
				return ""
			}
			s = strings.Join(fields[column-1:], " ")
		}
		if has(o, 'f') {
			s = strings.ToUpper(s)
		}
		return s
	}
	compare := func(a, b string) int {
		x, y := key(a), key(b)
		if has(o, 'n') {
			if c := cmp.Compare(leading(x), leading(y)); c != 0 {
				return c
			}
			if has(o, 'u') {
				return 0
			}
			return strings.Compare(a, b)
		}
		if c := strings.Compare(x, y); c != 0 || has(o, 'u') {
			return c
		}
		return strings.Compare(a, b)
	}
	slices.SortStableFunc(l, func(a, b string) int {
		if has(o, 'r') {
			return compare(b, a)
		}
		return compare(a, b)
	})
	if has(o, 'u') {
		l = slices.CompactFunc(l, func(a, b string) bool { return compare(a, b) == 0 })
	}
	return max(code, t.print(l))
}

// leading is the number a text begins with, or 0.
func leading(s string) float64 {
	s = strings.TrimLeft(s, " \t")
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.' || n == 0 && s[n] == '-') {
		n++
	}
	f, _ := strconv.ParseFloat(s[:n], 64)
	return f
}

func uniq(t *task) int {
	o, files, ok := t.options("cdui", "")
	if !ok {
		return 2
	}
	d, code := t.all(files)
	l := lines(d)
	var out []string
	for i := 0; i < len(l); {
		n := 1
		for i+n < len(l) && (l[i+n] == l[i] || has(o, 'i') && strings.EqualFold(l[i+n], l[i])) {
			n++
		}
		if !(has(o, 'd') && n == 1) && !(has(o, 'u') && n > 1) {
			if has(o, 'c') {
				out = append(out, fmt.Sprintf("%7d %s", n, l[i]))
			} else {
				out = append(out, l[i])
			}
		}
		i += n
	}
	return max(code, t.print(out))
}

// ranges reads a list such as 1,3-5,7-.
func ranges(s string) (in func(int) bool, ok bool) {
	type span struct{ lo, hi int }
	var list []span
	for _, part := range strings.Split(s, ",") {
		a, b, dash := strings.Cut(part, "-")
		lo, err := strconv.Atoi(a)
		if a == "" && dash {
			lo, err = 1, nil
		}
		hi := lo
		if dash {
			if hi = 1 << 30; b != "" {
				var err2 error
				if hi, err2 = strconv.Atoi(b); err2 != nil {
					return nil, false
				}
			}
		}
		if err != nil || lo < 1 {
			return nil, false
		}
		list = append(list, span{lo, hi})
	}
	return func(n int) bool {
		return slices.ContainsFunc(list, func(s span) bool { return s.lo <= n && n <= s.hi })
	}, true
}

func cut(t *task) int {
	o, files, ok := t.options("s", "dfcb")
	if !ok {
		return 2
	}
	spec := o['f'] + o['c'] + o['b']
	in, ok := ranges(spec)
	if !ok || has(o, 'f') == (has(o, 'c') || has(o, 'b')) {
		return t.fail("give a list of fields (-f) or characters (-c), such as 1,3-5")
	}
	sep := "\t"
	if has(o, 'd') {
		sep = o['d']
	}
	d, code := t.all(files)
	var out []string
	for _, l := range lines(d) {
		parts, join := strings.Split(l, sep), sep
		if !has(o, 'f') {
			parts, join = strings.Split(l, ""), ""
		} else if len(parts) == 1 {
			if !has(o, 's') {
				out = append(out, l)
			}
			continue
		}
		var kept []string
		for i, p := range parts {
			if in(i + 1) {
				kept = append(kept, p)
			}
		}
		out = append(out, strings.Join(kept, join))
	}
	return max(code, t.print(out))
}

// set writes out a set of tr: ranges, classes and escapes.
func set(s string) []rune {
	for name, chars := range map[string]string{"[:lower:]": "a-z", "[:upper:]": "A-Z", "[:digit:]": "0-9", "[:alpha:]": "A-Za-z", "[:alnum:]": "A-Za-z0-9", "[:space:]": " \\t\\n\\r", "[:punct:]": "!-/:-@[-`{-~"} {
		s = strings.ReplaceAll(s, name, chars)
	}
	var out []rune
	r := []rune(s)
	for i := 0; i < len(r); i++ {
		c := r[i]
		if c == '\\' && i+1 < len(r) {
			i++
			switch r[i] {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			default:
				c = r[i]
			}
		} else if i+2 < len(r) && r[i+1] == '-' && r[i+2] >= c && r[i+2]-c < 0x300 {
			for x := c; x <= r[i+2]; x++ {
				out = append(out, x)
			}
			i += 2
			continue
		}
		out = append(out, c)
	}
	return out
}

func tr(t *task) int {
	o, rest, ok := t.options("dsc", "")
	if !ok || len(rest) == 0 || len(rest) == 1 && !has(o, 'd') && !has(o, 's') {
		return t.fail("missing operand")
	}
	from := set(rest[0])
	var to []rune
	if len(rest) > 1 {
		to = set(rest[1])
	}
	in := func(r rune) bool { return slices.Contains(from, r) != has(o, 'c') }
	d, err := t.read("-")
	if err != nil {
		return 1
	}
	var b strings.Builder
	last := rune(-1)
	for _, r := range string(d) {
		hit := in(r)
		if hit && has(o, 'd') {
			continue
		}
		if hit && len(to) > 0 {
			i := slices.Index(from, r)
			if i < 0 || i >= len(to) {
				i = len(to) - 1
			}
			r = to[i]
		}
		if has(o, 's') && hit && r == last {
			continue
		}
		if last = -1; hit {
			last = r
		}
		b.WriteRune(r)
	}
	_, err = t.out.Write([]byte(b.String()))
	return failed(err)
}

// expression compiles a pattern of grep's or sed's; fixed is a plain text. An
// expression that is very large once written out is refused.
func expression(text string, fixed, fold bool) (*regexp.Regexp, error) {
	if fixed {
		text = regexp.QuoteMeta(text)
	}
	if fold {
		text = "(?i)" + text
	}
	if len(text) > 1024 {
		return nil, fmt.Errorf("the expression is longer than 1,024 bytes")
	}
	return regexp.Compile(text)
}

func grep(t *task) int {
	o, rest, ok := t.options("invclrREFohqHswx", "emABC")
	if !ok {
		return 2
	}
	pattern, given := o['e']
	if !given {
		if len(rest) == 0 {
			return t.fail("missing pattern") + 1
		}
		pattern, rest = rest[0], rest[1:]
	}
	if has(o, 'F') {
		pattern = regexp.QuoteMeta(pattern)
	}
	if has(o, 'w') {
		pattern = `\b(?:` + pattern + `)\b`
	}
	if has(o, 'x') {
		pattern = `^(?:` + pattern + `)$`
	}
	re, err := expression(pattern, false, has(o, 'i'))
	if err != nil {
		return t.fail("%s", err) + 1
	}
	most, ok := t.number(o, 'm', -1)
	if !ok {
		return 2
	}
	files := rest
	if has(o, 'r') || has(o, 'R') {
		if files, err = t.below(rest); err != nil {
			return t.fail("%s", short(err)) + 1
		}
	}
	named := (len(files) > 1 || has(o, 'r') || has(o, 'R') || has(o, 'H')) && !has(o, 'h')
	found := false
	code := t.each(files, func(name string, d []byte) int {
		n := 0
		for i, l := range lines(d) {
			if re.MatchString(l) == has(o, 'v') {
				continue
			}
			n++
			found = true
			if has(o, 'q') || has(o, 'l') || has(o, 'c') {
				if has(o, 'q') || has(o, 'l') {
					break
				}
				continue
			}
			prefix := ""
			if named {
				prefix = name + ":"
			}
			if has(o, 'n') {
				prefix += strconv.Itoa(i+1) + ":"
			}
			if has(o, 'o') && !has(o, 'v') {
				for _, m := range re.FindAllString(l, -1) {
					fmt.Fprintln(t.out, prefix+m)
				}
			} else {
				fmt.Fprintln(t.out, prefix+l)
			}
			if n == most {
				break
			}
		}
		switch {
		case has(o, 'l') && n > 0:
			fmt.Fprintln(t.out, name)
		case has(o, 'c') && named:
			fmt.Fprintf(t.out, "%s:%d\n", name, n)
		case has(o, 'c'):
			fmt.Fprintln(t.out, n)
		}
		return 0
	})
	switch {
	case code > 0:
		return 2
	case found:
		return 0
	}
	return 1
}

// below lists the files in folders, as they were named.
func (t *task) below(names []string) ([]string, error) {
	if len(names) == 0 {
		names = []string{"."}
	}
	var out []string
	for _, n := range names {
		p := resolve(t.dir, n)
		fi, err := t.s.stat(t.ctx, abs(p), true)
		if err != nil {
			return nil, err
		}
		if !fi.IsDir() {
			out = append(out, n)
			continue
		}
		list, err := t.s.walk(t, p)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if !e.Dir {
				out = append(out, shown(n, p, e))
			}
		}
	}
	return out, nil
}

// shown is a path below p as somebody sees who named p as n.
func shown(n, p string, e fsaccess.Entry) string {
	rest := e.Path
	if p != "." {
		rest = strings.TrimPrefix(e.Path, p+"/")
	}
	if n == "/" {
		return "/" + rest
	}
	return strings.TrimSuffix(n, "/") + "/" + rest
}

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
			f = func(s string, _ fsaccess.Entry) bool { return wild(v, s) }
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

// wild matches a pattern in which * also crosses slashes.
func wild(pattern, s string) bool {
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
	m, err := regexp.Compile("^(?s:" + re.String() + ")$")
	return err == nil && m.MatchString(s)
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
		t.lsLine(o, name, fi.IsDir(), fi.Size())
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
			t.lsLine(o, e.Name(), e.Dir, e.Size)
			if e.Dir && has(o, 'R') {
				below = append(below, path.Join(dirs[i], e.Name()))
			}
		}
		wrote = true
		dirs = slices.Insert(dirs, i+1, below...)
	}
	return code
}

func (t *task) lsLine(o map[byte]string, name string, dir bool, size int64) {
	if has(o, 'F') && dir {
		name += "/"
	}
	if !has(o, 'l') {
		fmt.Fprintln(t.out, name)
		return
	}
	kind := "-"
	if dir {
		kind = "d"
	}
	fmt.Fprintf(t.out, "%s %10d %s\n", kind, size, name)
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
			text := fsaccess.UnifiedDiff(rest[0], rest[1], a, b)
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

// xargs runs a command of ours with words of its input.
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
	var words []string
	switch {
	case has(o, '0'):
		words = strings.Split(strings.TrimSuffix(string(d), "\x00"), "\x00")
	case has(o, 'I'):
		words = lines(d)
	default:
		words = strings.Fields(string(d))
	}
	n, ok := t.number(o, 'n', max(len(words), 1))
	if !ok || n < 1 {
		return 2
	}
	run := func(args []string) int { return t.s.runArgs(t, args) }
	code := 0
	if has(o, 'I') {
		for _, w := range words {
			var args []string
			for _, a := range rest {
				args = append(args, strings.ReplaceAll(a, o['I'], w))
			}
			code = max(code, run(args))
		}
		return code
	}
	for len(words) > 0 {
		k := min(n, len(words))
		code = max(code, run(append(slices.Clone(rest), words[:k]...)))
		words = words[k:]
	}
	return code
}

// runArgs runs one command that another was given, with no input.
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
