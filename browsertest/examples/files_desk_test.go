package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// In each window the talk is readable, the button to send is in view, and nothing is wider than the window: with three
// panes, with two, with one, and at a zoom of 200 % (WCAG 1.4.4 and 1.4.10). The right pane is a drawer below 1280 px,
// and the bar at the bottom chooses the pane below 900 px.
func TestFilesBreakpoints(t *testing.T) {
	t.Parallel()
	p := openFiles(t, launch(t, e2e.Options{}))
	ctx := testContext(t)
	say(t, p, "search for TODO in notes")
	rested(t, p)
	visible := func(id string) string {
		return `document.getElementById("` + id + `").checkVisibility({visibilityProperty: true})`
	}
	shown := func(id string) bool { return eval[bool](t, p, visible(id)) }
	becomes := func(id string, want bool) { // the page handles a click after the click has returned
		t.Helper()
		must(t, p.WaitFor(ctx, fmt.Sprintf("%s === %v", visible(id), want)))
	}
	for _, c := range []struct {
		w, h  int
		scale float64
		panes int
	}{{1920, 1080, 1, 3}, {1400, 860, 1, 3}, {1280, 800, 1, 3}, {1279, 800, 1, 2}, {1120, 700, 1, 2}, {1024, 768, 1, 2}, {933, 573, 1, 2}, {900, 700, 1, 2}, {895, 700, 1, 1}, {768, 1024, 1, 1}, {700, 430, 2, 1}, {640, 512, 2, 1}, {390, 844, 1, 1}, {320, 640, 1, 1}} {
		must(t, p.Viewport(ctx, c.w, c.h, c.scale))
		name := fmt.Sprintf("%d×%d", c.w, c.h)
		if got := eval[int](t, p, `document.documentElement.scrollWidth`); got > c.w {
			t.Errorf("%s: the page is %d px wide", name, got)
		}
		for id, want := range map[string]bool{"sidebar": c.panes > 1, "aside": c.panes == 3, "panes": c.panes == 2, "bottom": c.panes == 1, "talk": true} {
			if shown(id) != want {
				t.Errorf("%s: %s is shown: %v", name, id, !want)
			}
		}
		if got := eval[float64](t, p, `document.getElementById("talk").clientHeight / innerHeight`); got < .3 {
			t.Errorf("%s: the talk has %.0f %% of the height", name, 100*got)
		}
		if got := eval[float64](t, p, `document.querySelector(".paper").clientWidth`); got > 760 {
			t.Errorf("%s: lines of %.0f px", name, got)
		}
		must(t, p.Eval(ctx, `document.getElementById("send").scrollIntoView({block: "nearest"})`, nil))
		if !eval[bool](t, p, `(() => { const r = document.getElementById("send").getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight + 1 && r.right <= innerWidth })()`) {
			t.Errorf("%s: Send is out of view", name)
		}
		switch c.panes {
		case 2:
			must(t, p.Click(ctx, "#panes"))
			becomes("aside", true)
			reach(t, "#aside-close", func(e string) string { return eval[string](t, p, e) }, func(x, y float64) { must(t, p.MoveTo(ctx, x, y)) })
			must(t, p.Click(ctx, "#aside-close"))
			becomes("aside", false)
		case 1:
			for pane, id := range map[string]string{"files": "tree", "activity": "aside", "chat": "talk"} {
				must(t, p.Click(ctx, "#bottom [data-pane="+pane+"]"))
				becomes(id, true)
			}
			must(t, p.Click(ctx, "#bottom [data-pane=chat]"))
			becomes("talk", true)
		}
	}
	noViolations(t, p)
	noErrors(t, p)
}

