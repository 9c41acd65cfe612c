package examples

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tabTitles returns the names of the conversations' tabs. The one in view has a star.
func tabTitles(t *testing.T, p driver) string {
	t.Helper()
	return strings.Join(eval[[]string](t, p, `[...document.querySelectorAll("#sessions .chat")].map((b) => b.firstChild.textContent + (b.getAttribute("aria-current") === "true" ? "*" : "")).reverse()`), " | ")
}

// dialogue waits for a dialogue, and returns its text.
func dialogue(t *testing.T, p driver) string {
	t.Helper()
	if err := p.WaitFor(testContext(t), `document.getElementById("dialog").open`); err != nil {
		t.Fatalf("no dialogue: %v; the page says %q", err, eval[string](t, p, `document.getElementById("status").textContent`))
	}
	return eval[string](t, p, `document.getElementById("dialog").innerText`)
}

// choose presses a button of the dialogue, by its text.
func choose(t *testing.T, p driver, text string) {
	t.Helper()
	must(t, p.Eval(testContext(t), `[...document.querySelectorAll("#dialog button")].find((b) => b.textContent === `+js(text)+`).click()`, nil))
	must(t, p.WaitFor(testContext(t), `!document.getElementById("dialog").open`))
}

func saysStatus(t *testing.T, p driver, words string) {
	t.Helper()
	if err := p.WaitFor(testContext(t), `document.getElementById("status").textContent.includes(`+js(words)+`)`); err != nil {
		t.Fatalf("it does not say %q but %q", words, eval[string](t, p, `document.getElementById("status").textContent`))
	}
}

// Conversations are tabs. They are named by their first message, renamed, forked, archived and
// brought back. One continues its work while another is in view, and a reload brings all of them
// back.
func TestFilesTabs(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		say(t, p, "find packing.txt")
		rested(t, p)
		must(t, p.WaitFor(ctx, `document.querySelector("#sessions .chat").textContent.startsWith("find packing.txt")`))
		press(t, p, "#fork")
		must(t, p.WaitFor(ctx, `document.querySelectorAll("#sessions .chat").length === 2`))
		if got := tabTitles(t, p); got != "find packing.txt | find packing.txt (fork)*" {
			t.Error(got)
		}
		if got := cardsOf(t, p); !strings.Contains(got, "packing.txt") {
			t.Errorf("the fork shows %q", got)
		}
		press(t, p, "#rename")
		dialogue(t, p)
		must(t, p.Eval(ctx, `document.getElementById("dialog-field").value = "Other <b>"`, nil))
		must(t, p.Press(ctx, "Enter"))
		must(t, p.WaitFor(ctx, `[...document.querySelectorAll("#sessions .chat")].some((b) => b.firstChild.textContent === "Other <b> (fork)")`))
		must(t, p.WaitFor(ctx, `!!document.activeElement.closest("#sessions")`)) // the focus is back

		// One waits for consent behind another that answers.
		say(t, p, `delete trip/packing.txt`)
		asked(t, p)
		must(t, p.Click(ctx, "#sessions li:last-child .chat"))
		must(t, p.WaitFor(ctx, `document.querySelector("#sessions li:last-child .chat").getAttribute("aria-current") === "true" && document.getElementById("stop").hidden`))
		if got := tabTitles(t, p); got != "find packing.txt* | Other <b> (fork)" {
			t.Error(got)
		}
		if !eval[bool](t, p, `document.querySelector("#sessions li:first-child .chat").parentNode.className === "works"`) {
			t.Error("the tab behind does not show that it is at work")
		}
		must(t, p.Eval(ctx, `document.getElementById("ask").shadowRoot.getElementById("sheet").focus()`, nil))
		answerKey(t, p, "4")
		must(t, p.WaitFor(ctx, `document.getElementById("ask").hidden && document.querySelector("#sessions li:first-child .chat").parentNode.className !== "works"`))
		say(t, p, "list the files")
		rested(t, p)
		if got := cardsOf(t, p); strings.Contains(got, "delete") {
			t.Errorf("the first shows the other's calls: %q", got)
		}
		must(t, p.Click(ctx, "#sessions li:first-child .chat"))
		must(t, p.WaitFor(ctx, `[...document.querySelectorAll("#cards li")].some((li) => li.className === "denied")`))

		press(t, p, "#archive")
		must(t, p.WaitFor(ctx, `document.querySelectorAll("#sessions .chat").length === 1`))
		if p.lasts() {
			must(t, p.Reload(ctx))
			filesReady(t, p)
			if got := tabTitles(t, p); got != "find packing.txt*" {
				t.Errorf("after a reload: %q", got)
			}
		}
		press(t, p, "#all")
		if got := dialogue(t, p); !strings.Contains(got, "Other <b> (fork)") || !strings.Contains(got, "archived") {
			t.Error(got)
		}
		noViolations(t, p)
		must(t, p.Click(ctx, `#dialog button[aria-label="Open Other <b> (fork)"]`))
		must(t, p.WaitFor(ctx, `document.querySelectorAll("#sessions .chat").length === 2`))
		if got := tabTitles(t, p); got != "find packing.txt | Other <b> (fork)*" {
			t.Error(got)
		}
		// By keyboard.
		must(t, p.Eval(ctx, `document.querySelector("#sessions li:first-child .chat").focus()`, nil))
		must(t, p.Press(ctx, "ArrowDown"))
		must(t, p.WaitFor(ctx, `document.querySelector("#sessions li:last-child .chat").getAttribute("aria-current") === "true" && document.activeElement === document.querySelector("#sessions li:last-child .chat")`))
		noErrors(t, p)
	})
}

