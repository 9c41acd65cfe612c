package iframe

import (
	"sync/atomic"

	"github.com/bailey-go/bailey/internal/jsx"
)

// warmed is the program's, as the code is that is warmed: the first document does
// it for all.
var warmed atomic.Bool

// warmTexts are one of each kind of block. A browser compiles a function of a
// binary when it is first called, so the first of each costs many times what the
// second does.
var warmTexts = [...]string{
	"# A *b* **c** `d`\n\ne [f](https://g.example) h\n",
	"- i\n- j\n\n1. k\n\n> l\n",
	"| m | n |\n|---|---|\n| o | p |\n\n```go\nq\n```\n",
}

// warm renders a few lines for nobody while the browser makes the frame, which
// takes longer. It gives way between the texts and ends when the frame is there.
func (im *documentImpl) warm() {
	if warmed.Swap(true) {
		return
	}
	for _, text := range warmTexts {
		if jsx.Yield(im.ctx) != nil || im.begun.Load() {
			return
		}
		s := im.opts.Renderer.NewStream()
		_, _ = s.Write([]byte(text))
		_ = s.Close()
		_ = s.Patches()
	}
}
