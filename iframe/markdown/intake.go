package markdown

import (
	"bytes"
	"unicode/utf8"
)

// intake makes one kind of text out of what comes in, in any pieces: valid
// UTF-8, lines that end in \n, no control characters but \n and \t, no byte
// order mark in front. All else in this package relies on that: the byte 0xFF,
// for instance, can never come from the text.
type intake struct {
	text    []byte
	partial []byte // the first bytes of a character whose rest is to come
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
		// An invalid start may leave bytes that begin something else.
		all := append(bytes.Clone(in.partial), p[n:]...)
		in.partial = in.partial[:0]
		in.take(all)
		return
	}
	in.take(p)
}

func (in *intake) take(p []byte) {
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
		case c == '\n': // behind \r
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

// close says that nothing more comes: a character that was cut off is invalid,
// each of its bytes.
func (in *intake) close() {
	for range in.partial {
		in.text = append(in.text, replacement...)
	}
	in.partial = nil
}
