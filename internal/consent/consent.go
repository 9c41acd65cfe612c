// Package consent turns a prompt of a box into the words and lines that a page shows. It is plain
// Go without a page, so the words are tested natively. It does not trust the text that it shows: a
// long run of spaces or empty lines, which would push text out of view, becomes a number, and a
// line of a file cannot imitate the heading of a diff.
package consent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Question is a prompt as a page shows it. [Of] makes one.
type Question struct {
	// Title is one line that names the action and its object, such as "Delete hours.csv?".
	Title string
	// Who names the agents that ask, such as "Asked by the assistant".
	Who string
	// Risk is the highest risk of the requests, and RiskText is that in words, such as "low risk".
	Risk     protocol.Risk
	RiskText string
	// Mixed is set if the effects differ in risk, so each row must show its own.
	Mixed bool
	// Counts is the amount of changes, such as "1 line added". It may be empty.
	Counts string
	// Notes are further facts about the only request. With several requests they are in Effects.
	Notes []string
	// Effects are the effects of all requests: destructive ones first, then by falling risk. They
	// are empty if the title contains the only one.
	Effects []Effect
	// Lines are the diffs in the order of Effects, or the arguments of a call without a diff.
	Lines []Line
	// Changed is the number of added and removed lines.
	Changed int
	// Reading holds which Lines must be in view before an answer that allows counts.
	Reading Reading
}

// Effect is one effect of a request.
type Effect struct {
	Text     string
	Risk     protocol.Risk
	Destroys bool
	Notes    []string // further facts about a request, on its first effect
	Request  int      // the index of the request in the prompt
}

// Kind is the kind of a line of a diff.
type Kind string

// The kinds of lines. Plain is an unchanged line, and any line of a text that is not a diff.
const (
	Plain   Kind = ""
	Added   Kind = "add"
	Removed Kind = "del"
	Head    Kind = "at"   // names a file or a place in it
	Skipped Kind = "mark" // stands for omitted lines, and contains their number
)

// Line is a line without its newline.
type Line struct {
	Kind Kind
	Text string
}

// Of returns the question for a prompt, which must have at least one request. Destructive requests
// come first, then those of higher risk.
func Of(p sandbox.Prompt) Question {
	order := make([]int, len(p.Requests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &p.Requests[i], &p.Requests[j]
		if a.Destroys != b.Destroys {
			return map[bool]int{true: -1, false: 1}[a.Destroys]
		}
		return rank(b.Risk) - rank(a.Risk)
	})
	list := make([]sandbox.Request, len(order))
	var q Question
	files, added, removed := 0, 0, 0
	var s sheet
	for at, i := range order {
		r := p.Requests[i]
		list[at] = r
		for _, e := range effects(r, len(list) == 1) {
			e.Request = i
			q.Effects = append(q.Effects, e)
		}
		lines, n := plain(r.Diff), 0
		if r.Unified {
			lines, n = Diff(r.Diff)
		}
		files += n
		for _, l := range lines {
			switch l.Kind {
			case Added:
				added++
			case Removed:
				removed++
			}
		}
		s.add(lines, isText(r), r.Risk)
		if asked := arguments(r); asked != "" {
			who := "the assistant"
			if r.App != "" {
				who = "the page"
			}
			s.add([]Line{{Head, "What " + who + " asked " + r.Tool + " for"}}, false, r.Risk)
			s.add(plain(asked), true, r.Risk)
		}
	}
	q.Changed = added + removed
	q.Title = title(list, files)
	q.summarize(list, added, removed)
	var words string
	q.Lines = s.lines
	if q.Reading, words = s.reading(); words != "" {
		q.Counts = strings.TrimPrefix(q.Counts+" · "+words, " · ")
	}
	return q
}

// Passage is a text with a heading. The text is no diff, whatever it looks like.
type Passage struct{ Heading, Text string }

// Read returns the lines of passages, and a Reading that requires all of them, like that of a script
// of high risk. If they exceed a limit of [Reading], words states the reduced requirement.
func Read(list ...Passage) (lines []Line, need Reading, words string) {
	var s sheet
	for _, p := range list {
		s.add([]Line{{Head, p.Heading}}, false, protocol.RiskHigh)
		s.add(plain(p.Text), true, protocol.RiskHigh)
	}
	need, words = s.reading()
	return s.lines, need, words
}

// plain returns the lines of a text that is no diff.
func plain(text string) (lines []Line) {
	for line := range strings.Lines(text) {
		lines = append(lines, Line{Plain, strings.TrimSuffix(line, "\n")})
	}
	return lines
}