// The steps stand in the talk, and the change with its undo. A message's own links act on the page, and the same
// address in an answer does not.
func TestFilesStepsInTheTalk(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		say(t, p, `add "- [ ] umbrella" to notes/plan.md`)
		asked(t, p)
		answerKey(t, p, once)
		rested(t, p)
		shows(t, p, "Read 1 file · changed 1 file")
		shows(t, p, "+- [ ] umbrella")
		const links = `[...document.querySelectorAll("[data-path]")]`
		link := func(text string) string { return links + `.filter((a) => a.textContent === "` + text + `").at(-1)` }
		there := func() bool { return strings.Contains(zipped(t, p)["notes/plan.md"], "umbrella") }
		if !there() {
			t.Fatal("it is not in the file")
		}
		inFrame(t, p, link("Undo")+`.click()`)
		saysStatus(t, p, "Undone: notes/plan.md")
		if there() {
			t.Error("it is still in the file")
		}
		inFrame(t, p, link("Edit")+`.click()`)
		if got := dialogue(t, p); !strings.Contains(got, "Edit this message?") {
			t.Error(got)
		}
		choose(t, p, "Rewind")
		must(t, p.WaitFor(ctx, `document.getElementById("text").value.includes("umbrella") && document.getElementById("cards").childElementCount === 0`))
	})
}

// An unsent text belongs to its conversation and survives a reload. A text that follows the press on New chat is for the
// new one. A deleted conversation can be brought back.
func TestFilesNothingIsLost(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	p := openFiles(t, b)
	ctx := testContext(t)
	field := func(want string) {
		t.Helper()
		if err := p.WaitFor(ctx, `document.getElementById("text").value === `+js(want)); err != nil {
			t.Fatalf("the field has %q, want %q", eval[string](t, p, `document.getElementById("text").value`), want)
		}
	}
	say(t, p, "find packing.txt")
	rested(t, p)
	must(t, p.Type(ctx, "#text", "a draft"))
	// Both in one turn of the page: the new conversation is not there yet.
	must(t, p.Eval(ctx, `void (document.getElementById("new").click(), document.getElementById("text").value = "list the files", document.getElementById("composer").requestSubmit())`, nil))
	must(t, p.WaitFor(ctx, `document.querySelectorAll("#sessions .chat").length === 2 && document.getElementById("stop").hidden && document.querySelector("#sessions [aria-current]").textContent.startsWith("list the files")`))
	must(t, p.Click(ctx, "#sessions li:last-child .chat"))
	field("a draft")
	must(t, p.Reload(ctx))
	filesReady(t, p)
	must(t, p.Click(ctx, "#sessions li:last-child .chat"))
	field("a draft")
	press(t, p, "#drop")
	must(t, p.WaitFor(ctx, `document.querySelectorAll("#sessions .chat").length === 1`))
	must(t, p.Click(ctx, "#toasts button"))
	must(t, p.WaitFor(ctx, `document.querySelectorAll("#sessions .chat").length === 2`))
	field("a draft")

	// A dropped file is attached, wherever it is dropped, and the folder stays.
	file := filepath.Join(t.TempDir(), "data.csv")
	must(t, os.WriteFile(file, []byte("a,b\n"), 0o644))
	must(t, p.Drop(ctx, "#files-body", file))
	must(t, p.WaitFor(ctx, attachedNames+` === "data.csv"`))
	if got := eval[string](t, p, `document.getElementById("name").textContent`); got != "Sample folder" {
		t.Errorf("the folder is %q", got)
	}

	// Closing the page asks while the assistant is at work, and only then.
	must(t, p.Eval(ctx, `void document.querySelector("#attached button").click()`, nil))
	say(t, p, "delete trip/packing.txt")
	asked(t, p)
	before := p.Leaves()
	must(t, p.Reload(ctx))
	filesReady(t, p)
	if p.Leaves() != before+1 {
		t.Error("it was left in the middle of its work without a question")
	}
	must(t, p.WaitFor(ctx, `!document.getElementById("trouble").hidden || !!document.querySelector("#cards li")`))
	must(t, p.Reload(ctx))
	filesReady(t, p)
	if p.Leaves() != before+1 {
		t.Error("it asks although nothing is at work")
	}
}
