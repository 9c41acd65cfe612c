package gate

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTitle is the maximum number of characters of a shown title. A longer title is complete at the
// beginning of the diff.
const MaxTitle = 240

// readable returns a request in which all characters are visible. Invisible characters, and those
// that change the direction of text, are replaced by escapes, and the title is one line. The
// arguments, needs and patterns are unchanged.
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
	r.Diff = emptied(marked(r.Diff, "\n\t"))
	return r
}

// maxBlank is the number of consecutive spaces, or empty lines, that are shown as they are. More of
// them could push the following text out of view.
const maxBlank = 40

// emptied replaces each long run of lines that are empty, or contain only a diff's + or -, by their
// number.
func emptied(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	var out, run strings.Builder
	n := 0
	flush := func(mark string) {
		if n > maxBlank {
			out.WriteString(mark + "⟨" + strconv.Itoa(n) + " empty lines⟩\n")
		} else {
			out.WriteString(run.String())
		}
		run.Reset()
		n = 0
	}
	mark := ""
	for line := range strings.Lines(text) {
		if body := strings.TrimRight(line, " \t\n"); len(body) == 0 || body == "+" || body == "-" {
			if body != mark && n > 0 {
				flush(mark)
			}
			mark = body
			run.WriteString(line)
			n++
			continue
		}
		flush(mark)
		out.WriteString(line)
	}
	flush(mark)
	return out.String()
}

// own returns a deep copy of a request, which an asker may keep and change.
func own(r Request) Request {
	r.Args, r.Needs, r.Patterns, r.Effects = Clone(r.Args), slices.Clone(r.Needs), slices.Clone(r.Patterns), slices.Clone(r.Effects)
	for i := range r.Effects {
		r.Effects[i].Needs = slices.Clone(r.Effects[i].Needs)
	}
	return r
}

// Clone returns a deep copy of a tree of JSON values.
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

// marked replaces invisible characters, except those in keep, and characters that cover their
// neighbours by escapes. It replaces a long run of spaces by their number.
func marked(s, keep string) string {
	if plain(s, keep) {
		return s
	}
	var b strings.Builder
	blanks, start, marks := 0, 0, 0
	for i, r := range s {
		switch {
		case r == ' ' || r == '\t' && strings.ContainsRune(keep, '\t'):
			if blanks++; blanks == 1 {
				start = i
			}
			continue
		case blanks > maxBlank:
			b.WriteString("⟨" + strconv.Itoa(blanks) + " spaces⟩")
		case blanks > 0:
			b.WriteString(s[start:i])
		}
		blanks = 0
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc) {
			marks++
		} else {
			marks = 0
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
		case !shows(r) && !strings.ContainsRune(keep, r) || overlays(r) || marks > maxMarks:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	switch {
	case blanks > maxBlank:
		b.WriteString("⟨" + strconv.Itoa(blanks) + " spaces⟩")
	case blanks > 0:
		b.WriteString(s[start:])
	}
	return b.String()
}

// maxMarks is the number of combining marks on one letter that are shown as they are. Scripts use
// up to four. A larger pile covers the lines above and below.
const maxMarks = 4

// overlays reports whether r is a mark that is drawn through or around the letter before it.
func overlays(r rune) bool { return r >= 0x0334 && r <= 0x0338 || r >= 0x20d0 && r <= 0x20f0 }

// plain reports whether marked would leave a text unchanged.
func plain(s, keep string) bool {
	blanks := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\t' && strings.IndexByte(keep, '\t') >= 0:
			if blanks++; blanks > maxBlank {
				return false
			}
			continue
		case c >= utf8.RuneSelf, (c < ' ' || c == 0x7f) && strings.IndexByte(keep, c) < 0:
			return false
		}
		blanks = 0
	}
	return true
}

// shows reports whether a character is visible. Some characters that Unicode classifies as letters
// are blank.
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
