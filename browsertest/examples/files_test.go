package examples

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

func openFiles(t *testing.T, b *e2e.Browser) *e2e.Page {
	t.Helper()
	ctx := testContext(t)
	p, err := b.Page(ctx, site+"files/")
	must(t, err)
	must(t, p.WaitFor(ctx, `!document.getElementById("tour").disabled`))
	return p
}

// say writes a message to the assistant, and sends it by the Enter key.
func say(t *testing.T, p driver, text string) {
	t.Helper()
	ctx := testContext(t)
	// As pasted: each key has its own frame. The tests of the keyboard type.
	poll.Until(t, "the words are in the field", func() bool {
		return eval[bool](t, p, `(() => { const e = document.getElementById("text"); e.focus(); e.select(); document.execCommand("insertText", false, `+js(text)+`); return e.value === `+js(text)+` && document.activeElement === e; })()`)
	})
	must(t, p.Press(ctx, "Enter"))
}

// rested waits until the assistant is done.
func rested(t *testing.T, p driver) {
	t.Helper()
	must(t, p.WaitFor(testContext(t), `document.getElementById("stop").hidden && document.getElementById("cards").children.length > 0`))
}

// tick clicks a checkbox until its state has changed, because a click may miss it while the page is being
// laid out.
func tick(t *testing.T, p driver, selector string) {
	t.Helper()
	const state = `document.querySelector(%q).checked`
	was := eval[bool](t, p, fmt.Sprintf(state, selector))
	looks := 0
	poll.Until(t, selector+" changes", func() bool {
		if looks++; looks%50 == 1 {
			must(t, p.Click(testContext(t), selector))
		}
		return eval[bool](t, p, fmt.Sprintf(state, selector)) != was
	})
}

// asking is true when a question of consent can be answered.
const asking = `(!document.getElementById("ask").hidden && !document.getElementById("ask").hasAttribute("data-off"))`

// reading goes to the next unseen part, as a user does, and then evaluates asking.
const reading = `(document.querySelector("#ask:not([hidden])")?.shadowRoot.querySelector("#ask-next:not([hidden])")?.click(), ` + asking + `)`

// answerKey presses Tab and the key of an answer, because the focus may come from a text field.
func answerKey(t *testing.T, p interface {
	Press(ctx context.Context, key string) error
}, key string) {
	t.Helper()
	must(t, p.Press(testContext(t), "Tab"))
	must(t, p.Press(testContext(t), key))
}

// asked waits for a question of consent, and returns its text.
func asked(t *testing.T, p driver) string {
	t.Helper()
	if err := p.WaitFor(testContext(t), reading); err != nil {
		t.Fatalf("nothing is asked: %v; the page says %q and shows %s", err, eval[string](t, p, `document.getElementById("status").textContent`), cardsOf(t, p))
	}
	return eval[string](t, p, `document.getElementById("ask").shadowRoot.getElementById("sheet").innerText`)
}

// stopButton returns the selector of the button that ends a run. A sheet over the composer has one of its
// own.
func stopButton(t *testing.T, p driver) string {
	t.Helper()
	if eval[bool](t, p, `document.getElementById("ask").shadowRoot.getElementById("ask-stop").checkVisibility()`) {
		return "#ask >>> #ask-stop"
	}
	return "#stop"
}

const cards = `[...document.querySelectorAll("#cards li")].map((li) => li.className + " " + li.querySelector("b").textContent)`

func cardsOf(t *testing.T, p driver) string {
	t.Helper()
	return strings.Join(eval[[]string](t, p, cards), "\n")
}

func TestFilesLooks(t *testing.T) {
	t.Parallel()
	said := func(text string) func(t *testing.T, p *e2e.Page) {
		return func(t *testing.T, p *e2e.Page) { say(t, p, text); rested(t, p) }
	}
	asks := func(text string) func(t *testing.T, p *e2e.Page) {
		return func(t *testing.T, p *e2e.Page) { say(t, p, text); asked(t, p) }
	}
	tab := func(id string) func(t *testing.T, p *e2e.Page) {
		return func(t *testing.T, p *e2e.Page) {
			must(t, p.Eval(testContext(t), `document.querySelector("`+id+`").click()`, nil))
		}
	}
	refuse := func(t *testing.T, p *e2e.Page) {
		answerKey(t, p, reject)
		rested(t, p)
		if got := cardsOf(t, p); !strings.Contains(got, "denied") {
			t.Errorf("after no: %s", got)
		}
	}
	looks(t, "files", openFiles, []look{
		{name: "welcome", width: 1400, height: 860},
		{name: "asks", width: 1400, height: 860, show: asks(`add "one more" to notes/plan.md`), after: refuse},
		{name: "dark", dark: true, width: 1400, height: 860, show: said(`search for TODO in notes`)},
		{name: "shield", dark: true, width: 1400, height: 860, show: tab("#tab-shield"), loud: true},
		{name: "settings", width: 1400, height: 860, show: tab("#tab-settings")},
		{name: "undo", width: 1000, height: 800, show: tab("#tab-undo")},
		{name: "narrow", width: 390, height: 844, show: said(`search for TODO in notes`)},
		{name: "narrow-asks", dark: true, width: 390, height: 844, show: asks(`delete trip/packing.txt`), after: refuse},
	})
}

