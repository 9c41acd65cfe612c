package posix

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// A pattern with a back reference or look-around is written for Go's parser with characters and group names that stand for
// them, and its tree is matched here.
const (
	backReference = 0x10FFF0 // plus the group's number: a character that is no text
	keepOut       = 0x10FFEF // \K
	ahead         = "ahead"  // the names of groups that are look-around
	notAhead      = "nahead"
	behind        = "behind"
	notBehind     = "nbehind"
	// maxBack is the most steps of one search. A pattern that goes back can take exponential time.
	maxBack = 2_000_000
)

// perl writes a pattern of Perl's for Go's parser.
func perl(p string) (string, error) {
	var b strings.Builder
	look := 0
	for i := 0; i < len(p); i++ {
		rest := p[i:]
		switch {
		case strings.HasPrefix(rest, `\K`):
			b.WriteRune(keepOut)
			i++
		case strings.HasPrefix(rest, `\h`):
			b.WriteString(`[ \t]`)
			i++
		case strings.HasPrefix(rest, `\R`):
			b.WriteString(`(?:\r\n|\n|\r)`)
			i++
		case strings.HasPrefix(rest, `\Z`):
			b.WriteString(`\z`)
			i++
		case rest[0] == '\\' && len(rest) > 1:
			if c := rest[1]; c >= '1' && c <= '9' {
				b.WriteRune(backReference + rune(c-'0'))
			} else if c == 'e' {
				b.WriteString(`\x1b`)
			} else {
				b.WriteString(rest[:2])
			}
			i++
		case rest[0] == '[':
			n := classEnd(rest)
			b.WriteString(strings.ReplaceAll(rest[:n], `\h`, ` \t`))
			i += n - 1
		case strings.HasPrefix(rest, "(?"):
			found := false
			for _, l := range []struct{ mark, name string }{{"(?=", ahead}, {"(?!", notAhead}, {"(?<=", behind}, {"(?<!", notBehind}} {
				if strings.HasPrefix(rest, l.mark) {
					look++
					fmt.Fprintf(&b, "(?P<%s%d>", l.name, look)
					i += len(l.mark) - 1
					found = true
					break
				}
			}
			if !found {
				b.WriteByte('(')
			}
		case (rest[0] == '+') && i > 0 && (p[i-1] == '*' || p[i-1] == '+' || p[i-1] == '?') && (i < 2 || p[i-2] != '\\'):
			// Possessive: giving back nothing is only faster.
		default:
			b.WriteByte(p[i])
		}
	}
	return b.String(), nil
}

// classEnd returns the length of the bracket expression at the beginning of s.
func classEnd(s string) int {
	i := 1
	if i < len(s) && s[i] == '^' {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for i < len(s) && s[i] != ']' {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "[:"):
			if end := strings.Index(s[i:], ":]"); end > 0 {
				i += end + 1
			}
		}
		i++
	}
	return min(i+1, len(s))
}

// special reports whether a tree has what Go's engine lacks.
func special(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		for _, r := range re.Rune {
			if r >= keepOut {
				return true
			}
		}
	}
	if re.Op == syntax.OpCapture && lookOf(re.Name) != "" {
		return true
	}
	for _, sub := range re.Sub {
		if special(sub) {
			return true
		}
	}
	return false
}

func lookOf(name string) string {
	for _, l := range []string{ahead, notAhead, behind, notBehind} {
		if rest, ok := strings.CutPrefix(name, l); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return l
		}
	}
	return ""
}

// matcher matches a tree by going back.
type matcher struct {
	root   *syntax.Regexp
	number map[int]int // the number of a group of the pattern by that of the tree
	groups int
}

