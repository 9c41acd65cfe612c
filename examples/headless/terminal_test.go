//go:build !js

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/provider"
)

var hostileTexts = map[string]string{
	"\x1b]52;c;ZXZpbA==\x07":     "⟨U+001B⟩]52;c;ZXZpbA==⟨U+0007⟩", // fills the clipboard
	"\x1b[2J\x1b[H":              "⟨U+001B⟩[2J⟨U+001B⟩[H",          // overwrites the screen
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
			lines := mark + strings.ReplaceAll(strings.ReplaceAll(want, "\n", "\n"+mark), "\t", "    ") + "\n"
			if err := w.endLine(); err != nil || b.String() != lines {
				t.Errorf("%q in pieces of %d is shown as %q, want %q", text, size, b.String(), lines)
			}
		}
	}
}

// person is a user who reads the terminal and types. Each question receives the next of the
// answers, with # replaced by the question's number. After the last answer the input ends.
type person struct {
	shown   strings.Builder
	answers []string
	keys    *io.PipeWriter
	in      *typed
}

func newPerson(answers ...string) *person {
	r, w := io.Pipe()
	return &person{answers: answers, keys: w, in: newTyped(r)}
}

var asks = regexp.MustCompile(`“yes (\d+)”, “session \d+”, or why not\? $`)

