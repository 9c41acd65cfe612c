package text

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/userland/posix"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

func (s *sedRun) matches(a *sedAddr) bool {
	switch a.kind {
	case 'n':
		return s.line == a.a
	case '$':
		return s.atEnd()
	case '~':
		if a.b == 0 {
			return s.line == a.a
		}
		return s.line >= a.a && (s.line-a.a)%a.b == 0
	}
	re := s.pattern(a.re)
	return re != nil && re.Match(s.space)
}

func (s *sedRun) pattern(re *posix.Regexp) *posix.Regexp {
	if re != nil {
		s.last = re
	}
	return s.last
}

func (s *sedRun) selects(c *sedCmd) bool {
	switch {
	case c.one == nil:
		return true
	case c.two == nil:
		return s.matches(c.one)
	case !c.active:
		if !s.matches(c.one) {
			return false
		}
		c.active = true
		switch c.two.kind {
		case 'n':
			c.until = c.two.a
		case '+':
			c.until = s.line + c.two.a
		case 'm':
			c.until = s.line
			if c.two.a > 0 {
				c.until = (s.line + c.two.a - 1) / c.two.a * c.two.a
			}
		case '$':
			c.active = !s.atEnd()
			return true
		default:
			return true
		}
		c.active = s.line < c.until
		return true
	}
	switch c.two.kind {
	case 'n', '+', 'm':
		if s.line >= c.until {
			c.active = false
			return s.line == c.until
		}
	default:
		c.active = !s.matches(c.two)
	}
	return true
}

func (s *sedRun) substitute(c *sedCmd) error {
	re := s.pattern(c.re)
	if re == nil {
		return fmt.Errorf("no previous regular expression")
	}
	if !re.Match(s.space) {
		return nil
	}
	out := s.spare[:0]
	at, count, copied, done := 0, 0, 0, false
	n := -1
	if !c.global && c.nth <= 1 {
		n = 1
	}
	for m := range re.Each(s.space, n) {
		if count++; count < c.nth || done {
			continue
		}
		out = append(out, s.space[copied:m[0]]...)
		out = c.expand(out, s.space, m)
		s.e.World.Spend(64)
		s.fits(len(out))
		copied, done = m[1], !c.global
		at++
	}
	if at == 0 {
		return nil
	}
	s.spare, s.space, s.replaced = s.space, append(out, s.space[copied:]...), true
	if c.print {
		s.put(s.space)
	}
	if c.file != nil {
		_, err := c.file.Write(append(append([]byte(nil), s.space...), '\n'))
		return err
	}
	return nil
}

const maxSpace = 16 << 20 // bytes of the pattern space, and of the hold space

// fits ends the command if a space would have n bytes and that is too much.
func (s *sedRun) fits(n int) {
	if n > maxSpace {
		panic(tool.TooMuch("the line is longer than 16 MiB"))
	}
}

// expand appends the replacement to out, with its changes of case.
func (c *sedCmd) expand(out, text []byte, m []int) []byte {
	var fold, once byte
	for _, p := range c.to {
		switch p.fold {
		case 'U', 'L':
			fold, once = p.fold, 0
		case 'E':
			fold = 0
		case 'u', 'l':
			once = p.fold
		}
		piece := []byte(p.text)
		if p.group >= 0 && m[2*p.group] >= 0 {
			piece = text[m[2*p.group]:m[2*p.group+1]]
		}
		if len(piece) == 0 {
			continue
		}
		switch fold {
		case 'U':
			piece = bytes.ToUpper(piece)
		case 'L':
			piece = bytes.ToLower(piece)
		}
		if once != 0 {
			_, size := utf8.DecodeRune(piece)
			first := bytes.ToUpper(piece[:size])
			if once == 'l' {
				first = bytes.ToLower(piece[:size])
			}
			piece = append(first, piece[size:]...)
			once = 0
		}
		if len(out)+len(piece) > maxSpace { // before the copy: one replacement may name the whole line many times
			panic(tool.TooMuch("the line is longer than 16 MiB"))
		}
		out = append(out, piece...)
	}
	return out
}
