//go:build !js

package markdown

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/yuin/goldmark/parser"
)

// The scanner and the parser agree about every formula: the segments of a text have the same meaning as the whole
// text. Otherwise the parser could meet containers that the scanner has not counted.
func TestFormulasAgree(t *testing.T) {
	r, err := New(Options{NoHeadingIDs: true})
	if err != nil {
		t.Fatal(err)
	}
	r.prepare()
	pieces := strings.Split("$$|$$\n|$$|$$\n|\\[\n|\\]\n|\\[|\\]|\\[ x^2|$|\\(|\\)|# |> |>|- |* |+ |1. |   |    |  |\n|\n|\n|\n\n|```|~~~|`|*|**|_|---|===|- - -|text|word|a b c|é|=|\\\\|^|  \n|x_1", "|")
	g := rand.New(rand.NewPCG(7, 11))
	const n = 20_000
	differ := 0
	for range n {
		var b strings.Builder
		for range 1 + g.IntN(24) {
			b.WriteString(pieces[g.IntN(len(pieces))])
		}
		src := b.String() + "\n"
		got, _, err := r.Render([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		w := &sink{}
		ctx := &blockContext{Context: parser.NewContext(), d: newDoc(r), p: &part{}, rough: true}
		nw := &nodeWriter{r: r, w: w, src: []byte(src), ctx: ctx}
		nw.children(r.conv.parse([]byte(src), ctx), 0)
		if got.String() == w.String() {
			continue
		}
		if differ++; differ > n/1000 { // as without formulas, see TestSegmentsAgreeWithGoldmark
			t.Fatalf("--- markdown\n%s\n--- %q\n--- whole\n%s\n--- segments\n%s", src, src, w.String(), got)
		}
	}
	t.Logf("%d of %d differ", differ, n)
}
