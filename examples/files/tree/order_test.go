package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
)

func TestNaturalOrder(t *testing.T) {
	want := []string{".git", "10", "apple.txt", "Apple10", "b", "d2", "d10", "file.txt", "file01.txt", "file1.txt", "File02.txt", "file2.txt", "file10.txt", "file99999999999999999999.txt", "file100000000000000000000.txt", "v1.2.9", "v1.2.10", "Zebra", "Äpfel", "äpfel2", "über", "文件2", "文件10"}
	got := slices.Clone(want)
	for range 50 {
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, natural)
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// The order is total: no two names are equal, and it has no cycle, or merge would lose names.
func TestNaturalOrderIsTotal(t *testing.T) {
	names := []string{"", "0", "00", "1", "01", "1a", "01a", "1A", "a", "A", "a1", "A01", "a01b", "a1b2", "a1b02", "\xff", "\xff1", "é", "É", "a/b", "٣", "３"}
	for _, a := range names {
		for _, b := range names {
			if c, d := natural(a, b), natural(b, a); c != -d || (c == 0) != (a == b) {
				t.Errorf("%q and %q: %d and %d", a, b, c, d)
			}
			for _, c := range names {
				if natural(a, b) < 0 && natural(b, c) < 0 && natural(a, c) >= 0 {
					t.Errorf("%q < %q < %q, and not %q < %q", a, b, c, a, c)
				}
			}
		}
	}
}

func TestMergeKeepsAll(t *testing.T) {
	e := func(dir bool, names ...string) (out []fsaccess.Entry) {
		for _, n := range names {
			out = append(out, fsaccess.Entry{Path: "d/" + n, Dir: dir})
		}
		return out
	}
	got := merge(merge(e(false, "a10", "b1"), e(false, "b1", "a9", "A9")), e(true, "z"))
	if want := append(e(true, "z"), e(false, "A9", "a9", "a10", "b1")...); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTopmost(t *testing.T) {
	var list []fsaccess.Entry
	for _, n := range []string{"a", "a/b", "a/b/c", "ab", "d/e"} {
		list = append(list, fsaccess.Entry{Path: n})
	}
	if got := fmt.Sprint(topmost(list)); got != fmt.Sprint([]fsaccess.Entry{{Path: "a"}, {Path: "ab"}, {Path: "d/e"}}) {
		t.Error(got)
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []string
		want  bool
	}{{"Notes/Plan.md", []string{"plan"}, true}, {"Notes/Plan.md", []string{"notes", ".md"}, true}, {"Notes/Plan.md", []string{"plan", "x"}, false}, {"a", nil, true}} {
		if got := fits(c.name, c.words); got != c.want {
			t.Errorf("%q with %q: %v", c.name, c.words, got)
		}
	}
}

func TestIcons(t *testing.T) {
	for name, want := range map[string]string{"a.MD": "text", "a.tar.gz": "packed", "Makefile": "file", "a.": "file", "x.svg": "image", "go": "file", ".txt": "text"} {
		if got := icon(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
