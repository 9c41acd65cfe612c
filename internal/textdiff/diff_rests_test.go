package textdiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

const diffStretch = 16 << 10 // steps between two looks

// A comparison checks its context once for each piece of its work, and ends with it.
func TestDiffRests(t *testing.T) {
	rep := strings.Repeat
	numbers := func(n int, tag string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%d\n", tag, i)
		}
		return b.String()
	}
	every := func(n int, a, b string) string { return rep(a+b, n) }
	for _, c := range []struct {
		name string
		diff func(context.Context, string, string, []byte, []byte) (string, error)
		a, b string
		want int // looks: the bytes or lines over a stretch of them
	}{
		{"one line of 2 MiB each", Unified, rep("a", 2<<20), rep("a", 2<<20-1) + "b", 2 << 20 / (32 * diffStretch)},
		{"200,000 lines", Unified, rep("a\n", diffLines/2), rep("a\n", diffLines/2-1) + "b\n", diffLines / diffStretch},
		{"all lines differ", Unified, numbers(diffApart/2, "a"), numbers(diffApart/2, "b"), 4 * diffApart / diffStretch},
		{"a thousand edits", Unified, every(10_000, "x\n", "y\n"), every(10_000, "x\n", "z\n"), 1000 * 1000 / 2 / diffStretch},
		{"long runs between edits", Unified, rep(rep("x\n", 30)+"y\n", 400), rep(rep("x\n", 30)+"z\n", 400), 12_800 / diffStretch},
		{"nearly no text", Unified, rep("a", 2<<20), rep("a", 2<<20-2) + "\x00", 4 << 20 / (8 * diffStretch)},
		{"a question: the same but for the end", Question, rep("line\n", 1<<20), rep("line\n", 1<<20) + "x", 5 << 20 / (32 * diffStretch)},
		{"a question: no text", Question, "", rep("\x01\xff\xfe", 500_000), 3 * 500_000 / diffStretch},
		{"a question: texts in no text", Question, "", rep("abc\x00\xff\xff\xff", 200_000), 5 * 200_000 / diffStretch},
		{"a question: the old is no text", Question, rep("\x01", 1<<20), "x", 1 << 20 / diffStretch},
		{"a question: one that is all text", Question, "", rep("é", 3<<20), 3 << 20 / diffStretch},
	} {
		ctx := &until.Looks{Context: context.Background()}
		text, err := c.diff(ctx, "a", "b", []byte(c.a), []byte(c.b))
		if err != nil || text == "" || ctx.N < max(1, c.want) {
			t.Errorf("%s: %d looks, want %d; %v", c.name, ctx.N, c.want, err)
			continue
		}
		end := &until.Looks{Context: context.Background(), End: max(1, ctx.N/2)}
		if _, err := c.diff(end, "a", "b", []byte(c.a), []byte(c.b)); !errors.Is(err, context.Canceled) || end.N > end.End+4 {
			t.Errorf("%s: %d looks after the end at %d; %v", c.name, end.N, end.End, err)
		}
	}
}

// A comparison in pieces returns the same result as one at once.
func TestDiffPiecesAgree(t *testing.T) {
	d := &differ{ctx: t.Context()}
	for _, n := range []int{0, 1, diffPiece - 1, diffPiece, diffPiece + 1, 3*diffPiece + 7} {
		a := bytes.Repeat([]byte("é\n"), n/3+1)[:n]
		for _, at := range []int{-1, 0, n / 2, n - 1} {
			b := bytes.Clone(a)
			want := n
			if at >= 0 && at < n {
				b[at] ^= 1
				want = at
			}
			if got := d.same(a, b); got != want {
				t.Errorf("%d bytes, another at %d: %d", n, at, got)
			}
			if got := d.sameEnd(a, b); want < n && got != n-1-want || want == n && got != n {
				t.Errorf("%d bytes, another at %d, from the end: %d", n, at, got)
			}
			if d.lines(a) != bytes.Count(a, newline) {
				t.Errorf("lines of %d bytes", n)
			}
		}
		for cut := range 4 { // characters over a piece's border
			text := append(bytes.Repeat([]byte("a"), cut), bytes.Repeat([]byte("€😀"), n/7)...)
			if !d.isText(text) || len(text) > 4 && (d.isText(text[:len(text)-1]) || d.isText(append(text, 0))) {
				t.Errorf("text of %d bytes", len(text))
			}
		}
		if d.isText(bytes.Repeat([]byte{0x80}, n+1)) {
			t.Errorf("%d bytes that begin no character are text", n+1)
		}
	}
}
