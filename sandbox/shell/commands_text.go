package shell

import (
	"bufio"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
)

func sortLines(t *task) int {
	o, files, ok := t.options("nruf", "kt")
	if !ok {
		return 2
	}
	d, code := t.all(files)
	l := t.lines(d)
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
	order := func(a, b, lineA, lineB string) int {
		t.spend(len(a) + len(b) + 64)
		c := 0
		if has(o, 'n') {
			c = cmp.Compare(leading(a), leading(b))
		} else {
			c = strings.Compare(a, b)
		}
		if c == 0 && !has(o, 'u') {
			c = strings.Compare(lineA, lineB)
		}
		if has(o, 'r') {
			return -c
		}
		return c
	}
	if column == 0 && !has(o, 'f') {
		// Each line is its own key, so no second list is held.
		byLine := func(a, b string) int { return order(a, b, a, b) }
		slices.SortStableFunc(l, byLine)
		if has(o, 'u') {
			l = slices.CompactFunc(l, func(a, b string) bool { return byLine(a, b) == 0 })
		}
		return max(code, t.print(l))
	}
	// Made once for each line, and not for each comparison.
	type row struct{ line, key string }
	rows := make([]row, len(l))
	for i, line := range l {
		rows[i] = row{line, key(line)}
		t.spend(2*len(line) + 64)
		t.hold(32 + len(rows[i].key))
	}
	byKey := func(a, b row) int { return order(a.key, b.key, a.line, b.line) }
	slices.SortStableFunc(rows, byKey)
	if has(o, 'u') {
		rows = slices.CompactFunc(rows, func(a, b row) bool { return byKey(a, b) == 0 })
	}
	l = l[:0]
	for _, r := range rows {
		l = append(l, r.line)
	}
	return max(code, t.print(l))
}

// leading returns the number at the beginning of a text, or 0.
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
	l := t.lines(d)
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

// ranges parses a list such as 1,3-5,7-. It returns a function that reports whether the
// list contains a number.
func ranges(s string) (in func(int) bool, ok bool) {
	if strings.Count(s, ",") > 1000 {
		return nil, false
	}
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
	for _, l := range t.lines(d) {
		t.spend(8 * (len(l) + 8))
		var kept strings.Builder
		if !has(o, 'f') {
			i := 0
			for _, r := range l {
				if i++; in(i) {
					kept.WriteRune(r)
				}
			}
			out = append(out, kept.String())
			continue
		}
		if !strings.Contains(l, sep) {
			if !has(o, 's') {
				out = append(out, l)
			}
			continue
		}
		first := true
		for i, rest, more := 1, l, true; more; i++ {
			var p string
			if sep == "" {
				p, rest, more = rest, "", false
			} else {
				p, rest, more = strings.Cut(rest, sep)
			}
			if in(i) {
				if !first {
					kept.WriteString(sep)
				}
				kept.WriteString(p)
				first = false
			}
		}
		out = append(out, kept.String())
	}
	return max(code, t.print(out))
}

// set returns the characters of a set of tr, with its ranges, classes and escapes
// expanded.
func set(s string) []rune {
	for name, chars := range map[string]string{"[:lower:]": "a-z", "[:upper:]": "A-Z", "[:digit:]": "0-9", "[:alpha:]": "A-Za-z", "[:alnum:]": "A-Za-z0-9", "[:space:]": " \\t\\n\\r", "[:punct:]": "!-/:-@[-`{-~"} {
		s = strings.ReplaceAll(s, name, chars)
	}
	var out []rune
	r := []rune(s)
	for i := 0; i < len(r); i++ {
		if len(out) > maxSet {
			panic(tooMuch("a set has more than 65,536 characters"))
		}
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
	places := map[rune]int{}
	for i, r := range from {
		if _, ok := places[r]; !ok {
			places[r] = i
		}
	}
	in := func(r rune) bool { _, ok := places[r]; return ok != has(o, 'c') }
	d, err := t.read("-")
	if err != nil {
		return 1
	}
	text, _ := t.text(d)
	w := bufio.NewWriter(t.out)
	last := rune(-1)
	for _, r := range text {
		t.spend(16)
		hit := in(r)
		if hit && has(o, 'd') {
			continue
		}
		if hit && len(to) > 0 {
			i, ok := places[r]
			if !ok || i >= len(to) {
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
		w.WriteRune(r)
	}
	return failed(w.Flush())
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
		for i, l := range t.lines(d) {
			if re.match(t, l) == has(o, 'v') {
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
				re.replaceable(t, l)
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
