package examples

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// agentSteps are the lines of a subagent on the last card.
const agentSteps = `[...document.querySelectorAll("#cards > li:last-child .agent li")].map((li) => li.className + " " + li.innerText.replace(/\s+/g, " ").trim()).join("\n")`

// A subagent streams onto the card of the call that started it: its name, its calls with their states, and its
// text. Its write is asked for under its name, a reload shows the card again, and Stop ends it with the run.
func TestFilesSubagent(t *testing.T) {
	t.Parallel()
	f, p := filesIn(t, withDisk(t))
	ctx := testContext(t)
	f.drop(p, newDisk(t, "agents", map[string]string{"a.txt": "the fact\n"}))
	must(t, p.Click(ctx, "#tab-steps"))
	steps := func(words string) {
		t.Helper()
		f.wait(words, agentSteps+`.includes(`+js(words)+`)`)
	}
	name := func() {
		t.Helper()
		if got := f.check(`document.querySelector("#cards > li:last-child .agent > b").textContent`); got != "Subagent general" {
			t.Errorf("the name is %q", got)
		}
	}
	task := turn{calls: []call{tc("task", "subagent_type", "general", "prompt", "Look for the fact\nand store it")}}
	hold := make(chan struct{})
	f.then(task,
		turn{thinks: "where is it", text: "I look at it.", calls: []call{tc("read", "path", "a.txt"), tc("read", "path", "none.txt")}},
		turn{text: "I have found the first half of it.", hold: hold, calls: []call{tc("write", "path", "fact.txt", "content", "the fact\n")}},
		turn{text: "It is stored."}, turn{text: "The subagent has stored it."})
	f.say("find the fact")
	// The end of its second answer is held back, so all that is seen came before it.
	steps("I have found the")
	name()
	for _, words := range []string{"Thoughts: where is it", "I look at it.", "done read a.txt done", "failed read none.txt failed"} {
		steps(words)
	}
	if got := f.check(agentSteps); strings.Contains(got, "first half of it.") || strings.Contains(got, "fact.txt") {
		t.Errorf("the answer was held back, but it shows %q", got)
	}
	if got := f.check(`document.querySelector("#cards > li:last-child").className + " " + document.querySelector("#cards > li:last-child summary b").textContent`); got != "running task general: Look for the fact" {
		t.Errorf("the card is %q", got)
	}
	agentPictures(t, p, "running")
	close(hold)
	holds(t, "the question", f.asks(), "fact.txt", "Asked by the subagent general")
	steps("running write fact.txt running")
	agentPictures(t, p, "asks")
	f.answer(once)
	shows(t, p, "The subagent has stored it.")
	f.rested()
	opened := func() {
		t.Helper()
		f.wait("its card is there", `!!document.querySelector("#cards > li:last-child .agent")`)
		f.check(`void (document.querySelector("#cards > li:last-child details").open = true)`)
	}
	opened()
	steps("done write fact.txt done")
	done := f.check(agentSteps)
	holds(t, "the steps", done, "It is stored.", "I have found the first half of it.")
	if got := fmt.Sprint(f.requests()[len(f.requests())-1].results()); !strings.Contains(got, "It is stored.") || strings.Contains(got, "the fact") {
		t.Errorf("the model received %q", got)
	}
	f.reload()
	f.again("agents")
	must(t, p.Click(ctx, "#tab-steps"))
	opened()
	steps("done write fact.txt done")
	name()
	if got := f.check(agentSteps); got != done {
		t.Errorf("after a reload it shows\n%s\nand before\n%s", got, done)
	}
	noViolations(t, p)
	agentPictures(t, p, "again")

	// A stop during its answer ends it: the held answer is never followed by another request.
	hold = make(chan struct{})
	defer close(hold)
	f.then(task, turn{calls: []call{tc("read", "path", "a.txt")}}, turn{text: "This is half of a text that is longer.", hold: hold, calls: []call{tc("write", "path", "late.txt", "content", "late\n")}})
	f.say("once more")
	steps("This is half of")
	before := len(f.requests())
	press(t, p, "#stop")
	f.rested()
	shows(t, p, "Stopped.")
	f.wait("the card is stopped", `document.querySelector("#cards > li:last-child").className === "stopped"`)
	f.check(`void (document.querySelector("#cards > li:last-child details").open = true)`)
	steps("done read a.txt done")
	if got := f.check(agentSteps); strings.Contains(got, "running") || strings.Contains(got, "late.txt") {
		t.Errorf("after the stop it shows %q", got)
	}
	if n := len(f.requests()); n != before {
		t.Errorf("%d requests after the stop", n-before)
	}

	noErrors(t, p)

	// A long file is seen while the model writes it: its name, its end and its size. Then comes the change.
	lines := strings.Repeat("a line of the file\n", 500)
	write := turn{calls: []call{tc("write", "path", "long.txt", "content", "The beginning.\n"+lines+"HALF\n"+lines+"The end.\n")}, args: make(chan struct{})}
	drafted := func(words string) {
		t.Helper()
		f.wait(words, `document.querySelector("#cards > li:last-child .live pre")?.textContent.includes(`+js(words)+`)`)
		for part, want := range map[string]string{"summary b": "write long.txt", "summary span": "being written, 10.0 KB"} {
			f.wait(part, `document.querySelector("#cards > li:last-child `+part+`").textContent.startsWith(`+js(want)+`)`)
		}
		f.wait("the draft is in view", `document.querySelector("#cards > li:last-child .live pre").getBoundingClientRect().bottom <= document.querySelector("aside").getBoundingClientRect().bottom`)
		f.wait("the line of state has the size", `document.getElementById("life").textContent.startsWith("Writing long.txt · 10.0 KB · ")`)
		if got := f.check(`String(document.querySelector("#cards > li:last-child .live pre").textContent.length < 8100) + document.querySelector("#cards > li:last-child .live button").hidden`); got != "truetrue" {
			t.Errorf("its draft is not short, or it can be stopped before it begins: %s", got)
		}
	}
	f.then(write, turn{text: "It is written."})
	f.say("write it")
	drafted("a line of the file\na line")
	agentPictures(t, p, "draft")
	close(write.args)
	holds(t, "the question", f.asks(), "long.txt", "The beginning.", "HALF")
	if got := f.check(`document.querySelector("#cards > li:last-child .live pre").hidden`); got != "true" {
		t.Error("the draft is still there")
	}
	f.answer(once)
	shows(t, p, "It is written.")
	f.rested()

	// Below a drawer the Stop button stays free. A stop while the model writes ends the card, and nothing is written.
	write.args = make(chan struct{})
	defer close(write.args)
	write.calls = []call{tc("write", "path", "never.txt", "content", "The beginning.\n"+lines)}
	f.then(write)
	must(t, p.Viewport(ctx, 1024, 768, 1))
	f.say("and more")
	f.wait("its draft", `document.querySelector("#cards > li:last-child .live pre")?.textContent.includes("a line of the file")`)
	must(t, p.Click(ctx, "#panes"))
	if f.check(`document.body.hasAttribute("data-drawer")`) != "true" {
		must(t, p.Click(ctx, "#panes"))
	}
	f.wait("the drawer is open, and Stop is not below it", `document.querySelector("aside").checkVisibility() && (() => { const r = document.getElementById("stop").getBoundingClientRect();
		return document.getElementById("stop").contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)); })()`)
	agentShot(t, p, "drawer")
	must(t, p.Click(ctx, "#stop"))
	f.rested()
	f.wait("the card is stopped", `document.querySelector("#cards > li:last-child").className === "stopped" && document.querySelector("#cards > li:last-child").textContent.includes("Written until then")`)
	must(t, p.Viewport(ctx, 0, 0, 0))

	// The page's own check of its walls is made once, and is no attempt of somebody's. The rows before it are of axe-core,
	// which adds two style sheets each time.
	const stopped = `[...document.querySelectorAll("#stopped li")].map((e) => e.textContent).join("; ")`
	was := f.check(stopped)
	f.check(`(document.getElementById("tab-shield").click(), document.getElementById("tab-shield").click())`)
	f.wait("the walls", `document.querySelectorAll("#holds li").length >= 10`)
	if got := f.check(`new Set([...document.querySelectorAll("#holds b")].map((e) => e.textContent)).size === document.querySelectorAll("#holds li").length`); got != "true" {
		t.Error("the walls are listed twice")
	}
	if got := f.check(stopped); got != was {
		t.Errorf("stopped: %s, and before %s", got, was)
	}
}

