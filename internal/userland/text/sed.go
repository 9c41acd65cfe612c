package text

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/posix"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

// sedRun is the state of a running script.
type sedRun struct {
	e        *tool.Env
	o        *tool.Opts
	cmds     []*sedCmd
	out      *bufio.Writer
	in       []*bufio.Reader // the inputs left to read
	delim    byte
	line     int
	space    []byte
	hold     []byte
	noEnd    bool // the line did not end with a delimiter
	after    []func()
	last     *posix.Regexp
	spare    []byte // for the next substitution
	replaced bool
	quit     *tool.Exit
	name     string // of the file, or -
}

func sed(e *tool.Env) error {
	o, err := e.Options("nErsze:f:i::ul:1", "posix=1 debug=1 follow-symlinks=1 unbuffered=u line-length=l quiet=n silent=n regexp-extended=E expression=e file=f in-place=i separate=s null-data=z")
	if err != nil {
		return err
	}
	script := o.All('e')
	for _, name := range o.All('f') {
		text, err := e.ReadAll(name)
		if err != nil {
			return err
		}
		script = append(script, strings.TrimSuffix(string(text), "\n"))
	}
	if len(script) == 0 {
		if len(o.Args) == 0 {
			return e.Usagef("there is no script")
		}
		script, o.Args = o.Args[:1], o.Args[1:]
	}
	p := &sedParser{s: strings.Join(script, "\n"), files: map[string]io.WriteCloser{}, e: e}
	if o.Has('E') || o.Has('r') {
		p.syntax = posix.Extended
	}
	if strings.HasPrefix(p.s, "#n\n") || p.s == "#n" {
		e.Args = append(e.Args, "-n")
		o, _ = e.Options("nErsze:f:i::u", "")
	}
	if err := p.parse(); err != nil {
		return err
	}
	defer func() {
		for _, f := range p.files {
			f.Close()
		}
	}()
	s := &sedRun{e: e, o: o, cmds: p.cmds, out: e.Stdout, delim: '\n'}
	if o.Has('z') {
		s.delim = 0
	}
	if o.Has('i') || o.Has('s') {
		return s.each()
	}
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	s.name = names[0]
	missing := false
	for _, name := range names {
		r, err := e.Open(name)
		if err != nil {
			e.Warn("can't read "+name, err)
			missing = true
			continue
		}
		defer r.Close()
		s.in = append(s.in, bufio.NewReaderSize(r, 64<<10))
	}
	if err := s.run(); err != nil {
		return err
	}
	switch {
	case s.quit != nil && s.quit.Code > 0:
		return s.quit
	case missing:
		return tool.Code(2)
	}
	return nil
}

// each edits the files one by one, with -i in place.
func (s *sedRun) each() error {
	missing := false
	for _, name := range s.o.Args {
		data, err := s.e.ReadAll(name)
		if err != nil {
			s.e.Warn("can't read "+name, err)
			missing = true
			continue
		}
		var b bytes.Buffer
		s.name = name
		s.in, s.line, s.hold = []*bufio.Reader{bufio.NewReader(bytes.NewReader(data))}, 0, nil
		if s.o.Has('i') {
			s.out = bufio.NewWriter(&b)
		}
		if err := s.run(); err != nil {
			return err
		}
		if s.o.Has('i') {
			s.out.Flush()
			if suffix := s.o.Value('i'); suffix != "" {
				if err := s.e.Replace(backup(name, suffix), data); err != nil {
					return err
				}
			}
			if !bytes.Equal(b.Bytes(), data) {
				if err := s.e.Replace(name, b.Bytes()); err != nil {
					return err
				}
			}
		}
		if s.quit != nil {
			return s.quit
		}
	}
	if missing {
		return tool.Code(2)
	}
	return nil
}

// backup returns the name of the old file. A * in the suffix stands for the name.
func backup(name, suffix string) string {
	if strings.Contains(suffix, "*") {
		return path.Join(path.Dir(name), strings.ReplaceAll(suffix, "*", path.Base(name)))
	}
	return name + suffix
}

// next returns the next line, which stays as it is until the next call of next or atEnd. ok is false at the end.
func (s *sedRun) next() (line []byte, ok bool, err error) {
	for len(s.in) > 0 {
		line, err = s.in[0].ReadSlice(s.delim)
		if err == bufio.ErrBufferFull {
			long := bytes.Clone(line)
			line, err = s.in[0].ReadBytes(s.delim)
			line = append(long, line...)
		}
		if err != nil && err != io.EOF {
			return nil, false, err
		}
		if len(line) == 0 {
			s.in = s.in[1:]
			continue
		}
		s.line++
		s.e.World.Spend(len(line) + 64)
		s.noEnd = line[len(line)-1] != s.delim
		if !s.noEnd {
			line = line[:len(line)-1]
		}
		return line, true, nil
	}
	return nil, false, nil
}

func (s *sedRun) atEnd() bool {
	for len(s.in) > 0 {
		if _, err := s.in[0].Peek(1); err == nil {
			return false
		}
		s.in = s.in[1:]
	}
	return true
}

func (s *sedRun) put(text []byte) {
	s.e.World.Spend(len(text))
	s.out.Write(text)
	if !s.noEnd || !s.atEnd() {
		s.out.WriteByte(s.delim)
	}
}

