package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/internal/until"
)

// Redacting a result of many short texts yields to the page between them. The work for names that
// become equal is linear in their number.
func TestManyTextsAreSearchedInTheirNumber(t *testing.T) {
	native.Only(t)
	const n = 3000
	list, members := []any{}, map[string]any{}
	for i := range n {
		list = append(list, "a text")
		members["gh"+"p_"+strings.Repeat("aB3d", 8)+fmt.Sprintf("%04d", i)] = float64(i)
	}
	for name, v := range map[string]any{"texts": list, "names": members} {
		ctx, kept := &until.Looks{Context: t.Context()}, []string{}
		r := redactor{kept: &kept, keys: true}
		out := r.redacted(ctx, v, 64)
		least, most := n*textSteps/(16<<10), 2*n
		if ctx.N < least || ctx.N > most {
			t.Errorf("%s: %d looks, want %d to %d", name, ctx.N, least, most)
		}
		if m, ok := out.(map[string]any); ok && (len(m) != n || strings.Contains(fmt.Sprint(m), "aB3d")) {
			t.Errorf("%d members of %d: %.200v", len(m), n, m)
		}
		end := &until.Looks{Context: t.Context(), End: ctx.N / 2}
		if text := fmt.Sprint(r.redacted(end, v, 64)); !strings.Contains(text, "[unread rest removed]") || strings.Contains(text, "aB3d") {
			t.Errorf("%s: after the end %.200q", name, text)
		}
	}
}
