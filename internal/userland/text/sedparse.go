package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/posix"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

const sedHelp = `  -n  print only what p says    -E, -r  extended patterns    -s  files one by one    -z  lines end in NUL
  -e SCRIPT  -f FILE            -i[SUFFIX]  change the files themselves, keeping the old ones under a suffix
  commands: { } s y a i c d D p P n N g G h H x q Q r w = l b t T : # z
  addresses: N  $  /re/  \cREc  FIRST~STEP  A,B  A,+N  A,~N  0,/re/  !
  the flags of s: g p i N w FILE; in its replacement & \1 \n \U \L \u \l \E`

// sedAddr is one address of a command.
type sedAddr struct {
	kind byte // 'n' a line, '$' the last, '/' a pattern, '~' steps, '+' lines after, 'm' up to a multiple
	a, b int
	re   *posix.Regexp // nil is the last one used
}

type sedCmd struct {
	one, two *sedAddr
	not      bool
	name     byte
	text     string // of a i c, file of r w, label of b t T
	target   int    // of b t T {, as an index into the commands
	re       *posix.Regexp
	to       []sedPart
	global   bool
	nth      int
	print    bool
	file     io.WriteCloser
	table    map[rune]rune
	code     int

	active bool // the range is open
	until  int
}

// sedPart is a piece of a replacement: text, a group, or a change of case.
type sedPart struct {
	text  string
	group int // -1 is none
	fold  byte
}

type sedParser struct {
	e      *tool.Env
	s      string
	i      int
	syntax posix.Syntax
	cmds   []*sedCmd
	files  map[string]io.WriteCloser
}

func (p *sedParser) errorf(format string, args ...any) error {
	return fmt.Errorf("-e expression #1, char %d: %s", p.i, fmt.Sprintf(format, args...))
}

func (p *sedParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *sedParser) skip(chars string) {
	for p.i < len(p.s) && strings.IndexByte(chars, p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *sedParser) number() int {
	from := p.i
	p.skip("0123456789")
	n, _ := strconv.Atoi(p.s[from:p.i])
	return n
}

func (p *sedParser) parse() error {
	var open []int
	labels := map[string]int{}
	for {
		p.skip(" \t\n;")
		if p.i >= len(p.s) {
			break
		}
		if p.peek() == '#' {
			p.line()
			continue
		}
		c := &sedCmd{}
		if err := p.addresses(c); err != nil {
			return err
		}
		if p.i >= len(p.s) {
			return p.errorf("missing command")
		}
		c.name = p.s[p.i]
		p.i++
		switch c.name {
		case '{':
			open = append(open, len(p.cmds))
		case '}':
			if len(open) == 0 {
				return p.errorf("unexpected `}'")
			}
			p.cmds[open[len(open)-1]].target = len(p.cmds)
			open = open[:len(open)-1]
		case ':':
			p.skip(" ")
			c.text = p.label()
			labels[c.text] = len(p.cmds)
		default:
			if err := p.command(c); err != nil {
				return err
			}
		}
		p.cmds = append(p.cmds, c)
	}
	if len(open) > 0 {
		return p.errorf("unmatched `{'")
	}
	for _, c := range p.cmds {
		if strings.IndexByte("btT", c.name) >= 0 {
			c.target = len(p.cmds)
			if c.text != "" {
				at, ok := labels[c.text]
				if !ok {
					return fmt.Errorf("can't find label for jump to `%s'", c.text)
				}
				c.target = at
			}
		}
	}
	return nil
}

// line takes the rest of the line.
func (p *sedParser) line() string {
	from := p.i
	if n := strings.IndexByte(p.s[p.i:], '\n'); n >= 0 {
		p.i += n
	} else {
		p.i = len(p.s)
	}
	return p.s[from:p.i]
}

func (p *sedParser) label() string {
	from := p.i
	for p.i < len(p.s) && strings.IndexByte("\n;}", p.s[p.i]) < 0 {
		p.i++
	}
	return strings.TrimSpace(p.s[from:p.i])
}

func (p *sedParser) addresses(c *sedCmd) (err error) {
	if c.one, err = p.address(); err != nil || c.one == nil {
		if p.skip(" \t"); err == nil && p.peek() == '!' {
			c.not = true
			p.skip("! ")
		}
		return err
	}
	p.skip(" \t")
	if p.peek() == ',' {
		p.i++
		p.skip(" \t")
		switch p.peek() {
		case '+', '~':
			kind := p.peek()
			if p.i++; kind == '~' {
				kind = 'm'
			}
			c.two = &sedAddr{kind: kind, a: p.number()}
		default:
			if c.two, err = p.address(); err != nil {
				return err
			}
			if c.two == nil {
				return p.errorf("unexpected `,'")
			}
		}
	}
	if c.one.kind == 'n' && c.one.a == 0 {
		if c.two == nil || c.two.kind != '/' {
			return p.errorf("invalid usage of line address 0")
		}
		c.active = true
	}
	p.skip(" \t")
	if p.peek() == '!' {
		c.not = true
		p.skip("! ")
	}
	return nil
}

func (p *sedParser) address() (*sedAddr, error) {
	switch c := p.peek(); {
	case c >= '0' && c <= '9':
		a := &sedAddr{kind: 'n', a: p.number()}
		if p.peek() == '~' {
			p.i++
			a.kind, a.b = '~', p.number()
		}
		return a, nil
	case c == '$':
		p.i++
		return &sedAddr{kind: '$'}, nil
	case c == '/' || c == '\\':
		if c == '\\' {
			p.i++
		}
		text, err := p.delimited(true)
		if err != nil {
			return nil, p.errorf("unterminated address regex")
		}
		flags := ""
		for p.peek() == 'I' || p.peek() == 'M' {
			flags += map[byte]string{'I': "i", 'M': "m"}[p.peek()]
			p.i++
		}
		re, err := p.regexp(text, flags)
		return &sedAddr{kind: '/', re: re}, err
	}
	return nil, nil
}

func (p *sedParser) regexp(text, flags string) (*posix.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := posix.Compile(text, p.syntax, flags)
	if err == nil {
		re.Spend = p.e.Bounded()
	}
	return re, err
}

// delimited returns the text up to the next delimiter, which is the character at the current
// position. In a pattern a delimiter inside brackets does not count, and \n is a newline.
func (p *sedParser) delimited(pattern bool) (string, error) {
	if p.i >= len(p.s) {
		return "", p.errorf("unterminated")
	}
	delim := p.s[p.i]
	p.i++
	text, err := p.until(delim, pattern)
	return text, err
}

func (p *sedParser) until(delim byte, pattern bool) (string, error) {
	var b strings.Builder
	brackets := false
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		switch {
		case c == '\\' && p.i+1 < len(p.s) && !brackets:
			p.i++
			if p.s[p.i] == delim {
				if pattern && delim != '/' && strings.IndexByte(`.*[]^$+?(){}|`, delim) >= 0 {
					b.WriteByte('\\')
				}
			} else {
				b.WriteByte('\\')
			}
			b.WriteByte(p.s[p.i])
		case c == delim && !brackets:
			p.i++
			return b.String(), nil
		default:
			if pattern && c == '[' && !brackets {
				brackets = true
				b.WriteByte(c)
				for p.i+1 < len(p.s) && (p.s[p.i+1] == '^' || p.s[p.i+1] == ']') {
					p.i++
					b.WriteByte(p.s[p.i])
					if p.s[p.i] == ']' {
						break
					}
				}
				continue
			}
			if pattern && c == '[' && p.i+1 < len(p.s) && p.s[p.i+1] == ':' {
				if end := strings.Index(p.s[p.i:], ":]"); end > 0 {
					b.WriteString(p.s[p.i : p.i+end+2])
					p.i += end + 1
					continue
				}
			}
			brackets = brackets && c != ']'
			b.WriteByte(c)
		}
	}
	return "", p.errorf("unterminated")
}

