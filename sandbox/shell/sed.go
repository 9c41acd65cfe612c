package shell

import (
	"fmt"
	"strconv"
	"strings"
)

// sedCommand is one command of a sed script (s d p q a i c =) with its addresses.
type sedCommand struct {
	from, to sedAddress
	ranged   bool
	not      bool
	inside   bool // the current line is within its range
	op       byte
	re       *pattern
	with     string
	global   bool
	print    bool
	nth      int
	text     string
}

type sedAddress struct {
	line int // -1 is $
	re   *pattern
	set  bool
}

func (a sedAddress) is(t *task, n int, last bool, line string) bool {
	switch {
	case a.re != nil:
		return a.re.match(t, line)
	case a.line == -1:
		return last
	}
	return a.line == n
}

func sed(t *task) int {
	o, rest, ok := t.options("nrEi", "e")
	if !ok {
		return 2
	}
	script, given := o['e']
	if !given {
		if len(rest) == 0 {
			return t.fail("missing script")
		}
		script, rest = rest[0], rest[1:]
	}
	cmds, err := parseSed(script)
	if err != nil {
		return t.fail("%s", err)
	}
	if has(o, 'i') {
		return t.each(rest, func(name string, d []byte) int {
			for i := range cmds {
				cmds[i].inside = false
			}
			out := runSed(t, cmds, d, has(o, 'n'))
			if err := t.write(name, []byte(out), false); err != nil {
				return t.fail("%s: %s", name, short(err))
			}
			return 0
		})
	}
	d, code := t.all(rest)
	fmt.Fprint(t.out, runSed(t, cmds, d, has(o, 'n')))
	return code
}

func runSed(t *task, cmds []sedCommand, d []byte, quiet bool) string {
	var out strings.Builder
	list := t.lines(d)
	for i, line := range list {
		n, last := i+1, i == len(list)-1
		deleted, quit := false, false
		for c := range cmds {
			cmd := &cmds[c]
			t.spend(64)
			joined(maxInput, len(line))
			joined(maxFile, out.Len(), len(line))
			if !cmd.applies(t, n, last, line) {
				continue
			}
			switch cmd.op {
			case 's':
				next, did := cmd.substitute(t, line)
				line = next
				if did && cmd.print {
					out.WriteString(line + "\n")
				}
			case 'd':
				deleted = true
			case 'p':
				out.WriteString(line + "\n")
			case 'q':
				quit = true
			case 'a':
				line += "\n" + cmd.text
			case 'i':
				line = cmd.text + "\n" + line
			case 'c':
				line = cmd.text
			case '=':
				out.WriteString(strconv.Itoa(n) + "\n")
			}
			if deleted || quit {
				break
			}
		}
		if !deleted && !quiet {
			joined(maxFile, out.Len(), len(line))
			t.hold(len(line) + 1)
			out.WriteString(line + "\n")
		}
		if quit {
			break
		}
	}
	return out.String()
}

func (c *sedCommand) applies(t *task, n int, last bool, line string) bool {
	hit := false
	switch {
	case !c.from.set:
		hit = true
	case !c.ranged:
		hit = c.from.is(t, n, last, line)
	case c.inside:
		hit = true
		if c.to.is(t, n, last, line) || c.to.re == nil && c.to.line > 0 && n >= c.to.line {
			c.inside = false
		}
	case c.from.is(t, n, last, line):
		hit = true
		c.inside = c.to.re != nil || c.to.line == -1 && !last || c.to.line > n
	}
	return hit != c.not
}

func (c *sedCommand) substitute(t *task, line string) (string, bool) {
	if !c.re.match(t, line) {
		return line, false
	}
	c.re.replaceable(t, line)
	var b strings.Builder
	at, n, did := 0, 0, false
	for _, m := range c.re.FindAllStringSubmatchIndex(line, -1) {
		n++
		b.WriteString(line[at:m[0]])
		if !c.global && n != max(c.nth, 1) || c.global && n < c.nth {
			b.WriteString(line[m[0]:m[1]])
		} else {
			did = true
			joined(maxInput, b.Len(), len(c.with), strings.Count(c.with, "${")*(m[1]-m[0]))
			b.Write(c.re.ExpandString(nil, c.with, line, m))
		}
		joined(maxInput, b.Len())
		t.spend(64)
		at = m[1]
	}
	b.WriteString(line[at:])
	return b.String(), did
}

