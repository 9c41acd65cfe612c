// Package secrets finds credentials in text before it leaves the machine: keys and
// tokens whose form is known, private keys, passwords in addresses, and values that
// are called a secret and look like one. It is a net with meshes, not a wall: what
// nobody gave a form to, it does not see. It keeps no text and sends nothing.
package secrets

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Finding is one credential in a text.
type Finding struct {
	Kind       string // such as "github token"
	Start, End int    // bytes
}

// maxText is how much of a text is looked at; what is behind it is taken out whole.
const maxText = 4 << 20

// Find returns the credentials in a text, in order and without overlap. It holds its
// thread: in a page, use [FindContext] for a text of more than a few kilobytes.
func Find(text string) []Finding { return find(&search{}, text) }

// FindContext is [Find] for a text whose size a stranger chooses. It lets the page have
// its turn at least every 10 ms, so do not call it in a callback. If ctx ends before it,
// the whole text is one finding.
func FindContext(ctx context.Context, text string) []Finding {
	s := &search{ctx: ctx}
	out := find(s, text)
	if s.err != nil {
		return []Finding{{"unread rest", 0, len(text)}}
	}
	return out
}

// A search is the work on one text. It counts its steps, between which the page has its turn.
type search struct {
	ctx    context.Context // nil: at a stretch
	budget jsx.Budget
	err    error
}

// spend counts n steps, and reports whether the search is to go on.
func (s *search) spend(n int) bool {
	if s.ctx != nil && s.err == nil {
		s.err = s.budget.Steps(s.ctx, n)
	}
	return s.err == nil
}

// look is how many bytes are searched for a word at a stretch.
const look = 64 << 10

// index returns the first place of a word from a place on, or the text's length.
func (s *search) index(text, word string, at int) int {
	for at < len(text) && s.spend(16) {
		near := text[at:min(len(text), at+look+len(word)-1)]
		if i := strings.Index(near, word); i >= 0 {
			s.spend(i / 16)
			return at + i
		}
		s.spend(len(near) / 16)
		at += look
	}
	return len(text)
}

// atOnce is how many steps an expression may take at a stretch. Most lines take fewer.
const atOnce = 48 << 10

// all returns the places of all matches and of their groups. A long text is read a
// character at a time. Behind a match it begins anew there, so what begins at the
// end of a match counts as the beginning of a word.
func (s *search) all(r *rule, text string) (out [][]int) {
	re, cost := r.compiled()
	if steps := cost * (len(text) + 8); steps <= atOnce {
		if !s.spend(steps) {
			return nil
		}
		return re.FindAllStringSubmatchIndex(text, -1)
	}
	for at := 0; at < len(text); {
		m := re.FindReaderSubmatchIndex(&reader{s, text[at:], cost})
		if m == nil || s.err != nil {
			break
		}
		next := at + max(m[1], 1)
		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}
		out, at = append(out, m), next
	}
	return out
}

// reader is a text that counts its steps; it ends with the search.
type reader struct {
	s    *search
	text string
	cost int
}

func (r *reader) ReadRune() (rune, int, error) {
	if r.text == "" || !r.s.spend(r.cost) {
		return 0, 0, io.EOF
	}
	c, n := rune(r.text[0]), 1
	if c >= utf8.RuneSelf {
		c, n = utf8.DecodeRuneInString(r.text)
	}
	r.text = r.text[n:]
	return c, n, nil
}