// title returns the first line of the question, such as "Apply these 2 changes?".
func title(list []sandbox.Request, files int) string {
	r := list[0]
	switch {
	case len(list) > 1:
		what := "steps"
		if !slices.ContainsFunc(list, func(r sandbox.Request) bool { return r.Diff == "" }) {
			what = "changes"
		}
		return fmt.Sprintf("Allow these %d %s?", len(list), what)
	case r.Tool == "plan" && files == 1:
		return "Apply this change?"
	case r.Tool == "plan" && files > 1:
		return fmt.Sprintf("Apply these %d changes?", files)
	case r.Tool == "plan":
		return "Apply these changes?"
	}
	if r.Tool == "undo" {
		return undoTitle(r)
	}
	return Mark(upper(r.Title)) + "?"
}

// undoTitle returns the title of an undo. It names the file if there is only one. The effects list
// all of them.
func undoTitle(r sandbox.Request) string {
	files, name := 0, ""
	seen := make(map[string]bool, len(r.Needs))
	for _, n := range r.Needs {
		if n.Subject != "" && !seen[n.Subject] {
			seen[n.Subject] = true
			files, name = files+1, n.Subject
		}
	}
	what := "the last change"
	if m, ok := r.Args.(map[string]any); ok && m["step"] != nil {
		what = fmt.Sprintf("change %v", m["step"])
	}
	switch files {
	case 0:
		return "Undo " + what + "?"
	case 1:
		return "Undo " + what + " to " + Mark(name) + "?"
	}
	return fmt.Sprintf("Undo %s to %d files?", what, files)
}

// summarize sets Who, Risk, RiskText, Mixed, Notes and Counts.
func (q *Question) summarize(list []sandbox.Request, added, removed int) {
	var who []string
	destroys := 0
	q.Risk = list[0].Risk
	for _, r := range list {
		name := "the assistant"
		if r.Agent != "" {
			name = "the subagent " + Mark(r.Agent)
		}
		if r.App != "" {
			name = "the page of " + Mark(r.App)
		}
		if !slices.Contains(who, name) {
			who = append(who, name)
		}
		if rank(r.Risk) > rank(q.Risk) {
			q.Risk = r.Risk
		}
		if r.Destroys {
			destroys++
		}
	}
	q.Who = "Asked by " + strings.Join(who, " and ")
	q.Mixed = slices.ContainsFunc(q.Effects, func(e Effect) bool { return e.Risk != q.Effects[0].Risk })
	if len(list) == 1 {
		q.Notes = notes(list[0])
	}
	q.RiskText = string(q.Risk) + " risk"
	if q.Mixed && len(list) > 1 {
		q.RiskText = "up to " + q.RiskText
	}
	var parts []string
	if len(list) > 1 && destroys > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d %s content", destroys, len(list), map[bool]string{true: "deletes", false: "delete"}[destroys == 1]))
	}
	if added > 0 {
		parts = append(parts, Count(added, "line")+" added")
	}
	if removed > 0 {
		parts = append(parts, Count(removed, "line")+" removed")
	}
	q.Counts = strings.Join(parts, " · ")
}

// notes returns facts about a request that its effects do not contain.
func notes(r sandbox.Request) (out []string) {
	if r.Destroys {
		out = append(out, "deletes content (can be undone)")
	}
	if r.Untrusted {
		out = append(out, "the tool is not Bailey's own")
	}
	return out
}

// effects returns the effects of a request that its title does not contain. If the request is one
// of several, the first effect is the title itself.
func effects(r sandbox.Request, alone bool) []Effect {
	var out []Effect
	for _, e := range r.Effects {
		out = append(out, Effect{Text: Mark(upper(e.Text)), Risk: e.Risk, Destroys: e.Destroys})
	}
	if r.Tool == "plan" && len(out) == 0 {
		for _, n := range r.Needs {
			e := Effect{Text: "Write " + Mark(n.Subject), Risk: r.Risk, Destroys: n.Destroys}
			if n.Op == protocol.OpRemove {
				e.Text = "Delete " + Mark(n.Subject)
			}
			out = append(out, e)
		}
	}
	title := Effect{Text: Mark(upper(r.Title)), Risk: r.Risk, Destroys: r.Destroys}
	switch {
	case r.Tool == "plan":
	case alone && len(out) == 1 && r.Effects[0].InTitle && r.Tool != "undo":
		return nil
	case !alone && len(out) == 1 && r.Effects[0].InTitle, !alone && len(out) == 0:
		out = []Effect{title}
	case !alone:
		out = slices.DeleteFunc(out, func(e Effect) bool { return e.Text == title.Text })
		out = append([]Effect{title}, out...)
	}
	if !alone && len(out) > 0 {
		out[0].Notes = notes(r)
		if r.Agent != "" {
			out[0].Notes = append(out[0].Notes, "asked by "+Mark(r.Agent))
		}
		if r.App != "" {
			out[0].Notes = append(out[0].Notes, "asked by the page of "+Mark(r.App))
		}
	}
	return out
}

