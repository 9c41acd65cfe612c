package shell

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

type command func(t *task) int

// commands returns the commands by name.
var commands = sync.OnceValue(func() map[string]command {
	return map[string]command{
		"cat": cat, "tac": tac, "rev": rev, "nl": nl, "head": head, "tail": tail, "wc": wc, "sort": sortLines, "uniq": uniq,
		"cut": cut, "tr": tr, "tee": tee, "seq": seq, "basename": basename, "dirname": dirname, "sleep": sleep,
		"grep": grep, "sed": sed, "find": find, "ls": ls, "mkdir": mkdir, "rmdir": rmdir, "rm": rm, "mv": mv, "cp": cp, "touch": touch,
		"diff": diff, "xargs": xargs, "base64": base64Cmd, "date": date, "yes": yes,
		"md5sum": sum(md5.New), "sha1sum": sum(sha1.New), "sha256sum": sum(sha256.New), "sha512sum": sum(sha512.New), "env": env, "xxd": xxd,
	}
})

func cat(t *task) int {
	o, files, ok := t.options("nAveut", "")
	if !ok {
		return 2
	}
	n := 0
	return t.each(files, func(_ string, d []byte) int {
		if !has(o, 'n') {
			_, err := t.out.Write(d)
			return failed(err)
		}
		for _, l := range t.lines(d) {
			n++
			fmt.Fprintf(t.out, "%6d\t%s\n", n, l)
			t.spend(len(l) + 64)
		}
		return 0
	})
}

