package fetch

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

// Reading a stream that is available at once yields to the page, and ends with its context.
func TestBodiesRest(t *testing.T) {
	for name, text := range map[string]string{"a long event": "data: " + strings.Repeat("a", 1<<20) + "\n\n", "many events": strings.Repeat("data: a\n\n", 100_000), "comments": strings.Repeat(":\n", 500_000) + "data: a\n\n"} {
		for _, last := range []int{0, 10} {
			ctx, events := &until.Looks{Context: t.Context(), End: last}, 0
			err := eventstream.Read(&restingBody{ReadCloser: io.NopCloser(strings.NewReader(text)), ctx: ctx}, func(eventstream.Event) error { events++; return nil })
			if least := len(text) / mostRead; last == 0 && (err != nil || events == 0 || ctx.N < least) {
				t.Errorf("%s: %v, %d events, %d looks, at least %d", name, err, events, ctx.N, least)
			}
			if last > 0 && (!errors.Is(err, context.Canceled) || ctx.N > last+4) {
				t.Errorf("%s: after the end %v, %d looks", name, err, ctx.N)
			}
		}
	}
}