// Rewind restores the files as they were at a message. Without the files they stay.
func TestFilesRewind(t *testing.T) {
	long(t)
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		for _, text := range []string{`add "one" to notes/plan.md`, `add "two" to notes/plan.md`, `add "three" to notes/plan.md`} {
			say(t, p, text)
			asked(t, p)
			answerKey(t, p, "1")
			must(t, p.WaitFor(ctx, `document.getElementById("ask").hidden && document.getElementById("stop").hidden`))
		}
		content := func() string { return zipped(t, p)["notes/plan.md"] }
		if got := content(); !strings.Contains(got, "one") || !strings.Contains(got, "three") {
			t.Fatal(got)
		}
		press(t, p, "#rewind")
		if got := dialogue(t, p); strings.Count(got, "add ") != 3 {
			t.Errorf("it offers %q", got)
		}
		noViolations(t, p)
		must(t, p.Eval(ctx, `[...document.querySelectorAll("#dialog .options label")].find((l) => l.textContent.includes("two")).click()`, nil))
		choose(t, p, "Rewind")
		saysStatus(t, p, "Rewound.")
		if got := content(); !strings.Contains(got, "one") || strings.Contains(got, "two") || strings.Contains(got, "three") {
			t.Errorf("the file is %q", got)
		}
		if got := eval[string](t, p, `document.getElementById("text").value`); got != `add "two" to notes/plan.md` {
			t.Errorf("the field has %q", got)
		}
		if n := strings.Count(cardsOf(t, p), "write"); n != 1 {
			t.Errorf("%d writes are shown", n)
		}
		press(t, p, "#rewind")
		dialogue(t, p)
		must(t, p.Click(ctx, "#rewind-files"))
		choose(t, p, "Rewind")
		must(t, p.WaitFor(ctx, `document.getElementById("cards").children.length === 0`))
		if got := content(); !strings.Contains(got, "one") {
			t.Errorf("without the files: the file is %q", got)
		}
	})
}

// A conversation is exported to a file, and imported elsewhere without its grants. An invalid file
// is refused with its name.
func TestFilesExportImport(t *testing.T) {
	long(t)
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		say(t, p, `add "first" to notes/plan.md`)
		asked(t, p)
		answerKey(t, p, "2") // for the conversation
		rested(t, p)
		must(t, p.Eval(ctx, `void (globalThis.saved = new Promise((done) => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then(done); return make.call(URL, blob); }; }))`, nil))
		press(t, p, "#save")
		text := eval[string](t, p, `globalThis.saved`)
		var form struct {
			Format   string
			Messages []any
		}
		must(t, json.Unmarshal([]byte(text), &form))
		if form.Format != "bailey-session-1" || len(form.Messages) < 2 {
			t.Errorf("%+v", form)
		}
		file := filepath.Join(t.TempDir(), "c.json")
		must(t, os.WriteFile(file, []byte(text), 0o644))
		must(t, p.SetFiles(ctx, "#load-file", file))
		must(t, p.WaitFor(ctx, `document.querySelectorAll("#sessions .chat").length === 2`))
		must(t, p.WaitFor(ctx, `document.querySelectorAll("#cards li").length >= 2`))
		say(t, p, `add "second" to notes/plan.md`)
		asked(t, p) // the grants of the other conversation do not hold here
		answerKey(t, p, "4")
		must(t, p.WaitFor(ctx, `document.getElementById("stop").hidden`))
		must(t, os.WriteFile(file, []byte(`{"format": "other"}`), 0o644))
		must(t, p.SetFiles(ctx, "#load-file", file))
		saysStatus(t, p, "not an exported session")
	})
}
