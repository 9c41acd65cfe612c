package protocol_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"src", []string{"src", "src/a", "src/a/b"}, []string{"srcs", "a/src", ".", "Src", "sr"}},
		{"./src/", []string{"src", "src/a"}, []string{"srcs"}},
		{"src/**", []string{"src", "src/a", "src/a/b"}, []string{"srcs", "sr"}},
		{".", []string{".", "a", "a/b"}, nil},
		{"**", []string{".", "a", "a/b"}, nil},
		{"*", []string{"a", ".hidden"}, []string{"a/b"}},
		{"*.md", []string{"a.md", ".md"}, []string{"a/b.md", "a.mdx", "a.md/b"}},
		{"**/*.md", []string{"a.md", "a/b.md", "a/b/c.md"}, []string{"a.mdx", "a.md/b"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"a/xb", "ab", "b"}},
		{"a**b", []string{"ab", "a/b", "axx/yb"}, []string{"a", "b", "ba"}},
		{"a/**b", []string{"a/b", "a/xb", "a/x/b", "a/x/yb"}, []string{"ab"}},
		{"a?c", []string{"abc", "aéc"}, []string{"ac", "a/c", "abbc"}},
		{"[abc].txt", []string{"a.txt", "c.txt"}, []string{"d.txt", "ab.txt", "/.txt"}},
		{"[a-c]x", []string{"ax", "bx", "cx"}, []string{"dx", "-x"}},
		{"[!a-c]x", []string{"ax", "!x"}, []string{"dx", "-x", "/x"}}, // as sandbox-runtime reads them: members
		{"[^a]x", []string{"ax", "^x"}, []string{"bx"}},
		{"[*]x", []string{"*x"}, []string{"ax"}},
		{"[[]id[]]/[]]", []string{"[id]/]"}, []string{"id/]", "[id]/a", "[id]", "[id]/]/a"}},
		{"[]]/**", []string{"]", "]/a"}, []string{"a", "]]"}},
		{"[a-]x", []string{"ax", "-x"}, []string{"bx"}},
		{"log*/**", []string{"log", "logs", "logs/a", "logs/a/b"}, []string{"a/logs", "lo"}},
		{"é*", []string{"é", "éa"}, []string{"e"}},
		{"a*/b", []string{"a/b", "ax/b"}, []string{"a/x/b", "ab"}},
		{"**/**/a", []string{"a", "x/a", "x/y/a"}, []string{"xa"}},
		{"***", []string{"a/b", "."}, nil},
	} {
		p, err := protocol.ParsePattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, path := range c.yes {
			if !p.Match(path) {
				t.Errorf("%s does not match %s", c.pattern, path)
			}
		}
		for _, path := range c.no {
			if p.Match(path) {
				t.Errorf("%s matches %s", c.pattern, path)
			}
		}
	}
	if (protocol.Pattern{}).Match("a") || (protocol.Pattern{}).Match(".") {
		t.Error("the zero pattern matches")
	}
}

func TestBadPatterns(t *testing.T) {
	for _, text := range []string{
		"", "/", "/etc", "~", "~/x", "..", "a/../b", "../a", "a//b", "a/./b", "a\\b", "a\x00b", "[", "a[", "[]", "[]a]", "[][]", "[a", "a]", "[/]", "[z-a]",
		"[a/b]", "\xff", strings.Repeat("a", protocol.MaxPattern+1),
	} {
		if _, err := protocol.ParsePattern(text); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := protocol.ParsePattern(strings.Repeat("a", protocol.MaxPattern)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}

// The same meaning, said with a regular expression.
func reference(pattern string) *regexp.Regexp {
	pattern, subtree := strings.CutSuffix(pattern, "/**")
	var b strings.Builder
	b.WriteByte('^')
	for i := 0; i < len(pattern); {
		rest := pattern[i:]
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:(?s:.*)/)?")
			i += 3
		case strings.HasPrefix(rest, "**"):
			b.WriteString("(?s:.*)")
			i += 2
		case rest[0] == '*':
			b.WriteString("[^/]*")
			i++
		case rest[0] == '?':
			b.WriteString("[^/]")
			i++
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
			i++
		}
	}
	if subtree || !strings.ContainsAny(pattern, "*?") {
		b.WriteString("(?:/(?s:.*))?")
	}
	b.WriteByte('$')
	return regexp.MustCompile(b.String())
}

func TestPatternsAgainstRegexp(t *testing.T) {
	words := []string{"a", "b", "*", "**", "?", "ab", "a*", "*b", "**b", "a**"}
	paths := []string{"a", "b", "ab", "a/b", "b/a", "a/b/a", "ab/ab", "a/a/b/b", "ba", "aab", "aa/bb", "a/ab/b", "aXb", "b/b/b/b"}
	n := 0
	for _, x := range words {
		for _, y := range append([]string{""}, words...) {
			for _, z := range append([]string{""}, words...) {
				if y == "" && z != "" {
					continue
				}
				pattern := strings.TrimRight(x+"/"+y+"/"+z, "/")
				if strings.HasSuffix(pattern, "**/**") || pattern == "**" || strings.HasPrefix(pattern, "**/**") {
					continue // "." and doubled stars have their own rows above
				}
				p, err := protocol.ParsePattern(pattern)
				if err != nil {
					t.Fatal(err)
				}
				re := reference(pattern)
				for _, path := range paths {
					n++
					if p.Match(path) != re.MatchString(path) {
						t.Errorf("%s on %s: %t, and %s says otherwise", pattern, path, p.Match(path), re)
					}
				}
			}
		}
	}
	if n < 5000 {
		t.Fatalf("only %d compared", n)
	}
}

func TestNoPatternIsSlow(t *testing.T) {
	p, err := protocol.ParsePattern(strings.Repeat("**/*a", 200))
	if err != nil {
		t.Fatal(err)
	}
	// A matcher that goes back tries some 2^200 ways: the test's own time limit would end it.
	if p.Match(strings.Repeat("a/", 2000) + "b") {
		t.Error("matches")
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"src/**", "**/*.md", "a[!b-c]?", "[*]", "ß/ﬁ", "a**b/**/c"} {
		f.Add(s, "src/a.md")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		p, err := protocol.ParsePattern(text)
		if err != nil {
			return
		}
		_ = p.Match(path)
		if p.Literal() && p.Match(path) && path != "." {
			lit := strings.TrimSuffix(strings.TrimSuffix(strings.TrimLeft(text, "./"), "/"), "/**")
			if lit != "" && lit != "**" && !strings.Contains(path, strings.Trim(lit, "/.*")) {
				t.Errorf("literal %q covers %q", text, path)
			}
		}
		pol := protocol.FSPolicy{DenyRead: []protocol.Pattern{p}, AllowWrite: []protocol.Pattern{p}}
		if p.Match(path) && pol.Check(protocol.OpRead, path) == nil {
			t.Errorf("%q is matched by %q, and not denied", path, text)
		}
		if pol.Check(protocol.OpWrite, path) == nil && !p.Match(path) {
			t.Errorf("%q is written to without a pattern that allows it", path)
		}
	})
}
