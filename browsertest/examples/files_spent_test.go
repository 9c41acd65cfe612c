package examples

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// The tokens of a conversation are at the end of the line of the state. With the user's prices so is its money, and all of it
// is there after a reload.
func TestFilesSpent(t *testing.T) {
	long(t)
	t.Parallel()
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			ctx := testContext(t)
			m := newPlaying(t, turn{text: "the first answer"}, turn{text: "the second answer"})
			p := elsewhere(t, engine, m)
			spent := func(want string) {
				t.Helper()
				if err := p.WaitFor(testContext(t), `(() => { const b = document.getElementById("spent"); return (b.hidden ? "" : b.textContent) === `+js(want)+`; })()`); err != nil {
					t.Fatalf("it is not %q but %q", want, eval[string](t, p, `document.getElementById("spent").textContent`))
				}
			}
			shot := func(name string) {
				c, ok := p.driver.(*e2e.Page)
				if *pictures == "" || !ok {
					return
				}
				for _, w := range []int{1400, 1024, 768, 390, 320} {
					for _, dark := range []bool{false, true} {
						must(t, c.Viewport(ctx, w, 860, 1))
						must(t, c.Dark(ctx, dark))
						_, err := c.Screenshot(ctx, e2e.Shot{File: filepath.Join(*pictures, fmt.Sprintf("%s-%d-%t.png", name, w, dark))})
						must(t, err)
					}
				}
				must(t, c.Viewport(ctx, 0, 0, 0))
			}
			spent("")
			say(t, p, "go on")
			spent("20 tokens")
			must(t, p.Click(ctx, "#spent"))
			if got := dialogue(t, p); !strings.Contains(got, "Read by the model: 10 tokens") || !strings.Contains(got, "Written by the model: 10 tokens") || strings.Contains(got, "$") {
				t.Errorf("it says %q", got)
			}
			shot("spent-dialogue")
			fill := func(prices ...string) {
				t.Helper()
				for i, v := range prices {
					must(t, p.Eval(ctx, fmt.Sprintf(`void (document.querySelectorAll("#dialog-body input")[%d].value = %s)`, i, js(v)), nil))
				}
				choose(t, p, "Keep the prices")
			}
			fill("cheap")
			saysStatus(t, p, "is no price")
			must(t, p.Click(ctx, "#spent"))
			dialogue(t, p)
			fill("100", "", "1000", "2")
			saysStatus(t, p, "Kept")
			say(t, p, "and on")
			spent("40 tokens · $0.0110")
			shot("spent")
			must(t, p.Click(ctx, "#spent"))
			if got := dialogue(t, p); !strings.Contains(got, "Money: $0.0110") || eval[string](t, p, `[...document.querySelectorAll("#dialog-body input")].map((e) => e.value).join()`) != "100,,1000,2" {
				t.Errorf("it says %q", got)
			}
			choose(t, p, "Close")
			if p.lasts() {
				must(t, p.Reload(ctx))
				filesReady(t, p)
				spent("40 tokens · $0.0110")
			}
			noErrors(t, p)
		})
	}
}
