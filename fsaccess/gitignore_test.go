package fsaccess

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

// matchSlowly is what matchDeep has to agree with: it tries everything.
func matchSlowly(pat, name []string) bool {
	switch {
	case len(pat) == 0:
		return len(name) == 0
	case len(name) == 0:
		return false
	case pat[0] == "**":
		if len(pat) == 1 {
			return true
		}
		for i := range name {
			if matchSlowly(pat[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	ok, _ := path.Match(pat[0], name[0])
	return ok && matchSlowly(pat[1:], name[1:])
}

// A rule with several ** takes the product of both lengths, and not a power: the last row would not end else.
func TestIgnoreRulesMatchInTheirLength(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 5))
	some := func(n int, of ...string) (out []string) {
		for range n {
			out = append(out, of[r.IntN(len(of))])
		}
		return out
	}
	for range 50_000 {
		pat, name := some(1+r.IntN(6), "a", "b", "*", "**", "**"), some(1+r.IntN(7), "a", "b")
		if got, want := matchDeep(pat, name), matchSlowly(pat, name); got != want {
			t.Fatalf("%v with %v: %v", pat, name, got)
		}
	}
	deep := strings.Split(strings.Repeat("a/", 2000)+"a", "/")
	if matchDeep(strings.Split(strings.Repeat("**/a/", 4)+"b", "/"), deep) {
		t.Error("b is not there")
	}
}
