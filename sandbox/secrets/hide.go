package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// needle is one form of a value. Letters are compared without their case.
type needle struct {
	text string
	by   string // the placeholder that replaces it
	base bool   // it is base64: the letters around it may hold the ends of the value
}

// needles returns the forms of a value that [Store.Hide] finds.
func needles(value, by string) []needle {
	backwards := []byte(value)
	slices.Reverse(backwards)
	out := []needle{{value, by, false}, {hex.EncodeToString([]byte(value)), by, false}, {string(backwards), by, false}}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for before := range 3 {
			// A group of three bytes becomes four letters. Only the letters that no other byte
			// has a part in are known.
			code := enc.EncodeToString(append(make([]byte, before), value...))
			from, to := (before*8+5)/6, (before+len(value))*8/6
			if n := (needle{code[from:to], by, true}); !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

func hide(s *search, text string, find []needle) (string, error) {
	var first [256][]int // the needles that begin with a byte
	for i, n := range find {
		c := lowerByte(n.text[0])
		first[c] = append(first[c], i)
	}
	var b strings.Builder
	at := 0 // text before at is in b, or replaced
	for i := 0; i < len(text); {
		if i&1023 == 0 && !s.spend(64) {
			return "", s.err
		}
		from, to, by := i, 0, ""
		for kind := range units {
			begins, width := unit(text, i, kind)
			if width == 0 {
				continue
			}
			for _, k := range first[lowerByte(begins)] {
				s.spend(8)
				end := find[k].match(s, text, i)
				if s.err != nil {
					return "", s.err
				}
				if end > to {
					to, by = end, find[k].by
					for find[k].base && from > at && baseLetter(text[from-1]) {
						from--
					}
					for find[k].base && to < len(text) && baseLetter(text[to]) {
						to++
					}
				}
			}
		}
		if to == 0 {
			i++
			continue
		}
		b.WriteString(text[at:from])
		b.WriteString(by)
		at, i = to, to
	}
	if at == 0 {
		return text, s.err
	}
	return b.String() + text[at:], s.err
}

// enough is the number of a needle's bytes that are searched for. A text with so many of them has its
// further ones hidden too, as far as they are there. It limits the work on a text that often begins like
// a long value.
const enough = 64

// match returns the end of the needle at a position of a text, or 0.
func (n *needle) match(s *search, text string, at int) int {
	// A position after each byte of the needle. Where a sign could be read in two ways, both are tried.
	ends := []int{at}
	for k := 0; k < len(n.text); k++ {
		if !s.spend(4) {
			return 0
		}
		var next []int
		for _, i := range ends {
			if k > 0 {
				i = skip(text, i, n.text[k])
			}
			for kind := range units {
				c, width := unit(text, i, kind)
				if width > 0 && lowerByte(c) == lowerByte(n.text[k]) && !slices.Contains(next, i+width) {
					next = append(next, i+width)
				}
			}
		}
		if len(next) == 0 && k < enough {
			return 0
		}
		if len(next) == 0 {
			break
		}
		ends = next
	}
	return slices.Max(ends)
}

// skip returns the position after characters that a server may have put between the letters of a
// value: spaces, tabs, line breaks, and invisible characters.
func skip(text string, i int, next byte) int {
	for n := 0; i < len(text) && n < 64; n++ {
		switch c := text[i]; {
		case c == ' ' && next == ' ':
			return i
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
			continue
		case c < utf8.RuneSelf:
			return i
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r != 0xAD && r != 0xFEFF && (r < 0x200B || r > 0x200F) && (r < 0x2060 || r > 0x2064) {
			return i
		}
		i += size
	}
	return i
}

// The ways to read the characters at a position.
const (
	plainUnit   = iota // one byte
	escapedUnit        // an escape, such as %41
	markedUnit         // any character after a backslash, as in Markdown
	units
)

// unit returns the byte at a position and the number of bytes that it takes in the text, or 0.
func unit(text string, i, kind int) (c byte, width int) {
	if i >= len(text) {
		return 0, 0
	}
	rest := text[i:]
	switch {
	case kind == plainUnit:
		return rest[0], 1
	case kind == markedUnit:
		if rest[0] == '\\' && len(rest) > 1 {
			return rest[1], 2
		}
		return 0, 0
	}
	switch rest[0] {
	case '+':
		return ' ', 1
	case '%':
		at := 1
		for range 3 { // %2541 is %41, encoded once more
			if !strings.HasPrefix(rest[at:], "25") || len(rest) < at+4 || !hexByte(rest[at+2:]) {
				break
			}
			at += 2
		}
		return number(rest, at, 2, 16)
	case '=': // quoted-printable
		return number(rest, 1, 2, 16)
	case '\\':
		return escape(rest)
	case '&':
		return entity(rest)
	}
	return 0, 0
}

// escape reads an escape of JSON or of a programming language.
func escape(rest string) (byte, int) {
	if len(rest) < 2 {
		return 0, 0
	}
	switch rest[1] {
	case 'x':
		return number(rest, 2, 2, 16)
	case 'u', 'U':
		if strings.HasPrefix(rest[2:], "00") {
			return number(rest, 4, 2, 16)
		}
	}
	return 0, 0
}

// entity reads a character reference of HTML.
func entity(rest string) (byte, int) {
	for _, e := range [...]struct {
		name string
		c    byte
	}{{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}} {
		if len(rest) >= len(e.name) && strings.EqualFold(rest[:len(e.name)], e.name) {
			return e.c, len(e.name)
		}
	}
	if len(rest) < 4 || rest[1] != '#' {
		return 0, 0
	}
	at, base := 2, 10
	if rest[2] == 'x' || rest[2] == 'X' {
		at, base = 3, 16
	}
	end := at
	for end < len(rest) && end < at+8 && rest[end] != ';' {
		end++
	}
	c, width := number(rest, at, end-at, base)
	if width > 0 && width < len(rest) && rest[width] == ';' {
		width++
	}
	return c, width
}

// number reads a character's number of n digits at a position.
func number(rest string, at, n, base int) (byte, int) {
	if n <= 0 || at+n > len(rest) {
		return 0, 0
	}
	v, err := strconv.ParseUint(rest[at:at+n], base, 8)
	if err != nil {
		return 0, 0
	}
	return byte(v), at + n
}

func hexByte(s string) bool {
	_, width := number(s, 0, min(2, len(s)), 16)
	return width == 2
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func baseLetter(c byte) bool {
	c = lowerByte(c)
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_=", c) >= 0
}
