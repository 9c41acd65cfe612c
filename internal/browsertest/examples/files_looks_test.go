package examples

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bailey-go/bailey/internal/browsertest/e2e"
)

// Every screen and dialogue, light and dark, wide and narrow: nothing that axe-core finds, and
// nothing wider than the window.
func TestFilesScreens(t *testing.T) {
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
			{"delete", func(t *testing.T) { press(t, p, "#remove"); dialogue(t, p) }, "Escape"},
			{"trouble", func(t *testing.T) {
				must(t, p.Eval(testContext(t), `void (() => { document.getElementById("trouble-text").textContent = "The provider does not accept the key. Look at it in Settings."; document.getElementById("trouble").hidden = false; document.getElementById("update").hidden = false; })()`, nil))
			}, ""},
			{"tabs", func(t *testing.T) {
				must(t, p.Eval(testContext(t), `void (() => { document.getElementById("trouble").hidden = true; document.getElementById("update").hidden = true; })()`, nil))
				for range 3 {
					n := eval[int](t, p, `document.querySelectorAll("#sessions [role=tab]").length`)
					press(t, p, "#new")
					must(t, p.WaitFor(testContext(t), fmt.Sprintf(`document.querySelectorAll("#sessions [role=tab]").length === %d`, n+1)))
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
				for _, look := range []struct {
					dark  bool
					width int
				}{{false, 1280}, {true, 1280}, {false, 390}, {true, 390}} {
					if !p.look(t, look.dark, look.width) {
						continue
					}
					noViolations(t, p)
					if wide := eval[int](t, p, `document.documentElement.scrollWidth`); wide > look.width {
						t.Errorf("the page is %d px wide in a window of %d", wide, look.width)
					}
					if chrome, ok := p.driver.(*e2e.Page); ok && *shots && look.dark == (look.width == 390) && (c.name == "tools" || c.name == "rewind" || c.name == "tabs") {
						_, err := chrome.Screenshot(ctx, e2e.Shot{File: filepath.Join(root, "examples/files/screenshots", fmt.Sprintf("%s-%d.png", c.name, look.width))})
						must(t, err)
					}
				}
				if c.undo != "" {
					must(t, p.Press(ctx, c.undo))
					must(t, p.WaitFor(ctx, `!document.getElementById("dialog").open`))
				}
			})
		}
		noErrors(t, p)
	})
}
