package text

import (
	"strings"
)

func (p *sedParser) substitute(c *sedCmd) error {
	if p.i >= len(p.s) {
		return p.errorf("unterminated `s' command")
	}
	delim := p.s[p.i]
	pattern, err := p.delimited(true)
	if err != nil {
		return p.errorf("unterminated `s' command")
	}
	to, err := p.until(delim, false)
	if err != nil {
		return p.errorf("unterminated `s' command")
	}
	flags := ""
	for done := false; !done && p.i < len(p.s); {
		switch f := p.s[p.i]; {
		case f == 'g':
			c.global = true
		case f == 'p':
			c.print = true
		case f == 'i' || f == 'I':
			flags += "i"
		case f == 'm' || f == 'M':
			flags += "m"
		case f >= '1' && f <= '9':
			c.nth = p.number()
			continue
		case f == 'w':
			p.i++
			p.skip(" \t")
			if c.file, err = p.open(p.line()); err != nil {
				return err
			}
			continue
		case f == 'e':
			return p.errorf("the flag `e' is not supported")
		case strings.IndexByte(" \t\n;}#", f) >= 0:
			done = true
			continue
		default:
			return p.errorf("unknown option to `s'")
		}
		p.i++
	}
	if c.re, err = p.regexp(pattern, flags); err != nil {
		return err
	}
	c.to, err = replacement(to, delim)
	for _, part := range c.to {
		if err == nil && c.re != nil && part.group > c.re.NumSubexp() {
			err = p.errorf("invalid reference \\%d on `s' command's RHS", part.group)
		}
	}
	return err
}

func replacement(s string, delim byte) (parts []sedPart, err error) {
	var b strings.Builder
	flush := func(part sedPart) {
		if b.Len() > 0 {
			parts = append(parts, sedPart{text: b.String(), group: -1})
			b.Reset()
		}
		if part.group >= 0 || part.fold != 0 {
			parts = append(parts, part)
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '&' && delim != '&':
			flush(sedPart{group: 0})
		case c == '\\' && i+1 < len(s):
			i++
			switch c := s[i]; {
			case c >= '0' && c <= '9':
				flush(sedPart{group: int(c - '0')})
			case strings.IndexByte("ULulE", c) >= 0:
				flush(sedPart{group: -1, fold: c})
			case strings.IndexByte("ntrfva", c) >= 0:
				b.WriteString(unescape(`\` + string(c)))
			default:
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
	}
	flush(sedPart{group: -1})
	return parts, nil
}

func (p *sedParser) transliterate(c *sedCmd) error {
	delim := p.peek()
	from, err := p.delimited(false)
	if err != nil {
		return p.errorf("unterminated `y' command")
	}
	to, err := p.until(delim, false)
	if err != nil {
		return p.errorf("unterminated `y' command")
	}
	a, b := []rune(unescape(from)), []rune(unescape(to))
	if len(a) != len(b) {
		return p.errorf("strings for `y' command are different lengths")
	}
	c.table = map[rune]rune{}
	for i, r := range a {
		if _, ok := c.table[r]; !ok {
			c.table[r] = b[i]
		}
	}
	return nil
}
