// Package legible removes what a text says to a model but not to a person: invisible characters, which can
// spell hidden words, and characters that change the direction of the text around them. It is for texts of
// strangers that need not stay exact, such as the description of a server's tool. It trusts nothing.
package legible

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns a text without invisible characters. Line breaks and tabs stay, other blanks become spaces.
// Joiners stay between letters and emoji that need them, and a selector of an emoji's form stays once.
func Text(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r > '~') }) < 0 {
		return s
	}
	var b strings.Builder
	prev := rune(0) // the last one that stayed
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r <= '~':
		case r == 0x200c || r == 0x200d: // joiners
			next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			if prev < 0x600 && prev != 0xfe0f || prev == 0x200c || prev == 0x200d || next < 0x600 || !strconv.IsPrint(next) {
				continue
			}
		case r == 0xfe0f:
			if prev < 0xa9 && prev != '#' && prev != '*' && (prev < '0' || prev > '9') || prev == 0xfe0f {
				continue
			}
		case unicode.IsSpace(r):
			r = ' '
		case !strconv.IsPrint(r), blank(r):
			continue
		}
		b.WriteRune(r)
		prev = r
	}
	return b.String()
}

// blank reports whether r is invisible although Unicode has it as a letter, a mark or a symbol.
func blank(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0, r == 0xfffc,
		r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0100 && r <= 0xe01ef:
		return true
	}
	return false
}
