package yielding

import (
	"context"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
)

// A Replacer finds and replaces a text in another text. The work is proportional to the length of
// both texts, for any content (Knuth-Morris-Pratt). It is not safe for concurrent use.
type Replacer struct {
	ctx    context.Context
	from   string
	budget jsx.Budget
	// next contains, for each byte of from, the position at which to continue if the byte after it
	// differs. It is in pages, because clearing one large slice takes long in a browser.
	next []*[nextPage]int32
}

const (
	nextPage = 16 << 10
	// replacePiece is the number of bytes that are compared before the work is counted. A byte is a
	// sixteenth of a step.
	replacePiece = 4 << 10
)

// NewReplacer returns a Replacer that finds from, until ctx ends.
func NewReplacer(ctx context.Context, from string) *Replacer {
	return &Replacer{ctx: ctx, from: from}
}

func (r *Replacer) count(i int) error {
	if i%replacePiece != 0 {
		return nil
	}
	return r.budget.Steps(r.ctx, replacePiece/16)
}

func (r *Replacer) at(i int) int { return int(r.next[i/nextPage][i%nextPage]) }

// prepare fills next. A step back never leads to an equal byte, so the number of consecutive steps
// back is at most logarithmic in the length of from.
func (r *Replacer) prepare() error {
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

// Each calls found with the position of each non-overlapping match, as [strings.Count] counts them.
// It returns the error of found or of the context.
func (r *Replacer) Each(text string, found func(at int) error) error {
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

// Replace returns text with each of its n matches replaced by to.
func (r *Replacer) Replace(text, to string, n int) (string, error) {
	var out strings.Builder
	out.Grow(len(text) + n*(len(to)-len(r.from)))
	last := 0
	err := r.Each(text, func(at int) error {
		out.WriteString(text[last:at])
		out.WriteString(to)
		last = at + len(r.from)
		return r.budget.Steps(r.ctx, 1+len(to)/64)
	})
	out.WriteString(text[last:])
	return out.String(), err
}
