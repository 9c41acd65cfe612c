package iframe

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/iframe/internal/layoutbombs"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
)

// gaps is evaluated in the page and, in Chromium, in each frame. It records the longest time in
// which a timer of that realm could not run.
const gaps = `(() => {
	if (globalThis.gapTimer) clearInterval(globalThis.gapTimer);
	let last = performance.now();
	globalThis.gap = 0;
	globalThis.gapTimer = setInterval(() => {
		const now = performance.now();
		globalThis.gap = Math.max(globalThis.gap, now - last);
		last = now;
	}, 4);
	return 0;
})()`

const worstGap = `Math.round(Math.max(globalThis.gap || 0, 0))`

// watchGaps begins to measure. In Firefox and WebKit a frame shares the page's thread.
func watchGaps(t *testing.T) {
	t.Helper()
	if !testpage.Has(testpage.FramesOnThePagesThread) {
		testpage.EvalFrames(t, gaps)
		return
	}
	must(jsx.Call(jsx.Global(), "eval", gaps))(t)
}

// worst is the longest gap since watchGaps, in ms, in the page and in the frames.
func worst(t *testing.T) (page, frames float64) {
	t.Helper()
	if testpage.Has(testpage.FramesOnThePagesThread) {
		v := must(jsx.Call(jsx.Global(), "eval", worstGap))(t)
		return must(jsx.Finite(v))(t), 0
	}
	for i, v := range testpage.EvalFrames(t, worstGap) {
		var n float64
		if json.Unmarshal(v.Value, &n) != nil {
			continue
		}
		if i == 0 {
			page = n
		} else {
			frames = max(frames, n)
		}
	}
	return page, frames
}

// worstBombs are shown in make test, one of tables and one of marks; the whole corpus is in make soak, with figures.
var worstBombs = []string{"spans 50x20", "marks: acute"}

// Each layout bomb is shown to its end, and no frame is lost because of it. The variable BOMBS
// selects some of them. The figures are logged, and no result depends on them.
func TestLayoutBombsAreShown(t *testing.T) {
	bombs, err := layoutbombs.Load()
	if err != nil {
		t.Fatal(err)
	}
	only := strings.Split(os.Getenv("BOMBS"), ",")
	if only[0] == "" && testing.Short() {
		only = worstBombs
	}
	shown := 0
	for _, b := range bombs {
		if only[0] != "" && !slices.Contains(only, b.Name) {
			continue
		}
		var st states
		d, err := NewDocument(t.Context(), place(t), DocumentOptions{Heartbeat: time.Minute, OnState: st.add})
		if err != nil {
			t.Fatal(err)
		}
		if !testing.Short() {
			watchGaps(t)
		}
		start := time.Now()
		s := d.Section("a")
		write(t, s, b.Text)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		err = d.Flush(ctx)
		cancel()
		if err != nil || st.count(StateLost) > 0 {
			t.Errorf("%s: %v, %d frames lost", b.Name, err, st.count(StateLost))
		} else if shown++; !testing.Short() {
			took := time.Since(start)
			page, frames := worst(t)
			t.Logf("%-36s %6d B shown in %6d ms; longest gap: page %5.0f ms, frame %5.0f ms; %s", b.Name, len(b.Text), took.Milliseconds(), page, frames, s.Report())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if want := len(only); only[0] != "" && shown != want {
		t.Errorf("%d of %d texts were shown", shown, want)
	}
}
