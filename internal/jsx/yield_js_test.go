package jsx

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// TestYieldLetsThePageLive works for a while in slices, and counts the events of the page
// meanwhile.
func TestYieldLetsThePageLive(t *testing.T) {
	eval(t, `(() => { const l = window.life = {timers: 0, frames: 0, messages: 0, gap: 0, last: performance.now()};
		const seen = () => { const now = performance.now(); l.gap = Math.max(l.gap, now - l.last); l.last = now };
		l.id = setInterval(() => { l.timers++; seen() }, 4);
		const f = () => { l.frames++; if (window.life) requestAnimationFrame(f) }; requestAnimationFrame(f);
		const c = l.c = new MessageChannel; c.port1.onmessage = () => { l.messages++; seen(); if (window.life) c.port2.postMessage(0) }; c.port2.postMessage(0) })()`)
	defer eval(t, `(clearInterval(window.life.id), window.life.c.port1.close(), delete window.life)`)
	var b Budget
	steps := 0
	for start := time.Now(); time.Since(start) < 400*time.Millisecond; steps++ {
		for end := time.Now().Add(200 * time.Microsecond); time.Now().Before(end); {
		}
		if err := b.Spend(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	life := must(Get(Global(), "life"))
	timers, _ := GetInt(life, "timers")
	frames, _ := GetInt(life, "frames")
	messages, _ := GetInt(life, "messages")
	gap, _ := GetFinite(life, "gap")
	t.Logf("400 ms of work in %d steps: %d timers, %d frames, %d messages, longest gap %.1f ms", steps, timers, frames, messages, gap)
	if timers < 10 || frames < 5 || messages < 10 {
		t.Errorf("the page starved: %d timers, %d frames, %d messages", timers, frames, messages)
	}
}

func TestYieldManyAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 5 {
				if err := Yield(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Yield(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
