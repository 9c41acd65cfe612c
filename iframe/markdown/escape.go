package markdown

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// mark stands before each tag that comes from the text or from an extension, and
// not from our own rendering, until the balancer took it out. It is no UTF-8.
const mark = 0xFF

// sink collects a block's HTML in the one form that this package knows: tags in
// lower case, attributes in double quotes, and & < > " ' as x/net/html writes
// them. It also counts what is stopped on the way.
type sink struct {
	bytes.Buffer
	report Report
}

// escape writes text so that it is only text.
func (w *sink) escape(s []byte) {
	n := 0
	for i := 0; i < len(s); i++ {
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
		case 0xe2:
			if directional(s[i:]) {
				r, _ := utf8.DecodeRune(s[i:])
				name := fmt.Sprintf("U+%04X", r)
				w.Write(s[n:i])
				w.WriteString("⟨" + name + "⟩")
				w.report.add(Deception, name, 1)
				i += 2
				n = i + 1
			}
			continue
		case 0xf3:
			size, flag := tagRun(s, i)
			if size > 0 && !flag {
				w.Write(s[n:i])
				fmt.Fprintf(w, "⟨hidden characters: %d⟩", size/tagSize)
				w.report.add(Deception, "hidden characters", size/tagSize)
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

// directional reports whether s begins with a character that turns the direction
// of text behind the reader's back: embeddings and overrides (U+202A to U+202E),
// isolates (U+2066 to U+2069). Marks such as U+200E turn nothing but themselves.
func directional(s []byte) bool {
	return len(s) >= 3 && s[0] == 0xe2 && (s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae || s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)
}

// tagSize is the bytes of a tag character in UTF-8.
const tagSize = 4

// tagRun is the bytes of the tag characters (U+E0000 to U+E007F) at s[i]. No
// reader sees them, but a model that is given the text does: they carry words past
// the person. What they are for are the flags of regions: a black flag with at most
// six tags and a cancel tag.
func tagRun(s []byte, i int) (size int, flag bool) {
	end := i
	for len(s) >= end+tagSize && s[end] == 0xf3 && s[end+1] == 0xa0 && (s[end+2] == 0x80 || s[end+2] == 0x81) {
		end += tagSize
	}
	size = end - i
	return size, size <= 7*tagSize && bytes.HasSuffix(s[:i], []byte("\U0001F3F4")) && bytes.HasSuffix(s[:end], []byte("\U000E007F"))
}

// prose writes Markdown text: backslash escapes and references become what they
// stand for, and that is escaped.
func (w *sink) prose(s []byte) {
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

// reference resolves the entity or numeric reference at the start of s and
// returns its characters and its length, 0 if it is none.
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

// plainProse is what prose writes, as characters.
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
