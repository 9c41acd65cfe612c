package fsaccess

import (
	"context"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

// For a .gitignore of any length, the page runs while the file is read and while names are
// matched.
func TestIgnoreRests(t *testing.T) {
	m := NewMemory(MemoryOptions{})
	must(t, m.WriteFile(".gitignore", []byte(strings.Repeat("a*b*c*/d\n", maxIgnore/9)), 0o644))
	ctx := &until.Looks{Context: context.Background()}
	g := newIgnorer(ctx, folderOf(ctx, m).c, true)
	g.of(".")
	if read := ctx.N; read < maxIgnore/9/2048 {
		t.Errorf("%d looks while it was read", read)
	}
	ctx.N = 0
	if g.skips("abcabcabc/x", false) {
		t.Error("it is left out")
	}
	held := ctx.N
	if held < maxIgnore/9*16/16384 {
		t.Errorf("%d looks while a name was held against it", held)
	}
	ctx.N, ctx.End = 0, 3
	if g.skips("abcabcabc/x", false); ctx.N > 3+4 {
		t.Errorf("%d looks: the end after 3 was not heeded", ctx.N)
	}
}

func TestIgnoreHasALargestSize(t *testing.T) {
	for size, want := range map[int]bool{maxIgnore - 1: true, maxIgnore: true, maxIgnore + 1: false} {
		m := NewMemory(MemoryOptions{})
		must(t, m.WriteFile(".gitignore", []byte("*.log\n#"+strings.Repeat("x", size-7)), 0o644))
		if got := newIgnorer(t.Context(), folderOf(t.Context(), m).c, true).skips("a.log", false); got != want {
			t.Errorf("%d bytes: left out %v", size, got)
		}
	}
}