func (p *sedParser) command(c *sedCmd) (err error) {
	switch c.name {
	case 's':
		return p.substitute(c)
	case 'y':
		return p.transliterate(c)
	case 'a', 'i', 'c':
		p.skip(" \t")
		if p.i >= len(p.s) {
			return p.errorf("expected \\ after `a', `c' or `i'")
		}
		if p.peek() == '\\' {
			p.i++
			at := p.i
			p.skip(" \t")
			if p.peek() == '\n' {
				p.i++
			} else if p.i >= len(p.s) {
				return nil // the script ends there, and there is no text
			} else if at > 0 {
				p.i = at // blanks after a backslash are text
			}
		}
		var b strings.Builder
		for ; p.i < len(p.s) && p.s[p.i] != '\n'; p.i++ {
			if p.s[p.i] == '\\' && p.i+1 < len(p.s) {
				if p.i++; strings.IndexByte("tfv", p.s[p.i]) >= 0 {
					b.WriteString(unescape(p.s[p.i-1 : p.i+1]))
					continue
				}
			}
			b.WriteByte(p.s[p.i])
		}
		c.text = b.String() + "\n"
	case 'r', 'w':
		p.skip(" \t")
		if c.text = p.line(); c.text == "" {
			return p.errorf("missing filename in r/R/w/W commands")
		}
		if c.name == 'w' {
			c.file, err = p.open(c.text)
		}
	case 'b', 't', 'T':
		p.skip(" \t")
		c.text = p.label()
	case 'q', 'Q', 'l':
		p.skip(" \t")
		c.code = p.number()
	case 'd', 'D', 'p', 'P', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'z':
	case 'F', 'v':
		if c.name == 'v' {
			p.line()
		}
	case 'e', 'R', 'W', 'L':
		return p.errorf("the command `%c' is not supported", c.name)
	default:
		return p.errorf("unknown command: `%c'", c.name)
	}
	p.skip(" \t")
	if err == nil && p.i < len(p.s) && strings.IndexByte("\n;}#", p.peek()) < 0 {
		return p.errorf("extra characters after command")
	}
	return err
}

func (p *sedParser) open(name string) (io.WriteCloser, error) {
	if f, ok := p.files[name]; ok {
		return f, nil
	}
	if name == "/dev/stdout" {
		return stdout{p.e}, nil
	}
	f, err := p.e.World.Create(name, false)
	if err == nil {
		p.files[name] = f
	}
	return f, err
}

type stdout struct{ e *tool.Env }

func (s stdout) Write(p []byte) (int, error) { return s.e.Stdout.Write(p) }
func (stdout) Close() error                  { return nil }