// agentShot writes one screenshot, with -pictures.
func agentShot(t *testing.T, p *e2e.Page, name string) {
	t.Helper()
	if *pictures != "" {
		_, err := p.Screenshot(testContext(t), e2e.Shot{File: filepath.Join(*pictures, name+".png")})
		must(t, err)
	}
}

// The card of a subagent that was stopped, or whose page was closed, shows its name, its steps and its text after
// a reload, also in a plan.
func TestFilesSubagentStays(t *testing.T) {
	long(t)
	t.Parallel()
	for _, plan := range []bool{false, true} {
		t.Run(fmt.Sprintf("plan %t", plan), func(t *testing.T) {
			f, p := filesIn(t, withDisk(t))
			ctx := testContext(t)
			f.drop(p, newDisk(t, "agents", map[string]string{"a.txt": "the fact\n"}))
			task := turn{calls: []call{tc("task", "subagent_type", "general", "prompt", "Look for the fact")}}
			steps := func(words string) {
				t.Helper()
				f.wait(words, agentSteps+`.includes(`+js(words)+`)`)
			}
			begin := func(turns ...turn) {
				t.Helper()
				must(t, p.Click(ctx, "#tab-steps"))
				f.check(`void (document.getElementById("plan").checked = ` + fmt.Sprint(plan) + `)`)
				f.then(append([]turn{task}, turns...)...)
				f.say("find the fact")
			}
			again := func(class string, words ...string) {
				t.Helper()
				f.reload()
				f.again("agents")
				must(t, p.Click(ctx, "#tab-steps"))
				f.wait("its card is there", `!!document.querySelector("#cards > li:last-child .agent")`)
				f.check(`void (document.querySelector("#cards > li:last-child details").open = true)`)
				for _, w := range words {
					steps(w)
				}
				if got := f.check(`document.querySelector("#cards > li:last-child").className + " " + document.querySelector("#cards > li:last-child .agent > b").textContent`); got != class+" Subagent general" {
					t.Errorf("the card is %q", got)
				}
				if got := f.check(agentSteps); strings.Contains(got, "running") {
					t.Errorf("it shows %q", got)
				}
				noErrors(t, p)
			}
			hold := make(chan struct{})
			defer close(hold)
			half := turn{text: "This is half of a text that is longer.", hold: hold, calls: []call{tc("read", "path", "late.txt")}}

			begin(turn{text: "I look at it.", calls: []call{tc("read", "path", "a.txt")}}, half)
			steps("This is half of")
			press(t, p, "#stop")
			f.rested()
			f.wait("the card is stopped", `document.querySelector("#cards > li:last-child").className === "stopped"`)
			again("stopped", "I look at it.", "done read a.txt done", "This is half of")

			begin(turn{text: "I look again.", calls: []call{tc("read", "path", "a.txt")}}, half)
			steps("I look again.") // the card before this one has the half text too
			steps("This is half of")
			again("stopped", "I look again.", "done read a.txt done") // the page is closed by the reload

			begin(turn{calls: []call{tc("write", "path", "b.txt", "content", "b\n")}}, turn{text: "It is written."}, turn{text: "The subagent has written it."})
			f.asks()
			f.answer(once)
			shows(t, p, "The subagent has written it.")
			f.rested()
			again("done", "done write b.txt done", "It is written.")
		})
	}
}

// agentPictures writes a screenshot at each width in light and dark, with -pictures.
func agentPictures(t *testing.T, p *e2e.Page, name string) {
	t.Helper()
	if *pictures == "" {
		return
	}
	ctx := testContext(t)
	for _, w := range []int{1400, 390} {
		for _, dark := range []bool{false, true} {
			must(t, p.Viewport(ctx, w, 860, 1))
			must(t, p.Dark(ctx, dark))
			if w == 390 {
				must(t, p.Eval(ctx, `void document.querySelector("#cards > li:last-child").scrollIntoView({block: "end"})`, nil))
			}
			_, err := p.Screenshot(ctx, e2e.Shot{File: filepath.Join(*pictures, fmt.Sprintf("agent-%s-%d-%t.png", name, w, dark))})
			must(t, err)
		}
	}
	must(t, p.Viewport(ctx, 0, 0, 0))
	must(t, p.Dark(ctx, false))
	poll.Until(t, "the window is wide again", func() bool { return eval[int](t, p, `innerWidth`) != 390 })
	must(t, p.Eval(ctx, `void document.getElementById("ask").shadowRoot.getElementById("sheet").focus()`, nil)) // the narrow window took it
}