func newMatcher(re *syntax.Regexp) (*matcher, error) {
	m := &matcher{root: re, number: map[int]int{}}
	depth := 0
	var walk func(re *syntax.Regexp) error
	walk = func(re *syntax.Regexp) error {
		if depth++; depth > 200 {
			return errors.New("the expression is nested too deeply")
		}
		defer func() { depth-- }()
		if re.Op == syntax.OpCapture && lookOf(re.Name) == "" {
			m.groups++
			m.number[re.Cap] = m.groups
		}
		for _, sub := range re.Sub {
			if err := walk(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return m, walk(re)
}

// search is one search.
type search struct {
	m     *matcher
	re    *Regexp
	s     []byte
	caps  []int
	from  int // where the match begins, which \K moves
	steps int
}

func (m *matcher) find(re *Regexp, line []byte, from int) []int {
	x := &search{m: m, re: re, s: line}
	for at := from; at <= len(line); {
		x.caps = make([]int, 2*m.groups+2)
		for i := range x.caps {
			x.caps[i] = -1
		}
		x.from = at
		end := -1
		if x.match(m.root, at, 0, func(i int) bool { end = i; return true }) {
			x.caps[0], x.caps[1] = x.from, end
			return x.caps
		}
		_, size := utf8.DecodeRune(line[at:])
		at += max(size, 1)
	}
	return nil
}

func (x *search) step(depth int) {
	x.steps++
	if x.steps&1023 == 0 {
		x.re.spend(16 << 10)
	}
	if x.steps > maxBack || depth > 2_000 {
		panic(tool.TooMuch("the expression takes too many steps to match"))
	}
}

// match matches re at i, and then what follows. depth is that of the recursion.
func (x *search) match(re *syntax.Regexp, i, depth int, next func(int) bool) bool {
	x.step(depth)
	depth++
	switch re.Op {
	case syntax.OpEmptyMatch:
		return next(i)
	case syntax.OpLiteral:
		return x.literal(re, re.Rune, i, depth, next)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		if i >= len(x.s) {
			return false
		}
		r, size := utf8.DecodeRune(x.s[i:])
		if re.Op == syntax.OpAnyCharNotNL && r == '\n' || re.Op == syntax.OpCharClass && !inClass(re.Rune, r) {
			return false
		}
		return next(i + size)
	case syntax.OpBeginText:
		return i == 0 && next(i)
	case syntax.OpBeginLine:
		return (i == 0 || x.s[i-1] == '\n') && next(i)
	case syntax.OpEndText:
		return i == len(x.s) && next(i)
	case syntax.OpEndLine:
		return (i == len(x.s) || x.s[i] == '\n') && next(i)
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		a, b := i > 0 && wordByte(x.s[i-1]), i < len(x.s) && wordByte(x.s[i])
		return (a != b) == (re.Op == syntax.OpWordBoundary) && next(i)
	case syntax.OpCapture:
		return x.group(re, i, depth, next)
	case syntax.OpConcat:
		return x.concat(re.Sub, i, depth, next)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if x.match(sub, i, depth, next) {
				return true
			}
		}
		return false
	case syntax.OpStar:
		return x.repeat(re, 0, -1, i, depth, next)
	case syntax.OpPlus:
		return x.repeat(re, 1, -1, i, depth, next)
	case syntax.OpQuest:
		return x.repeat(re, 0, 1, i, depth, next)
	case syntax.OpRepeat:
		return x.repeat(re, re.Min, re.Max, i, depth, next)
	}
	return false // OpNoMatch
}

func (x *search) concat(subs []*syntax.Regexp, i, depth int, next func(int) bool) bool {
	if len(subs) == 0 {
		return next(i)
	}
	return x.match(subs[0], i, depth, func(j int) bool { return x.concat(subs[1:], j, depth+1, next) })
}

func (x *search) repeat(re *syntax.Regexp, least, most, i, depth int, next func(int) bool) bool {
	sub, lazy := re.Sub[0], re.Flags&syntax.NonGreedy != 0
	more := func() bool {
		return most != 0 && x.match(sub, i, depth, func(j int) bool {
			if j == i && least <= 0 {
				return false // an empty repetition leads nowhere
			}
			return x.repeat(re, least-1, max(most-1, -1), j, depth+1, next)
		})
	}
	if least > 0 {
		return more()
	}
	if lazy {
		return next(i) || more()
	}
	return more() || next(i)
}

func (x *search) literal(re *syntax.Regexp, text []rune, i, depth int, next func(int) bool) bool {
	for at, want := range text {
		switch {
		case want == keepOut:
			was := x.from
			x.from = i
			if x.literal(re, text[at+1:], i, depth, next) {
				return true
			}
			x.from = was
			return false
		case want > backReference:
			g := int(want - backReference)
			if g > x.m.groups || x.caps[2*g] < 0 {
				return false
			}
			part := x.s[x.caps[2*g]:x.caps[2*g+1]]
			if len(x.s)-i < len(part) {
				return false
			}
			here := x.s[i : i+len(part)]
			if string(here) != string(part) && !(re.Flags&syntax.FoldCase != 0 && strings.EqualFold(string(here), string(part))) {
				return false
			}
			i += len(part)
		default:
			if i >= len(x.s) {
				return false
			}
			r, size := utf8.DecodeRune(x.s[i:])
			if r != want && !(re.Flags&syntax.FoldCase != 0 && unicode.ToLower(r) == unicode.ToLower(want)) {
				return false
			}
			i += size
		}
	}
	return next(i)
}

func (x *search) group(re *syntax.Regexp, i, depth int, next func(int) bool) bool {
	sub := re.Sub[0]
	switch look := lookOf(re.Name); look {
	case ahead, notAhead:
		ok := x.match(sub, i, depth, func(int) bool { return true })
		return ok == (look == ahead) && next(i)
	case behind, notBehind:
		ok := false
		for j := i; j >= 0 && !ok; j-- {
			ok = x.match(sub, j, depth, func(k int) bool { return k == i })
		}
		return ok == (look == behind) && next(i)
	}
	g := x.m.number[re.Cap]
	a, b := x.caps[2*g], x.caps[2*g+1]
	if x.match(sub, i, depth, func(j int) bool {
		c, d := x.caps[2*g], x.caps[2*g+1]
		x.caps[2*g], x.caps[2*g+1] = i, j
		if next(j) {
			return true
		}
		x.caps[2*g], x.caps[2*g+1] = c, d
		return false
	}) {
		return true
	}
	x.caps[2*g], x.caps[2*g+1] = a, b
	return false
}

func inClass(ranges []rune, r rune) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		if r >= ranges[i] && r <= ranges[i+1] {
			return true
		}
	}
	return false
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'z'
}
