package viewer

import (
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// spansByLine returns the spans of each line. It reports false unless their texts, one after the other,
// are exactly the lines, and each class has letters, digits and dashes alone.
func spansByLine(spans []markdown.Span, lines []string) (out [][]markdown.Span, ok bool) {
	out = make([][]markdown.Span, len(lines))
	at, rest := 0, ""
	if len(lines) > 0 {
		rest = lines[0]
	}
	for _, s := range spans {
		if strings.Trim(s.Class, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" || len(s.Class) > 32 {
			return nil, false
		}
		for i, part := range strings.Split(s.Text, "\n") {
			if i > 0 {
				if at++; rest != "" || at >= len(lines) {
					return nil, false
				}
				rest = lines[at]
			}
			var is bool
			if rest, is = strings.CutPrefix(rest, part); !is {
				return nil, false
			}
			if part != "" {
				out[at] = append(out[at], markdown.Span{Class: s.Class, Text: part})
			}
		}
	}
	return out, rest == "" && at == len(lines)-1
}

// dump returns bytes in rows of 16: the offset, the bytes, and those of them that are ASCII.
func dump(data []byte) string {
	var b strings.Builder
	for i := 0; i < len(data); i += 16 {
		row := data[i:min(i+16, len(data))]
		ascii := make([]byte, len(row))
		for k, c := range row {
			if ascii[k] = c; c < ' ' || c > '~' {
				ascii[k] = '.'
			}
		}
		fmt.Fprintf(&b, "%08x  %-47s  %s\n", i, fmt.Sprintf("% x", row), ascii)
	}
	return b.String()
}
