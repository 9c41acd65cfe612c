package protocol

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// simulatePlainly is a plain form of simulate, which must have the same result: it tests each token
// for each character.
func simulatePlainly(tokens []token, s string, subtree, gaps bool) (match, alive bool) {
	n := len(tokens)
	var small [4 * 33]bool
	sets := small[:]
	if n > 32 {
		sets = make([]bool, 4*(n+1))
	}
	now, next := sets[:n+1], sets[n+1:2*(n+1)]
	inside, inside2 := sets[2*(n+1):3*(n+1)], sets[3*(n+1):4*(n+1)]
	enter := func(set []bool) { // the moves that read nothing
		for i, t := range tokens {
			if set[i] && (t.kind == tokStar || t.kind == tokAny || t.kind == tokDirs) {
				set[i+1] = true
			}
		}
	}
	step := func(r rune) {
		clear(next)
		clear(inside2)
		for i, t := range tokens {
			if !now[i] && !inside[i] {
				continue
			}
			switch t.kind {
			case tokDirs:
				if r == '/' {
					next[i] = true
				} else {
					inside2[i] = true
				}
			case tokStar:
				next[i] = next[i] || r != '/'
			case tokAny:
				next[i] = true
			default:
				next[i+1] = next[i+1] || t.one(r) || gaps && r <= anyDots && (t.kind != tokRune || unknown(r, t.r))
			}
		}
		enter(next)
	}
	now[0] = true
	enter(now)
	for _, r := range s {
		gap := gaps && r <= anyDots
		for more := gap; more; { // as often as it leads further
			step(r)
			more = false
			for i := range now {
				more = more || next[i] && !now[i] || inside2[i] && !inside[i]
				now[i], inside[i] = now[i] || next[i], inside[i] || inside2[i]
			}
		}
		if gap {
			continue
		}
		if subtree && r == '/' && now[n] {
			return true, true
		}
		step(r)
		now, next = next, now
		inside, inside2 = inside2, inside
	}
	for i := range now {
		alive = alive || now[i] || inside[i]
	}
	return now[n], alive
}

// A pattern is read alike by words of 64 tokens and token by token: with few tokens and many, with gaps and without.
func TestPatternsAreReadAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "ab", "é", "*", "**", "**/", "?", "[ab]", "[a-c]", "/", "a*", "/**/", "x"}
	elements := []string{"a", "b", "ab", "é", "/", "//", "x", "aaaa", "\x00", "\x01", "\x02", "c"}
	text := func(from []string, most int) string {
		var b strings.Builder
		for range r.IntN(most) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	matched, rounds := 0, 40_000
	if testing.Short() {
		rounds = 8_000
	}
	for i := range rounds {
		most := 12
		if i%20 == 0 {
			most = 200 // several words
		}
		pattern, path := text(pieces, most), text(elements, most)
		if i%3 == 0 { // one that is likely to match
			path = strings.NewReplacer("**/", "a/b/", "**", "a/b", "*", "ab", "?", "c", "[ab]", "a", "[a-c]", "c").Replace(pattern)
		}
		tokens, problem := compile(pattern)
		if problem != "" {
			continue
		}
		for _, c := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			match, alive := simulate(tokens, path, c[0], c[1])
			match2, alive2 := simulatePlainly(tokens, path, c[0], c[1])
			if match != match2 || alive != alive2 {
				t.Fatalf("%q with %q, subtree %v, gaps %v: %v %v, want %v %v", pattern, path, c[0], c[1], match, alive, match2, alive2)
			}
			if match {
				matched++
			}
		}
	}
	if matched < rounds/4 {
		t.Errorf("%d of %d matched only", matched, 4*rounds)
	}
}

func BenchmarkPattern(b *testing.B) {
	for name, c := range map[string][2]string{
		"usual":    {"**/node_modules/**", "src/app/node_modules/left/index.js"},
		"stars":    {strings.Repeat("*a", MaxPattern/2), strings.Repeat("a", MaxPath)},
		"letters":  {"*" + strings.Repeat("a", MaxPattern-1), strings.Repeat("a", MaxPath)},
		"folders":  {strings.Repeat("**/a/", MaxPattern/5), strings.Repeat("a/", MaxPath/2)},
		"one of a": {strings.Repeat("*[a-zß]", MaxPattern/8), strings.Repeat("a", MaxPath)},
	} {
		tokens, _ := compile(c[0])
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				simulate(tokens, c[1], true, false)
			}
		})
		b.Run(name+" plainly", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				simulatePlainly(tokens, c[1], true, false)
			}
		})
	}
}
