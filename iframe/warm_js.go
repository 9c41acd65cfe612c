package iframe

import (
	"context"
	"sync/atomic"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/jsx"
)

// warmed is global, because the warmed code is: the first document warms it for all others.
var warmed atomic.Bool

// warmTexts contain one block of each kind. A browser compiles a function of a binary when it
// is first called, so the first block of a kind costs many times as much as the second.
var warmTexts = [...]string{
	"# A *b* **c** `d`\n\ne [f](https://g.example) h\n",
	"- i\n- j\n\n1. k\n\n> l\n",
	"| m | n |\n|---|---|\n| o | p |\n\n```\nq\n```\n",
}

// warm renders a few lines and discards them. The browser makes the frame at the same time,
// which takes longer. warm yields between the texts and stops when the frame has begun.
func warm(ctx context.Context, r *markdown.Renderer, begun *atomic.Bool) {
	if warmed.Swap(true) {
		return
	}
	for _, text := range warmTexts {
		if jsx.Yield(ctx) != nil || begun.Load() {
			return
		}
		s := r.NewStream()
		_, _ = s.Write([]byte(text))
		_ = s.Close()
		_ = s.Patches()
	}
}
