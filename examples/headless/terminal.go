package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// terminal writes text of a model, a file or a tool to a terminal. A terminal obeys escape
// sequences: one can move the cursor over a question, or fill the clipboard. So characters that a
// terminal does not print are written as their number.
//
// Each line begins with a mark, so that no text imitates a question. Lines are cut before they
// reach the width of the terminal, because the terminal would begin the next line without the mark.
type terminal struct {
	mu     sync.Mutex
	w      io.Writer
	rest   []byte // the incomplete character at the end of the last Write
	column int    // columns written of this line, with the mark, 0 at its beginning
}

const (
	mark    = "│ "
	columns = 78 // of a line, with the mark: a terminal has 80 or more
	tab     = 4  // columns between two tab stops
)

// Write writes p as printable text. It keeps an incomplete character at the end of p for the next
// call.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := append(t.rest, p...)
	cut := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if at := len(text) - i; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				cut = at
			}
			break
		}
	}
	t.rest = append([]byte(nil), text[cut:]...)
	return len(p), t.write(string(text[:cut]))
}

// endLine ends the text and its line.
func (t *terminal) endLine() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.finish("\n")
}

// own writes the program's own words from the beginning of a line on. The text after them begins a
// new line.
func (t *terminal) own(words string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.column > 0 || len(t.rest) > 0 {
		if err := t.finish("\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(t.w, words)
	return err
}

func (t *terminal) finish(end string) error {
	text := string(t.rest) + end
	t.rest = nil
	return t.write(text)
}

func (t *terminal) write(text string) error {
	var b strings.Builder
	begin := func() {
		if t.column == 0 {
			b.WriteString(mark)
			t.column = width(mark)
		}
	}
	for _, r := range printable(text) {
		begin()
		if r == '\n' {
			b.WriteByte('\n')
			t.column = 0
			continue
		}
		piece, wide := string(r), wideness(r)
		if r == '\t' {
			wide = tab - (t.column-width(mark))%tab
			piece = strings.Repeat(" ", wide)
		}
		if t.column+wide > columns {
			b.WriteByte('\n')
			t.column = 0
			begin()
		}
		b.WriteString(piece)
		t.column += wide
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

// wideness returns the most columns that a terminal gives to a character.
func wideness(r rune) int {
	if r < 0x1100 || r == '│' || r == '⟨' || r == '⟩' {
		return 1
	}
	return 2
}

func width(s string) (n int) {
	for _, r := range s {
		n += wideness(r)
	}
	return n
}

// marked returns the text as a terminal shows it, with the mark before each line.
func marked(text string) string {
	var b strings.Builder
	t := terminal{w: &b}
	_ = t.write(text) // a Builder returns no error
	if t.column > 0 {
		_ = t.write("\n")
	}
	return b.String()
}

// inLine returns words of the program's own, which may contain names chosen by others, as one line.
// A line longer than the terminal continues in an indented line.
func inLine(s string) string {
	var b strings.Builder
	at := 0
	for _, r := range strings.NewReplacer("\n", "⟨U+000A⟩", "\t", "⟨U+0009⟩").Replace(printable(s)) {
		if at+wideness(r) > columns {
			b.WriteString("\n      ")
			at = 6
		}
		b.WriteRune(r)
		at += wideness(r)
	}
	return b.String()
}

// printable returns s with each character that controls the terminal or the direction of text, and
// each byte that is not UTF-8, replaced by its number, such as "⟨U+001B⟩".
func printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, "⟨0x%02X⟩", s[i])
				continue
			}
		}
		if acts(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// acts reports whether r is a control character (C0, DEL, C1), a format character such as a
// direction mark, or a line separator. Newline and tab are exempt.
func acts(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
