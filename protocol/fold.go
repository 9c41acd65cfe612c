package protocol

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// fold returns a form of s that is equal for all names that some file system takes for the same: upper
// and lower case, ligatures that case folding splits (APFS), characters that HFS+ ignores. Only lists
// that restrict are matched with it, never lists that allow.
func fold(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			b.WriteByte(byte(r))
		case ignorable(r):
		case r == 'ß' || r == 'ẞ':
			b.WriteString("ss")
		case 'ﬀ' <= r && r <= 'ﬆ':
			b.WriteString([]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-'ﬀ'])
		default:
			b.WriteRune(foldRune(r))
		}
	}
	return b.String()
}

// foldRune returns the smallest rune that differs from r only by case.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

func ignorable(r rune) bool {
	return r == 0xAD || 0x200B <= r && r <= 0x200F || 0x202A <= r && r <= 0x202E || 0x2060 <= r && r <= 0x206F ||
		r == 0xFEFF || 0xFE00 <= r && r <= 0xFE0F
}

// foldWindows is fold without the parts of each name that Windows ignores: dots and spaces at its
// end, and the name of a stream after a colon.
func foldWindows(s string) string {
	if !strings.ContainsAny(s, ". :") {
		return fold(s)
	}
	elems := strings.Split(fold(s), "/")
	for i, e := range elems {
		if colon := strings.IndexByte(e, ':'); colon > 0 {
			e = e[:colon]
		}
		if t := strings.TrimRight(e, ". "); t != "" {
			e = t
		}
		elems[i] = e
	}
	return strings.Join(elems, "/")
}

// composed reports whether s has none of the characters that Unicode normalisation changes in
// Latin, Greek, Cyrillic, Arabic, kana and Hangul: combining marks, conjoining jamo, compatibility
// ideographs. Some file systems take the composed and the decomposed name for the same file. The
// tables for a complete normalisation are larger than this package.
func composed(s string) bool {
	for _, r := range s {
		switch {
		case r < 0x300:
		case r <= 0x36F, 0x653 <= r && r <= 0x655, 0x1100 <= r && r <= 0x11FF, r == 0x3099, r == 0x309A,
			0xF900 <= r && r <= 0xFAFF, 0x2F800 <= r && r <= 0x2FA1F:
			return false
		}
	}
	return true
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
