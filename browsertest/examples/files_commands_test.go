package examples

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// commandsShown are the names in the list of commands, the chosen one in brackets.
const commandsShown = `(document.getElementById("commands").hidden ? "" : [...document.querySelectorAll("#commands b")].map((e) => e.parentElement.ariaSelected === "true" ? "[" + e.textContent + "]" : e.textContent).join(" "))`

// A message that begins with / and the name of a skill that the user accepted calls it: the model receives
// its text with the arguments, and the user sees the call and the file. The list has the commands while
// the user types, for the keyboard and the mouse. A skill that is not accepted can't be called.
func TestFilesCommands(t *testing.T) {
	t.Parallel()
	f, p := filesIn(t, withDisk(t))
	ctx := testContext(t)
	skill := func(name, head, text string) string {
		return "---\nname: " + name + "\ndescription: How " + name + " are written here\n" + head + "---\n" + text
	}
	f.drop(p, newDisk(t, "commands", map[string]string{
		".skills/letters/SKILL.md": skill("letters", "argument-hint: \"[name] [tone]\"\n", "Begin with Dear $0, and be $1.\n"),
		".skills/lists/SKILL.md":   skill("lists", "", "One line each.\n"),
		".skills/inner/SKILL.md":   skill("inner", "user-invocable: false\n", "For the assistant.\n"),
	}))
	typed := func(text string) {
		t.Helper()
		f.check(`(() => { const e = document.getElementById("text"); e.focus(); e.select(); document.execCommand(` + js(text) + ` ? "insertText" : "delete", false, ` + js(text) + `); })()`)
		f.wait("the words are in the field", `document.getElementById("text").value === `+js(text))
	}
	list := func(want string) {
		t.Helper()
		f.wait("the list is "+want, commandsShown+` === `+js(want))
	}
	press := func(key, field string) {
		t.Helper()
		must(t, p.Press(ctx, key))
		f.wait("the field has "+field, `document.getElementById("text").value === `+js(field))
	}
	refused := func(text, words string) {
		t.Helper()
		typed(text)
		press("Enter", text)
		f.wait("it is refused", `document.getElementById("status").textContent.includes(`+js(words)+`)`)
	}
	typed("/")
	list("[/compact]")
	refused("/letters Ann", "the skill letters is not accepted yet")
	for _, name := range []string{"letters", "lists", "inner"} {
		f.click("#tab-tools")
		f.wait(name+" is there", `!!document.querySelector('#skills button[aria-label="Read `+name+`"]')`)
		f.click(`#skills button[aria-label="Read ` + name + `"]`)
		dialogue(t, p)
		f.wait("it can be accepted", `document.querySelector("#dialog .primary").ariaDisabled !== "true"`)
		choose(t, p, "Accept")
		f.wait(name+" is accepted", `/`+name+` · accepted/.test(document.getElementById("skills").innerText)`)
	}
	typed("/")
	list("[/compact] /letters /lists")
	if *pictures != "" {
		for _, w := range []int{1400, 768, 390, 320} {
			for _, dark := range []bool{false, true} {
				must(t, p.Viewport(ctx, w, 860, 1))
				must(t, p.Dark(ctx, dark))
				_, err := p.Screenshot(ctx, e2e.Shot{File: filepath.Join(*pictures, fmt.Sprintf("commands-%d-%t.png", w, dark))})
				must(t, err)
			}
		}
		must(t, p.Viewport(ctx, 0, 0, 0))
		typed("/")
	}
	typed("/l")
	list("[/letters] /lists")
	press("ArrowDown", "/l")
	list("/letters [/lists]")
	press("ArrowDown", "/l")
	list("[/letters] /lists")
	press("ArrowUp", "/l")
	list("/letters [/lists]")
	if got := f.check(`document.getElementById("text").getAttribute("aria-activedescendant") + " " + document.getElementById("command-1").textContent`); got != "command-1 /lists How lists are written here" {
		t.Errorf("the chosen one is %q", got)
	}
	press("Escape", "/l")
	list("")
	typed("/le")
	list("[/letters]")
	press("Tab", "/letters ")
	list("")
	typed("/li")
	must(t, p.Click(ctx, "#command-0"))
	f.wait("a click chooses", `document.getElementById("text").value === "/lists " && document.activeElement.id === "text"`)
	typed("no command /le")
	list("")
	f.then(turn{text: "It is written."})
	f.say(`/letters "Ann Lee" kind`)
	shows(t, p, "It is written.")
	f.rested()
	last := func() string {
		all := f.requests()
		m := all[len(all)-1].Messages
		return fmt.Sprint(m[len(m)-1])
	}
	holds(t, "the request", last(), `/letters "Ann Lee" kind`, "Begin with Dear Ann Lee, and be kind.", "letters (skill).md")
	// A whole command is sent by Enter at once, though the list is open.
	f.then(turn{text: "And so is this."})
	f.say("/lists")
	shows(t, p, "And so is this.")
	f.rested()
	holds(t, "the request", last(), "One line each.")
	refused("/inner", "only the assistant may use it")
	refused("/letters "+strings.Repeat("x", 4097), "more than 4096 bytes")
	f.then(turn{text: "No such skill."})
	f.say("/etc/passwd is a path")
	shows(t, p, "No such skill.")
	f.rested()
	f.reload()
	f.again("commands")
	shows(t, p, "letters (skill).md")
}
