package examples

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// plainQuestion reports unless a question is in words, with a risk in words, for each thing
// that it asks about.
func plainQuestion(t *testing.T, f *filesPage, things int) {
	t.Helper()
	text := f.check(`document.getElementById("ask").shadowRoot.getElementById("sheet").innerText`)
	if strings.Contains(text, `{"`) || strings.Contains(text, `":`) {
		t.Errorf("it asks in JSON: %q", text)
	}
	if n := f.check(`document.getElementById("ask").shadowRoot.getElementById("ask-list").children.length`); things > 1 && n != fmt.Sprint(things) {
		t.Errorf("of %d things are listed: %s", things, n)
	}
	for _, risk := range strings.Split(f.check(`[...document.getElementById("ask").shadowRoot.querySelectorAll(".risk")].map((e) => e.innerText).join("|")`), "|") {
		if !regexp.MustCompile(`^(up to )?(low|medium|high|critical) risk$`).MatchString(risk) {
			t.Errorf("the risk is said as %q", risk)
		}
	}
}

// made reports whether files are in the list, or are not.
func made(f *filesPage, yes bool, names ...string) {
	f.t.Helper()
	for _, name := range names {
		f.wait(name, `!!document.querySelector("#tree [data-path='`+name+`']") === `+map[bool]string{true: "true", false: "false"}[yes])
	}
}

// A grant for a pattern holds inside of the pattern. It does not hold outside of it, for another tool, or
// in another conversation.
func TestFilesScope(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		write := func(name string) call { return tc("write", "path", name, "content", "made\n") }
		f.then(turn{calls: []call{write("notes/one.txt")}}, turn{text: "That was it."})
		f.say("write one")
		f.asks()
		if got := f.check(`[...document.getElementById("ask").shadowRoot.querySelectorAll("#scope option")].map((o) => o.textContent).join()`); got != "only this,notes/one.txt,notes/**" {
			t.Errorf("a grant can be for %q", got)
		}
		f.check(`(() => { const e = document.getElementById("ask").shadowRoot.getElementById("scope"); e.value = "notes/**"; e.dispatchEvent(new Event("change", {bubbles: true})); })()`)
		f.answer(session)
		f.rested()
		f.one("", "write", "path", "notes/two.txt", "content", "made\n")
		f.one("", "write", "path", "notes/deep/three.txt", "content", "made\n")
		holds(t, "outside", f.one(reject, "write", "path", "trip/four.txt", "content", "made\n"), "rejected")
		holds(t, "another tool", f.one(reject, "delete", "path", "notes/two.txt"), "rejected")
		f.click("#tab-settings")
		holds(t, "what was allowed", f.check(`document.getElementById("grants").innerText`), "Allowed: write", "notes/**", "in this chat")
		f.another()
		holds(t, "another conversation", f.one(reject, "write", "path", "notes/five.txt", "content", "made\n"), "rejected")
	})
}

// Parallel calls are one question. Its answer holds for all of them, and a lasting answer makes a grant for
// each one shown.
func TestFilesBatch(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		batch := func(names ...string) (calls []call) {
			for _, name := range names {
				calls = append(calls, tc("write", "path", name, "content", "of "+name+"\n"))
			}
			return calls
		}
		ask := func(key string, names ...string) []string {
			t.Helper()
			before := len(f.requests())
			f.then(turn{calls: batch(names...)}, turn{text: "That was it."})
			f.say("do two things")
			text := f.asks()
			holds(t, "it asks", text, "Allow these 2 changes?", "low risk", "2 lines added", "+of "+names[0], "+of "+names[1])
			for _, name := range names {
				if !strings.Contains(f.check(`document.getElementById("ask").shadowRoot.getElementById("ask-list").innerText`), "Write the new file "+name) {
					t.Errorf("%s is not listed in %q", name, text)
				}
			}
			if got := f.check(`[...document.getElementById("ask").shadowRoot.querySelectorAll("#scope option")].map((o) => o.textContent).join()`); got != "only this" {
				t.Errorf("a grant can be for %q", got)
			}
			plainQuestion(t, f, 2)
			f.answer(key)
			f.rested()
			all := f.requests()
			if len(all) != before+2 {
				t.Fatalf("the model was asked %d times", len(all)-before)
			}
			return all[len(all)-1].results()
		}
		holds(t, "after no", strings.Join(ask(reject, "no-1.txt", "no-2.txt"), " "), "rejected")
		if n := f.check(`document.querySelectorAll("#cards li.denied").length`); n != "2" {
			t.Errorf("%s cards say no", n)
		}
		made(f, false, "no-1.txt", "no-2.txt")
		ask(once, "yes-1.txt", "yes-2.txt")
		made(f, true, "yes-1.txt", "yes-2.txt")
		f.another()
		ask(session, "held-1.txt", "held-2.txt")
		made(f, true, "held-1.txt", "held-2.txt")
		f.do("", tc("write", "path", "held-1.txt", "content", "of held-1.txt\n"))
		holds(t, "what was not shown", f.one(reject, "write", "path", "held-3.txt", "content", "made\n"), "rejected")
	})
}

