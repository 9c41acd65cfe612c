package viewer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// format is what a text has besides its characters. An edited text is saved in the format of its file.
type format struct {
	name string // of the encoding
	bom  string
	ends string // "\n", "\r\n" or "\r", the most frequent line end
	mix  bool   // there are several kinds of line ends
}

// String returns the format as words, such as "UTF-8, Windows line ends".
func (f format) String() string {
	s := f.name
	if f.bom == "\ufeff" {
		s += " with BOM"
	}
	switch {
	case f.mix:
		s += ", mixed line ends"
	case f.ends == "\r\n":
		s += ", Windows line ends"
	case f.ends == "\r":
		s += ", old Mac line ends"
	}
	return s
}

// decode returns the characters of a text, and its format. The text keeps its line ends.
func decode(data []byte) (string, format, error) {
	f := format{name: "UTF-8", ends: "\n"}
	s := ""
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		var order binary.ByteOrder = binary.LittleEndian
		f.name = "UTF-16 LE"
		if data[0] == 0xfe {
			order, f.name = binary.BigEndian, "UTF-16 BE"
		}
		f.bom = string(data[:2])
		rest := data[2:]
		units := make([]uint16, len(rest)/2)
		for i := range units {
			units[i] = order.Uint16(rest[2*i:])
		}
		s = string(utf16.Decode(units))
		if len(rest)%2 != 0 || strings.ContainsRune(s, utf8.RuneError) {
			return s, f, errors.New("this text has parts that are no UTF-16")
		}
	default:
		if rest, ok := bytes.CutPrefix(data, []byte("\ufeff")); ok {
			f.bom, data = "\ufeff", rest
		}
		if s = string(data); !utf8.Valid(data) {
			return strings.ToValidUTF8(s, "\ufffd"), f, errors.New("this text has parts that are no UTF-8")
		}
	}
	crlf := strings.Count(s, "\r\n")
	lf, cr := strings.Count(s, "\n")-crlf, strings.Count(s, "\r")-crlf
	if crlf >= lf && crlf >= cr && crlf > 0 {
		f.ends = "\r\n"
	} else if cr > lf {
		f.ends = "\r"
	}
	f.mix = crlf > 0 && lf > 0 || crlf > 0 && cr > 0 || lf > 0 && cr > 0
	return s, f, nil
}

// plain returns a text with \n as the only line end, as a text field has it.
func plain(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// encode returns an edited text as bytes in the format of its file. was is the text of the file. The
// lines at the beginning and the end that are as they were keep their line ends, and new ones get the
// most frequent end.
func encode(edited, was string, f format) []byte {
	var b strings.Builder
	old, now := splitLines(was), splitLines(edited)
	head := 0
	for head < min(len(old), len(now)) && same(old[head], now[head]) {
		head++
	}
	tail := 0
	for tail < min(len(old), len(now))-head && same(old[len(old)-1-tail], now[len(now)-1-tail]) {
		tail++
	}
	for i, line := range now {
		switch body, ended := strings.CutSuffix(line, "\n"); {
		case i < head:
			b.WriteString(old[i])
		case i >= len(now)-tail:
			b.WriteString(old[len(old)-len(now)+i])
		case ended:
			b.WriteString(body + f.ends)
		default:
			b.WriteString(body)
		}
	}
	s := b.String()
	switch f.name {
	case "UTF-16 LE", "UTF-16 BE":
		var order binary.AppendByteOrder = binary.LittleEndian
		if f.name == "UTF-16 BE" {
			order = binary.BigEndian
		}
		out := []byte(f.bom)
		for _, u := range utf16.Encode([]rune(s)) {
			out = order.AppendUint16(out, u)
		}
		return out
	}
	return []byte(f.bom + s)
}

// same reports whether two lines are equal except for the kind of their end.
func same(a, b string) bool { return plain(a) == plain(b) }

// splitLines returns the lines of a text with their ends: \n, \r\n or \r.
func splitLines(s string) (out []string) {
	for s != "" {
		n := strings.IndexAny(s, "\r\n") + 1
		if n == 0 {
			n = len(s)
		} else if s[n-1] == '\r' && n < len(s) && s[n] == '\n' {
			n++
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}
