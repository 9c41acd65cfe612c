package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// terminal writes text of a model, a file or a tool to a terminal. A terminal obeys what it is
// sent: an escape sequence can move the cursor over a question, or fill the clipboard. So
// characters that a terminal does not print are written as their number, but line feed and tab.
type terminal struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end has not come yet
}

// Write never cuts a character that is split between two calls.
func (t *terminal) Write(p []byte) (int, error) {
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
	_, err := io.WriteString(t.w, printable(string(text[:cut])))
	return len(p), err
}

// endLine ends a text, and its line.
func (t *terminal) endLine() error {
	_, err := io.WriteString(t.w, printable(string(t.rest))+"\n")
	t.rest = nil
	return err
}

// printable writes each character that acts on the terminal or turns the direction of text, and
// each byte that is not UTF-8, as its number.
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

// acts reports whether r is a control (C0, DEL, C1), a format character such as the direction
// marks, or a separator of lines.
func acts(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// inLine is printable for what must stay in one line.
func inLine(s string) string {
	return strings.NewReplacer("\n", "⟨U+000A⟩", "\t", "⟨U+0009⟩").Replace(printable(s))
}

// question is a request as it is asked: the content first, with a mark before each line so that
// no content passes for the question, then the title and all effects, next to where the answer is typed.
func question(r sandbox.Request) string {
	var b strings.Builder
	b.WriteByte('\n')
	if r.Diff != "" {
		for line := range strings.Lines(printable(r.Diff)) {
			b.WriteString("│ " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	fmt.Fprintf(&b, "%s (%s risk)\n", inLine(r.Title), inLine(string(r.Risk)))
	for _, e := range r.Effects {
		if !e.InTitle {
			fmt.Fprintf(&b, "  - %s\n", inLine(e.Text))
		}
	}
	if r.Destroys {
		b.WriteString("  Content is lost.\n")
	}
	if r.Untrusted {
		fmt.Fprintf(&b, "  The tool %s comes from a server or from this folder; its words are its own.\n", inLine(r.Tool))
	}
	if r.Agent != "" {
		fmt.Fprintf(&b, "  The subagent %s asks.\n", inLine(r.Agent))
	}
	b.WriteString("yes, session, or why not? ")
	return b.String()
}

// ask shows a prompt and reads an answer for each request: but for these words, a no and why.
func ask(out io.Writer, in *bufio.Reader, p sandbox.Prompt) (replies []sandbox.Reply, _ error) {
	words := map[string]protocol.Answer{"y": protocol.AnswerOnce, "yes": protocol.AnswerOnce, "s": protocol.AnswerSession, "session": protocol.AnswerSession}
	for _, r := range p.Requests {
		if _, err := io.WriteString(out, question(r)); err != nil {
			return replies, err
		}
		text, err := in.ReadString('\n')
		if err != nil {
			return replies, nil // nobody there: the rest is rejected
		}
		text = strings.TrimSpace(text)
		replies = append(replies, sandbox.Reply{Answer: words[text], Reason: text})
	}
	return replies, nil
}
