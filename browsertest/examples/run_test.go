package examples

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

func openRun(t *testing.T, b *e2e.Browser) *e2e.Page {
	t.Helper()
	ctx := testContext(t)
	p, err := b.Page(ctx, site+"run/")
	must(t, err)
	must(t, p.WaitFor(ctx, `!document.getElementById("ready").disabled`))
	return p
}

// ended waits for the end of a run, and returns the page's text about it.
func ended(t *testing.T, p *e2e.Page) string {
	t.Helper()
	must(t, p.WaitFor(testContext(t), `!document.getElementById("ready").disabled && !document.getElementById("outcome").hidden`))
	return eval[string](t, p, `document.getElementById("outcome").innerText`)
}

func TestRunLooks(t *testing.T) {
	t.Parallel()
	pressed := func(button string) func(t *testing.T, p *e2e.Page) {
		return func(t *testing.T, p *e2e.Page) {
			must(t, p.Click(testContext(t), button))
			ended(t, p)
		}
	}
	looks(t, "run", openRun, []look{
		{name: "light", width: 1280, height: 900, show: pressed("#run")},
		{name: "dark", dark: true, width: 1280, height: 900, show: pressed("#attack-send-it-away")},
		{name: "narrow", width: 390, height: 844, show: pressed("#run")},
		{name: "mid-run", width: 1280, height: 900, show: func(t *testing.T, p *e2e.Page) {
			must(t, p.Click(testContext(t), "#attack-never-end"))
			must(t, p.WaitFor(testContext(t), `document.getElementById("status").textContent === "Running"`))
		}},
	})
}

func TestRunRuns(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openRun(t, b)
	must(t, p.Click(ctx, "#run"))
	if got := ended(t, p); !strings.Contains(got, `[{name: "plan.md", words: 6}, {name: "shop.md", words: 4}]`) {
		t.Errorf("the outcome is %q", got)
	}
	if got := eval[string](t, p, `document.getElementById("console").innerText`); got != "read 2 notes" {
		t.Errorf("the console says %q", got)
	}
	// list, two reads, wait and the run itself
	if n := eval[int](t, p, `document.querySelectorAll("#timeline li.ok").length`); n != 5 {
		t.Errorf("%d rows of the timeline", n)
	}
	// A tool that is switched off is not there.
	must(t, p.Click(ctx, "#wait"))
	must(t, p.Click(ctx, "#run"))
	must(t, p.WaitFor(ctx, `document.getElementById("outcome").className === "bad"`))
	if got := ended(t, p); !strings.Contains(got, "wait") {
		t.Errorf("the outcome is %q", got)
	}
	// The user stops a run.
	must(t, p.Eval(ctx, `document.getElementById("code").value = "console.log('here'); for (;;);"`, nil))
	must(t, p.Click(ctx, "#run"))
	must(t, p.WaitFor(ctx, `document.getElementById("console").innerText === "here"`))
	must(t, p.Click(ctx, "#stop"))
	if got := ended(t, p); !strings.Contains(got, "ABORTED") {
		t.Errorf("the outcome is %q", got)
	}
	noErrors(t, p)
}

// Each attack ends, is stopped, and nothing of it leaves the machine: the browser's own
// network log is the witness.
func TestRunAttacks(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{NetLog: true})
	ctx := testContext(t)
	p := openRun(t, b)
	ids := eval[[]string](t, p, `[...document.querySelectorAll("#attacks button")].map((b) => b.id)`)
	if len(ids) != 12 {
		t.Fatalf("%d attacks", len(ids))
	}
	for _, id := range ids {
		must(t, p.Click(ctx, "#"+id))
		must(t, p.WaitFor(ctx, `document.getElementById("ready").disabled`))
		got := ended(t, p)
		if !strings.Contains(got, "Ended: ") || !strings.Contains(got, "\n") {
			t.Errorf("%s: the page says %q", id, got)
		}
		t.Logf("%s: %s", id, strings.ReplaceAll(got, "\n", " | "))
	}
	nothingOutside(t, b, p)
}

// The keys of an editor: indent, outdent, keep the indentation, comment, undo, leave, run.
func TestRunKeyboard(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openRun(t, b)
	set := func(text string, from, to int) {
		must(t, p.Eval(ctx, fmt.Sprintf(`(() => { const c = document.getElementById("code"); c.focus(); c.value = %q; c.setSelectionRange(%d, %d) })()`, text, from, to), nil))
	}
	for _, c := range []struct {
		name, text string
		from, to   int
		press      []string
		want       string
	}{
		{"tab", "ab", 1, 1, []string{"Tab"}, "a  b"},
		{"tab over lines", "a\nb\nc", 0, 3, []string{"Tab"}, "  a\n  b\nc"},
		{"outdent", "  a\n    b", 0, 9, []string{"Shift+Tab"}, "a\n  b"},
		{"enter keeps the indentation", "  a", 3, 3, []string{"Enter"}, "  a\n  "},
		{"enter behind a brace", "if (x) {", 8, 8, []string{"Enter"}, "if (x) {\n  "},
		{"comment", "  a\nb", 0, 5, []string{"Control+/"}, "  // a\n// b"},
		{"comment and back", "  a", 2, 2, []string{"Control+/", "Control+/"}, "  a"},
		{"undo", "ab", 1, 1, []string{"Tab", "Control+z"}, "ab"},
	} {
		set(c.text, c.from, c.to)
		for _, key := range c.press {
			must(t, p.Press(ctx, key))
		}
		if got := eval[string](t, p, `document.getElementById("code").value`); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	set("return 6 * 7", 0, 0)
	must(t, p.Press(ctx, "Control+Enter"))
	if got := ended(t, p); !strings.Contains(got, "42") {
		t.Errorf("the outcome is %q", got)
	}
	set("a", 1, 1)
	must(t, p.Press(ctx, "Escape"))
	must(t, p.Press(ctx, "Tab"))
	if id := eval[string](t, p, `document.activeElement.id`); id == "code" {
		t.Error("the keyboard can't leave the editor")
	}
	noErrors(t, p)
}
