package markdown

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// mark is a byte in front of each tag that comes from the text or from an extension. The
// balancer removes it. The byte never occurs in UTF-8.
const mark = 0xFF

// sink collects the HTML of a block in the only form that this package accepts: tags in lower
// case, attributes in double quotes, and & < > " ' escaped as x/net/html does. It also counts
// the content that is stopped.
type sink struct {
	bytes.Buffer
	report Report
	code   bool // the text is code
}

// escape writes s as text. It replaces the characters that have a meaning in HTML.
func (w *sink) escape(s []byte) {
	n := 0
	for i := 0; i < len(s); i++ {
		if plainByte(s[i]) {
			continue
		}
		var with string
		switch s[i] {
		case '&':
			with = "&amp;"
		case '<':
			with = "&lt;"
		case '>':
			with = "&gt;"
		case '"':
			with = "&#34;"
		case '\'':
			with = "&#39;"
		case 0xd8, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3:
			size, count := unshown(s, i, w.code)
			if count > 0 {
				r, one := utf8.DecodeRune(s[i:])
				name, kind := fmt.Sprintf("U+%04X", r), ""
				if size > one || one == tagSize {
					name, kind = "hidden characters: "+strconv.Itoa(count), "hidden characters"
				}
				w.Write(s[n:i])
				w.WriteString("⟨" + name + "⟩")
				w.report.add(Deception, cmp.Or(kind, name), count)
				n = i + size
			}
			i += max(0, size-1)
			continue
		default:
			if s[i] < ' ' && s[i] != '\n' && s[i] != '\t' || s[i] == 0x7f || s[i] == mark {
				with = replacement
				break
			}
			continue
		}
		w.Write(s[n:i])
		w.WriteString(with)
		n = i + 1
	}
	w.Write(s[n:])
}

func (w *sink) escapeString(s string) { w.escape(util.StringToReadOnlyBytes(s)) }

// plainByte reports whether a byte is a printable character of ASCII that HTML reads as itself everywhere. Most are.
func plainByte(c byte) bool {
	const special = 1<<'"' | 1<<'&' | 1<<'\'' | 1<<'<' | 1<<'>' // all are below 64
	return c >= ' ' && c < 0x7f && (c >= 64 || uint64(special)>>c&1 == 0)
}

// unshown examines the character at s[i] if it is invisible or changes the direction of text.
// size is the number of bytes that belong together. count is the number of characters among
// them to show to the reader, and 0 for characters that languages and emoji need. In code more
// of them are shown, because each character of code counts.
func unshown(s []byte, i int, code bool) (size, count int) {
	r, one := utf8.DecodeRune(s[i:])
	switch {
	case directional(r), code && (r == 0x200e || r == 0x200f || r == 0x61c):
		return one, 1
	case r >= 0xe0000 && r <= 0xe007f:
		size, flag := tagRun(s, i)
		if flag {
			return size, 0
		}
		return size, size / tagSize
	case !silent(r):
		return 0, 0
	}
	prev, _ := utf8.DecodeLastRune(s[:i])
	if i == 0 {
		prev = 0
	}
	only := true // of a run that may stay
	for end := i; end < len(s); end += one {
		var c rune
		if c, one = utf8.DecodeRune(s[end:]); !silent(c) {
			break
		}
		size = end + one - i
		count++
		only = only && stays(prev, c, code)
		prev = c
	}
	if only {
		return size, 0
	}
	return size, count
}

// directional reports whether a character changes the direction of text without a visible sign:
// embeddings and overrides (U+202A to U+202E), and isolates (U+2066 to U+2069). Marks such as
// U+200E affect only themselves.
func directional(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// silent reports whether a character is invisible. Such characters could pass hidden words to a
// model, or change the meaning of code.
func silent(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200d, r >= 0x2060 && r <= 0x2064, r >= 0x206a && r <= 0x206f, r == 0xfeff, selector(r), r >= 0xfff9 && r <= 0xfffb,
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x180e, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return false
}

// selector reports whether r selects the form of the character before it.
func selector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x180b && r <= 0x180d || r == 0x180f
}