// arguments returns the arguments of a call that neither its title nor its text shows, a line each.
// It returns "" for a call with a diff, because the diff shows all of them.
func arguments(r sandbox.Request) string {
	m, _ := r.Args.(map[string]any)
	if !isText(r) || slices.Contains([]string{"delete", "plan", "undo"}, r.Tool) {
		return ""
	}
	rest := map[string]any{}
	for k, v := range m {
		if s, ok := v.(string); !ok || s != r.Diff && !strings.HasSuffix(r.Title, " "+s) {
			rest[k] = v
		}
	}
	if len(rest) == 0 {
		return ""
	}
	return Values(rest, "")
}

func rank(r protocol.Risk) int {
	return slices.Index([]protocol.Risk{protocol.RiskLow, protocol.RiskMedium, protocol.RiskHigh, protocol.RiskCritical}, r)
}

func upper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// Count returns a number of things in words, such as "1 line" or "1,200 lines". The parameter is
// their singular.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Thousands(n) + " " + what + "s"
}

// Thousands returns a number with commas, such as "1,200".
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// heads are the beginnings of lines that name a file.
var heads = []string{"--- ", "+++ ", "rename from ", "rename to ", "new folder ", "deleted folder "}

// isText reports whether the Diff of a request is a text, such as a script, and no diff. A script or a
// skill may begin like a diff.
func isText(r sandbox.Request) bool { return !r.Unified || !headed(r.Diff) }

// headed reports whether a text begins like a diff.
func headed(text string) bool {
	return slices.ContainsFunc(heads, func(h string) bool { return strings.HasPrefix(text, h) })
}

var folded = regexp.MustCompile(`^([+-]?)⟨(\d{1,9}) empty lines⟩$`)

