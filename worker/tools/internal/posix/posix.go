// Package posix compiles the regular expressions of grep and sed for Go's engine. Its time is
// proportional to the text, and therefore back references are not supported.
package posix

import (
	"fmt"
	"regexp"
	"strings"
)

// Syntax is the syntax of a pattern.
type Syntax uint8

const (
	Basic    Syntax = iota // operators are \( \) \{ \} \| \+ \?
	Extended               // operators are ( ) { } | + ?
	Fixed                  // the text itself
	Go                     // Go's own, which has most of Perl's
)

// Compile returns the pattern for Go's engine. It matches the leftmost and longest text, as POSIX
// requires, except with the syntax Go.
func Compile(pattern string, syntax Syntax, flags string) (*regexp.Regexp, error) {
	text, err := pattern, error(nil)
	switch syntax {
	case Fixed:
		text = regexp.QuoteMeta(pattern)
	case Basic, Extended:
		if text, err = translate(pattern, syntax == Extended); err != nil {
			return nil, err
		}
	}
	if flags != "" {
		text = "(?" + flags + ")" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s: invalid pattern: %s", pattern, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if syntax != Go {
		re.Longest()
	}
	return re, nil
}

// Literal returns pattern, and reports whether it has no operators, so that it matches only itself.
func Literal(pattern string, syntax Syntax) (string, bool) {
	if syntax == Fixed {
		return pattern, true
	}
	return pattern, !strings.ContainsAny(pattern, `\[].*^$+?(){}|`)
}

func translate(p string, extended bool) (string, error) {
	var b strings.Builder
	start := true // at the start ^ is an anchor and * is a literal
	depth := 0
	for i := 0; i < len(p); i++ {
		c := p[i]
		was := start
		start = false
		switch {
		case c == '[':
			n, err := bracket(&b, p[i:])
			if err != nil {
				return "", err
			}
			i += n - 1
		case c == '\\':
			if i++; i == len(p) {
				return "", fmt.Errorf("%s: Trailing backslash", p)
			}
			c = p[i]
			switch {
			case c >= '1' && c <= '9':
				return "", fmt.Errorf("%s: a back reference (\\%c) in a pattern is not supported, as matching takes time in proportion to the text; write the alternatives out", p, c)
			case strings.IndexByte("(){}|+?", c) >= 0:
				if extended {
					b.WriteByte('\\')
					b.WriteByte(c)
					break
				}
				if was && (c == '+' || c == '?') {
					b.WriteByte('\\')
				}
				if c == '{' {
					if was {
						return "", fmt.Errorf("%s: Invalid preceding regular expression", p)
					}
				}
				b.WriteByte(c)
				start = c == '(' || c == '|'
				depth += strings.Count("(", string(c)) - strings.Count(")", string(c))
			case c == '<' || c == '>':
				b.WriteString(`\b`)
			case c == '`':
				b.WriteString(`\A`)
			case c == '\'':
				b.WriteString(`\z`)
			case strings.IndexByte("wWsSbBntrfv", c) >= 0:
				b.WriteByte('\\')
				b.WriteByte(c)
			default:
				b.WriteString(quote(c))
			}
		case c == '*' && was:
			b.WriteString(`\*`)
		case c == '*':
			for i+1 < len(p) && p[i+1] == '*' {
				i++
			}
			b.WriteByte('*')
		case c == '^' && !extended && !was:
			b.WriteString(`\^`)
		case c == '^':
			b.WriteByte('^')
			start = true
		case c == '$' && !extended && i+1 < len(p) && !strings.HasPrefix(p[i+1:], `\)`) && !strings.HasPrefix(p[i+1:], `\|`):
			b.WriteString(`\$`)
		case !extended && strings.IndexByte("(){}|+?", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		case extended && c == '{' && !repeats(p[i:]):
			b.WriteString(`\{`)
		case extended && c == ')' && depth == 0:
			b.WriteString(`\)`)
		case extended:
			b.WriteByte(c)
			if c == '(' {
				depth++
			} else if c == ')' {
				depth--
			}
			start = c == '(' || c == '|'
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

func quote(c byte) string {
	if c < 0x80 && strings.IndexByte(`\.+*?()|[]{}^$`, c) >= 0 {
		return `\` + string(rune(c))
	}
	return string([]byte{c})
}

// repeats reports whether a brace begins a repetition.
func repeats(s string) bool {
	i := strings.IndexByte(s, '}')
	return i > 1 && strings.Trim(s[1:i], "0123456789,") == "" && s[1] != ','
}

// bracket writes a bracket expression in Go's form and says how long it was.
func bracket(b *strings.Builder, s string) (int, error) {
	i := 1
	b.WriteByte('[')
	if i < len(s) && s[i] == '^' {
		b.WriteByte('^')
		i++
	}
	for first := true; ; first = false {
		switch {
		case i >= len(s):
			return 0, fmt.Errorf("unmatched [, [^, [:, [., or [=")
		case s[i] == ']' && !first:
			b.WriteByte(']')
			return i + 1, nil
		case strings.HasPrefix(s[i:], "[:"):
			end := strings.Index(s[i:], ":]")
			if end < 0 {
				return 0, fmt.Errorf("unmatched [, [^, [:, [., or [=")
			}
			b.WriteString(s[i : i+end+2])
			i += end + 2
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 't'):
			b.WriteString(s[i : i+2])
			i += 2
		case strings.IndexByte(`\[]^`, s[i]) >= 0 || s[i] == '-' && (first || i+1 < len(s) && s[i+1] == ']'):
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteByte(s[i])
			i++
		}
	}
}
