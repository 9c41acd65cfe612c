// Package fuzzy holds the command fzf.
package fuzzy

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// term is a word of a query.
type term struct {
	text         string
	not, fuzzy   bool
	front, after bool // ^word, word$
}

// Commands returns the command of this package.
func Commands() tool.Set {
	return tool.Set{{Name: "fzf", Usage: "-f QUERY [FILE]...", Summary: "filter lines by a fuzzy query, the best first", Category: "text", Files: "read", Trouble: 2, Run: fzf,
		Help: "  words must all be found; 'word exactly, ^word at the beginning, word$ at the end, !word not; a | b either\n  -n N  the first N    -e  no fuzzy match    -s  keep the order    -i  ignore case    --case  heed case"}}
}

// fzf prints the lines that match a query, the best match first.
func fzf(e *tool.Env) error {
	o, err := e.Options("f:n:esi1", "filter=f exact=e no-sort=s ignore-case=i case=1")
	if err != nil {
		return err
	}
	query := o.Value('f')
	if !o.Has('f') {
		if len(o.Args) == 0 {
			return e.Usagef("there is no query")
		}
		query, o.Args = o.Args[0], o.Args[1:]
	}
	most, err := e.Int(o, 'n', math.MaxInt)
	if err != nil {
		return err
	}
	fold := !o.Has('1') && (o.Has('i') || query == strings.ToLower(query))
	terms := parseQuery(query, o.Has('e'), fold)
	type hit struct {
		line  string
		score int
	}
	var hits []hit
	err = e.Each(o.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, '\n', func(line []byte) error {
			text := strings.TrimSuffix(string(line), "\n")
			if score, ok := rank(terms, text, fold); ok {
				hits = append(hits, hit{text, score})
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if !o.Has('s') && len(terms) > 0 {
		slices.SortStableFunc(hits, func(a, b hit) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.line), len(b.line)))
		})
	}
	for _, h := range hits[:min(most, len(hits))] {
		e.Stdout.WriteString(h.line)
		e.Stdout.WriteByte('\n')
	}
	if len(hits) == 0 {
		return tool.Code(1)
	}
	return nil
}

// parseQuery returns all words of a query, each with its alternatives.
func parseQuery(query string, exact, fold bool) (terms [][]term) {
	or := false
	for word := range strings.FieldsSeq(query) {
		if word == "|" {
			or = true
			continue
		}
		t := term{fuzzy: !exact}
		word, t.not = strings.CutPrefix(word, "!")
		rest, quoted := strings.CutPrefix(word, "'")
		rest, t.front = strings.CutPrefix(rest, "^")
		rest, t.after = strings.CutSuffix(rest, "$")
		t.fuzzy = t.fuzzy != quoted && !t.not && !t.front && !t.after
		if t.text = rest; fold {
			t.text = strings.ToLower(rest)
		}
		if rest == "" {
			continue
		}
		if or && len(terms) > 0 {
			terms[len(terms)-1] = append(terms[len(terms)-1], t)
		} else {
			terms = append(terms, []term{t})
		}
		or = false
	}
	return terms
}

func rank(terms [][]term, line string, fold bool) (score int, ok bool) {
	folded := line
	if fold {
		folded = strings.ToLower(line)
	}
	for _, alternatives := range terms {
		best, found := 0, false
		for _, t := range alternatives {
			if s, ok := t.match(line, folded); ok && (!found || s > best) {
				best, found = s, true
			}
		}
		if !found {
			return 0, false
		}
		score += best
	}
	return score, true
}

func (t term) match(line, folded string) (int, bool) {
	at := strings.Index(folded, t.text)
	switch {
	case t.fuzzy:
		// The library always ignores case. A query with capitals must match them.
		if !subsequence(t.text, folded) {
			return 0, false
		}
		if m := fuzzy.Find(t.text, []string{line}); len(m) == 1 {
			return m[0].Score, true
		}
		return 0, false
	case t.front && t.after:
		return 0, (folded == t.text) != t.not
	case t.front:
		return len(t.text), strings.HasPrefix(folded, t.text) != t.not
	case t.after:
		return len(t.text), strings.HasSuffix(folded, t.text) != t.not
	}
	return len(t.text) - min(at, len(t.text)), (at >= 0) != t.not
}

func subsequence(word, text string) bool {
	for _, r := range word {
		i := strings.IndexRune(text, r)
		if i < 0 {
			return false
		}
		text = text[i+len(string(r)):]
	}
	return true
}
