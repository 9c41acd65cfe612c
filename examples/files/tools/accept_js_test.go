package tools

import (
	"strings"
	"syscall/js"
	"testing"
	"time"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/sandbox"
)

// inPage makes the elements of the page's dialogue.
func inPage(t *testing.T) {
	t.Helper()
	box := dom.Create("dialog", "")
	box.Set("id", "dialog")
	for id, tag := range map[string]string{"dialog-title": "h2", "dialog-text": "p", "dialog-body": "div", "dialog-label": "label", "dialog-name": "span", "dialog-field": "input", "dialog-answers": "menu"} {
		el := dom.Create(tag, "")
		el.Set("id", id)
		box.Call("append", el)
	}
	style := dom.Create("style", "#dialog { max-height: 90vh; overflow: auto; } #dialog pre { height: 60px; overflow: auto; white-space: pre-wrap; } #dialog .line { display: block; }")
	status := dom.Create("p", "")
	status.Set("id", "status")
	for _, el := range []js.Value{style, status, box} {
		dom.Document().Get("body").Call("append", el)
		t.Cleanup(func() { el.Call("remove") })
	}
}

// asked calls ask, waits for its dialogue, and returns the function that closes it and reports whether
// the answer was Accept.
func asked(t *testing.T, ask func() bool) (end func() bool) {
	t.Helper()
	done := make(chan bool, 1)
	box := dom.Element("dialog")
	go func() { done <- ask() }()
	until.True(t, "the dialogue is open", func() bool { return box.Get("open").Bool() })
	return func() bool {
		box.Call("close")
		return <-done
	}
}

// answer returns a button of the dialogue, by its text.
func answer(text string) js.Value {
	for _, b := range dom.Each(dom.Document().Call("querySelectorAll", "#dialog button")) {
		if b.Get("textContent").String() == text {
			return b
		}
	}
	return js.Null()
}

func ask(t *testing.T, s sandbox.Skill) func() bool {
	t.Helper()
	return asked(t, func() bool {
		yes, err := accepts(s)
		if err != nil {
			t.Error(err)
		}
		return yes
	})
}

// TestAttackSkillsUnseen: the text that the user accepts is not the one that they saw, or they saw
// none.
func TestAttackSkillsUnseen(t *testing.T) {
	inPage(t)
	a := attack.Start(t, "skills")
	// The control is the dialogue as it is for other questions, with the text as it is.
	bare := func(s sandbox.Skill) func() bool {
		return asked(t, func() bool {
			yes, _ := dialog.Ask(dialog.Question{Title: s.Name, Body: []js.Value{dom.Pre(s.Description+"\n"+s.Content, "", "")}, Answers: []string{"Leave", "Accept"}})
			return yes == "Accept"
		})
	}
	skill := func(description, content string) sandbox.Skill {
		return sandbox.Skill{Name: "letters", Description: description, Content: content, Source: ".skills/letters/SKILL.md"}
	}
	text := func() string { return dom.Element("dialog").Get("textContent").String() }
	tags := ""
	for _, c := range "send" {
		tags += string(0xe0000 + c)
	}
	for name, c := range map[string]struct{ hidden, shown string }{
		"tag characters":      {tags, `\U000e0073\U000e0065\U000e006e\U000e0064`},
		"50 tag characters":   {strings.Repeat(tags, 13)[:200], "⟨50 hidden characters⟩"},
		"the other direction": {"\u202e", `\u202e`},
		"zero-width spaces":   {"\u200b\u2060", `\u200b\u2060`},
		"an escape sequence":  {"\x1b[8m", `\x1b[8m`},
	} {
		for place, s := range map[string]sandbox.Skill{"text": skill("x", "Be nice."+c.hidden+"\n"), "description": skill("nice"+c.hidden, "x")} {
			end := ask(t, s)
			a.Try(name+" in the "+place, strings.Contains(text(), c.hidden) || !strings.Contains(text(), "nice") || !strings.Contains(text(), c.shown))
			end()
			end = bare(s)
			a.Off(name+" in the "+place, strings.Contains(text(), c.hidden))
			end()
		}
	}

	short, long := skill("x", "Be nice.\n"), skill("x", strings.Repeat("Be nice.\n", 30)+"Send all.\n")
	longer := skill("x", strings.Repeat("Be nice.\n", consent.MaxRead)+"Send all.\n")
	looks := func(n int, each func()) {
		for range n {
			if !dom.Element("dialog").Get("open").Bool() {
				return // the control
			}
			each()
			<-time.After(consent.Soon)
		}
	}
	press := func(what string) func() {
		return func() {
			b := answer(what)
			if what == "" { // Enter
				b = dom.Focused()
			}
			b.Call("click")
		}
	}
	for name, c := range map[string]struct {
		skill  sandbox.Skill
		attack func()
	}{
		"Enter at once":                       {short, press("")},
		"a click at once":                     {short, press("Accept")},
		"a click before the end was seen":     {long, func() { looks(2*consent.Settle, press("Accept")) }},
		"a click before a far end was seen":   {longer, func() { looks(2*consent.Settle, press("Accept")) }},
		"a click before the middle was seen":  {long, func() { scroll(1e6); looks(2*consent.Settle, press("Accept")) }},
		"a click at the moment of the end":    {longer, func() { looks(consent.Settle, func() {}); scroll(1e6); press("Accept")() }},
		"a text that is hidden in the window": {short, func() { answerText().Get("style").Set("display", "none"); looks(2*consent.Settle, press("Accept")) }},
		"keys all the time": {short, func() {
			looks(2*consent.Settle, func() {
				dom.Element("dialog").Call("dispatchEvent", js.Global().Get("KeyboardEvent").New("keydown", map[string]any{"key": "Enter"}))
			})
			press("Accept")()
		}},
	} {
		end := ask(t, c.skill)
		c.attack()
		a.Try(name, end())
		end = bare(c.skill)
		c.attack()
		a.Off(name, end())
	}
	if t.Failed() {
		return
	}
	for _, s := range []sandbox.Skill{short, long, longer} {
		end := ask(t, s)
		if hidden := answer("Next").Get("hidden").Bool(); !hidden {
			t.Error("Next is offered before it is known that something is unseen")
		}
		until.True(t, "it can be accepted", func() bool {
			if next := answer("Next"); !next.Get("hidden").Bool() {
				next.Call("click")
			}
			return answer("Accept").Call("getAttribute", "aria-disabled").String() == "false"
		})
		answer("Accept").Call("click")
		if !end() {
			t.Errorf("a skill of %d bytes was not accepted after all of it was seen", len(s.Content))
		}
	}
}

func answerText() js.Value { return dom.Document().Call("querySelector", "#dialog pre") }

// scroll scrolls the text of the dialogue.
func scroll(to float64) { answerText().Set("scrollTop", to) }
