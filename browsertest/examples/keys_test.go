package examples

import (
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// tabTo presses Tab, or Shift and Tab, until an element has the focus, like a user without a mouse.
func (p anyPage) tabTo(selector string) {
	p.t.Helper()
	p.wait(selector, `!!`+find(selector)+` && !`+find(selector)+`.disabled`)
	if menu := p.check(find(selector) + `.closest("[popover]:not(:popover-open)")?.id ?? ""`); menu != "" {
		opener := "[popovertarget=" + menu + "]"
		if menu == "chat-menu" {
			opener = "#sessions li:has([aria-current]) .more"
		}
		p.tabTo(opener)
		p.keys("Enter")
		p.wait(menu, `document.getElementById(`+js(menu)+`).contains(document.activeElement)`)
	}
	for n := range 200 {
		if p.check(focused+` === `+find(selector)) == "true" {
			// The focused element is marked, or the form or label around it.
			if p.check(`((at) => at.matches(":focus-visible") && [at, at.closest("form, label")].some((e) => e && getComputedStyle(e).outlineStyle !== "none"))(`+focused+`)`) != "true" {
				p.t.Errorf("%s has the focus, and nothing shows it", selector)
			}
			return
		}
		if p.check(`document.activeElement.id`) == "code" { // an editor, which takes Tab unless Escape comes first
			p.keys("Escape")
		}
		// If the focus goes from the conversation's frame back to the start, as in WebKitGTK, the skip link
		// leads around the frame.
		if n > 60 && p.check(`document.activeElement.id`) == "skip" {
			p.keys("Enter")
			p.wait("past the conversation", `document.activeElement.id === "text"`)
			continue
		}
		// Elements before the focus are reached backwards, because after the last element Firefox and
		// WebKitGTK leave the page.
		key := "Tab"
		if p.check(`((a, b) => {
			while (a.getRootNode() !== b.getRootNode())
				if (b.getRootNode().host) b = b.getRootNode().host;
				else a = a.getRootNode().host;
			return !!(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_PRECEDING);
		})(`+focused+`, `+find(selector)+`)`) == "true" {
			key = "Shift+Tab"
		}
		p.keys(key)
	}
	p.t.Fatalf("%s is not reached by Tab; at last the focus was on %s", selector, p.check(`document.activeElement.outerHTML.slice(0, 200)`))
}

func (p anyPage) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		must(p.t, p.Press(p.t.Context(), k))
	}
}

// panel goes to the tabs of the right pane, and on by the arrow keys to that of a panel.
func (p anyPage) panel(id string) {
	p.t.Helper()
	p.tabTo(`#panels [aria-selected="true"]`)
	for range 6 {
		if p.check(`document.getElementById("`+id+`").checkVisibility()`) == "true" {
			return
		}
		was := p.check(`document.activeElement.id`)
		p.keys("ArrowRight")
		p.wait("the next tab", `document.activeElement.id !== `+js(was)+` && document.activeElement.ariaSelected === "true"`)
	}
	p.t.Fatalf("no arrow leads to %s", id)
}

func keyboard(t *testing.T, path string) anyPage {
	t.Helper()
	p, err := launch(t, e2e.Options{}).Page(testContext(t), site+path)
	must(t, err)
	return anyPage{p.Chrome(), t}
}

// The main actions of each example without a mouse.
func TestKeyboardFiles(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, o *opened) { keyboardFiles(t, anyPage{o.page, t}) })
}

