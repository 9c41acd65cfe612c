// Package secrets finds credentials in text before it leaves the machine: keys and
// tokens whose form is known, private keys, passwords in addresses, and values that
// are called a secret and look like one. It is a net with meshes, not a wall: what
// nobody gave a form to, it does not see. It keeps no text and sends nothing.
package secrets

import (
	"math"
	"slices"
	"strings"
)

// Finding is one credential in a text.
type Finding struct {
	Kind       string // such as "github token"
	Start, End int    // bytes
}

// maxText is how much of a text is looked at; what is behind it is taken out whole.
const maxText = 4 << 20

// Find returns the credentials in a text, in order and without overlap.
func Find(text string) []Finding {
	var out []Finding
	if len(text) > maxText {
		out = append(out, Finding{"unread rest", maxText, len(text)})
		text = text[:maxText]
	}
	lower := lowered(text)
	for _, r := range rules() {
		for _, w := range r.windows(lower) {
			out = r.find(out, text, w)
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

// windows are the lines that hold one of the rule's words, so that its expression is
// run over those alone. A private key has many lines, and its rule sees all.
func (r *rule) windows(lower string) []window {
	var out []window
	for _, w := range r.words {
		for at := 0; ; {
			i := strings.Index(lower[at:], w)
			if i < 0 {
				break
			}
			i += at
			from := strings.LastIndexByte(lower[:i], '\n') + 1
			to := len(lower)
			if n := strings.IndexByte(lower[i:], '\n'); n >= 0 {
				to = i + n
			}
			for n := r.lines; n > 0 && to < len(lower); n-- {
				next := strings.IndexByte(lower[to+1:], '\n')
				if next < 0 {
					next = len(lower) - to - 1
				}
				to += 1 + next
			}
			from, to = max(from, i-reach), min(to, i+reach)
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

func (r *rule) find(out []Finding, text string, w window) []Finding {
	if r.re == kubernetesSecret {
		for _, v := range secretValues(text) {
			out = append(out, Finding{r.kind, v.from, v.to})
		}
		return out
	}
	for _, m := range r.re.FindAllStringSubmatchIndex(text[w.from:w.to], -1) {
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
func Redact(text string) (string, []string) {
	found := Find(text)
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
