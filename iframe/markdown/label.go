package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// label is the text of a link as a browser shows it, as far as the HTML determines it. It
// serves to decide whether a reader could take a part of the text for a host. In case of doubt
// the answer is yes.
type label struct {
	text    string
	code    bool // all of the text is code
	moved   bool // elements may reorder, hide, shrink or extend the text
	counted bool // a list adds numbers and dots
}

// labelOf returns the label of a link from its content, which this package wrote.
func labelOf(html []byte) label {
	var l label
	var b strings.Builder
	code, outside := 0, false
	write := func(s string) {
		if code == 0 && strings.TrimSpace(s) != "" {
			outside = true
		}
		b.WriteString(s)
	}
	from := 0
	for t := range tags(html) {
		write(textOf(html[from:t.at]))
		from = t.to
		switch name := string(t.name); name {
		case "code":
			if t.end {
				code--
			} else {
				code++
			}
		case "img":
			write(" " + tagValue(html[t.at:t.to], "alt") + " ")
		case "br":
			write(" ")
		case "a", "abbr", "acronym", "b", "cite", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "s", "samp", "span", "strike", "strong", "time", "tt", "u", "var", "wbr":
		case "li":
			l.counted = true
		default:
			l.moved = true
		}
		if bytes.Contains(html[t.at:t.to], []byte(` dir="`)) {
			l.moved = true
		}
	}
	write(textOf(html[from:]))
	l.text = b.String()
	l.code = !outside && strings.TrimSpace(l.text) != ""
	return l
}

// textOf returns the characters of html, which must not contain tags.
func textOf(html []byte) string {
	if bytes.IndexByte(html, mark) >= 0 {
		html = bytes.ReplaceAll(html, []byte{mark}, nil)
	}
	return unescape(string(html))
}

// Characters in a skeleton that replace characters with a misleading look.
const (
	anything = utf8.RuneError // may look like anything
	dotLike  = '\uE000'       // looks like a dot, but browsers don't treat it as one
	styled   = '\uE001'       // looks like an ASCII letter or digit in bold, in a circle or raised
	dots     = "\u00b0\u00b7\u02d9\u02da\u0387\u0589\u05c5\u0660\u06d4\u06f0\u0701\u0702\u0f0b\u1427\u166e\u16eb\u17d4\u2022\u2024\u2025\u2027\u2219\u22c5\u22c4\u25cf\u25e6\u26ab\u2981\u2a2f\u2e30\u2e31\u2e33\u2e3c\u30fb\u318d\u4e36\ua4f8\ua4f9\ua60e\ua78f\u119e\u11a2\u2218\u2299\u22c6\u2a00\u29be\u29bf\u2b50\u2b51\ufe45\ufe52\uff65\U00010101\U0001016d\U0001d16d"
	slashes  = "\u1735\u2044\u2215\u2571\u27cb\u29f6\u29f8\u2cc6\u2e4a\u2f03\u3033\u30ce\u31d3\u4e3f\ua4fd\U0001d23a"
	colons   = "\u02d0\u02f8\u05c3\u0703\u0704\u16ec\u1803\u1809\u205a\u2236\u2982\ua4fd\ua789\ufe13\ufe30\ufe55"
	hyphens  = "\u02d7\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2cba\ufe58\ufe63"
	ats      = "\ufe6b"
	harmless = "“”„‟‘’‚‛«»‹›…†‡§¶¿¡′″‰、「」『』【】〈〉《》〔〕〖〗"
)

// skeleton returns the visible form of a text. Characters that look like ASCII become ASCII.
// Words are separated by spaces. A character that could look like a dot or a letter becomes the
// constant anything. hidden reports whether there are invisible characters between letters, and
// turns whether there are characters that change the text direction.
func skeleton(text string) (s []rune, hidden, turns bool) {
	gap := false // there was an invisible character here
	for _, r := range text {
		to := looks(r)
		switch {
		case to == 0:
			gap = true
			turns = turns || r == 0x200e || r == 0x200f || r == 0x61c
			continue
		case turnsText(r):
			turns = true
		}
		if r == '°' && len(s) > 0 && unicode.IsDigit(s[len(s)-1]) {
			to = ' ' // of a temperature
		}
		if r == 0x20e3 && len(s) > 0 && s[len(s)-1] < 0x80 {
			to = ' ' // the frame of a key
		} else if unicode.Is(unicode.M, r) {
			// A combining mark belongs to a letter of its own script. On an ASCII letter it
			// makes another letter.
			to = anything
			if n := len(s); n > 0 && s[n-1] > 0x24f && s[n-1] != anything && s[n-1] != dotLike {
				to = r
			}
		}
		if gap && to != ' ' && len(s) > 0 && s[len(s)-1] != ' ' {
			hidden = true
		}
		gap = false
		s = append(s, to)
	}
	return s, hidden, turns
}