func find(s *search, text string) []Finding {
	var out []Finding
	if len(text) > maxText {
		out = append(out, Finding{"unread rest", maxText, len(text)})
		text = text[:maxText]
	}
	lower := s.lowered(text)
	for _, r := range rules() {
		if r.manifests {
			for _, v := range s.secretValues(text, lower) {
				out = append(out, Finding{r.kind, v.from, v.to})
			}
			continue
		}
		done := 0
		r.windows(s, lower, func(w window) {
			out, done = r.find(s, out, text, w, done)
		})
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		s.spend(1)
		return a.Start - b.Start
	})
	kept := out[:0]
	for _, f := range out {
		if n := len(kept); n > 0 && f.Start < kept[n-1].End {
			kept[n-1].End = max(kept[n-1].End, f.End)
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

// lowered has the ASCII letters in lower case, so that places stay the same.
func (s *search) lowered(text string) string {
	b := []byte(text)
	for at := 0; at < len(b) && s.spend(look/16); at += look {
		for i, c := range b[at:min(len(b), at+look)] {
			if c >= 'A' && c <= 'Z' {
				b[at+i] = c | 0x20
			}
		}
	}
	return string(b)
}

// window is a part of a text.
type window struct{ from, to int }

// reach is how far from a word a secret may lie in a very long line.
const reach = 4 << 10

// windows calls run with the lines that hold one of the rule's words, in order, so that
// its expression is run over those alone. Windows that touch are one.
func (r *rule) windows(s *search, lower string, run func(window)) {
	var places [32]int // of the words, each the next
	next := places[:0]
	for _, w := range r.words {
		next = append(next, s.index(lower, w, 0))
	}
	open := window{-1, -1}
	for s.err == nil {
		k := 0
		for j := range next {
			if next[j] < next[k] {
				k = j
			}
		}
		i := next[k]
		if i >= len(lower) {
			break
		}
		// Only what is in reach is looked at: in one long line all of it would be, for each word.
		first, last := max(0, i-reach), min(len(lower), i+reach)
		from := first + strings.LastIndexByte(lower[first:i], '\n') + 1
		to := last
		if n := strings.IndexByte(lower[i:last], '\n'); n >= 0 {
			to = i + n
		}
		for n := r.lines; n > 0 && to < last; n-- {
			next := strings.IndexByte(lower[to+1:last], '\n')
			if next < 0 {
				next = last - to - 1
			}
			to += 1 + next
		}
		s.spend((to-from)/16 + len(next))
		if open.from >= 0 && from <= open.to {
			open.to = max(open.to, to)
		} else {
			if open.from >= 0 {
				run(open)
			}
			open = window{from, to}
		}
		next[k] = s.index(lower, r.words[k], max(to, i+len(r.words[k])))
	}
	if open.from >= 0 && s.err == nil {
		run(open)
	}
}

// find adds the secrets in a window that begin behind done, and returns where the last one ends.
func (r *rule) find(s *search, out []Finding, text string, w window, done int) ([]Finding, int) {
	for _, m := range s.all(r, text[w.from:w.to]) {
		start, end := w.from+m[2*r.group], w.from+m[2*r.group+1]
		if start < done {
			continue
		}
		if r.end != nil {
			end = r.endOf(s, text, end)
		}
		secret := text[start:min(end, start+reach)] // that much is judged
		s.spend(64 + len(secret))
		switch {
		case r.bits > 0 && (entropy(secret) < r.bits || placeholder(secret)), r.ok != nil && !r.ok(secret):
		case r.name > 0 && harmlessName(text[w.from+m[2*r.name]:w.from+m[2*r.name+1]]):
		default:
			out, done = append(out, Finding{r.kind, start, end}), end
		}
	}
	return out, done
}

// endOf returns the end of the first match of r.end from a place on, or of the text.
func (r *rule) endOf(s *search, text string, at int) int {
	for at = s.index(text, r.endWord, at); at < len(text); at = s.index(text, r.endWord, at+1) {
		if m := r.end.FindStringIndex(text[at:min(len(text), at+len(r.endWord)+64)]); m != nil {
			return at + m[1]
		}
		s.spend(128)
	}
	return len(text)
}

// Redact returns the text with each credential replaced by a word about it, and the
// kinds that were found.
func Redact(text string) (string, []string) { return redacted(&search{}, text) }

// RedactContext is [Redact] by [FindContext].
func RedactContext(ctx context.Context, text string) (string, []string) {
	return redacted(&search{ctx: ctx}, text)
}

func redacted(s *search, text string) (string, []string) {
	found := find(s, text)
	var b strings.Builder
	var kinds []string
	at := 0
	for _, f := range found {
		if !s.spend(16) {
			break
		}
		b.WriteString(text[at:f.Start])
		b.WriteString("[" + f.Kind + " removed]")
		at = f.End
		if !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	switch {
	case s.err != nil:
		return "[unread rest removed]", []string{"unread rest"}
	case len(found) == 0:
		return text, nil
	}
	return b.String() + text[at:], kinds
}

// entropy is the bits per character that the text's own letters have.
func entropy(s string) float64 {
	var count [256]int
	for i := 0; i < len(s); i++ {
		count[s[i]]++
	}
	h := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}

// placeholder is what people write where a secret belongs.
func placeholder(s string) bool {
	low := strings.ToLower(s)
	for _, w := range []string{"example", "xxxx", "your", "changeme", "change_me", "placeholder", "redacted", "dummy", "****", "....", "<", "todo", "${", "{{", "%s", "process.env", "os.environ", "getenv"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}
