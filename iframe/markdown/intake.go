package markdown

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// intake normalises the input, which may arrive in pieces of any size. Its text is valid UTF-8,
// its lines end in \n, it has no control characters except \n and \t, and no byte order mark at
// its start. The rest of this package relies on this. For example, the byte 0xFF never comes
// from the text.
type intake struct {
	text    []byte
	partial []byte // the first bytes of a character whose rest has not arrived
	cr      bool   // the last byte was \r
	begun   bool
}

const replacement = "\uFFFD"

func (in *intake) write(p []byte) {
	if len(in.partial) > 0 {
		n := 0
		for !utf8.FullRune(in.partial) && n < len(p) {
			in.partial = append(in.partial, p[n])
			n++
		}
		if !utf8.FullRune(in.partial) {
			return
		}
		// After an invalid start, the rest of the bytes may begin another character.
		all := append(bytes.Clone(in.partial), p[n:]...)
		in.partial = in.partial[:0]
		in.take(all)
		return
	}
	in.take(p)
}

func (in *intake) take(p []byte) {
	in.text = slices.Grow(in.text, len(p))
	for len(p) > 0 {
		n := 0
		for n < len(p) && (p[n] >= ' ' && p[n] < 0x7f || p[n] == '\n' && !in.cr || p[n] == '\t') {
			in.cr = false
			n++
		}
		if n > 0 {
			in.begun = true
			in.text = append(in.text, p[:n]...)
			p = p[n:]
			continue
		}
		c := p[0]
		cr := in.cr
		in.cr = false
		switch {
		case c == '\n': // after \r
			if !cr {
				in.text = append(in.text, '\n')
			}
			p = p[1:]
		case c == '\r':
			in.text = append(in.text, '\n')
			in.cr = true
			p = p[1:]
		case c == '\f':
			in.text = append(in.text, ' ')
			p = p[1:]
		case c < utf8.RuneSelf:
			in.text = append(in.text, replacement...)
			p = p[1:]
		default:
			if !utf8.FullRune(p) {
				in.partial = append(in.partial[:0], p...)
				in.cr = false
				return
			}
			r, size := utf8.DecodeRune(p)
			switch {
			case r == utf8.RuneError && size == 1:
				in.text = append(in.text, replacement...)
			case r == '\uFEFF' && !in.begun:
			default:
				in.text = append(in.text, p[:size]...)
			}
			p = p[size:]
		}
		in.begun = true
	}
}

// close ends the input. Each byte of an incomplete character at the end becomes a replacement
// character.
func (in *intake) close() {
	for range in.partial {
		in.text = append(in.text, replacement...)
	}
	in.partial = nil
}
