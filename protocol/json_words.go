package protocol

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (p *parser) number() (any, *jsonError) {
	start := p.i
	if p.s[p.i] == '-' {
		p.i++
	}
	whole := p.digits()
	if whole == 0 || whole > 1 && p.s[p.i-whole] == '0' {
		return nil, p.bad("this is not a number")
	}
	if p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		if p.digits() == 0 {
			return nil, p.bad("this is not a number")
		}
	}
	if p.i < len(p.s) && p.s[p.i]|0x20 == 'e' {
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		if p.digits() == 0 {
			return nil, p.bad("this is not a number")
		}
	}
	if p.i-start < 16 && whole == p.i-start { // most numbers, but not -0
		n := 0
		for _, c := range []byte(p.s[start:p.i]) {
			n = 10*n + int(c-'0')
		}
		return float64(n), nil
	}
	if p.i-start > 400 {
		return nil, p.bad("the number is longer than 400 characters")
	}
	f, err := strconv.ParseFloat(p.s[start:p.i], 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, p.bad("the number is too large")
	}
	return f, nil
}

func (p *parser) digits() int {
	start := p.i
	for p.i < len(p.s) && '0' <= p.s[p.i] && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i - start
}

// str reads a string. p.i is the position of its opening quote.
func (p *parser) str() (string, *jsonError) {
	start, text, high := p.i+1, p.s, byte(0)
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			p.i = i + 1
			s := text[start:i]
			if high < utf8.RuneSelf {
				return s, nil
			}
			return s, p.valid(s)
		case c == '\\':
			p.i = i
			return p.escaped(start)
		case c < 0x20:
			p.i = i
			return "", p.bad("a control character in a string must be escaped")
		default:
			high |= c
		}
		if i >= p.look {
			if err := p.turn(i); err != nil {
				return "", err
			}
		}
	}
	return "", p.bad("the string has no end")
}

func (p *parser) escaped(start int) (string, *jsonError) {
	b := make([]byte, 0, 2*(p.i-start)+16)
	b = append(b, p.s[start:p.i]...)
	for p.i < len(p.s) {
		if p.i >= p.look {
			if err := p.turn(p.i); err != nil {
				return "", err
			}
		}
		c := p.s[p.i]
		p.i++
		switch {
		case c == '"':
			s := string(b)
			return s, p.valid(s)
		case c < 0x20:
			return "", p.bad("a control character in a string must be escaped")
		case c != '\\':
			b = append(b, c)
			continue
		}
		if p.i >= len(p.s) {
			break
		}
		c = p.s[p.i]
		p.i++
		switch c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, ok := p.hex4()
			if ok && 0xD800 <= r && r <= 0xDFFF {
				lo := rune(0)
				if ok = r < 0xDC00 && strings.HasPrefix(p.s[p.i:], `\u`); ok {
					p.i += 2
					lo, ok = p.hex4()
					ok = ok && 0xDC00 <= lo && lo <= 0xDFFF
				}
				if !ok {
					return "", p.bad("a lone surrogate is not text")
				}
				r = (r-0xD800)<<10 | (lo - 0xDC00) + 0x10000
			}
			if !ok {
				return "", p.bad("\\u must be followed by four hexadecimal digits")
			}
			b = utf8.AppendRune(b, r)
		default:
			return "", p.bad("no such escape")
		}
	}
	return "", p.bad("the string has no end")
}

// valid returns an error for a string that is not UTF-8.
func (p *parser) valid(s string) *jsonError {
	for len(s) > restBytes && p.rest != nil {
		n := restBytes
		for n > restBytes-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		if !utf8.ValidString(s[:n]) {
			break
		}
		if err := p.turn(p.i); err != nil {
			return err
		}
		s = s[n:]
	}
	if !utf8.ValidString(s) {
		return p.bad("the string is not UTF-8")
	}
	return nil
}

func (p *parser) hex4() (rune, bool) {
	if p.i+4 > len(p.s) {
		return 0, false
	}
	n := rune(0)
	for _, c := range []byte(p.s[p.i : p.i+4]) {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	p.i += 4
	return n, true
}
