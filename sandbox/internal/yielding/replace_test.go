package yielding

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

func replaced(ctx context.Context, text, from, to string) (n int, now string, err error) {
	r := NewReplacer(ctx, from)
	if err = r.Each(text, func(int) error { n++; return nil }); err == nil {
		now, err = r.Replace(text, to, n)
	}
	return n, now, err
}

// Replacing in pieces has the result of the standard library.
func TestReplaceAgreesWithStrings(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 7))
	word := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte("ab"[min(1, r.IntN(3))])
		}
		return b.String()
	}
	cases := [][2]string{{strings.Repeat("a", 9000), strings.Repeat("a", 4097)}, {strings.Repeat("ab", 40_000), strings.Repeat("ab", 17_000)}, {"a", "ab"}, {strings.Repeat("ä€", 5000), "€ä"}}
	for range 2000 {
		from := word(1 + r.IntN(6))
		cases = append(cases, [2]string{strings.Repeat(word(r.IntN(20)), 1+r.IntN(3)) + from + word(r.IntN(50)), from})
	}
	for _, c := range cases {
		n, now, err := replaced(t.Context(), c[0], c[1], "<>")
		if err != nil || n != strings.Count(c[0], c[1]) || now != strings.ReplaceAll(c[0], c[1], "<>") {
			t.Fatalf("%.60q in %.60q: %d %.60q %v", c[1], c[0], n, now, err)
		}
	}
}

// An edit checks its context once for a number of bytes, and ends with it. For any text the work is
// linear in its length.
func TestReplaceRests(t *testing.T) {
	rep := strings.Repeat
	thue := "a" // two halves of it have the same sum, whatever the factor
	for len(thue) < 1<<20 {
		thue += strings.Map(func(c rune) rune { return 'a' + 'b' - c }, thue)
	}
	for _, c := range []struct{ name, text, from, to string }{
		{"a place at each byte", rep("a", 4<<20), "a", "b"},
		{"no place", rep("a", 4<<20), "b", ""},
		{"nearly, at each byte", rep("a", 4<<20), rep("a", 1<<20) + "b", ""},
		{"nearly, from the end", rep("a", 4<<20), "b" + rep("a", 1<<20), ""},
		{"half of it", rep("a", 4<<20), rep("a", 2<<20), "b"},
		{"pairs", rep("ab", 2<<20), rep("ab", 1000) + "b", ""},
		{"equal sums", thue + thue + thue + thue, thue[:1<<19] + "a" + thue[:1<<19], ""},
		{"one large text", rep("a", 3<<20) + "b" + rep("a", 1<<20), "b", rep("c", 1<<20)},
	} {
		ctx := &until.Looks{Context: context.Background()}
		n, now, err := replaced(ctx, c.text, c.from, c.to)
		least := len(c.text) / 16 / (16 << 10)
		if err != nil || n != strings.Count(c.text, c.from) || len(now) != len(c.text)+n*(len(c.to)-len(c.from)) || ctx.N < least || ctx.N > 40*least {
			t.Errorf("%s: %d places, %d bytes, %d looks for at least %d; %v", c.name, n, len(now), ctx.N, least, err)
		}
		end := &until.Looks{Context: context.Background(), End: ctx.N / 2}
		if _, _, err := replaced(end, c.text, c.from, c.to); !errors.Is(err, context.Canceled) || end.N > end.End+4 {
			t.Errorf("%s: %d looks after the end at %d; %v", c.name, end.N, end.End, err)
		}
	}
}
