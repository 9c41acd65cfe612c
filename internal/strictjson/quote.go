package strictjson

import (
	"fmt"
	"unicode/utf8"
)

// AppendString appends s as a JSON string that is also a JavaScript string. Bytes that are not UTF-8
// become U+FFFD.
func AppendString(b []byte, s string) []byte { return appendString(b, s, 0x7f) }

// AppendScriptString is [AppendString] for text inside an HTML script: < is escaped too.
func AppendScriptString(b []byte, s string) []byte { return appendString(b, s, '<') }

func appendString(b []byte, s string, escaped byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' && c != escaped && c != '\x7f' {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\t':
				b = append(b, '\\', 't')
			case '\r':
				b = append(b, '\\', 'r')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r == '\u2028' || r == '\u2029' {
			b = append(b, s[start:i]...)
			if n == 1 {
				b = append(b, "\ufffd"...)
			} else {
				b = append(b, '\\', 'u', '2', '0', '2', hex[r&15])
			}
			start = i + n
		}
		i += n
	}
	return append(append(b, s[start:]...), '"')
}

// Quote returns s in double quotes, with everything but printable ASCII escaped, for the text of an
// error. It cuts s after 80 bytes, so that the text stays readable.
func Quote(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%+q… (%d bytes)", s[:most], len(s))
	}
	return fmt.Sprintf("%+q", s)
}