// The guided task: reading, code, a blocked request, a change, its undo.
func TestFilesTour(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openFiles(t, b)
	must(t, p.Click(ctx, "#tour"))
	if got := asked(t, p); !strings.Contains(got, "Change notes/plan.md?") || !strings.Contains(got, "+- [ ] TODO take the umbrella") {
		t.Errorf("it asks %q", got)
	}
	answerKey(t, p, "1")
	must(t, p.WaitFor(ctx, asking+` || !document.getElementById("tour").disabled`))
	for eval[bool](t, p, `!document.getElementById("ask").hidden`) { // the undo
		answerKey(t, p, "1")
		must(t, p.WaitFor(ctx, `document.getElementById("ask").hidden`))
		must(t, p.WaitFor(ctx, asking+` || !document.getElementById("tour").disabled`))
	}
	got := cardsOf(t, p)
	for _, want := range []string{"done glob **", "done bash awk -F,", "done grep TODO", "done code_run const rows", "failed code_run const secret", "done write notes/plan.md", "done undo"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if n := eval[int](t, p, `document.querySelectorAll("#history li").length`); n < 2 {
		t.Errorf("%d steps in the undo list", n)
	}
	noErrors(t, p)
}

// A plan is made on a copy, shown as a whole, and asked about once. A shell's commands pass the same gate.
func TestFilesPlan(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		tick(t, p, "#plan")
		say(t, p, `organise the files by type`)
		if got := asked(t, p); !strings.Contains(got, "Apply these") || !strings.Contains(got, "hours.csv") {
			t.Errorf("it asks %q", got)
		}
		// A message sent meanwhile is answered after the decision, by a plan that changes nothing.
		must(t, p.Eval(ctx, `void (document.getElementById("text").value = "read notes/plan.md", document.getElementById("composer").requestSubmit())`, nil))
		answerKey(t, p, "1")
		must(t, p.WaitFor(ctx, `document.querySelector("#cards li:last-child.done b")?.textContent.startsWith("read")`))
		rested(t, p)
		saysStatus(t, p, "The plan changes nothing.")
		tick(t, p, "#plan")
		say(t, p, `run "cat csv/hours.csv | wc -l"`)
		if err := p.WaitFor(ctx, `document.querySelector("#cards li:last-child.done b")?.textContent.startsWith("bash") && document.getElementById("stop").hidden`); err != nil {
			t.Fatalf("%v: %s", err, cardsOf(t, p))
		}
		must(t, p.Click(ctx, "#tab-undo"))
		press(t, p, "#undo") // one step for the plan
		must(t, p.WaitFor(ctx, `document.getElementById("status").textContent.startsWith("Took back")`))
		must(t, p.WaitFor(ctx, `[...document.querySelectorAll(".row")].some((r) => r.dataset.path === "hours.csv")`))
	})
}

// A reload in the middle of a question changes no file, and the conversation is kept and can continue.
func TestFilesReload(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		say(t, p, `delete trip/packing.txt`)
		asked(t, p)
		if reloaded(t, p) && eval[bool](t, p, `!document.getElementById("welcome").hidden`) {
			t.Error("the conversation is gone")
		}
		must(t, p.WaitFor(ctx, `!!document.querySelector("#tree [data-path='trip']")`))
		say(t, p, "find packing.txt")
		rested(t, p)
		must(t, p.WaitFor(ctx, `[...document.querySelectorAll("#cards pre")].some((e) => e.textContent.includes("trip/packing.txt"))`))
	})
}

// A tool allowed for the conversation is not asked about again, and a refusal reaches the model.
func TestFilesGrants(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		say(t, p, `add "first" to notes/plan.md`)
		asked(t, p)
		answerKey(t, p, "2")
		rested(t, p)
		say(t, p, `add "second" to notes/plan.md`)
		must(t, p.WaitFor(ctx, `document.querySelectorAll("#cards .done").length === 4 || !document.getElementById("ask").hidden`))
		if eval[bool](t, p, `!document.getElementById("ask").hidden`) {
			t.Error("it asks again")
		}
		rested(t, p)
		say(t, p, `delete notes/plan.md`)
		asked(t, p)
		answerKey(t, p, "4")
		rested(t, p)
		if got := cardsOf(t, p); !strings.Contains(got, "denied delete") {
			t.Error(got)
		}
		must(t, p.Click(ctx, "#tab-undo"))
		press(t, p, "#undo")
		must(t, p.WaitFor(ctx, `document.getElementById("status").textContent.startsWith("Took back")`))
	})
}
