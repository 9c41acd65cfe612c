package gate

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxTitle is how many characters of a title a person is shown; the whole of a longer one
// is at the head of the diff.
const MaxTitle = 240

// readable is a request whose words look like what they are: what can't be seen, or turns
// the direction of what follows, is written as an escape, and a title is a line. What is
// decided on, and its patterns, stay as they are.
func readable(r Request) Request {
	if utf8.RuneCountInString(r.Title) > MaxTitle || strings.ContainsAny(r.Title, "\r\n") {
		r.Diff = r.Title + "\n\n" + r.Diff
	}
	r.Title = marked(r.Title, "")
	if n := utf8.RuneCountInString(r.Title); n > MaxTitle {
		cut := []rune(r.Title)[:MaxTitle]
		r.Title = string(cut) + "… (" + strconv.Itoa(n-MaxTitle) + " characters more)"
	}
	r.Agent, r.Reason, r.Description = marked(r.Agent, ""), marked(r.Reason, ""), marked(r.Description, "\n\t")
	r.Diff = marked(r.Diff, "\n\t")
	return r
}

// own is a request that an asker may keep and change: nothing of the call's own is in it.
func own(r Request) Request {
	r.Args, r.Needs, r.Patterns, r.Effects = Clone(r.Args), slices.Clone(r.Needs), slices.Clone(r.Patterns), slices.Clone(r.Effects)
	for i := range r.Effects {
		r.Effects[i].Needs = slices.Clone(r.Effects[i].Needs)
	}
	return r
}

// Clone copies a tree of JSON values.
func Clone(tree any) any {
	switch v := tree.(type) {
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Clone(e)
		}
		return out
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = Clone(e)
		}
		return out
	}
	return tree
}

// marked escapes all that doesn't print, but for what is kept.
func marked(s, keep string) string {
	hidden := func(r rune) bool { return !shows(r) && !strings.ContainsRune(keep, r) }
	if utf8.ValidString(s) && strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch _, n := utf8.DecodeRuneInString(s[i:]); {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
		case hidden(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shows tells if a character is to be seen. Some that Unicode counts as letters are blank.
func shows(r rune) bool {
	switch {
	case r == ' ':
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0, r == 0xfffc,
		r >= 0xe0100 && r <= 0xe01ef:
		return false
	}
	return strconv.IsPrint(r)
}
