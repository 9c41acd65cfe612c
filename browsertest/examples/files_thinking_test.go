package examples

import (
	"strings"
	"testing"
)

// The model's thoughts are a closed fold before the answer, also after a reload. How much it thinks, and
// its window, are chosen in the settings, which offer the names of the server's models.
func TestFilesThinking(t *testing.T) {
	t.Parallel()
	f, p := filesIn(t, withDisk(t))
	ctx := testContext(t)
	f.drop(p, newDisk(t, "thinking", map[string]string{"a.txt": "a\n"}))
	must(t, p.Click(ctx, "#tab-settings"))
	f.wait("the names are offered", `[...document.querySelectorAll("#models option")].map(o => o.value).join() === "deep,swift"`)
	for _, c := range []struct{ window, says string }{{"many", "a number of tokens"}, {"1999", "from 2000"}, {"100000001", "to 100000000"}, {"100000", "Saved."}, {"2000", "Saved."}, {"100000000", "Saved."}} {
		must(t, p.Eval(ctx, `void (() => { document.getElementById("window").value = `+js(c.window)+`; document.getElementById("effort").value = "high"; })()`, nil))
		press(t, p, "#use")
		saysStatus(t, p, c.says)
	}
	f.then(turn{thinks: "Let me see:\n\n    **one** and\n```\n</details> two.", text: "It is three."})
	f.say("add")
	shows(t, p, "It is three.")
	f.rested()
	if list := f.requests(); list[len(list)-1].Effort != "high" {
		t.Errorf("the effort was %q", list[len(list)-1].Effort)
	}
	folded := func() {
		t.Helper()
		if got := inFrame(t, p, `[...document.querySelectorAll("details")].map(d => d.open + " " + d.querySelector("summary").textContent + ": " + d.textContent.replace(/\s+/g, " ")).join()`); !strings.HasPrefix(got, "false Thoughts: ") || !strings.Contains(got, "**one** and ``` </details> two.") {
			t.Errorf("the fold is %q", got)
		}
		if got := inFrame(t, p, `document.body.innerText`); strings.Contains(got, "**one**") {
			t.Errorf("the thoughts are not folded: %q", got)
		}
	}
	folded()
	// Another try takes the place of all that the first has shown.
	f.then(turn{thinks: "WRONG THOUGHT", text: "half of ", cut: true}, turn{thinks: "right thought", text: "whole"})
	f.say("again")
	shows(t, p, "whole")
	f.rested()
	if got := inFrame(t, p, `document.body.textContent`); strings.Contains(got, "WRONG") || strings.Contains(got, "half of") || !strings.Contains(got, "right thought") {
		t.Errorf("it shows %q", got)
	}
	f.reload()
	f.again("thinking")
	shows(t, p, "It is three.")
	if got := inFrame(t, p, `[...document.querySelectorAll("details")].length`); got != "2" {
		t.Errorf("%s folds after a reload", got)
	}
	// A message that is longer than the window is shortened for the model. The note about that stays.
	must(t, p.Click(ctx, "#tab-settings"))
	must(t, p.Eval(ctx, `void (document.getElementById("window").value = "2000")`, nil))
	press(t, p, "#use")
	saysStatus(t, p, "Saved.")
	f.then(turn{text: "IN SHORT"}, turn{text: "That is long."}) // the older messages are summarised first
	f.say(strings.Repeat("many words ", 900))
	shows(t, p, "That is long.")
	f.rested()
	if list := f.requests(); !strings.Contains(list[len(list)-1].said(), "bytes are left out here") {
		t.Errorf("the model received %q", list[len(list)-1].said())
	}
	saysStatus(t, p, "Done")
	if got := conversation(t, p); !strings.Contains(got, "Shortened for the model.") || !strings.Contains(got, "only the beginning and the end") {
		t.Errorf("it shows %q", got[max(0, len(got)-500):])
	}
}
