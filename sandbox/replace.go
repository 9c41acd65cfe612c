package sandbox

import (
	"context"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
)

// A replacer finds and replaces a text in another one in pieces, between which the page
// has its turn and the context is heeded. Its work is the length of both (Knuth, Morris
// and Pratt), whatever they are.
type replacer struct {
	ctx    context.Context
	from   string
	budget jsx.Budget
	// next holds for each byte of from where to go on if the byte after differs, in
	// pages: clearing one large slice takes long in a browser.
	next []*[nextPage]int32
}

const (
	nextPage = 16 << 10
	// replacePiece is how many bytes are compared before the work is counted. A byte is
	// a sixteenth of a step.
	replacePiece = 4 << 10
)

func (r *replacer) count(i int) error {
	if i%replacePiece != 0 {
		return nil
	}
	return r.budget.Steps(r.ctx, replacePiece/16)
}

func (r *replacer) at(i int) int { return int(r.next[i/nextPage][i%nextPage]) }

// prepare fills next. A step back never leads to the same byte again, so there are at
// most as many of them in a row as the logarithm of from's length.
func (r *replacer) prepare() error {
	p := r.from
	for i, j := 0, -1; i < len(p); i, j = i+1, j+1 {
		if err := r.count(i); err != nil {
			return err
		}
		if i%nextPage == 0 {
			r.next = append(r.next, new([nextPage]int32))
		}
		to := j
		if j >= 0 && p[i] == p[j] {
			to = r.at(j)
		}
		r.next[i/nextPage][i%nextPage] = int32(to)
		for j >= 0 && p[i] != p[j] {
			j = r.at(j)
		}
	}
	return nil
}

// each calls found with the place of each match that does not lie over the one before,
// as [strings.Count] counts them. It ends with the error of found or of the context.
func (r *replacer) each(text string, found func(at int) error) error {
	if len(r.from) == 0 || len(r.from) > len(text) {
		return nil
	}
	if r.next == nil {
		if err := r.prepare(); err != nil {
			return err
		}
	}
	for i, j := 0, 0; i < len(text); {
		if err := r.count(i); err != nil {
			return err
		}
		for j >= 0 && text[i] != r.from[j] {
			j = r.at(j)
		}
		i, j = i+1, j+1
		if j == len(r.from) {
			if err := found(i - j); err != nil {
				return err
			}
			j = 0
		}
	}
	return nil
}

// replace puts to in the place of each of n matches.
func (r *replacer) replace(text, to string, n int) (string, error) {
	var out strings.Builder
	out.Grow(len(text) + n*(len(to)-len(r.from)))
	last := 0
	err := r.each(text, func(at int) error {
		out.WriteString(text[last:at])
		out.WriteString(to)
		last = at + len(r.from)
		return r.budget.Steps(r.ctx, 1+len(to)/64)
	})
	out.WriteString(text[last:])
	return out.String(), err
}