func (s *sedRun) run() error {
	restart := false
	for s.quit == nil {
		if !restart {
			line, ok, err := s.next()
			if err != nil || !ok {
				return err
			}
			s.space = append(s.space[:0], line...)
		}
		s.replaced = false
		act, err := s.script()
		if err != nil {
			return err
		}
		restart = act == 'D'
		if act == 0 && !s.o.Has('n') {
			s.put(s.space)
		}
		for _, f := range s.after {
			f()
		}
		s.after = nil
		if _, err := s.out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

// script runs the commands on a line. It returns 0 to end the cycle as usual, 'd' to end it without
// output, and 'D' to start again without reading.
func (s *sedRun) script() (act byte, err error) {
	for pc := 0; pc < len(s.cmds); pc++ {
		c := s.cmds[pc]
		s.e.World.Spend(64)
		if c.name == ':' || c.name == '}' {
			continue
		}
		if s.selects(c) == c.not {
			if c.name == '{' {
				pc = c.target
			}
			continue
		}
		switch c.name {
		case 'b':
			pc = c.target - 1
		case 't', 'T':
			if s.replaced == (c.name == 't') {
				pc = c.target - 1
			}
			s.replaced = false
		case 'd':
			return 'd', nil
		case 'D':
			i := bytes.IndexByte(s.space, '\n')
			if i < 0 {
				return 'd', nil
			}
			s.space = s.space[i+1:]
			return 'D', nil
		case 'n', 'N':
			if s.atEnd() {
				if c.name == 'n' || !s.o.Has('n') {
					s.quit = &tool.Exit{}
					return 0, nil
				}
				return 'd', nil
			}
			if c.name == 'n' && !s.o.Has('n') {
				s.put(s.space)
			}
			for _, f := range s.after {
				f()
			}
			s.after = nil
			line, _, err := s.next()
			if err != nil {
				return 0, err
			}
			if c.name == 'N' {
				s.fits(len(s.space) + len(line))
				s.space = append(append(s.space, '\n'), line...)
			} else {
				s.space = append(s.space[:0], line...)
			}
		case 'q', 'Q':
			s.quit = &tool.Exit{Code: c.code}
			if c.name == 'Q' {
				return 'd', nil
			}
			return 0, nil
		case 'c':
			if c.two == nil || !c.active || c.not {
				s.out.WriteString(c.text)
			}
			return 'd', nil
		default:
			if err := s.simple(c); err != nil {
				return 0, err
			}
		}
	}
	return 0, nil
}

func (s *sedRun) simple(c *sedCmd) error {
	switch c.name {
	case 's':
		return s.substitute(c)
	case 'y':
		s.space = bytes.Map(func(r rune) rune {
			if to, ok := c.table[r]; ok {
				return to
			}
			return r
		}, s.space)
	case 'p':
		s.put(s.space)
	case 'P':
		first, _, more := bytes.Cut(s.space, []byte("\n"))
		if !more {
			s.put(first)
			break
		}
		s.out.Write(first)
		s.out.WriteByte(s.delim)
	case 'g':
		s.space = append([]byte(nil), s.hold...)
	case 'G':
		s.fits(len(s.space) + len(s.hold))
		s.space = append(append(s.space, '\n'), s.hold...)
	case 'h':
		s.hold = append([]byte(nil), s.space...)
	case 'H':
		s.fits(len(s.space) + len(s.hold))
		s.hold = append(append(s.hold, '\n'), s.space...)
	case 'x':
		s.space, s.hold = s.hold, s.space
	case 'z':
		s.space = nil
	case '=':
		fmt.Fprintf(s.out, "%d\n", s.line)
	case 'a':
		s.after = append(s.after, func() { s.out.WriteString(c.text) })
	case 'i':
		s.out.WriteString(c.text)
	case 'r':
		s.after = append(s.after, func() {
			if data, err := s.e.ReadAll(c.text); err == nil {
				s.out.Write(data)
			}
		})
	case 'w':
		_, err := c.file.Write(append(append([]byte(nil), s.space...), '\n'))
		return err
	case 'F':
		fmt.Fprintln(s.out, s.name)
	case 'l':
		s.list(c.code)
	}
	return nil
}

// list writes the line with invisible characters as escapes, in rows of some width. 0 is the width of option -l, and 1 is none.
func (s *sedRun) list(width int) {
	if width == 0 {
		width = 70
		if n, err := s.e.Int(s.o, 'l', 70); err == nil && n > 0 {
			width = n
		}
	}
	column := 0
	for _, c := range append(append([]byte(nil), s.space...), '$') {
		cell := string([]byte{c})
		if i := strings.IndexByte("\a\b\f\n\r\t\v\\", c); i >= 0 {
			cell = `\` + `abfnrtv\`[i:i+1]
		} else if c < 32 || c > 126 {
			cell = fmt.Sprintf(`\%03o`, c)
		}
		if width > 1 && column+len(cell) > width-1 {
			s.out.WriteString("\\\n")
			column = 0
		}
		column += len(cell)
		s.out.WriteString(cell)
	}
	s.out.WriteByte('\n')
}
