package fsaccess_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
)

// A line that is longer than MaxLine is searched in pieces, and a search whose context
// is done ends within a file.
func TestGrepInPieces(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	if err := mem.WriteFile("a", []byte(strings.Repeat("x", 100)+"yz"+strings.Repeat("x", 98)+"\nyz\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]int{0: 2, 50: 2, 101: 1, 102: 2, 1000: 2} {
		n := 0
		for _, err := range fsaccess.Grep(ctx, mem, ".", regexp.MustCompile("yz"), fsaccess.GrepOptions{MaxLine: size}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want {
			t.Errorf("pieces of %d bytes: %d matches, want %d", size, n, want)
		}
	}
	if err := mem.WriteFile("b", []byte(strings.Repeat("no\n", 200_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	seen, failed := 0, 0
	for m, err := range fsaccess.Grep(ctx, mem, ".", regexp.MustCompile("^n?o?yz|^no$"), fsaccess.GrepOptions{}) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			failed++
			continue
		}
		if m.Path == "b" {
			cancel()
			seen++
		}
	}
	if failed != 1 || seen == 0 || seen > 64<<10 {
		t.Errorf("%d matches and %d errors after the end", seen, failed)
	}
}
