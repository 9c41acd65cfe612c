package examples

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// soakTime returns the duration of the script: that of FILES_SOAK, such as 1h, or 10 s, which only tests the
// script. It also reports whether it is long enough to compare memory.
func soakTime(t *testing.T) (d time.Duration, long bool) {
	t.Helper()
	text := os.Getenv("FILES_SOAK")
	if text == "" {
		return 10 * time.Second, false
	}
	d, err := time.ParseDuration(text)
	must(t, err)
	return d, d >= 3*time.Minute
}

// another begins a conversation, and waits until it is in view. The page stays in one without a message.
func (f *filesPage) another() {
	f.t.Helper()
	if f.check(`String(!document.getElementById("welcome").hidden)`) == "true" {
		return
	}
	// Here and in do the page evaluates the same few texts again and again, because V8 would keep others in memory.
	const inView = `document.querySelector("#sessions li:has([aria-current=true])")?.dataset.id`
	f.check(`globalThis.was = ` + inView)
	f.click("#new")
	f.wait("a new conversation", `document.getElementById("cards").childElementCount === 0 && `+inView+` && `+inView+` !== globalThis.was`)
}

// round runs a script: read, write, code, a program and undo, in a new conversation.
func (f *filesPage) round(i int) {
	f.t.Helper()
	f.another()
	f.one("", "read", "path", "hours.csv")
	f.one(once, "write", "path", "soak.txt", "content", fmt.Sprint(i))
	f.one("", "code_run", "code", "return new Array(1e5).fill(0).length")
	f.one("", "bash", "command", "sort hours.csv | wc -l")
	f.click("#tab-undo")
	f.click("#undo")
	f.wait("taken back", `document.getElementById("status").textContent.startsWith("Took back") && !document.querySelector("#tree [data-path='soak.txt']")`)
}

// memory returns two functions. own returns the memory that the page's processes have allocated, in MB, and live that
// which the page and its frames use after a garbage collection. Unlike it, own includes the allocators' free pages, which
// they do not return.
func memory(ctx context.Context, t *testing.T, b *e2e.Browser, p *e2e.Page) (own, live func() float64) {
	t.Helper()
	own = func() float64 {
		list, err := b.Processes()
		must(t, err)
		sum := int64(0)
		for _, p := range list {
			if p.Kind == "renderer" {
				sum += p.Own
			}
		}
		return float64(sum) / 1e6
	}
	live = func() float64 {
		values, err := p.EvalFrames(ctx, `globalThis.gc?.()`)
		must(t, err)
		if len(values) < 3 {
			t.Fatalf("%d frames, want the page and two of a conversation at least", len(values))
		}
		var heap struct {
			Used    float64 `json:"usedSize"`
			DOM     float64 `json:"embedderHeapUsedSize"`
			Backing float64 `json:"backingStorageSize"`
		}
		must(t, p.CDP(ctx, "Runtime.getHeapUsage", map[string]any{}, &heap))
		return (heap.Used + heap.DOM + heap.Backing) / 1e6
	}
	return own, live
}

// Scripted use, round by round. The memory of the page's processes grows by at most a tenth from the second quarter
// of the time to the last.
func TestFilesSoak(t *testing.T) {
	t.Parallel()
	long(t)
	d, long := soakTime(t)
	ctx, cancel := context.WithTimeout(context.Background(), d+5*time.Minute)
	defer cancel()
	b, err := e2e.Launch(ctx, e2e.Options{Args: []string{"--js-flags=--expose-gc"}})
	must(t, err)
	defer b.Close()
	f, p := wholeFilesIn(t, b)
	// While these are on, Chromium keeps each request and answer for its developer tools,
	// up to 100 MB of them.
	for _, domain := range []string{"Network", "DOM", "CSS"} {
		must(t, p.CDP(ctx, domain+".disable", map[string]any{}, nil))
	}
	own, live := memory(ctx, t, b, p)
	var held []float64
	start, rounds := time.Now(), 0
	for time.Since(start) < d {
		for next := time.Duration(len(held)+1) * d / 60; time.Since(start) < next; rounds++ {
			f.round(rounds)
		}
		// A process that is never idle delays its collection. That of the frames keeps the objects of a quarter of an
		// hour.
		before := own()
		used := live()
		held = append(held, own())
		t.Logf("%v: %d rounds, %.0f MB, %.0f MB before; %.1f MB live", time.Since(start).Round(time.Second), rounds, held[len(held)-1], before, used)
	}
	quarter := len(held) / 4
	if quarter == 0 {
		t.Logf("%d rounds in %v: too few to compare; %v MB", rounds, d, held)
		return
	}
	middle := func(list []float64) float64 {
		list = slices.Sorted(slices.Values(list))
		return list[len(list)/2]
	}
	early, late := middle(held[quarter:2*quarter]), middle(held[len(held)-quarter:])
	t.Logf("%d rounds in %v: %.0f MB in the second quarter, %.0f MB in the last: %+.1f %%", rounds, d, early, late, 100*(late/early-1))
	if long && late > 1.1*early {
		t.Errorf("memory grew from %.0f MB to %.0f MB", early, late)
	}
}
