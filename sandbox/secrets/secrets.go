// Package secrets finds credentials in text before it leaves the machine: keys and
// tokens whose form is known, private keys, passwords in addresses, and values that
// are called a secret and look like one. It is a net with meshes, not a wall: what
// nobody gave a form to, it does not see. It keeps no text and sends nothing.
package secrets

import (
	"context"
	"io"
	"math"
	"regexp"
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

// A search runs expressions over a text. With a context it does so in pieces.
type search struct {
	ctx    context.Context // nil: at a stretch
	budget jsx.Budget
	err    error
}

const (
	atOnce   = 512 // bytes that an expression is run over at a stretch
	runeWork = 32  // steps that an expression takes for a character, at most about
)

// spend counts n steps, and reports whether the search is to go on.
func (s *search) spend(n int) bool {
	if s.ctx != nil && s.err == nil {
		s.err = s.budget.Steps(s.ctx, n)
	}
	return s.err == nil
}

// all returns the places of all matches and of their groups. A long text is read a
// character at a time. Behind a match it begins anew there, so what begins at the
// end of a match counts as the beginning of a word.
func (s *search) all(re *regexp.Regexp, text string) (out [][]int) {
	if s.ctx == nil || len(text) <= atOnce {
		if !s.spend(runeWork * len(text)) {
			return nil
		}
		return re.FindAllStringSubmatchIndex(text, -1)
	}
	for at := 0; at < len(text); {
		m := re.FindReaderSubmatchIndex(&reader{s, text[at:]})
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
}

func (r *reader) ReadRune() (rune, int, error) {
	if r.text == "" || !r.s.spend(runeWork) {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(r.text)
	r.text = r.text[n:]
	return c, n, nil
}

func find(s *search, text string) []Finding {
	var out []Finding
	if len(text) > maxText {
		out = append(out, Finding{"unread rest", maxText, len(text)})
		text = text[:maxText]
	}
	lower := lowered(text)
	for _, r := range rules() {
		windows := r.windows(s, lower)
		if r.re == kubernetesSecret {
			windows = windows[:min(len(windows), 1)] // it looks at the whole text
		}
		for _, w := range windows {
			out = r.find(s, out, text, w)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return a.Start - b.Start })
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
func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// window is a part of a text.
type window struct{ from, to int }

// reach is how far from a word a secret may lie in a very long line.
const reach = 4 << 10

// look is how many bytes are searched for a word at a stretch.
const look = 64 << 10

// windows are the lines that hold one of the rule's words, so that its expression is
// run over those alone. A private key has many lines, and its rule sees all.
func (r *rule) windows(s *search, lower string) []window {
	var out []window
	for _, w := range r.words {
		for at := 0; s.spend(64); {
			near := lower[at:min(len(lower), at+look+len(w))]
			i := strings.Index(near, w)
			if i < 0 {
				if !s.spend(look/16) || at+len(near) >= len(lower) {
					break
				}
				at += look
				continue
			}
			i += at
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
			s.spend(2 * reach / 16)
			if r.lines < 0 {
				to = len(lower)
			}
			out = append(out, window{from, to})
			at = max(to, i+len(w))
			if at >= len(lower) {
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b window) int { return a.from - b.from })
	merged := out[:0]
	for _, w := range out {
		if n := len(merged); n > 0 && w.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, w.to)
			continue
		}
		merged = append(merged, w)
	}
	return merged
}

func (r *rule) find(s *search, out []Finding, text string, w window) []Finding {
	if r.re == kubernetesSecret {
		for _, v := range secretValues(s, text) {
			out = append(out, Finding{r.kind, v.from, v.to})
		}
		return out
	}
	for _, m := range s.all(r.re, text[w.from:w.to]) {
		start, end := w.from+m[2*r.group], w.from+m[2*r.group+1]
		secret := text[start:end]
		switch {
		case r.bits > 0 && (entropy(secret) < r.bits || placeholder(secret)), r.ok != nil && !r.ok(secret):
		case r.name > 0 && harmlessName(text[w.from+m[2*r.name]:w.from+m[2*r.name+1]]):
		default:
			out = append(out, Finding{r.kind, start, end})
		}
	}
	return out
}

// Redact returns the text with each credential replaced by a word about it, and the
// kinds that were found.
func Redact(text string) (string, []string) { return redacted(text, Find(text)) }

// RedactContext is [Redact] by [FindContext].
func RedactContext(ctx context.Context, text string) (string, []string) {
	return redacted(text, FindContext(ctx, text))
}

func redacted(text string, found []Finding) (string, []string) {
	if len(found) == 0 {
		return text, nil
	}
	var b strings.Builder
	var kinds []string
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.Start] + "[" + f.Kind + " removed]")
		at = f.End
		if !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
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
