package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/internal/until"
)

var slowSearches = []struct {
	name, expr string
	line       string // a line without a match, repeated to its size
	size       int
}{
	{"a line of several pieces", "(?i)needle", "x", 3 << 20},
	{"many alternatives", "(?i)a{20}|[ab]{30}c|b{40}c|[a-c]{50}d", "ab", 32 << 10},
	{"a large repetition", "[ab]{1000}c", "ab", 16 << 10},
	{"nested stars", "^(a*)*b$", "a", 128 << 10},
	{"stars of alternatives", "(a|aa)+$b", "a", 64 << 10},
	{"the beginning is everywhere", "ab[ab]{500}c", "ab", 32 << 10},
	{"anything before", ".*.*.*=.*", "x", 64 << 10},
	{"characters of several bytes", "[äö]{100}ü", "äö", 32 << 10},
	{"no text", "(?s).{300}y", "\xff\xfe", 16 << 10},
	{"short lines", "(?i)(x+x+)+y", "xxxxxxxxxxxxxxxx\n", 64 << 10},
	{"empty lines", "(?i)x$", "\n", 64 << 10},
}

// A search pauses within a line. It checks its context once for each group of steps, and
// ends with it.
func TestGrepRestsWithinALine(t *testing.T) {
	native.Only(t)
	for _, c := range slowSearches {
		data := []byte(strings.Repeat(c.line, c.size/len(c.line)))
		re := regexp.MustCompile(c.expr)
		search := func(last int, uncut bool) (looks, matches int, failed, stopped error) {
			ctx := &until.Looks{Context: context.Background(), End: last}
			s := newSearch(ctx, nil, re, GrepOptions{Binary: true}, func(_ Match, err error) bool {
				if err != nil {
					failed = err
				} else {
					matches++
				}
				return true
			})
			s.uncut = uncut
			stopped = s.content("f", data)
			return ctx.N, matches, failed, stopped
		}
		looks, matches, failed, stopped := search(0, false)
		lines := bytes.Count(data, []byte{'\n'})
		want := lines * 16 / grepSteps // the least work of a line
		if lines == 0 {
			want = len([]rune(string(data))) * stepsOf(re) / grepSteps / 2
		}
		if prefix, _ := re.LiteralPrefix(); matches != 0 || failed != nil || stopped != nil || looks < want && prefix == "" || looks < 1 {
			t.Errorf("%s: %d looks, want %d; %d matches, %v, %v", c.name, looks, want, matches, failed, stopped)
		}
		last := max(1, looks/2)
		if n, _, failed, stopped := search(last, false); n > last+4 || !errors.Is(failed, context.Canceled) || stopped != core.ErrStop {
			t.Errorf("%s: %d looks after the end at %d; %v, %v", c.name, n, last, failed, stopped)
		}
		if lines > 0 {
			continue
		}
		if n, _, _, _ := search(0, true); n > looks/4 { // the test sees a search that is not cut: one look for each MiB
			t.Errorf("%s: %d looks in one stretch, %d in pieces", c.name, n, looks)
		}
	}
}

// A search in pieces, character by character, finds the same as the expression at once.
func TestGrepInPiecesFindsTheSame(t *testing.T) {
	native.Only(t)
	rep := strings.Repeat
	lines := []string{"", "x", rep("x", 40_000) + "needle" + rep("y", 40_000), "needle" + rep("x", 70_000), rep("x", 70_000) + "needle", rep("ä", 30_000) + "needle\r", rep("\xff", 30_000) + "needle", "needle",
		rep("need", 20_000) + "le", " needle ", rep("x", grepLook-1), rep("x", grepLook) + "needle", rep(" ", 50_000) + "needle " + rep("needle", 10_000), "TODO", rep("x", 9000) + "TODO"}
	for _, expr := range []string{"needle", "^needle", "needle$", "^needle$", "(?i)NEEDLE", `\bneedle\b`, "n[e]+dle", "need(le)?$", "x*needle", "x+y|needle", "[^x]needle", "(?:x|ä)needle.", "le$", "^$", "^TODO$", "T?ODO$", `\Aneedle\z`, ".needle", `\xff`} {
		re := regexp.MustCompile(expr)
		var want, got []Match
		for i, l := range lines {
			if at := re.FindStringIndex(strings.TrimSuffix(l, "\r")); at != nil {
				want = append(want, Match{Line: i + 1, Column: at[0] + 1})
			}
		}
		s := newSearch(context.Background(), nil, re, GrepOptions{Binary: true}, func(m Match, err error) bool {
			got = append(got, Match{Line: m.Line, Column: m.Column})
			return true
		})
		if err := s.content("f", []byte(strings.Join(lines, "\n")+"\n")); err != nil {
			t.Error(err)
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", expr, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", expr, got[i], want[i])
			}
		}
	}
}
