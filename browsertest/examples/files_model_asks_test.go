package examples

import (
	"strings"
	"testing"
)

// The model's own question: descriptions are shown, nothing is chosen before the user chooses, a written answer
// takes the place of a chosen one, several can be chosen where the model allows it, and the talk shows the answer.
func TestFilesModelAsks(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		p := f.in
		options := []any{map[string]any{"label": "Paris", "description": "two hours by train"}, map[string]any{"label": "Rome"}}
		asks := func(multi bool) {
			t.Helper()
			f.then(turn{calls: []call{tc("question", "questions", []any{map[string]any{"question": "Where to?", "options": options, "multi_select": multi}})}}, turn{text: "That was it."})
			f.say("plan a trip")
			holds(t, "it asks", dialogue(t, p), "Where to?", "two hours by train", "Rome")
		}
		chosen := `[...document.querySelectorAll("#dialog .options input")].map((i) => i.checked).join()`
		option := func(n string) { f.check(`document.querySelectorAll("#dialog .options input")[` + n + `].click()`) }
		write := func(text string) {
			f.check(`(() => { const e = document.getElementById("dialog-field"); e.value = ` + js(text) + `; e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
		}
		press := func(text string) {
			f.check(`[...document.querySelectorAll("#dialog button")].find((b) => b.textContent === ` + js(text) + `).click()`)
		}
		answered := func(want string) {
			t.Helper()
			f.wait("it is answered", `!document.getElementById("dialog").open`)
			f.rested()
			requests := f.requests()
			messages := requests[len(requests)-1].Messages
			holds(t, "what the model gets", messages[len(messages)-1].Content, want)
		}

		asks(false)
		if got := f.check(chosen); got != "false,false" {
			t.Errorf("at the start %s is chosen", got)
		}
		noViolations(t, p)
		press("Answer")
		f.wait("an empty answer asks again", `document.getElementById("dialog").open && document.getElementById("dialog-text").textContent.includes("Choose an answer or write one")`)
		option("0")
		write("Oslo")
		if got := f.check(chosen); got != "false,false" {
			t.Errorf("a written answer leaves %s chosen", got)
		}
		option("1")
		if got := f.check(`document.getElementById("dialog-field").value`); got != "" {
			t.Errorf("a chosen answer leaves %q written", got)
		}
		press("Answer")
		answered(`[["Rome"]]`)
		shows(t, p, "Your answer: Rome")

		asks(true)
		option("0")
		option("1")
		write("Oslo")
		press("Answer")
		answered(`[["Paris","Rome","Oslo"]]`)

		asks(false)
		press("No answer")
		answered("did not answer")
		noErrors(t, p)
	})
}

// A code block of an answer becomes a file of the folder, with one step of undo. A name that is there already
// loses nothing.
func TestFilesOpensCode(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		p := f.in
		f.then(turn{text: "Here:\n\n```go\npackage main\n```\n"})
		f.say("write a program")
		f.rested()
		shows(t, p, "package main")
		open := func(name string) {
			t.Helper()
			pressInFrame(t, p, `button[aria-label^='Open ']`)
			holds(t, "it asks for a name", dialogue(t, p), "Open as a file")
			f.check(`document.getElementById("dialog-field").value = ` + js(name))
			choose(t, p, "Create")
		}
		open("made/code.go")
		f.wait("the viewer shows it", `document.querySelector("#viewer .v-name").textContent.endsWith("code.go") && document.getElementById("viewer").innerText.includes("package main")`)
		open("hours.csv")
		f.wait("it is there already", `document.getElementById("status").textContent.includes("hours.csv is there already")`)
		if got := f.check(`document.querySelector("#history b").textContent`); !strings.Contains(got, "made/code.go") {
			t.Errorf("the last change is %q", got)
		}
		noErrors(t, p)
	})
}
