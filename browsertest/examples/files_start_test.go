package examples

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// watchStart records the shown progress of the load from the first moment on.
const watchStart = `globalThis.seen = [];
const look = () => {
	for (const e of document.querySelectorAll("*")) {
		const now = e.shadowRoot?.querySelector("[role=progressbar]")?.getAttribute("aria-valuenow");
		if (now && seen.at(-1) !== +now) seen.push(+now);
	}
	if (document.getElementById("tour")?.disabled !== false) setTimeout(look, 10);
};
look();`

// On a line of 10 Mbit/s the shell is painted before the program runs, and the page shows the
// progress.
func TestFilesSlowLine(t *testing.T) {
	t.Parallel()
	long(t)
	ctx := testContext(t)
	p, err := launch(t, e2e.Options{}).Blank(ctx)
	must(t, err)
	must(t, p.CDP(ctx, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "if (self === top) {" + watchStart + "}"}, nil))
	must(t, p.Throttle(ctx, 10e6/8, 20))
	must(t, p.Goto(ctx, site+"files/"))
	must(t, p.WaitFor(ctx, `document.getElementById("tour").disabled === false`))
	seen := eval[[]float64](t, p, `seen`)
	if len(seen) < 5 {
		t.Errorf("progress was shown as %v", seen)
	}
	for i := 1; i < len(seen); i++ {
		if seen[i] < seen[i-1] || seen[i] > 100 {
			t.Errorf("progress goes %v", seen)
			break
		}
	}
	painted := eval[float64](t, p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
	loaded := eval[float64](t, p, `performance.getEntriesByType("resource").find((r) => /main\.[0-9a-f]+\.wasm$/.test(r.name)).responseEnd`)
	if painted >= loaded {
		t.Errorf("the shell is painted at %.0f ms, the program was loaded at %.0f ms", painted, loaded)
	}
	// The tools are fetched when they are run, not before.
	for _, r := range p.Requests() {
		if strings.Contains(r.URL, "/tools/") && strings.HasSuffix(r.URL, ".wasm") {
			t.Errorf("%s was fetched at the start", r.URL)
		}
	}
	noErrors(t, p)
}
