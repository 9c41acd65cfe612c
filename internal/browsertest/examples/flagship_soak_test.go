package examples

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/browsertest/e2e"
)

// soakTime is how long the script is gone through: FLAGSHIP_SOAK, such as 1h, or a little,
// which shows that the script works and not that memory is flat.
func soakTime(t *testing.T) (d time.Duration, long bool) {
	t.Helper()
	text := os.Getenv("FLAGSHIP_SOAK")
	if text == "" {
		return 10 * time.Second, false
	}
	d, err := time.ParseDuration(text)
	must(t, err)
	return d, d >= 3*time.Minute
}

// another begins a conversation, and waits until it is in view.
func (f *flagship) another() {
	f.t.Helper()
	const inView = `document.querySelector("#sessions [aria-selected=true]")?.dataset.id`
	was := f.check(inView)
	f.click("#new")
	f.wait("a new conversation", `document.getElementById("cards").childElementCount === 0 && `+inView+` && `+inView+` !== `+js(was))
}

// round is use by script: read, write, code, a program and undo, in a new conversation.
func (f *flagship) round(i int) {
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

// Use by script, round by round. What the page's processes hold doesn't grow by more than a tenth from the second
// quarter of the time to the last.
func TestFlagshipSoak(t *testing.T) {
	long(t)
	d, long := soakTime(t)
	ctx, cancel := context.WithTimeout(context.Background(), d+5*time.Minute)
	defer cancel()
	b, err := e2e.Launch(ctx, e2e.Options{Args: []string{"--js-flags=--expose-gc"}})
	must(t, err)
	defer b.Close()
	f, p := flagshipIn(t, b)
	// While these are on, Chromium keeps each request and answer for its developer tools,
	// up to 100 MB of them.
	for _, domain := range []string{"Network", "DOM", "CSS"} {
		must(t, p.CDP(ctx, domain+".disable", map[string]any{}, nil))
	}
	var held []float64
	start := time.Now()
	for i := 0; time.Since(start) < d; i++ {
		f.round(i)
		f.check(`gc()`)
		list, err := b.Processes()
		must(t, err)
		sum := int64(0)
		for _, p := range list {
			if p.Kind == "renderer" {
				sum += p.Own
			}
		}
		held = append(held, float64(sum)/1e6)
	}
	quarter := len(held) / 4
	if quarter == 0 {
		t.Logf("%d rounds in %v: too few to compare; %v MB", len(held), d, held)
		return
	}
	middle := func(list []float64) float64 {
		list = slices.Sorted(slices.Values(list))
		return list[len(list)/2]
	}
	early, late := middle(held[quarter:2*quarter]), middle(held[len(held)-quarter:])
	t.Logf("%d rounds in %v: %.0f MB in the second quarter, %.0f MB in the last: %+.1f %%", len(held), d, early, late, 100*(late/early-1))
	if long && late > 1.1*early {
		t.Errorf("memory grew from %.0f MB to %.0f MB", early, late)
	}
}