// stays reports whether languages and emoji need the silent character r after prev.
func stays(prev, r rune, code bool) bool {
	switch {
	case prev == 0xfe0f && r == 0x200d: // a joined emoji, such as U+2764 FE0F 200D 1F525
		return true
	case prev < 0x80 && r == 0xfe0f: // keys
		return prev >= '0' && prev <= '9' || prev == '#' || prev == '*'
	case prev < 0xa9 || silent(prev):
		return false
	case selector(r):
		return !code || r == 0xfe0e || r == 0xfe0f
	case r == 0x200c, r == 0x200d:
		return prev >= 0x600
	case r == 0x200b, r == 0x2060:
		return !code
	}
	return false
}

// tagSize is the number of bytes of a tag character in UTF-8.
const tagSize = 4

// tagRun returns the number of bytes of the tag characters (U+E0000 to U+E007F) at s[i]. They
// are invisible to the user, but a model that receives the text can read them, so they can
// carry hidden words. Their purpose is the flags of regions, and flag reports whether they are
// one: a black flag, at most six tags and a cancel tag.
func tagRun(s []byte, i int) (size int, flag bool) {
	end := i
	for len(s) >= end+tagSize && s[end] == 0xf3 && s[end+1] == 0xa0 && (s[end+2] == 0x80 || s[end+2] == 0x81) {
		end += tagSize
	}
	size = end - i
	return size, size <= 7*tagSize && bytes.HasSuffix(s[:i], []byte("\U0001F3F4")) && bytes.HasSuffix(s[:end], []byte("\U000E007F"))
}

// prose writes Markdown text. It resolves backslash escapes and references, and escapes the
// result.
func (w *sink) prose(s []byte) {
	if bytes.IndexByte(s, '\\') < 0 && bytes.IndexByte(s, '&') < 0 {
		w.escape(s)
		return
	}
	n := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) && util.IsPunct(s[i+1]) {
				w.escape(s[n:i])
				n = i + 1
				i++
			}
		case '&':
			if chars, size := reference(s[i:]); size > 0 {
				w.escape(s[n:i])
				w.escape(chars)
				i += size - 1
				n = i + 1
			}
		}
	}
	w.escape(s[n:])
}

// reference resolves the entity or numeric reference at the start of s. It returns its
// characters and its length, and the length 0 if there is none.
func reference(s []byte) ([]byte, int) {
	end := bytes.IndexByte(s[:min(len(s), 40)], ';')
	if end < 2 {
		return nil, 0
	}
	body := s[1:end]
	if body[0] != '#' {
		for _, c := range body {
			if !isLetter(c) && !isDigit(c) {
				return nil, 0
			}
		}
		if e, ok := util.LookUpHTML5EntityByName(string(body)); ok {
			return e.Characters, end + 1
		}
		return nil, 0
	}
	digits, base, most := body[1:], 10, 7
	if len(digits) > 0 && digits[0]|0x20 == 'x' {
		digits, base, most = digits[1:], 16, 6
	}
	if len(digits) == 0 || len(digits) > most {
		return nil, 0
	}
	v, err := strconv.ParseUint(string(digits), base, 32)
	if err != nil {
		return nil, 0
	}
	r := rune(v)
	if v == 0 || v > utf8.MaxRune || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return utf8.AppendRune(nil, r), end + 1
}

// plainProse appends the characters that prose would write, without escaping them.
func plainProse(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]) {
			i++
		} else if s[i] == '&' {
			if chars, size := reference(s[i:]); size > 0 {
				dst = append(dst, chars...)
				i += size - 1
				continue
			}
		}
		dst = append(dst, s[i])
	}
	return dst
}

func (w *sink) attr(name, val string) {
	w.WriteString(" " + name + `="`)
	w.escapeString(val)
	w.WriteByte('"')
}