// The user can take calls out of a batch. The answer is for the others, and those are rejected.
func TestFilesPartOfABatch(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		ask := func(keep string, calls ...call) {
			t.Helper()
			f.then(turn{calls: calls}, turn{text: "That was it."})
			f.say("do " + keep)
			f.asks()
			if got := f.check(`[...document.getElementById("ask").shadowRoot.querySelectorAll("#ask-list li")].map((e) => e.querySelectorAll("input:checked").length).join()`); got != "1,1,1" {
				t.Errorf("chosen at first: %s", got)
			}
		}
		toggle := func(name string) {
			t.Helper()
			row := `[...document.getElementById("ask").shadowRoot.querySelectorAll("#ask-list li")].find((e) => e.textContent.includes(` + js(name) + `))`
			was := f.check(row + `.classList.contains("left")`)
			f.check(`void ` + row + `.querySelector("input").click()`)
			f.wait(name+" is taken out, or in again", `String(`+row+`.classList.contains("left")) !== `+js(was))
		}
		write := func(name string) call { return tc("write", "path", name, "content", "of "+name+"\n") }
		ask("two of three", write("in-1.txt"), tc("delete", "path", "hours.csv"), write("in-2.txt"))
		toggle("hours.csv")
		for id, text := range map[string]string{"once": "Allow 2 of 3", "session": "Allow 2 of 3 in this chat", "project": "Always allow 2 of 3 here", "never": "Never 2 of 3 here", "reject": "Don't allow"} {
			if got := f.check(`document.getElementById("ask").shadowRoot.getElementById(` + js(id) + `).textContent`); !strings.HasSuffix(got, " "+text) {
				t.Errorf("the button says %q, want %q", got, text)
			}
		}
		f.wait("it can be answered", asking)
		f.answer(once)
		f.rested()
		made(f, true, "in-1.txt", "in-2.txt", "hours.csv")
		all := f.requests()
		results := all[len(all)-1].results()
		if len(results) != 3 || strings.Contains(results[0], "rejected") || !strings.Contains(results[1], "rejected") || strings.Contains(results[2], "rejected") {
			t.Errorf("the model gets %q", results)
		}

		// A lasting answer is for the chosen ones only.
		ask("one of three", write("held-1.txt"), write("held-2.txt"), write("held-3.txt"))
		toggle("held-1.txt")
		toggle("held-2.txt")
		toggle("held-1.txt") // in again
		toggle("held-3.txt")
		f.wait("it can be answered", asking)
		f.answer(session)
		f.rested()
		made(f, true, "held-1.txt")
		made(f, false, "held-2.txt", "held-3.txt")
		f.do("", tc("write", "path", "held-1.txt", "content", "of held-1.txt\n"))
		holds(t, "one that was taken out", f.one(reject, "write", "path", "held-2.txt", "content", "made\n"), "rejected")

		// With none of them, only Don't allow counts.
		ask("none of three", write("none-1.txt"), write("none-2.txt"), write("none-3.txt"))
		for _, n := range []string{"1", "2", "3"} {
			toggle("none-" + n + ".txt")
		}
		f.wait("it says why", `document.getElementById("ask").shadowRoot.getElementById("ask-off").textContent.startsWith("Nothing is chosen") && ["once", "session", "project", "never"].every((id) => document.getElementById("ask").shadowRoot.getElementById(id).ariaDisabled === "true")`)
		for id, key := range map[string]string{"once": once, "never": never} {
			f.check(`document.getElementById("ask").shadowRoot.getElementById(` + js(id) + `).click()`)
			answerKey(t, f, key)
		}
		if f.check(`document.getElementById("ask").hidden`) == "true" {
			t.Error("an answer for nothing counted")
		}
		f.check(`document.getElementById("ask").shadowRoot.getElementById("sheet").focus()`)
		f.answer(reject)
		f.rested()
		made(f, false, "none-1.txt", "none-2.txt", "none-3.txt")
	})
}

