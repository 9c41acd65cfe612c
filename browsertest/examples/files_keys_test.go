package examples

import (
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// within are the controls that are visible and enabled now. A group with one stop for Tab, such as tabs or radio
// buttons, is represented by the control at which Tab stops.
const within = `[...(document.querySelector("dialog[open]") ?? document).querySelectorAll("*")].flatMap((e) => e.shadowRoot ? [...e.shadowRoot.querySelectorAll("*")] : [e]).filter((e) =>
	e.matches("button, input, select, textarea, summary, a[href], [tabindex]") &&
	e.checkVisibility({visibilityProperty: true}) && !e.disabled
	&& (e.tabIndex >= 0 || e.matches("button, input, select, textarea, summary, a"))
	&& !(e.tabIndex < 0 && e.matches("[role=tab]") && [...e.parentNode.children].some((o) => o.tabIndex >= 0))
	&& !(e.type === "radio" && !e.checked))`

// walk presses Tab through the whole page, and reports which controls it does not come by.
func (p anyPage) walk(what string) {
	p.t.Helper()
	p.check(`(() => { globalThis.walked = new Set(); const first = ` + within + `[0]; first.focus(); walked.add(first); })()`)
	// Tab is not pressed at the last control, because the focus would go to the browser. The conversation's frame has
	// the focus for some of the steps.
	const at = `(walked.add(` + focused + `), ` + focused + ` === ` + within + `.at(-1) ? "end" : document.activeElement.id)`
	for range 150 {
		if p.check(at) == "end" {
			break
		}
		p.keys("Tab")
	}
	const name = `((e) => (e.id ? "#" + e.id : e.tagName) + " " + (e.ariaLabel || e.textContent).trim().slice(0, 40))`
	if got := p.check(within + `.filter((e) => !walked.has(e)).map(` + name + `).join("; ")`); got != "" {
		p.t.Errorf("%s: Tab does not come by %s; it came by %s", what, got, p.check(`[...walked].map(`+name+`).join("; ")`))
	}
	if n := p.check(within + `.length`); n == "0" || n == "1" {
		p.t.Errorf("%s: %s controls only: what looks for them is wrong", what, n)
	}
}

// Tab reaches every usable control, whichever panel is open, and during a question.
func TestKeyboardFilesReachesAll(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, o *opened) {
		if o.engine == browser.WebKit {
			t.Skip("its Tab goes from the conversation's frame back to the start: #skip is there for it")
		}
		p := anyPage{o.page, t}
		p.walk("at the start")
		must(t, o.SetFiles(testContext(t), "#install-file", quietZIP(t)))
		saysStatus(t, o, "Installed quiet 1.2.3")
		say(t, o, `add "one" to notes/plan.md`)
		asked(t, o)
		p.walk("while it asks")
		must(t, o.Eval(testContext(t), `document.getElementById("ask").shadowRoot.getElementById("sheet").focus()`, nil))
		p.keys("Tab", session)
		rested(t, o)
		bringSkill(t, o)
		say(t, o, `run "seq 1 9000"`)
		must(t, o.WaitFor(testContext(t), `document.querySelector("#cards li:last-child.done b")?.textContent.startsWith("bash")`))
		for _, button := range []string{"#all", "#rewind", "#rename"} {
			press(t, o, button)
			dialogue(t, o)
			p.walk("the dialogue of " + button)
			p.keys("Escape")
			must(t, o.WaitFor(testContext(t), `!document.getElementById("dialog").open`))
		}
		must(t, o.Eval(testContext(t), `void (() => {
			document.querySelectorAll("#cards details").forEach((e) => { e.open = true; });
			for (const id of ["update", "trouble", "voice", "needs"]) document.getElementById(id).hidden = false;
		})()`, nil))
		for _, panel := range []string{"steps", "undo", "shield", "tools", "settings"} {
			must(t, o.Eval(testContext(t), `document.getElementById("tab-`+panel+`").click()`, nil))
			if panel == "settings" {
				must(t, o.Eval(testContext(t), `(() => { const e = document.getElementById("provider"); e.value = "local"; e.dispatchEvent(new Event("change")); })()`, nil))
				must(t, o.WaitFor(testContext(t), `!document.getElementById("remote").hidden`))
			}
			p.walk(panel)
		}
		press(t, o, "#copy")
		must(t, o.WaitFor(testContext(t), `!document.getElementById("pending").hidden`))
		must(t, o.Eval(testContext(t), `document.getElementById("tab-tools").click()`, nil))
		must(t, o.WaitFor(testContext(t), `document.querySelectorAll("#skills button").length > 0`))
		p.walk("on a copy")
	})
}