func failed(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

func tac(t *task) int {
	d, code := t.all(t.args)
	l := t.lines(d)
	slices.Reverse(l)
	return max(code, t.print(l))
}

func rev(t *task) int {
	d, code := t.all(t.args)
	l := t.lines(d)
	for i := range l {
		t.spend(8*len(l[i]) + 8)
		r := []rune(l[i])
		slices.Reverse(r)
		l[i] = string(r)
	}
	return max(code, t.print(l))
}

func nl(t *task) int {
	_, files, ok := t.options("", "b")
	if !ok {
		return 2
	}
	d, code := t.all(files)
	n := 0
	for _, l := range t.lines(d) {
		t.spend(len(l) + 64)
		if l == "" {
			fmt.Fprintln(t.out, "       ")
			continue
		}
		n++
		fmt.Fprintf(t.out, "%6d\t%s\n", n, l)
	}
	return code
}

func head(t *task) int { return part(t, false) }
func tail(t *task) int { return part(t, true) }

// part implements head and tail.
func part(t *task, end bool) int {
	o, files, ok := t.options("q", "nc")
	if !ok {
		return 2
	}
	fromLine := end && strings.HasPrefix(o['n'], "+")
	n, ok := t.number(o, 'n', 10)
	if !ok {
		return 2
	}
	return t.each(files, func(name string, d []byte) int {
		if len(files) > 1 && !has(o, 'q') {
			fmt.Fprintf(t.out, "==> %s <==\n", name)
		}
		if has(o, 'c') {
			c, ok := t.number(o, 'c', 0)
			if !ok {
				return 2
			}
			c = min(max(c, 0), len(d))
			if end {
				d = d[len(d)-c:]
			} else {
				d = d[:c]
			}
			_, err := t.out.Write(d)
			return failed(err)
		}
		switch {
		case fromLine:
			d = d[lineStart(d, max(n-1, 0)):]
		case end:
			d = d[lineStart(d, max(countLines(d)-abso(n), 0)):]
		case n < 0:
			d = d[:lineStart(d, max(countLines(d)+n, 0))]
		default:
			d = d[:lineStart(d, n)]
		}
		_, err := t.out.Write(d)
		return failed(err)
	})
}

func countLines(d []byte) int {
	n := bytes.Count(d, []byte("\n"))
	if len(d) > 0 && d[len(d)-1] != '\n' {
		n++
	}
	return n
}

// lineStart returns the offset of line n, counted from 0, or the length of d if there are
// fewer lines.
func lineStart(d []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(d); n-- {
		i := bytes.IndexByte(d[at:], '\n')
		if i < 0 {
			return len(d)
		}
		at += i + 1
	}
	return at
}

func abso(n int) int { return max(n, -n) }

func wc(t *task) int {
	o, files, ok := t.options("lwcm", "")
	if !ok {
		return 2
	}
	if len(o) == 0 {
		o = map[byte]string{'l': "", 'w': "", 'c': ""}
	}
	var total [4]int
	one := len(files) == 0 && len(o) == 1
	show := func(n [4]int, name string) {
		var out []string
		for i, c := range []byte("lwmc") {
			if has(o, c) {
				out = append(out, strconv.Itoa(n[i]))
			}
		}
		line := strings.Join(out, " ")
		if !one && len(files) != 1 || len(out) > 1 {
			line = ""
			for _, v := range out {
				line += fmt.Sprintf("%7s", v) + " "
			}
			line = strings.TrimSuffix(line, " ")
		}
		if name != "-" && name != "" {
			line += " " + name
		}
		fmt.Fprintln(t.out, line)
	}
	code := t.each(files, func(name string, d []byte) int {
		n := counts(t, d)
		for i := range total {
			total[i] += n[i]
		}
		show(n, name)
		return 0
	})
	if len(files) > 1 {
		show(total, "total")
	}
	return code
}

// counts returns the numbers of lines, words, characters and bytes of a text.
func counts(t *task, d []byte) (n [4]int) {
	inside := false
	for at := 0; at < len(d); {
		r, size := utf8.DecodeRune(d[at:])
		at += size
		n[2]++
		space := unicode.IsSpace(r)
		switch {
		case r == '\n':
			n[0]++
		case !space && !inside:
			n[1]++
		}
		inside = !space
		if n[2]%4096 == 0 {
			t.spend(16 << 10)
		}
	}
	n[3] = len(d)
	return n
}

func tee(t *task) int {
	o, files, ok := t.options("a", "")
	if !ok {
		return 2
	}
	d, err := t.read("-")
	if err != nil {
		return 1
	}
	code := 0
	for _, f := range files {
		if err := t.write(f, d, has(o, 'a')); err != nil {
			code = t.fail("%s: %s", f, short(err))
		}
	}
	_, _ = t.out.Write(d)
	return code
}

func seq(t *task) int {
	o, rest, ok := t.options("w", "s")
	if !ok || len(rest) < 1 || len(rest) > 3 {
		return 2
	}
	var n [3]int
	for i, r := range rest {
		v, err := strconv.Atoi(r)
		if err != nil {
			return t.fail("%q is not a whole number", r)
		}
		n[i] = v
	}
	first, step, last := 1, 1, n[0]
	switch len(rest) {
	case 2:
		first, last = n[0], n[1]
	case 3:
		first, step, last = n[0], n[1], n[2]
	}
	// Floating-point numbers can't overflow here.
	count := (float64(last)-float64(first))/float64(step) + 1
	if step == 0 || count > maxSeq {
		return t.fail("more than 1,000,000 numbers")
	}
	sep, joins := o['s']
	if count > 0 {
		joined(maxInput, int(count)*(len(sep)+1))
	}
	t.hold(36 * max(int(count), 0))
	var out []string
	for i, n := first, int(count); n > 0; i, n = i+step, n-1 {
		out = append(out, strconv.Itoa(i))
		t.spend(16)
	}
	if joins {
		out = []string{strings.Join(out, sep)}
	}
	return t.print(out)
}

func basename(t *task) int {
	if len(t.args) == 0 {
		return t.fail("missing operand")
	}
	b := path.Base(t.args[0])
	if len(t.args) > 1 && b != t.args[1] {
		b = strings.TrimSuffix(b, t.args[1])
	}
	return t.print([]string{b})
}

func dirname(t *task) int {
	var out []string
	for _, a := range t.args {
		out = append(out, path.Dir(strings.TrimRight(a, "/")))
	}
	return t.print(out)
}
