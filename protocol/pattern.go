package protocol

import (
	"io/fs"
	"strings"
	"unicode/utf8"
)

// Limits of patterns and paths. Matching takes at most a time proportional to their product.
const (
	MaxPattern = 1024 // bytes of one path pattern
	maxPath    = 4096 // bytes of a path
	maxHost    = 253  // bytes of a host name, as in DNS
)

// Pattern is a path pattern, with the meaning that patterns have in sandbox-runtime:
//
//	?      one character, not a slash     *      any number of them
//	**/    zero or more folders           **     anything
//	[abc]  one of these, [a-z] a range, never a slash (! and ^ stand for themselves)
//
// A pattern without any of these is literal and covers its subtree. A trailing /** after a literal
// means the same. "." is the whole mount. The only escape is a class of one character, such as [*] or
// []], which sandbox-runtime does not have.
// The zero Pattern matches nothing.
type Pattern struct {
	text    string
	literal string  // for a literal: its path, "." for the mount
	tokens  []token // for a glob
	folded  []token // for a glob, as a deny list matches it
	subtree bool
}

type tokenKind uint8

const (
	tokRune  tokenKind = iota
	tokOne             // ?
	tokStar            // *
	tokAny             // **
	tokDirs            // **/
	tokClass           // [abc]
)

type token struct {
	kind   tokenKind
	r      rune
	ranges []rune // pairs
}

// ParsePattern returns the pattern of text, which is relative to the mount. It returns
// [ErrInvalidParams] for absolute paths, ~, "..", empty elements, backslashes, NUL, text that is
// not UTF-8 and text over [MaxPattern] bytes.
func ParsePattern(text string) (Pattern, error) {
	bad := func(format string, args ...any) (Pattern, error) {
		return Pattern{}, Errorf(ErrInvalidParams, "pattern", quote(text), format, args...)
	}
	switch {
	case text == "":
		return bad("is empty; an empty pattern grants nothing, use . for the whole folder")
	case len(text) > MaxPattern:
		return bad("is longer than %d bytes", MaxPattern)
	case !utf8.ValidString(text):
		return bad("is not UTF-8")
	case strings.ContainsAny(text, "\\\x00"):
		return bad("has a backslash or a NUL; write folders with / and special characters as a class, [*]")
	case text == "~" || strings.HasPrefix(text, "~/"):
		return bad("a page knows no home folder; write it relative to the folder that was opened")
	case strings.HasPrefix(text, "/"):
		return bad("is absolute; write it relative to the folder that was opened")
	}
	p := Pattern{text: text}
	body := text
	for strings.HasPrefix(body, "./") {
		body = body[2:]
	}
	if body != "." && body != "" {
		body = strings.TrimSuffix(body, "/")
	}
	// Only once: the rest of a/**/** is a glob, as in sandbox-runtime.
	if rest, ok := strings.CutSuffix(body, "/**"); ok {
		body, p.subtree = rest, true
	}
	if body == "" {
		body = "."
	}
	p.subtree = p.subtree || body == "**"
	for _, elem := range strings.Split(body, "/") {
		if elem == "" || elem == ".." || elem == "." && body != "." {
			return bad("has an empty, . or .. element")
		}
	}
	if !strings.ContainsAny(body, "*?[]") {
		p.literal, p.subtree = body, true
		return p, nil
	}
	var problem string
	if p.tokens, problem = compile(body); problem != "" {
		return bad("%s", problem)
	}
	p.folded, _ = compile(fold(body))
	if p.folded == nil {
		p.folded = p.tokens
	}
	return p, nil
}

func compile(s string) (tokens []token, problem string) {
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '*':
			n := 1
			for i+n < len(s) && s[i+n] == '*' {
				n++
			}
			i += n
			switch {
			case n == 1:
				tokens = append(tokens, token{kind: tokStar})
			case i < len(s) && s[i] == '/':
				if k := len(tokens); k == 0 || tokens[k-1].kind != tokDirs { // two in a row are the same as one
					tokens = append(tokens, token{kind: tokDirs})
				}
				i++
			default:
				tokens = append(tokens, token{kind: tokAny})
			}
		case '?':
			tokens = append(tokens, token{kind: tokOne})
			i++
		case '[':
			t, n := compileClass(s[i:])
			if n == 0 {
				return nil, "has a [ without a closing ], or an empty or slash-holding class"
			}
			tokens = append(tokens, t)
			i += n
		case ']':
			return nil, "has a ] without an opening ["
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			tokens = append(tokens, token{kind: tokRune, r: r})
			i += n
		}
	}
	return tokens, ""
}

// compileClass reads the class at the start of s and returns it with its length, or 0 if s has
// none.
func compileClass(s string) (t token, n int) {
	t.kind = tokClass
	if strings.HasPrefix(s, "[]]") {
		t.ranges = []rune{']', ']'}
		return t, len("[]]")
	}
	for i := 1; i < len(s); {
		if s[i] == ']' {
			if len(t.ranges) == 0 {
				return t, 0
			}
			return t, i + 1
		}
		lo, size := utf8.DecodeRuneInString(s[i:])
		i += size
		hi := lo
		if i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			hi, size = utf8.DecodeRuneInString(s[i+1:])
			i += 1 + size
		}
		if lo == '/' || hi == '/' || hi < lo {
			return t, 0
		}
		t.ranges = append(t.ranges, lo, hi)
	}
	return t, 0
}

func (t token) one(r rune) bool {
	switch t.kind {
	case tokRune:
		return r == t.r
	case tokOne:
		return r != '/'
	case tokClass:
		if r == '/' {
			return false
		}
		for i := 0; i < len(t.ranges); i += 2 {
			if t.ranges[i] <= r && r <= t.ranges[i+1] {
				return true
			}
		}
	}
	return false
}