// looks returns the character that r looks like, or 0 if r is invisible.
func looks(r rune) rune {
	switch {
	case r <= ' ', r == 0x7f, r == 0x85, r == 0xa0, r == 0x1680, r == 0x2028, r == 0x2029, r == 0x3000:
		return ' '
	case r < 0x80:
		return r
	case r >= 0xff01 && r <= 0xff5e: // the full-width forms of ASCII, which browsers map
		return r - 0xfee0
	case r == '。', r == '．', r == '｡':
		return '.'
	case unseen(r), unicode.Is(unicode.Zs, r): // a thin space does not separate words
		return 0
	case strings.ContainsRune(dots, r), shape(r):
		return dotLike
	case isStyled(r):
		return styled
	case strings.ContainsRune(slashes, r):
		return '/'
	case strings.ContainsRune(colons, r):
		return ':'
	case strings.ContainsRune(hyphens, r):
		return '-'
	case strings.ContainsRune(ats, r):
		return '@'
	case r == '‚':
		return ','
	case strings.ContainsRune(harmless, r), unicode.In(r, unicode.Sm, unicode.Sc, unicode.So, unicode.No):
		return ' '
	case compatible(r):
		return anything
	case unicode.Is(unicode.Lm, r) && !(r >= 0x3005 && r <= 0x30fe), unicode.IsPunct(r), unicode.Is(unicode.Sk, r):
		return anything
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
		return r
	}
	return anything
}

// shape reports whether r is a small circle, square or diamond.
func shape(r rune) bool {
	return r >= 0x25a0 && r <= 0x25ff || r >= 0x26aa && r <= 0x26ac || r >= 0x2b12 && r <= 0x2b2f || r >= 0x1f534 && r <= 0x1f53b || r >= 0x1f780 && r <= 0x1f7ff
}

// isStyled reports whether r is an ASCII letter or digit in another style.
func isStyled(r rune) bool {
	switch {
	case r < 0x2b0:
		return false
	case r >= 0x249c && r <= 0x24ea, r >= 0xfb00 && r <= 0xfb06, r >= 0x1d400 && r <= 0x1d7ff, r >= 0x1f110 && r <= 0x1f1ff, r >= 0x1fbf0 && r <= 0x1fbf9:
		return true
	}
	return unicode.Is(unicode.Lm, r) && unicode.Is(unicode.Latin, r)
}

// unseen reports whether a character is invisible: format characters, variation selectors,
// fillers and skin tones.
func unseen(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f, r == 0x3164, r == 0xffa0,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0x1f3fb && r <= 0x1f3ff, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// turnsText reports whether a character may make a browser lay out the text around it from
// right to left. These are the letters and digits of right-to-left scripts.
func turnsText(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc || r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// compatible reports whether a letter is another form of ordinary letters: ligatures, letters
// in circles, mathematical alphabets and half-width forms. Name systems map them.
func compatible(r rune) bool {
	switch {
	case r < 0x132:
		return false
	case r == 0x132, r == 0x133, r == 0x149, r == 0x17f, r >= 0x1c4 && r <= 0x1cc, r >= 0x1f1 && r <= 0x1f3,
		r >= 0x2100 && r <= 0x218b, r >= 0x3300 && r <= 0x33ff, r >= 0xfb00 && r <= 0xfb17, r >= 0xff66 && r <= 0xffdc,
		r >= 0x1d400 && r <= 0x1d7ff, r >= 0x1f100 && r <= 0x1f1ff, r >= 0x1fbf0 && r <= 0x1fbf9, r >= 0xf900 && r <= 0xfaff:
		return true
	}
	return false
}