var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// Diff splits a unified diff into lines, and returns them with the number of files. Within a hunk
// the place of a line decides its kind: the removed line "-- a/x" appears as "--- a/x", and is no
// heading.
//
// A text that does not begin like a diff, such as a script, has Plain lines only. If it begins with
// "- ", it is the listing of a deleted folder, and its lines with that beginning are Removed.
func Diff(text string) (lines []Line, files int) {
	listing := strings.HasPrefix(text, "- ") // of a deleted folder's content
	headed := headed(text)
	old, now := 0, 0 // remaining lines of the hunk
	length := func(s string) int {
		if s == "" {
			return 1
		}
		n, _ := strconv.Atoi(s)
		return n
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		l := Line{Plain, line}
		first := ""
		if line != "" {
			first = line[:1]
		}
		switch {
		case !headed:
			if listing && strings.HasPrefix(line, "- ") {
				l.Kind = Removed
			}
		case (old > 0 || now > 0) && folded.MatchString(line): // empty lines that the box replaced by their number
			m := folded.FindStringSubmatch(line)
			n, _ := strconv.Atoi(m[2])
			l.Kind = map[string]Kind{"+": Added, "-": Removed}[m[1]]
			if m[1] != "+" {
				old = max(0, old-n)
			}
			if m[1] != "-" {
				now = max(0, now-n)
			}
		case (old > 0 || now > 0) && first == "+":
			l.Kind = Added
			now--
		case (old > 0 || now > 0) && first == "-":
			l.Kind = Removed
			old--
		case first == `\`: // No newline at end of file
			l.Kind = Head
		case old > 0 || now > 0:
			old--
			now--
		case hunk.MatchString(line):
			m := hunk.FindStringSubmatch(line)
			old, now = length(m[1]), length(m[2])
			l.Kind = Head
		case slices.ContainsFunc(heads, func(h string) bool { return strings.HasPrefix(line, h) }):
			l.Kind = Head
			if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "rename from ") {
				files++
			}
		case first == "+": // after a number that a file's own text may imitate
			l.Kind = Added
		case first == "-":
			l.Kind = Removed
		}
		lines = append(lines, l)
	}
	return lines, files
}

// maxEmpty is the number of empty lines of one kind that are shown in a row.
const maxEmpty = 8

// Fold returns the lines with each longer run of empty lines of one kind replaced by one line of
// kind Skipped, such as "⟨20 empty lines added⟩".
func Fold(lines []Line) []Line {
	blank := func(l Line) bool {
		text := l.Text
		if text != "" && (l.Kind == Added || l.Kind == Removed || l.Kind == Plain && text[0] == ' ') {
			text = text[1:]
		}
		if text = strings.TrimSpace(text); strings.HasPrefix(text, `\`) {
			text = strings.TrimSpace(escapes.ReplaceAllString(text, ""))
		}
		return text == ""
	}
	var out []Line
	for i := 0; i < len(lines); {
		n := 0
		for i+n < len(lines) && lines[i+n].Kind == lines[i].Kind && blank(lines[i+n]) {
			n++
		}
		if n <= maxEmpty {
			for range max(n, 1) {
				out = append(out, lines[i])
				i++
			}
			continue
		}
		what := map[Kind]string{Added: " added", Removed: " removed"}[lines[i].Kind]
		out = append(out, Line{Skipped, "⟨" + Thousands(n) + " empty lines" + what + "⟩"})
		i += n
	}
	return out
}

// The longest runs that are shown unchanged. Code is indented by fewer spaces.
const (
	maxSpaces  = 40  // columns
	maxEscapes = 8   // characters that the box writes as escapes, because they do not print
	maxSame    = 100 // repetitions of one character
)

var escapes = regexp.MustCompile(`\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|x[0-9a-f]{2}|[abfrtv])`)

var escape = regexp.MustCompile(`^\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|x[0-9a-f]{2}|[abfrtv])`)

// Mark returns s with each long run of spaces replaced by its number, such as "⟨5,000 spaces⟩". It
// does the same for escapes of characters that do not print, as "hidden characters", and for
// repetitions of one character, as "=⟨200 times⟩". Short runs stay.
func Mark(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n, width, end := 0, 0, 0 // of the run at the beginning of s
		first, size := utf8.DecodeRuneInString(s)
		esc := ""
		if first == '\\' {
			esc = escape.FindString(s)
		}
		switch {
		case space(first):
			for end < len(s) {
				r, size := utf8.DecodeRuneInString(s[end:])
				if !space(r) {
					break
				}
				n, width, end = n+1, width+1, end+size
				if r == '\t' || r == '\u3000' || r == '\u2001' || r == '\u2003' { // wide ones
					width += 3
				}
			}
			if width > maxSpaces {
				b.WriteString("⟨" + Thousands(n) + " spaces⟩")
				s = s[end:]
				continue
			}
		case esc != "":
			for ; esc != ""; esc = escape.FindString(s[end:]) {
				n, end = n+1, end+len(esc)
			}
			if n > maxEscapes {
				b.WriteString("⟨" + Thousands(n) + " hidden characters⟩")
				s = s[end:]
				continue
			}
		default:
			for end < len(s) {
				r, size := utf8.DecodeRuneInString(s[end:])
				if r != first || size == 1 && r == utf8.RuneError {
					break
				}
				n, end = n+1, end+size
			}
			if end == 0 { // invalid UTF-8
				end = size
			}
			if n > maxSame && first != '\n' {
				b.WriteString(string(first) + "⟨" + Thousands(n) + " times⟩")
				s = s[end:]
				continue
			}
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
	return b.String()
}

func space(r rune) bool { return unicode.IsSpace(r) && r != '\n' }

// Opaque reports whether a color, as getComputedStyle returns it, has an alpha of at least 0.9. It
// returns false for a color that it cannot parse.
func Opaque(color string) bool {
	alpha := "1"
	switch {
	case strings.HasPrefix(color, "rgb(") && !strings.Contains(color, "/"):
	case strings.HasPrefix(color, "rgba(") && strings.Count(color, ",") == 3:
		alpha = color[strings.LastIndexByte(color, ',')+1:]
	case strings.Contains(color, "/") && strings.Contains(color, "("):
		alpha = color[strings.LastIndexByte(color, '/')+1:]
	case strings.Contains(color, "("): // color(srgb 0 0 0), oklab(0 0 0)
	default:
		return false
	}
	a, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(alpha, ")")), 64)
	return (err == nil || alpha == "1") && a >= .9
}

// Piece is a part of a line. Mark is set for a number that stands for omitted text.
type Piece struct {
	Text string
	Mark bool
}

var marks = regexp.MustCompile(`⟨[0-9,]+ (?:spaces|hidden characters|times|empty lines(?: added| removed)?)⟩`)

// Pieces returns the line after [Mark], split at its marks.
func Pieces(line string) (out []Piece) {
	line = Mark(line)
	for at := 0; ; {
		m := marks.FindStringIndex(line[at:])
		if m == nil {
			return append(out, Piece{line[at:], false})
		}
		out = append(out, Piece{line[at : at+m[0]], false}, Piece{line[at+m[0] : at+m[1]], true})
		at += m[1]
	}
}
