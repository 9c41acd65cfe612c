package examples

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// A task of 25 steps, as one person does it with mouse and keyboard in one page, in each engine.
func TestFilesTask(t *testing.T) {
	long(t)
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		ctx := testContext(t)
		undone := `document.querySelectorAll("#history .undone").length`

		// 1 to 3: connect a model by the settings, and see its name beside the message.
		f.check(`document.getElementById("tab-settings").click()`)
		f.check(`(() => { const e = document.getElementById("model"); e.value = ` + js(f.model) + `; e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
		f.click("#use")
		f.wait("it is connected", `document.getElementById("model-name").textContent === `+js(f.model))

		// 4 and 5: attach an image, ask about it, and read the answer.
		picture := chart(t)
		at := filepath.Join(t.TempDir(), "chart.png")
		must(t, os.WriteFile(at, picture, 0o644))
		must(t, f.in.SetFiles(ctx, "#attach-file", at))
		f.wait("it is attached", attachedNames+` === "chart.png"`)
		f.then(turn{text: "A chart of **three** bars."})
		f.say("what is in this picture?")
		shows(t, f.in, "A chart of three bars.")
		f.rested()
		asked := f.requests()
		sent := asked[len(asked)-1].Messages
		if got := sent[len(sent)-1].Files; len(got) != 1 || got[0] != "data:image/png;base64,"+base64.StdEncoding.EncodeToString(picture) {
			t.Errorf("the model got %.100v", got)
		}

		// 6 to 8: several steps are watched while they run, and one of them asks.
		hold := make(chan struct{})
		lines := strings.Repeat("a line between\n", 30)
		f.then(turn{calls: []call{tc("glob", "pattern", "**"), tc("read", "path", "notes/plan.md"), tc("read", "path", "hours.csv")}},
			turn{calls: []call{tc("write", "path", "report.md", "content", "# Hours\n"+lines+"draft\n")}},
			turn{text: "The report is there, and it is a draft.", hold: hold})
		f.say("write a report of the hours")
		holds(t, "it asks", f.asks(), "report.md", "+# Hours")
		f.wait("three steps are done", `document.querySelectorAll("#cards li.done").length === 3`)
		f.answer(once)
		shows(t, f.in, "The report is")
		f.wait("it is still at work", `!document.getElementById("stop").hidden`)
		close(hold)
		f.rested()

		// 9 to 12: a change in two places. One is refused, the other is kept.
		f.one("", "read", "path", "report.md")
		f.one(once, "write", "path", "report.md", "content", "# Hours of May\n"+lines+"final\n")
		f.check(`document.getElementById("tab-undo").click()`)
		f.wait("there is something to review", `document.getElementById("review").textContent === "Review 1 changed file"`)
		f.click("#review")
		f.wait("the places", `document.querySelectorAll(".v-hunk").length >= 1`)
		whole := f.check(`document.querySelectorAll(".v-file").length`)
		if whole != "1" {
			t.Errorf("%s files to review", whole)
		}
		f.button("#viewer .v-bar", "Keep all")
		f.wait("nothing is left to review", `document.getElementById("review").hidden`)
		f.one("", "read", "path", "report.md")
		f.one(once, "write", "path", "report.md", "content", "# HOURS\n"+lines+"FINAL\n")
		f.check(`document.getElementById("tab-undo").click()`)
		f.wait("there is something to review", `document.getElementById("review").textContent === "Review 1 changed file"`)
		f.click("#review")
		f.wait("two places", `document.querySelectorAll(".v-hunk").length === 2`)
		f.check(`[...document.querySelectorAll(".v-hunk button")].find((b) => b.ariaLabel.startsWith("Undo: report.md, line 1")).click()`)
		f.wait("one place less", `document.querySelectorAll(".v-hunk").length === 1`)
		f.button("#viewer .v-bar", "Keep all")
		f.wait("the rest is accepted", `document.getElementById("review").hidden`)
		got := f.one("", "read", "path", "report.md")
		holds(t, "one place is as before, the other as written", got, "# Hours of May", "FINAL")

		// 13 to 15: the file is opened, edited by hand, and saved.
		f.opens("report.md")
		f.button("#viewer", "Edit")
		f.wait("the editor has the focus", `document.activeElement.className === "v-edit"`)
		f.check(`(() => { const e = document.activeElement; e.setSelectionRange(0, 0); document.execCommand("insertText", false, "By hand. "); })()`)
		f.wait("a mark", `!!document.querySelector("#viewer .v-dot")`)
		f.button("#viewer", "Save")
		f.wait("it is saved", `document.getElementById("status").textContent === "Saved report.md."`)
		holds(t, "by hand", f.one("", "read", "path", "report.md"), "By hand. # Hours of May")

		// 16: that is undone.
		f.check(`document.getElementById("tab-undo").click()`)
		before := f.check(undone)
		f.click("#undo")
		f.wait("it is taken back", undone+` > `+before)
		if got := f.one("", "read", "path", "report.md"); strings.Contains(got, "By hand.") {
			t.Errorf("after undo: %.80q", got)
		}

		f.check(`document.getElementById("aside-close").click()`) // in a narrow window it lies over the conversation

		// 17: the conversation is forked.
		f.click("#fork")
		f.wait("two chats", `document.querySelectorAll("#sessions .chat").length === 2`)

		// 18 and 19: an answer is interrupted, and what came of it stays.
		never := make(chan struct{})
		defer close(never)
		f.then(turn{text: "The beginning of a long answer, and its end that never comes.", hold: never})
		f.say("tell me all")
		reads(f, "The beginning")
		must(t, f.Click(ctx, stopButton(t, f.in)))
		f.rested()
		reads(f, "The beginning")

		// 20 and 21: after a reload the conversation is there, where the engine keeps it, and goes on.
		f.reload()
		if f.in.lasts() {
			reads(f, "The beginning")
			holds(t, "it goes on", f.one("", "read", "path", "report.md"), "FINAL")
		} else {
			holds(t, "it begins anew", f.one("", "read", "path", "hours.csv"), "hours")
		}

		// 22 and 23: the chats are searched.
		f.check(`(() => { const e = document.getElementById("find-chat"); e.value = "no such words anywhere"; e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
		f.wait("none has them", `!document.getElementById("no-chats").hidden`)
		f.check(`(() => { const e = document.getElementById("find-chat"); e.value = ""; e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
		f.wait("all are back", `document.getElementById("no-chats").hidden && document.querySelectorAll("#sessions .chat").length > 0`)

		// 24: the page prints its conversation, and nothing else of it.
		if got := printed(f); !strings.Contains(got, "talk") || strings.Contains(got, "sidebar") || strings.Contains(got, "composer") {
			t.Errorf("it prints %q", got)
		}

		// 25: the security panel lists the walls. Its own attempts are in the console, so that is looked at before.
		noErrors(t, f.in)
		f.check(`document.getElementById("tab-shield").click()`)
		f.wait("the walls are checked", `document.querySelectorAll("#holds li").length > 3`)
	})
}

// printed lists the parts of the page that its style sheets leave visible on paper.
func printed(f *filesPage) string {
	return f.check(`(() => {
		const hidden = new Set();
		for (const sheet of document.styleSheets) for (const rule of sheet.cssRules) if (rule.media?.mediaText === "print")
			for (const r of rule.cssRules) if (r.style?.display === "none") document.querySelectorAll(r.selectorText).forEach((e) => hidden.add(e));
		return ["sidebar", "talk", "composer", "aside"].filter((id) => { for (let e = document.getElementById(id); e; e = e.parentElement) if (hidden.has(e)) return false; return true; }).join();
	})()`)
}

// reads waits until a conversation of the page contains words. A forked one has a frame of its own beside that of the first.
func reads(f *filesPage, words string) {
	f.t.Helper()
	poll.Until(f.t, "a conversation says "+words, func() bool {
		values, err := f.in.EvalFrames(testContext(f.t), `!!document.getElementById("root")?.dataset.policy && document.body.innerText.includes(`+js(words)+`)`)
		must(f.t, err)
		return slices.ContainsFunc(values, func(v browser.FrameValue) bool { return string(v.Value) == "true" })
	})
}