// bringSkill puts a skill into the folder.
func bringSkill(t *testing.T, o *opened) {
	t.Helper()
	say(t, o, `javascript: await callTool("glob", {pattern: "**"}); await callTool("write", {path: ".skills/letters/SKILL.md", content: "---\ndescription: How letters are written\n---\nBegin with Dear.\n"})`)
	asked(t, o)
	answerKey(t, o, once)
	rested(t, o)
}

// Each button's action can be done by its key, and each dialogue by its own keys.
func TestKeyboardFilesActs(t *testing.T) {
	long(t)
	t.Parallel()
	eachFiles(t, func(t *testing.T, o *opened) {
		p := anyPage{o.page, t}
		must(t, o.Eval(testContext(t), `void (() => {
			globalThis.opened = [];
			for (const id of ["load-file", "install-file"]) document.getElementById(id).addEventListener("click", (e) => { e.preventDefault(); opened.push(id); });
			globalThis.made = 0;
			const make = URL.createObjectURL; URL.createObjectURL = (b) => { made++; return make.call(URL, b); };
			HTMLAnchorElement.prototype.click = () => {}; // Firefox's list of downloads takes the keys
		})()`, nil))
		act := func(selector, key, what, expression string) {
			t.Helper()
			p.tabTo(selector)
			p.keys(key)
			p.wait(what, expression)
		}
		open := `document.getElementById("dialog").open`
		name := func(selector, text string) {
			t.Helper()
			act(selector, "Enter", "a dialogue", open+` && document.activeElement.id === "dialog-field"`)
			p.keys("Control+a")
			must(t, p.Type(t.Context(), text))
			p.keys("Enter")
			p.wait("it is closed", `!`+open)
		}
		row := func(path string) string { return `!!document.querySelector("#tree [data-path='` + path + `']")` }
		restedHere := func() {
			t.Helper()
			p.wait("done", `document.getElementById("stop").hidden && document.getElementById("ask").hidden`)
		}
		// It sends as a user does, from any focus.
		send := func(text string) {
			t.Helper()
			p.tabTo("#text")
			must(t, p.Type(t.Context(), text))
			p.keys("Enter")
		}

		act("#plan", "Space", "a plan first", `document.getElementById("plan").checked`)
		act("#plan", "Space", "no plan", `!document.getElementById("plan").checked`)
		act(".try", "Enter", "it is sent", `document.querySelectorAll("#cards li").length === 1`)
		p.wait("it is tried", `document.querySelectorAll("#cards .done").length === 1`)
		restedHere()

		// Files.
		name("#newfile", "by-hand.txt")
		p.wait("a new file", row("by-hand.txt"))
		name("#newfolder", "by-hand")
		p.wait("a new folder", row("by-hand"))
		name("#move", "renamed")
		p.wait("it has another name", row("renamed")+` && !`+row("by-hand"))
		act("#remove", "Enter", "a question", open)
		p.keys("Enter")
		p.wait("it is gone", `!`+row("renamed"))
		act("#zip", "Enter", "a ZIP", `made > 0`)

		// Questions.
		send(`add "one" to notes/plan.md`)
		p.wait("it asks", asking+` && document.activeElement.id === "ask"`)
		p.tabTo("#ask >>> #scope")
		if o.engine != browser.WebKit { // whose keys open the list, which is not the page's
			p.keys("ArrowDown", "ArrowDown")
			p.wait("a wider grant", `document.getElementById("ask").shadowRoot.getElementById("scope").value === "notes/**"`)
		}
		act("#ask >>> #session", "Enter", "answered", `document.getElementById("ask").hidden`)
		restedHere()
		send(`delete hours.csv`)
		p.wait("it asks", asking+` && document.activeElement.id === "ask"`)
		p.tabTo("#ask >>> #why")
		must(t, p.Type(t.Context(), "2 are not enough"))
		p.keys("Enter")
		p.wait("the reason is heard", `document.querySelector("#cards li:last-child.denied")?.textContent.includes("2 are not enough")`)
		restedHere()

		// Steps.
		send(`run "seq 1 9000"`)
		p.wait("it ran", `document.querySelector("#cards li:last-child.done b")?.textContent.startsWith("bash")`)
		restedHere()
		p.panel("steps")
		act("#cards li:last-child summary", "Enter", "it is open", `document.querySelector("#cards li:last-child details").open`)
		act("#cards li:last-child button[name=all]", "Enter", "all of it", `document.activeElement.tagName === "PRE" && document.activeElement.textContent.includes("8999")`)
		send(`javascript: await sleep(60000)`)
		p.wait("it can be ended", `document.querySelector("#cards li:last-child .live button")?.checkVisibility()`)
		act("#cards li:last-child .live button", "Enter", "it was ended", `document.querySelector("#cards li:last-child.stopped")?.textContent.includes("the user stopped this step")`)
		restedHere()

		// Panels are changed by the arrow keys.
		p.panel("undo-panel")
		act("#history [name=difference]", "Enter", "a difference", `!!document.querySelector("#history .diff")`)
		p.panel("shield")
		p.wait("what holds it", `document.getElementById("holds").childElementCount > 0`)
		p.panel("settings")
		act("#grants button", "Enter", "taken back", `!document.getElementById("no-grants").hidden`)

		// A copy, with instructions that came with it.
		p.tabTo("#text")
		bringSkill(t, o)
		act("#copy", "Enter", "a copy", `!document.getElementById("pending").hidden`)
		p.panel("tools")
		act(`#skills button[aria-label="Read letters"]`, "Enter", "its text", open)
		p.wait("the focus is at the answer that does nothing", `document.activeElement.textContent === "Leave"`)
		p.tabTo("#dialog pre")
		p.tabTo("#dialog button.primary")
		p.wait("it can be accepted", `document.activeElement.ariaDisabled === "false"`)
		p.keys("Enter")
		p.wait("it is accepted", `!`+open+` && /letters · accepted/.test(document.getElementById("skills").innerText)`)
		act(`#skills button[aria-label="Take back letters"]`, "Space", "it is taken back", `/letters · not accepted/.test(document.getElementById("skills").innerText)`)
		name("#newfile", "lost.txt")
		p.wait("a new file", row("lost.txt"))
		act("#discard", "Space", "it asks", open)
		p.wait("it names what is lost", `document.getElementById("dialog").innerText.includes("lost.txt")`)
		act("#dialog button.stop", "Enter", "no copy", `document.getElementById("pending").hidden`)
		act("#copy", "Enter", "a copy", `!document.getElementById("pending").hidden`)
		name("#newfile", "on-the-copy.txt")
		p.wait("a new file", row("on-the-copy.txt"))
		act("#apply", "Enter", "it is carried over", `document.getElementById("pending").hidden`)
		p.panel("tools")
		act("#install", "Enter", "a ZIP is asked for", `opened.at(-1) === "install-file"`)
		must(t, o.SetFiles(testContext(t), "#install-file", quietZIP(t)))
		saysStatus(t, o, "Installed quiet 1.2.3")
		if o.engine != browser.WebKit {
			act("#when-quiet", "ArrowDown", "without a question", `document.getElementById("status").textContent === "quiet: kept." && document.getElementById("when-quiet").value === "always"`)
		}
		act(`#packages button[aria-label="Remove quiet"]`, "Enter", "it is removed", `document.getElementById("packages").childElementCount === 0`)
		act("#notices", "Enter", "licences", open)
		p.keys("Escape")
		p.wait("the focus is back", `!`+open+` && document.activeElement.id === "notices"`)

		// Conversations. Where none lasts, this one is new.
		if !o.lasts() {
			act("#fork", "Enter", "why there is none", `document.getElementById("status").textContent.startsWith("There is nothing to fork yet")`)
			for range 2 { // to rewind to
				send("list the files")
				restedHere()
			}
		}
		name("#rename", "By hand")
		p.wait("its tab says so", `[...document.querySelectorAll("#sessions .chat")].some((e) => e.firstChild.textContent === "By hand")`)
		const tabs = `document.querySelectorAll("#sessions .chat").length`
		had := p.check(tabs)
		act("#fork", "Enter", "a fork", tabs+` === 1 + `+had)
		act("#archive", "Enter", "it is archived", tabs+` === `+had)
		act("#save", "Enter", "a file", `made > 1`)
		act("#load", "Enter", "a file is asked for", `opened.at(-1) === "load-file"`)
		act("#all", "Enter", "all of them", open)
		act(`#dialog button[aria-label="Open By hand (fork)"]`, "Enter", "it is open", `!`+open+` && `+tabs+` === 1 + `+had)
		act("#rewind", "Enter", "messages", open)
		p.tabTo("#dialog input:checked")
		p.keys("ArrowDown")
		p.wait("another message", `!document.querySelector("#dialog input").checked && !!document.querySelector("#dialog [type=radio]:checked")`)
		act("#rewind-files", "Space", "without the files", `!document.getElementById("rewind-files").checked`)
		p.tabTo("#dialog button.primary")
		p.keys("Enter")
		p.wait("it is taken back", `!`+open+` && document.getElementById("text").value !== ""`)
	})
}
