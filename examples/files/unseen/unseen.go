// Package unseen makes characters visible that a reader does not see, such as the mark in a file name that
// turns its end around. It trusts nothing in a text, and changes no other character.
package unseen

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// hidden are characters that a reader does not see, or that change the order of others, by ranges.
var hidden = [][2]rune{{0, 8}, {0xb, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x2800, 0x2800},
	{0x3164, 0x3164}, {0xfe00, 0xfe0e}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffc}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}}

// Is reports whether a reader does not see a character, or it changes the order of others.
func Is(r rune) bool {
	for _, h := range hidden {
		if r >= h[0] && r <= h[1] {
			return true
		}
	}
	return false
}

// Piece is a part of a line: characters, or the mark of one that is not visible.
type Piece struct {
	Text string
	Mark bool // Text is the name of a character, such as U+202E
}

// Pieces returns a text in which each character that is not visible is a mark, such as U+202E. Runs of
// the same one are one mark with their number. A joiner or a variation between two visible characters
// that need it, as in a flag or a family, stays.
func Pieces(s string) (out []Piece) {
	from := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && n == 1
		if !bad && !Is(r) || r == 0x200d && joins(s[:i], s[i+n:]) {
			i += n
			continue
		}
		if from < i {
			out = append(out, Piece{s[from:i], false})
		}
		count := 0
		for i < len(s) {
			if next, m := utf8.DecodeRuneInString(s[i:]); next != r || m != n {
				break
			}
			i, count = i+n, count+1
		}
		out = append(out, Piece{name(r, bad, count), true})
		from = i
	}
	if from < len(s) {
		out = append(out, Piece{s[from:], false})
	}
	return out
}

// joins reports whether a joiner stands between two characters of the kind that it joins: emoji and
// letters beyond the Latin ones.
func joins(before, after string) bool {
	x, _ := utf8.DecodeLastRuneInString(before)
	y, _ := utf8.DecodeRuneInString(after)
	return x >= 0x600 && y >= 0x600 && !Is(x) && !Is(y) && x != utf8.RuneError && y != utf8.RuneError
}

func name(r rune, bad bool, count int) string {
	const digits = "0123456789ABCDEF"
	s := ""
	if bad {
		s = "not UTF-8"
	} else {
		for n := r; n > 0 || len(s) < 4; n >>= 4 {
			s = digits[n&15:n&15+1] + s
		}
		s = "U+" + s
	}
	if count > 1 {
		s += " ×" + strconv.Itoa(count)
	}
	return s
}

// Text returns a name with its hidden characters as marks, for a place where it is text alone.
func Text(s string) string {
	var b strings.Builder
	for _, p := range Pieces(s) {
		if p.Mark {
			b.WriteString("⟨" + p.Text + "⟩")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