// Never is a refusal that lasts: the call is not asked about again in this folder, until the user takes the
// answer back.
func TestFilesNever(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		holds(t, "it", f.one(never, "delete", "path", "hours.csv"), "rejected")
		f.another()
		holds(t, "without a question", f.one("", "delete", "path", "hours.csv"), "not allowed", "a rule of the policy")
		holds(t, "another file", f.one(reject, "delete", "path", "trip/packing.txt"), "rejected")
		made(f, true, "hours.csv")
		f.click("#tab-settings")
		holds(t, "what is listed", f.check(`document.getElementById("grants").innerText`), "Never: delete", "hours.csv", "in this folder")
		f.click("#grants button")
		f.wait("it is taken back", `!document.getElementById("no-grants").hidden`)
		holds(t, "asked again", f.one(reject, "delete", "path", "hours.csv"), "rejected")
	})
}

// No question shows a call in the form in which the model wrote it.
func TestFilesQuestionsAreWords(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		for _, c := range []struct {
			title string
			call  call
		}{
			{"Write the new file made.txt", tc("write", "path", "made.txt", "content", "made\n")},
			{"Edit notes/plan.md", tc("edit", "path", "notes/plan.md", "old_string", "# ", "new_string", "## ")},
			{"Delete hours.csv", tc("delete", "path", "hours.csv")},
			{"trip/packing.txt", tc("move", "from", "trip/packing.txt", "to", "packing.txt")},
			{"made", tc("mkdir", "path", "made")},
			{"hours.csv", tc("bash", "command", "rm hours.csv && echo done > made.txt")},
			{"made.html", tc("code_run", "code", `await callTool("write", {path: "made.html", content: "<p>made"})`)},
		} {
			f.then(turn{calls: []call{tc("read", "path", "hours.csv"), tc("read", "path", "notes/plan.md"), tc("read", "path", "trip/packing.txt")}},
				turn{calls: []call{c.call}}, turn{text: "That was it."})
			before := len(f.requests())
			f.say("do it")
			for asked := false; ; asked = true { // a script may ask for each of its steps
				poll.Until(t, c.call.tool+" asks, or ends", func() bool { return f.check(asking) == "true" || len(f.requests()) >= before+3 }, f.cards)
				if f.check(asking) != "true" {
					if !asked {
						t.Errorf("%s: nothing was asked: %v", c.call.tool, f.requests()[before+2].results())
					}
					break
				}
				holds(t, c.call.tool, f.check(`document.getElementById("ask").shadowRoot.getElementById("sheet").innerText`), "Asked by the assistant", c.title)
				plainQuestion(t, f, 1)
				f.answer(reject)
			}
			f.rested()
			f.another()
		}
		tick(t, f.in, "#plan")
		f.then(turn{calls: []call{tc("write", "path", "planned.txt", "content", "made\n"), tc("delete", "path", "hours.csv")}}, turn{text: "That was it."})
		f.say("plan it")
		holds(t, "it asks", f.asks(), "Apply these 2 changes?", "high risk", "planned.txt", "hours.csv", "deletes content (can be undone)")
		plainQuestion(t, f, 1)
		f.answer(reject)
		f.rested()
		made(f, false, "planned.txt")
		made(f, true, "hours.csv")
	})
}
