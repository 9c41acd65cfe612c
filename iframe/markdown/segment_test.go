//go:build !js

package markdown_test

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// blockFragments are pieces of text that affect block structure. Raw HTML, footnotes and
// autolinks are omitted, because there the scanner and goldmark differ on purpose.
var blockFragments = strings.Split("# |## |### |> |>|- |* |+ |-|1. |2) |10. |   |    |  | |\n|\n|\n|\n\n|```|~~~|````go|`|**|_|~~|***|---|===|--|- - -|"+
	"[a]|\n\n[b]: /url\n|\n\n[a]: /u \"t\"\n|text|word|a b c|é|[ ] |[x] |  \n|\\|:|=", "|")

func init() {
	blockFragments = append(blockFragments, "|", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "a | b\n- | -\n")
}

// The segments of a text have the same meaning as the whole text: the scanner agrees with
// goldmark about every top-level block. One in a thousand random texts may differ, because
// goldmark trims a paragraph above an underline before it looks for a table in it, and no other
// paragraph.
func TestSegmentsAgreeWithGoldmark(t *testing.T) {
	r := newRenderer(t, markdown.Options{Base: specBase, NoHeadingIDs: true, NoMath: true})
	g := rng(t)
	n, differ := scaled(20000, 2000), 0
	for range n {
		src := blockSoup(g) + "\n" // at the end of a text, goldmark overlooks an info string of one character
		var want bytes.Buffer
		if err := specGoldmark.Convert([]byte(src), &want); err != nil {
			t.Fatal(err)
		}
		got, _ := render(t, r, src)
		if a, b := squeezed(t, got), squeezed(t, want.String()); a != b {
			if differ++; differ > n/1000 {
				t.Fatalf("--- markdown\n%s\n--- %q\n--- goldmark\n%s\n--- here\n%s", src, src, b, a)
			}
		}
	}
	t.Logf("%d of %d differ", differ, n)
}

func blockSoup(g *rand.Rand) string {
	var b strings.Builder
	for range 1 + g.IntN(24) {
		b.WriteString(blockFragments[g.IntN(len(blockFragments))])
	}
	return b.String()
}

// oddLanguage is a class that the sanitiser does not let through.
var oddLanguage = regexp.MustCompile(` class="language-[^"]*[^"\w+#.-][^"]*"`)
var blankBeforeBreak = regexp.MustCompile(`[ \t]+(<br>|\n)`)

func squeezed(t testing.TB, s string) string {
	s = oddLanguage.ReplaceAllString(leveled(t, s), "")
	return blankBeforeBreak.ReplaceAllString(s, "$1") // goldmark's linkifier leaves them
}
