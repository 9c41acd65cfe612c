// Package posix compiles the regular expressions of grep, sed and find: POSIX basic and extended ones with GNU's extensions,
// and most of Perl's. They run in Go's engine, whose time is proportional to the text. A pattern that the engine lacks, with
// a back reference or look-around, runs in a matcher that goes back, with a limit of steps.
package posix

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// Syntax is the syntax of a pattern.
type Syntax uint8

const (
	Basic    Syntax = iota // operators are \( \) \{ \} \| \+ \?
	Extended               // operators are ( ) { } | + ?
	Fixed                  // the text itself
	Perl                   // Perl's, with look-around, \K and back references
)

// The limits of an expression.
const (
	maxText  = 16 << 10 // bytes of its text
	maxSteps = 2_000    // steps once its repetitions are written out
	// maxReplace bounds the length of a line times the steps of an expression that finds places in it.
	maxReplace = 4 << 20
	// maxAtOnce bounds the same product for a match that can't be interrupted.
	maxAtOnce = 256 << 10
)

// Regexp is a compiled expression. Spend, if it is set, counts work and may let others run. Then a line that is too long
// for the expression ends the command with [tool.TooMuch].
type Regexp struct {
	Spend func(n int)

	re    *regexp.Regexp
	text  []byte   // if the pattern is this text alone
	dfa   *dfa     // nil for a pattern that has no tables
	back  *matcher // if the pattern has what Go's engine lacks
	steps int
}

// Compile returns the pattern. It matches the leftmost and longest text, as POSIX requires, except with the syntax Perl.
// flags are those of Go: i and m.
func Compile(pattern string, syntax Syntax, flags string) (*Regexp, error) {
	text, err := pattern, error(nil)
	switch syntax {
	case Fixed:
		text = regexp.QuoteMeta(pattern)
	case Basic, Extended:
		if text, err = translate(pattern, syntax == Extended); err != nil {
			return nil, err
		}
	case Perl:
		if text, err = perl(pattern); err != nil {
			return nil, err
		}
	}
	re, err := compile(text, syntax, flags)
	if lit, plain := Literal(pattern, syntax); err == nil && plain && flags == "" && lit != "" {
		re.text = []byte(lit)
	}
	return re, err
}

// Any returns an expression that matches where one of the patterns does. whole is for whole lines.
func Any(patterns []string, syntax Syntax, flags string, whole bool) (*Regexp, error) {
	parts := make([]string, 0, len(patterns))
	for _, p := range patterns {
		var err error
		switch syntax {
		case Fixed:
			p = regexp.QuoteMeta(p)
		case Basic, Extended:
			p, err = translate(p, syntax == Extended)
		case Perl:
			p, err = perl(p)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, "(?:"+p+")")
	}
	text := strings.Join(parts, "|")
	if len(parts) == 0 {
		text = "[^\\x00-\\x{10FFFF}]" // no pattern matches nothing
	}
	if whole {
		text = "^(?:" + text + ")$"
	}
	return compile(text, syntax, flags)
}

