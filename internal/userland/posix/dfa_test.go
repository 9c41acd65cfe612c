package posix

import (
	"fmt"
	"math/rand"
	"regexp"
	"strings"
	"testing"
)

// The tables decide as Go's engine does, for patterns and lines made at random.
func TestTablesDecideAsTheEngine(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	pieces := []string{"a", "b", "ab", ".", "[ab]", "[^a]", "(a|b)", "a*", "b+", "(ab)?", "é", "[é-ü]", "^", "$", "(^a|b$)", "x{2,3}", "(a|)", "[[:alpha:]]", "日", "\\n", "()", "(b|$)"}
	letters := []string{"a", "b", "x", "é", "ü", "日", "\n", "\xff", " "}
	tables, tried := 0, 0
	for range 3000 {
		text := ""
		for range 1 + r.Intn(5) {
			text += pieces[r.Intn(len(pieces))]
		}
		for _, flags := range []string{"", "i"} {
			re, err := Compile(text, Extended, flags)
			if err != nil || re.re == nil {
				continue
			}
			if re.dfa != nil {
				tables++
			}
			for range 8 {
				line := ""
				for range r.Intn(8) {
					line += letters[r.Intn(len(letters))]
				}
				tried++
				if got, want := re.Match([]byte(line)), re.re.MatchString(line); got != want {
					t.Fatalf("%q (%s) on %q: %v, want %v", text, flags, line, got, want)
				}
			}
		}
	}
	if tables < 1000 || tried < 10_000 {
		t.Errorf("%d patterns have tables, %d lines were tried", tables, tried)
	}
}

// A pattern with too many states is left to the engine.
func TestTooManyStates(t *testing.T) {
	re, err := Compile("a"+strings.Repeat("[ab]", 12)+"c", Extended, "")
	if err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile("a[ab]{12}c")
	r := rand.New(rand.NewSource(2))
	for i := range 300 {
		var b strings.Builder
		for range 200 {
			b.WriteString([]string{"a", "b", "a", "b", "c"}[r.Intn(5)])
		}
		if got, want := re.Match([]byte(b.String())), plain.MatchString(b.String()); got != want {
			t.Fatalf("line %d: %v, want %v", i, got, want)
		}
	}
	if re.dfa != nil {
		t.Errorf("the pattern has %d states, at most %d", len(re.dfa.states), maxStates)
	}
}

func BenchmarkMatch(b *testing.B) {
	line := []byte("line 123456 of a text that is about as long as others")
	for _, text := range []string{"line 1.*9", "ERROR|WARN", "^[a-z]+ [0-9]+ of", "(foo|bar)+baz$"} {
		re, err := Compile(text, Extended, "")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(text, " tables"), func(b *testing.B) {
			for b.Loop() {
				re.Match(line)
			}
		})
		b.Run(fmt.Sprint(text, " engine"), func(b *testing.B) {
			for b.Loop() {
				re.re.Match(line)
			}
		})
	}
}
