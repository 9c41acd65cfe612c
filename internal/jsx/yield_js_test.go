package jsx

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// TestYieldLetsThePageLive works in slices until the page has had its events. The bound is an amount of
// work and not a time: a busy machine gives the page fewer events in the same time, but a Spend that
// keeps the thread, or yields only to microtasks, lets none through however long it works.
func TestYieldLetsThePageLive(t *testing.T) {
	eval(t, `(() => { const l = window.life = {timers: 0, frames: 0, messages: 0, gap: 0, last: performance.now()};
		const seen = () => { const now = performance.now(); l.gap = Math.max(l.gap, now - l.last); l.last = now };
		l.id = setInterval(() => { l.timers++; seen() }, 4);
		const f = () => { l.frames++; if (window.life) requestAnimationFrame(f) }; requestAnimationFrame(f);
		const c = l.c = new MessageChannel; c.port1.onmessage = () => { l.messages++; seen(); if (window.life) c.port2.postMessage(0) }; c.port2.postMessage(0) })()`)
	defer eval(t, `(clearInterval(window.life.id), window.life.c.port1.close(), delete window.life)`)
	life := must(Get(Global(), "life"))
	var b Budget
	var timers, frames, messages int
	const most = 20_000 // slices of 200 µs: 4 s of work
	steps := 0
	for ; steps < most && (timers < 10 || frames < 5 || messages < 10); steps++ {
		for end := time.Now().Add(200 * time.Microsecond); time.Now().Before(end); {
		}
		if err := b.Spend(t.Context()); err != nil {
			t.Fatal(err)
		}
		timers, _ = GetInt(life, "timers")
		frames, _ = GetInt(life, "frames")
		messages, _ = GetInt(life, "messages")
	}
	gap, _ := GetFinite(life, "gap")
	t.Logf("%d slices of work: %d timers, %d frames, %d messages, longest gap %.1f ms", steps, timers, frames, messages, gap)
	if steps == most {
		t.Errorf("the page starved during %d slices of work: %d timers, %d frames, %d messages", most, timers, frames, messages)
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