func compile(text string, kind Syntax, flags string) (*Regexp, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the expression is longer than %d bytes", maxText)
	}
	if flags != "" {
		text = "(?" + flags + ")" + text
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if special(parsed) {
		m, err := newMatcher(parsed)
		if err != nil {
			return nil, err
		}
		return &Regexp{back: m, steps: 8 * len(text)}, nil
	}
	prog, err := syntax.Compile(parsed.Simplify())
	most := maxSteps
	if len(text) > 1024 { // a long list of words has few steps for each byte
		most += len(text)
	}
	if err != nil || len(prog.Inst) > most {
		return nil, fmt.Errorf("the expression is too large once its repetitions are written out")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	if kind != Perl && alternates(parsed) {
		re.Longest() // without alternatives the greedy match is the longest, and its groups are those of POSIX
	}
	return &Regexp{re: re, dfa: newDFA(prog), steps: len(prog.Inst)}, nil
}

// NumSubexp returns the number of groups.
func (re *Regexp) NumSubexp() int {
	if re.back != nil {
		return re.back.groups
	}
	return re.re.NumSubexp()
}

// Match reports whether a line has a match. A long line is read character by character, so that others can run.
func (re *Regexp) Match(line []byte) bool {
	if re.dfa != nil && re.text == nil {
		re.spend(len(line) + 64)
		if found, ok := re.dfa.match(line, re); ok {
			return found
		}
		re.dfa = nil
	}
	if re.Spend == nil || len(line)*re.steps <= maxAtOnce {
		if re.back != nil {
			return re.Find(line, 0) != nil
		}
		re.spend(len(line) + 64)
		if re.text != nil {
			return bytes.Contains(line, re.text)
		}
		return re.re.Match(line)
	}
	if re.back != nil {
		return re.Find(line, 0) != nil
	}
	return re.re.MatchReader(&slowReader{re: re, s: line})
}

// Find returns the first match at or after from as pairs of offsets, of the match and of its groups, or nil.
func (re *Regexp) Find(line []byte, from int) []int {
	if re.Spend != nil && len(line)*re.steps > maxReplace {
		panic(tool.TooMuch("a line is too long for the expression"))
	}
	re.spend(4*len(line) + 64)
	if re.back != nil {
		return re.back.find(re, line, from)
	}
	m := re.re.FindSubmatchIndex(line[from:])
	for i := range m {
		if m[i] >= 0 {
			m[i] += from
		}
	}
	return m
}

func alternates(re *syntax.Regexp) bool {
	return re.Op == syntax.OpAlternate || slices.ContainsFunc(re.Sub, alternates)
}

// FindAll returns the matches of a line, at most n, which do not overlap. n below 0 is all.
func (re *Regexp) FindAll(line []byte, n int) [][]int {
	if re.Spend != nil && len(line)*re.steps > maxReplace {
		panic(tool.TooMuch("a line is too long for the expression"))
	}
	re.spend(4*len(line) + 64)
	if re.back == nil {
		return re.re.FindAllSubmatchIndex(line, n)
	}
	var all [][]int
	last := -1
	for at := 0; at <= len(line) && len(all) != n; {
		m := re.back.find(re, line, at)
		if m == nil {
			break
		}
		if m[1] > m[0] || m[0] != last { // an empty match right after a match does not count
			all = append(all, m)
		}
		last = m[1]
		if at = m[1]; m[1] == m[0] {
			_, size := utf8.DecodeRune(line[at:])
			at += max(size, 1)
		}
	}
	return all
}

// Each yields the matches that FindAll returns. A match is valid until the next one.
func (re *Regexp) Each(line []byte, n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		if re.text == nil {
			for _, m := range re.FindAll(line, n) {
				if !yield(m) {
					return
				}
			}
			return
		}
		if re.Spend != nil && len(line)*re.steps > maxReplace {
			panic(tool.TooMuch("a line is too long for the expression"))
		}
		re.spend(len(line) + 64)
		var m [2]int
		for at := 0; n != 0; n-- {
			i := bytes.Index(line[at:], re.text)
			if i < 0 {
				return
			}
			m = [2]int{at + i, at + i + len(re.text)}
			if at = m[1]; !yield(m[:]) {
				return
			}
		}
	}
}

func (re *Regexp) spend(n int) {
	if re.Spend != nil {
		re.Spend(n)
	}
}

type slowReader struct {
	re *Regexp
	s  []byte
}

func (r *slowReader) ReadRune() (rune, int, error) {
	if len(r.s) == 0 {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRune(r.s)
	r.s = r.s[n:]
	r.re.spend(n * r.re.steps)
	return c, n, nil
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
	depth, groups := 0, 0
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
				if int(c-'0') > groups {
					//lint:ignore ST1005 GNU's own text, which begins with a capital letter
					return "", fmt.Errorf("Invalid back reference")
				}
				b.WriteRune(backReference + rune(c-'0'))
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
				groups += strings.Count("(", string(c))
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
			if !extended {
				b.WriteString(`\*`)
			}
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
				groups++
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
