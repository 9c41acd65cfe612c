// Package secrets keeps credentials away from models, in two ways.
//
// [Find] and [Redact] find credentials in text before the text leaves the machine: keys and tokens of a
// known form, private keys, passwords in addresses, and values that are named like a secret and look
// random. They miss secrets of other forms, so they are a precaution and no guarantee.
//
// A [Store] keeps the secrets that the user entrusts to the app. A tool's request contains a placeholder,
// and the broker of package web replaces it for the hosts of the secret alone. The package trusts the
// page's own code, and each host with the secrets that the user stored for it. It sends nothing, and
// writes no value into an error, a log or a trace.
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
	Start, End int    // byte offsets, End is exclusive
}

// maxText is the number of bytes that are searched. The rest of a longer text is one finding.
const maxText = 4 << 20

// Find returns the credentials in a text, in order and without overlap. Only the first 4 MiB are
// searched. The rest is one finding of the kind "unread rest". Find yields to the page at least
// every 10 ms, so it must not be called in a callback. If ctx ends first, the whole text is one
// finding, "unread rest".
func Find(ctx context.Context, text string) []Finding {
	s := &search{ctx: ctx}
	out := find(s, text)
	if s.err != nil {
		return []Finding{{"unread rest", 0, len(text)}}
	}
	return out
}

// A search is the work on one text. It counts its steps and yields to the page between them.
type search struct {
	ctx    context.Context
	budget jsx.Budget
	err    error
}

// spend counts n steps and reports whether the search may continue.
func (s *search) spend(n int) bool {
	if s.err == nil {
		s.err = s.budget.Steps(s.ctx, n)
	}
	return s.err == nil
}

// look is the number of bytes that are searched for a word between two yields.
const look = 64 << 10

// index returns the position of the first word at or after at, or the length of the text.
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

// atOnce is the maximum number of steps of an expression between two yields. Most lines need fewer.
const atOnce = 48 << 10

// all returns the positions of all matches and of their groups. It reads a long text character by
// character. After a match it starts again with the rest of the text. A token that begins right
// after a match therefore counts as the beginning of a word.
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

// reader reads a text and counts its steps. It ends with the search.
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

// lowered returns the text with ASCII letters in lower case. Byte offsets stay the same.
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

// window is a range of a text, in bytes.
type window struct{ from, to int }

// reach is the maximum distance between a word and its secret in a very long line.
const reach = 4 << 10

// windows calls run for each group of lines that contain one of the rule's words, in order. The
// expression then runs only on these lines. Adjacent windows are merged.
func (r *rule) windows(s *search, lower string, run func(window)) {
	var places [32]int // the next position of each word
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
		// Only bytes within reach are inspected. Otherwise each word would inspect all of a single
		// long line.
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

// find adds the secrets in a window that begin after done. It returns the end of the last one.
func (r *rule) find(s *search, out []Finding, text string, w window, done int) ([]Finding, int) {
	for _, m := range s.all(r, text[w.from:w.to]) {
		start, end := w.from+m[2*r.group], w.from+m[2*r.group+1]
		if start < done {
			continue
		}
		if r.end != nil {
			end = r.endOf(s, text, end)
		}
		secret := text[start:min(end, start+reach)] // this much is checked
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

// endOf returns the end of the first match of r.end at or after at, or the length of the text.
func (r *rule) endOf(s *search, text string, at int) int {
	for at = s.index(text, r.endWord, at); at < len(text); at = s.index(text, r.endWord, at+1) {
		if m := r.end.FindStringIndex(text[at:min(len(text), at+len(r.endWord)+64)]); m != nil {
			return at + m[1]
		}
		s.spend(128)
	}
	return len(text)
}

// Redact returns the text with each credential replaced by its kind, such as "[github token
// removed]". It also returns the kinds that were found. It searches as [Find] does. If ctx ends
// first, the result is "[unread rest removed]".
func Redact(ctx context.Context, text string) (string, []string) {
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

// entropy returns the entropy of s in bits per byte.
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

// placeholder reports whether s is a placeholder for a secret, such as "your-key".
func placeholder(s string) bool {
	low := strings.ToLower(s)
	for _, w := range []string{"example", "xxxx", "your", "changeme", "change_me", "placeholder", "redacted", "dummy", "****", "....", "<", "todo", "${", "{{", "%s", "process.env", "os.environ", "getenv"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}