func parseSed(script string) ([]sedCommand, error) {
	var out []sedCommand
	for s := strings.TrimLeft(script, " ;\n\t"); s != ""; s = strings.TrimLeft(s, " ;\n\t") {
		var c sedCommand
		var err error
		if c.from, s, err = sedAddr(s); err != nil {
			return nil, err
		}
		if c.from.set && strings.HasPrefix(s, ",") {
			c.ranged = true
			if c.to, s, err = sedAddr(s[1:]); err != nil || !c.to.set {
				return nil, fmt.Errorf("a range needs an end")
			}
		}
		s = strings.TrimLeft(s, " ")
		if strings.HasPrefix(s, "!") {
			c.not, s = true, strings.TrimLeft(s[1:], " ")
		}
		if s == "" {
			return nil, fmt.Errorf("missing command")
		}
		c.op, s = s[0], s[1:]
		switch c.op {
		case 's':
			if s, err = c.parseS(s); err != nil {
				return nil, err
			}
		case 'd', 'p', 'q', '=':
		case 'a', 'i', 'c':
			text, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(s, " "), "\\"), "\n")
			c.text, s = strings.TrimLeft(text, " \n"), rest
		default:
			return nil, fmt.Errorf("unknown command: `%c'; there are s d p q a i c =", c.op)
		}
		out = append(out, c)
	}
	return out, nil
}

func sedAddr(s string) (a sedAddress, rest string, err error) {
	switch {
	case strings.HasPrefix(s, "$"):
		return sedAddress{line: -1, set: true}, s[1:], nil
	case strings.HasPrefix(s, "/"):
		text, rest, ok := delimited(s[1:], '/')
		if !ok {
			return a, s, fmt.Errorf("unterminated address")
		}
		re, err := expression(text, false, false)
		return sedAddress{re: re, set: true}, rest, err
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 {
		return a, s, nil
	}
	line, err := strconv.Atoi(s[:n])
	return sedAddress{line: line, set: true}, s[n:], err
}

// delimited cuts s at a delimiter that no backslash stands before.
func delimited(s string, d byte) (text, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == d:
			i++
			b.WriteByte(d)
		case s[i] == '\\' && i+1 < len(s):
			b.WriteByte(s[i])
			i++
			b.WriteByte(s[i])
		case s[i] == d:
			return b.String(), s[i+1:], true
		default:
			b.WriteByte(s[i])
		}
	}
	return "", s, false
}

func (c *sedCommand) parseS(s string) (string, error) {
	if s == "" {
		return "", fmt.Errorf("unterminated s")
	}
	d := s[0]
	from, rest, ok := delimited(s[1:], d)
	if !ok {
		return "", fmt.Errorf("unterminated s")
	}
	with, rest, ok := delimited(rest, d)
	if !ok {
		return "", fmt.Errorf("unterminated s")
	}
	fold := false
	for rest != "" && rest[0] != ';' && rest[0] != '\n' && rest[0] != ' ' {
		switch f := rest[0]; {
		case f == 'g':
			c.global = true
		case f == 'p':
			c.print = true
		case f == 'i' || f == 'I':
			fold = true
		case f >= '1' && f <= '9':
			c.nth = 10*c.nth + int(f-'0')
		default:
			return "", fmt.Errorf("unknown flag of s: %c", f)
		}
		rest = rest[1:]
	}
	c.with = template(with)
	var err error
	c.re, err = expression(from, false, fold)
	return rest, err
}

// template makes a replacement of sed's one of package regexp's.
func template(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$':
			b.WriteString("$$")
		case c == '&':
			b.WriteString("${0}")
		case c == '\\' && i+1 < len(s):
			i++
			switch n := s[i]; {
			case n >= '0' && n <= '9':
				b.WriteString("${" + string(n) + "}")
			case n == 'n':
				b.WriteByte('\n')
			case n == 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(n)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