// String returns the text that the pattern was parsed from, or that [Pattern.WithText] gave it.
func (p Pattern) String() string { return p.text }

// WithText returns p with another text for String and for reasons, such as the text before its
// variables were expanded. It matches as before.
func (p Pattern) WithText(text string) Pattern {
	p.text = text
	return p
}

// Composed reports whether the pattern has no combining characters. Only such a pattern can be an
// entry of a deny list, because file systems change the others.
func (p Pattern) Composed() bool { return composed(p.text) }

// Subtree reports whether p covers root and every path below it.
func (p Pattern) Subtree(root string) bool { return p.subtree && p.Match(root) }

// Reaches reports whether p could match root or a path below it, in any spelling.
func (p Pattern) Reaches(root string) bool {
	if root == "." || p.literal == "." {
		return true
	}
	folded := fold(root)
	if p.literal != "" {
		return covers(folded, fold(p.literal)) || p.below(root)
	}
	return prefix(p.tokens, root+"/") || prefix(p.folded, folded+"/") || p.mayReach(foldWindows(root)+"/")
}

// Literal reports whether p has no wildcard.
func (p Pattern) Literal() bool { return p.literal != "" }

// Match reports whether p covers path, which must be in the form of [fs.ValidPath].
func (p Pattern) Match(path string) bool { return p.match(path, p.tokens, p.literal, p.subtree) }

// allows is Match for lists that allow reading or writing. A glob covers the paths that it matches
// and nothing below them, even with a trailing /**, as in sandbox-runtime.
func (p Pattern) allows(path string) bool { return p.match(path, p.tokens, p.literal, false) }

// MatchDeny is Match for deny lists. It also matches other spellings that some file system takes
// for the same name, and everything below a denied folder. In doubt it denies too much.
func (p Pattern) MatchDeny(path string) bool {
	literal := p.literal
	if literal != "" && literal != "." {
		literal = fold(literal)
	}
	if p.match(path, p.tokens, p.literal, true) {
		return true
	}
	folded := fold(path)
	if p.match(folded, p.folded, literal, true) {
		return true
	}
	windows := foldWindows(path)
	if windows != folded && p.match(windows, p.folded, literal, true) {
		return true
	}
	if strings.IndexByte(windows, '~') < 0 {
		return false
	}
	if literal != "" {
		_, whole := fits(windows, literal)
		return whole
	}
	ok, _ := simulate(p.folded, longNames(windows), true, true)
	return ok
}

// below reports whether the path of a literal pattern is folder, lies in it or contains it, in any
// spelling.
func (p Pattern) below(folder string) bool {
	if folder == "." || p.literal == "." {
		return true
	}
	rest, whole := fits(foldWindows(folder), foldWindows(p.literal))
	return rest == "" || whole
}

// mayReach reports whether a glob could match something that begins with the folded path. Short
// names of Windows in path stand for all their long names.
func (p Pattern) mayReach(path string) bool {
	_, alive := simulate(p.folded, longNames(path), false, true)
	return alive
}

// Each of these runes stands for any number of unknown characters of one name, in the result of
// longNames.
const (
	anyChars = rune(iota)
	anyButDots
	anyDots // and spaces: the characters that Windows drops at the start of a name
)

// unknown reports whether r stands for unknown characters and c could be one of them.
func unknown(r, c rune) bool {
	switch r {
	case anyChars:
		return c != '/'
	case anyButDots:
		return c != '/' && c != '.'
	case anyDots:
		return c == '.' || c == ' '
	}
	return false
}

// longNames replaces the parts of a path that are short names of Windows, such as GIT~1, by runes
// for unknown characters. A glob that could match the long name matches the result. Only the first
// character of the stem is certain, because Windows drops spaces and hashes the rest. A short name
// without an extension has a long name without a dot, except at its start.
func longNames(path string) string {
	elems := strings.Split(path, "/")
	for i, e := range elems {
		stem, rest, ok := strings.Cut(e, "~")
		digits, ext, _ := strings.Cut(rest, ".")
		if !ok || stem == "" || digits == "" || strings.Trim(digits, "0123456789") != "" || len(stem)+len(digits) > 7 || len(ext) > 3 {
			continue
		}
		first := stem[:1]
		if first == "_" || first[0] >= utf8.RuneSelf { // it may be a replacement for another character
			first = string(anyChars)
		}
		elems[i] = string(anyDots) + first
		if ext == "" {
			elems[i] += string(anyButDots)
		} else {
			elems[i] += string(anyChars) + "." + ext
		}
		if len(ext) == 3 {
			elems[i] += string(anyButDots)
		}
	}
	return strings.Join(elems, "/")
}

func (p Pattern) match(path string, tokens []token, literal string, subtree bool) bool {
	if literal != "" {
		return literal == "." || covers(literal, path)
	}
	if tokens == nil {
		return false // the zero Pattern
	}
	return glob(tokens, path, subtree)
}

// covers reports whether path is folder or lies in it.
func covers(folder, path string) bool {
	return folder == "." || path == folder || len(path) > len(folder) && path[len(folder)] == '/' && path[:len(folder)] == folder
}

// validPath returns an error for a path that is not in the form that patterns match.
func validPath(op, path string) error {
	switch {
	case len(path) > maxPath:
		return Errorf(ErrInvalidParams, op, quote(path), "the path is longer than %d bytes", maxPath)
	case !fs.ValidPath(path) || strings.ContainsAny(path, "\\\x00"):
		return Errorf(ErrInvalidParams, op, quote(path), "not a path inside the folder: use names parted by /, without a leading slash, . or ..")
	}
	return nil
}