func keyboardFiles(t *testing.T, p anyPage) {
	p.tabTo("#theme")
	p.keys("Enter")
	p.wait("the theme", `document.documentElement.style.colorScheme !== ""`)
	p.tabTo("#tree")
	p.keys("ArrowDown", "ArrowDown", "ArrowUp", "Home", "ArrowRight")
	p.wait("a folder is unfolded", `!!document.querySelector("#tree [aria-expanded=true]") && document.querySelectorAll("#tree [aria-level='2']").length > 0`)
	p.keys("ArrowDown", "Enter")
	p.wait("the viewer shows the file", `document.getElementById("viewer").checkVisibility() && document.querySelector("#tree [aria-selected=true][aria-level='2']").dataset.path === document.querySelector("#viewer .v-name").textContent`)
	p.tabTo("#tree")
	p.keys("Shift+F10")
	p.wait("the menu", `document.activeElement.role === "menuitem"`)
	for n := 0; p.check(`document.activeElement.textContent`) != "Mention in the chat"; n++ {
		if n == 20 {
			p.t.Fatal("no arrow leads to the item that mentions the file")
		}
		p.keys("ArrowDown")
	}
	p.keys("Enter")
	p.wait("a file's name is in the field, which has the focus", `document.getElementById("text").value.trim() === document.querySelector("#viewer .v-name").textContent && document.activeElement.id === "text"`)
	p.keys("Home")
	must(p.t, p.Type(p.t.Context(), "show "))
	p.keys("Enter")
	p.wait("it is shown", `document.querySelectorAll("#cards li.done").length === 1`)
	for _, k := range []struct{ key, class string }{{"1", "done"}, {"4", "denied"}} {
		p.wait("the field has the focus again", `document.activeElement.id === "text" && document.getElementById("stop").hidden`)
		must(t, p.Type(t.Context(), "delete hours.csv"))
		p.keys("Enter")
		p.wait("it asks, with the focus", asking+` && document.activeElement.id === "ask"`)
		p.keys("Tab", k.key)
		p.wait(k.class, `document.querySelector("#cards li:last-child").className === "`+k.class+`"`)
		if k.class == "done" {
			p.panel("undo-panel")
			p.tabTo("#undo")
			p.keys("Enter")
			p.wait("it is back", `!!document.querySelector("#tree [data-path='hours.csv']")`)
			p.tabTo("#redo")
			p.keys("Space")
			p.wait("it is gone", `!document.querySelector("#tree [data-path='hours.csv']")`)
			p.tabTo("#history li:last-child .bar button:last-child")
			p.keys("Enter")
			p.wait("it is back", `!!document.querySelector("#tree [data-path='hours.csv']")`)
			p.tabTo("#text")
		}
	}
	p.wait("the field has the focus again", `document.activeElement.id === "text" && document.getElementById("stop").hidden`)
	must(t, p.Type(t.Context(), "javascript: for (;;);"))
	p.keys("Enter")
	p.wait("it runs", `!!document.querySelector("#cards li:last-child.running")`)
	p.keys("Escape")
	p.wait("it was stopped", `document.getElementById("stop").hidden && !document.querySelector("#cards li.running")`)
	for _, id := range []string{"#new", "#fork", "#rewind", "#save", "#sample", "#pick", "#upload"} {
		if id == "#pick" && p.check(`document.getElementById("pick").disabled`) == "true" {
			continue // only Chromium shows folders to pages
		}
		p.tabTo(id)
	}
	p.tabTo("#new")
	p.keys("Enter")
	p.wait("a new conversation", `document.getElementById("cards").childElementCount === 0`)
	p.panel("settings")
	p.tabTo("[data-provider=local]")
	p.keys("Space")
	p.wait("it is chosen, and has an address", `document.activeElement.ariaPressed === "true" && document.getElementById("url").checkVisibility()`)
	p.tabTo("#use")
}

func TestKeyboardMarkdown(t *testing.T) {
	t.Parallel()
	p := keyboard(t, "markdown/")
	p.wait("ready", `!document.getElementById("ready").disabled`)
	p.tabTo("#answers li:nth-child(2) button")
	p.keys("Enter")
	p.wait("it streams or is shown", `document.querySelector("#conversation iframe").getBoundingClientRect().height > 100`)
}

func TestKeyboardRun(t *testing.T) {
	t.Parallel()
	p := keyboard(t, "run/")
	p.wait("ready", `!document.getElementById("ready").disabled`)
	p.tabTo("#run")
	p.keys("Enter")
	p.wait("it ended", `!document.getElementById("ready").disabled && !document.getElementById("outcome").hidden`)
	p.tabTo("#attack-never-end")
	p.keys("Enter")
	p.wait("it runs", `document.getElementById("status").textContent === "Running"`)
	p.tabTo("#stop")
	p.keys("Enter")
	p.wait("it was killed", `!document.getElementById("ready").disabled`)
}

func TestKeyboardTool(t *testing.T) {
	t.Parallel()
	p := keyboard(t, "tool/")
	p.wait("ready", `!document.getElementById("ready").disabled`)
	p.tabTo("#line")
	p.keys("Control+a")
	must(t, p.Type(t.Context(), "seq 3 | sort -r"))
	p.keys("Enter")
	p.wait("it ended", `document.getElementById("output").textContent === "3\n2\n1\n"`)
	p.tabTo("#line")
	p.keys("Control+a")
	must(t, p.Type(t.Context(), "awk 'BEGIN { while (1) x = x + 1 }'"))
	p.keys("Enter")
	p.wait("it runs", `!document.getElementById("stop").disabled && document.getElementById("status").textContent === "Running"`)
	p.tabTo("#stop")
	p.keys("Enter")
	p.wait("it was killed", `/was killed/.test(document.getElementById("problem").textContent)`)
}

func TestKeyboardFolder(t *testing.T) {
	t.Parallel()
	p := keyboard(t, "folder/")
	p.wait("the sample is there", `!!document.querySelector("#tree [data-path='README.md'][aria-current]")`)
	p.tabTo("#tree [data-path='hours.csv']")
	p.keys("Enter")
	p.wait("it is open", `document.getElementById("path").textContent === "hours.csv"`)
	p.tabTo("#text")
	p.keys("Control+a")
	must(t, p.Type(t.Context(), "nothing"))
	p.tabTo("#save")
	p.keys("Enter")
	p.wait("it is written", `document.getElementById("history").innerText.includes("Wrote hours.csv")`)
	p.tabTo("#undo")
	p.keys("Enter")
	p.wait("it is undone", `document.getElementById("text").value.startsWith("day,hours")`)
}

func TestKeyboardPlain(t *testing.T) {
	t.Parallel()
	p := keyboard(t, "plain/")
	p.wait("ready", `!document.getElementById("again").disabled`)
	p.tabTo("#again")
	p.keys("Enter")
	p.tabTo("#run button")
	p.keys("Enter")
	p.wait("the result", `document.getElementById("result").textContent.includes("29")`)
}