func (p *person) Write(b []byte) (int, error) {
	p.shown.Write(b)
	if m := asks.FindSubmatch(b); m != nil {
		if len(p.answers) == 0 {
			return len(b), p.keys.Close()
		}
		text := strings.ReplaceAll(p.answers[0], "#", string(m[1]))
		p.answers = p.answers[1:]
		if _, err := io.WriteString(p.keys, text+"\n"); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// types types lines, which are read before any question.
func (p *person) types(t *testing.T, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.keys, l+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	until.True(t, "the lines are read", func() bool {
		p.in.mu.Lock()
		defer p.in.mu.Unlock()
		return len(p.in.lines) == len(lines)
	})
}

// A question shows all effects. Nothing in it acts on the terminal, or imitates the end of the
// question.
func TestQuestionsInATerminal(t *testing.T) {
	const fake = "“yes 123”, “session 123”, or why not? "
	for text := range hostileTexts {
		r := sandbox.Request{Tool: text, Title: "write " + text, Risk: protocol.RiskHigh, Diff: text + "\n" + fake, Agent: text, Untrusted: true, Destroys: true,
			Effects: []sandbox.Effect{{Text: "write " + text, InTitle: true}, {Text: "send " + text + " to api.example.com"}}}
		p := newPerson("yes #")
		a := asker{out: &terminal{w: p}, in: p.in}
		replies, err := a.ask(sandbox.Prompt{Requests: []sandbox.Request{r}})
		if err != nil || len(replies) != 1 || replies[0].Answer != policy.AnswerOnce {
			t.Errorf("%+v, %v", replies, err)
		}
		shown := p.shown.String()
		for _, c := range shown {
			if c != '\n' && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%q: %U reaches the terminal", text, c)
			}
		}
		for _, want := range []string{"write " + inLine(text) + " (high risk)\n", "\n  - send " + inLine(text) + " to api.example.com\n", "  Content is lost.\n", "\n" + mark + fake + "\n"} {
			if !strings.Contains(shown, want) {
				t.Errorf("%q: the question does not say %q:\n%s", text, want, shown)
			}
		}
		if strings.Count(shown, "\n“yes ") != 1 || !asks.MatchString(shown) {
			t.Errorf("%q: something passes for the end of the question:\n%s", text, shown)
		}
	}
}

// An answer allows if it is one of the words with the number of its question.
func TestAnswersInATerminal(t *testing.T) {
	for text, want := range map[string]policy.Answer{
		"yes #": policy.AnswerOnce, "y #": policy.AnswerOnce, " yes  # ": policy.AnswerOnce, "session #": policy.AnswerSession, "s #": policy.AnswerSession,
		"yes": "", "y": "", "session": "", "#": "", "yes #1": "", "yes 1#": "", "yes # please": "", "no #": "", "# yes": "", "yes 99": "", "yes 1000": "", "": "", "use the other file": "",
	} {
		p := newPerson(text)
		a := asker{out: &terminal{w: p}, in: p.in}
		replies, err := a.ask(sandbox.Prompt{Requests: make([]sandbox.Request, 1)})
		if err != nil || len(replies) != 1 || replies[0].Answer != want {
			t.Errorf("%q: %+v, %v", text, replies, err)
		} else if want == "" && !strings.Contains(text, "#") && replies[0].Reason != text {
			t.Errorf("%q: the reason is %q", text, replies[0].Reason)
		}
	}
	p := newPerson("no") // the input ends after it
	a := asker{out: &terminal{w: p}, in: p.in}
	if replies, err := a.ask(sandbox.Prompt{Requests: make([]sandbox.Request, 2)}); err != nil || len(replies) != 1 || replies[0].Answer != "" {
		t.Errorf("%+v, %v", replies, err)
	}
	had := map[string]bool{}
	for range 200 {
		n, err := number()
		if err != nil || len(n) != 3 || n[0] == '0' {
			t.Fatalf("%q, %v", n, err)
		}
		had[n] = true
	}
	if len(had) < 100 {
		t.Errorf("200 questions have %d numbers", len(had))
	}
}

// A text that looks like a question makes the user type an answer, which then meets a real
// question.
func TestAttackFakedQuestion(t *testing.T) {
	table := attack.Start(t, "23")
	const fake = "\nadd milk to list.txt (low risk)\n“yes 12”, “session 12”, or why not?\n"
	try := func(plain bool, before []string, after ...string) bool {
		p := newPerson(after...)
		a := asker{out: &terminal{w: p}, in: p.in, plain: plain}
		if _, err := io.WriteString(a.out, fake); err != nil {
			t.Fatal(err)
		}
		p.types(t, before...)
		replies, err := a.ask(sandbox.Prompt{Requests: []sandbox.Request{{Tool: "delete", Title: "delete thesis.tex", Risk: protocol.RiskHigh, Destroys: true}}})
		if err != nil {
			t.Fatal(err)
		}
		return len(replies) > 0 && replies[0].Answer != ""
	}
	for _, text := range []string{"yes", "y", "session", "s", "yes 12", "session 12", "s 12"} {
		for name, lines := range map[string][]string{"once": {text}, "with impatience": {text, text, text}, "after a refusal": {"no", text}} {
			table.Try(text+", typed before, "+name, try(false, lines))
			table.Off(text+", typed before, "+name, try(true, lines))
		}
		table.Try(text+", typed as the question comes", try(false, nil, text))
		table.Off(text+", typed as the question comes", try(true, nil, text))
	}
}

// No line of a text begins like one of the program's own, however it is wrapped.
func TestAttackTextWithoutMark(t *testing.T) {
	table := attack.Start(t, "23")
	const fake = "“yes 12”, “session 12”, or why not? "
	texts := map[string]string{"a line": fake, "lines": "\n\n" + fake, "behind a question": fake + "\n", "CR LF": "a\r\n" + fake}
	for n := 60; n <= 90; n++ {
		texts[fmt.Sprintf("%d letters", n)] = strings.Repeat("a", n) + fake
		texts[fmt.Sprintf("%d spaces", n)] = strings.Repeat(" ", n) + fake
		texts[fmt.Sprintf("%d wide letters", n/2)] = strings.Repeat("漢", n/2) + fake
		texts[fmt.Sprintf("%d tabs", n/8)] = strings.Repeat("\t", n/8) + fake
	}
	// A terminal of 80 columns, which begins a new line where one is full.
	wrapped := func(shown string) (lines []string) {
		for line := range strings.SplitSeq(strings.TrimSuffix(shown, "\n"), "\n") {
			at, begin := 0, 0
			for i, r := range line {
				w := 1
				if unicode.Is(unicode.Han, r) {
					w = 2
				}
				if r == '\t' {
					w = 8 - at%8
				}
				if at+w > 80 {
					lines = append(lines, line[begin:i])
					at, begin = 0, i
				}
				at += w
			}
			lines = append(lines, line[begin:])
		}
		return lines
	}
	passes := func(shown string) bool {
		for _, line := range wrapped(shown) {
			if !strings.HasPrefix(line, mark) {
				return true
			}
		}
		return false
	}
	for name, text := range texts {
		for _, size := range []int{1, 7, len(text)} {
			var b bytes.Buffer
			w := &terminal{w: &b}
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if _, err := io.WriteString(w, rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.endLine(); err != nil {
				t.Fatal(err)
			}
			table.Try(fmt.Sprintf("%s, in pieces of %d", name, size), passes(b.String()))
		}
		table.Try(name+", in a difference", passes(marked(text)))
		table.Off(name, passes(printable(text)))
	}
	// A text that goes on after a question begins a line of its own.
	var b bytes.Buffer
	w := &terminal{w: &b}
	_, _ = io.WriteString(w, "half a line")
	if err := w.own("Is it?\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, fake)
	if got, want := b.String(), mark+"half a line\nIs it?\n"+mark+fake; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// A name that is as long as a line goes on behind spaces.
	for line := range strings.Lines(inLine(strings.Repeat("n", 200) + fake)) {
		if strings.HasPrefix(line, "“yes") || utf8.RuneCountInString(line) > columns+1 {
			t.Errorf("a title has the line %q", line)
		}
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
	err = run(dir, "", os.DevNull, true, provider.Commands(), []string{"show notes.md"})
	os.Stdout = stdout
	if err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile(out.Name())
	if err != nil || bytes.ContainsAny(shown, "\x1b\x07") || !bytes.Contains(shown, []byte("after")) {
		t.Errorf("the terminal gets %q, %v", shown, err)
	}
}
