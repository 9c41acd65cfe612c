//go:build !js

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

var hostileTexts = map[string]string{
	"\x1b]52;c;ZXZpbA==\x07":     "⟨U+001B⟩]52;c;ZXZpbA==⟨U+0007⟩", // fills the clipboard
	"\x1b[2J\x1b[H":              "⟨U+001B⟩[2J⟨U+001B⟩[H",          // paints over what is there
	"\x1b[8mhidden":              "⟨U+001B⟩[8mhidden",
	"\x1b]0;title\x1b\\":         "⟨U+001B⟩]0;title⟨U+001B⟩\\",
	"no\rok":                     "no⟨U+000D⟩ok",
	"abc\b\b\bxyz":               "abc⟨U+0008⟩⟨U+0008⟩⟨U+0008⟩xyz",
	"\u009b2J":                   "⟨U+009B⟩2J", // C1, as UTF-8
	"\x9b2J":                     "⟨0x9B⟩2J",   // and as a byte of its own
	"\x9d52;c;x\x9c":             "⟨0x9D⟩52;c;x⟨0x9C⟩",
	"a\x00b\x7f":                 "a⟨U+0000⟩b⟨U+007F⟩",
	"invoice\u202egpj.exe":       "invoice⟨U+202E⟩gpj.exe",
	"\u2066a\u2069\u200f\u061c":  "⟨U+2066⟩a⟨U+2069⟩⟨U+200F⟩⟨U+061C⟩",
	"a\u200bb\ufeff\u00ad":       "a⟨U+200B⟩b⟨U+FEFF⟩⟨U+00AD⟩",
	"a\u2028b\u2029c\u0085d":     "a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d",
	"\v\f\x0e\x0f\x1a":           "⟨U+000B⟩⟨U+000C⟩⟨U+000E⟩⟨U+000F⟩⟨U+001A⟩",
	"\U000e0041":                 "⟨U+E0041⟩", // a tag
	"line\n\ttab, Grüße, 漢字 🙂 é": "line\n\ttab, Grüße, 漢字 🙂 é",
	"a \ufffd stays":             "a \ufffd stays",
}

func TestAttackTerminal(t *testing.T) {
	count := attack.Start(t, "23")
	acts := func(text string) bool {
		return strings.ContainsFunc(text, func(c rune) bool {
			return c != '\n' && c != '\t' && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
		})
	}
	for text, want := range hostileTexts {
		got := printable(text)
		if got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
		count.Try(fmt.Sprintf("%q reaches the terminal", text), acts(got))
		count.Off(text, acts(text))
		// In pieces of each size, as an answer streams in.
		for size := 1; size <= len(text); size++ {
			var b bytes.Buffer
			w := &terminal{w: &b}
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if _, err := io.WriteString(w, rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.endLine(); err != nil || b.String() != want+"\n" {
				t.Errorf("%q in pieces of %d is shown as %q, want %q", text, size, b.String(), want)
			}
		}
	}
}

// What is asked shows all effects, and nothing in it acts on the terminal or passes for the
// end of the question.
func TestQuestionsInATerminal(t *testing.T) {
	for text := range hostileTexts {
		r := sandbox.Request{Tool: text, Title: "write " + text, Risk: protocol.RiskHigh, Diff: text + "\nyes, session, or why not? ", Agent: text, Untrusted: true, Destroys: true,
			Effects: []sandbox.Effect{{Text: "write " + text, InTitle: true}, {Text: "send " + text + " to api.example.com"}}}
		var b bytes.Buffer
		replies, err := ask(&b, bufio.NewReader(strings.NewReader("yes\n")), sandbox.Prompt{Requests: []sandbox.Request{r}})
		if err != nil || len(replies) != 1 || replies[0].Answer != protocol.AnswerOnce {
			t.Errorf("%+v, %v", replies, err)
		}
		shown := b.String()
		for _, c := range shown {
			if c != '\n' && c != '\t' && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%q: %U reaches the terminal", text, c)
			}
		}
		for _, want := range []string{"write " + inLine(text) + " (high risk)\n", "\n  - send " + inLine(text) + " to api.example.com\n", "  Content is lost.\n", "\n│ yes, session, or why not? \n"} {
			if !strings.Contains(shown, want) {
				t.Errorf("%q: the question does not say %q:\n%s", text, want, shown)
			}
		}
		if strings.Count(shown, "\nyes, session, or why not? ") != 1 || !strings.HasSuffix(shown, "\nyes, session, or why not? ") {
			t.Errorf("%q: something passes for the end of the question:\n%s", text, shown)
		}
	}
	if replies, err := ask(io.Discard, bufio.NewReader(strings.NewReader("no\n")), sandbox.Prompt{Requests: make([]sandbox.Request, 2)}); err != nil || len(replies) != 1 || replies[0].Answer != "" {
		t.Errorf("%+v, %v", replies, err)
	}
}

// A file's text and its name reach the terminal by the program itself.
func TestFilesInATerminal(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if err := os.WriteFile(filepath.Join(dir, "notes.md"), []byte("before \x1b]52;c;ZXZpbA==\x07 after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = out
	err = run(dir, "", os.DevNull, true, []string{"show notes.md"})
	os.Stdout = stdout
	if err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile(out.Name())
	if err != nil || bytes.ContainsAny(shown, "\x1b\x07") || !bytes.Contains(shown, []byte("after")) {
		t.Errorf("the terminal gets %q, %v", shown, err)
	}
}
