package examples

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// wholeSheet returns what of a question is not in view: the sheet leaves the window, or one of its controls
// is covered. See seenParts for its texts.
const wholeSheet = `(() => {
	const ask = document.getElementById("ask"), r = ask.getBoundingClientRect(), out = [];
	if (r.left < 0 || r.top < 0 || r.right > innerWidth || r.bottom > innerHeight) out.push("the sheet leaves the window");
	for (const e of ask.shadowRoot.querySelectorAll("button, input, select")) {
		if (!e.checkVisibility()) continue;
		const b = e.getBoundingClientRect(), x = b.left + b.width / 2, y = b.top + b.height / 2;
		if (!e.contains(ask.shadowRoot.elementFromPoint(x, y))) out.push((e.id || e.type) + " is covered by " + document.elementFromPoint(x, y)?.id);
	}
	return out.join("; ");
})()`

// In a window with one pane at a time a question is over each pane: all of it is in view, and it can be answered
// by key and by pointer. While the pane hides it, no key and no pointer answers it.
func TestFilesQuestionOverEachPane(t *testing.T) {
	long(t)
	t.Parallel()
	b := launch(t, e2e.Options{})
	f, p := filesIn(t, b)
	ctx := testContext(t)
	must(t, p.ReducedMotion(ctx, true))
	f.check(spoiling)
	for _, size := range [][2]int{{700, 430}, {390, 844}} {
		must(t, p.Viewport(ctx, size[0], size[1], 1))
		for _, pane := range []string{"chat", "files", "activity"} {
			where := fmt.Sprintf("%s in %dx%d", pane, size[0], size[1])
			ask := func(name string) {
				t.Helper()
				f.then(turn{calls: []call{tc("write", "path", name, "content", "one\ntwo\n")}}, turn{text: "That was it."})
				looks := 0
				poll.Until(t, where+": the pane is shown", func() bool { // a click may miss the button while the page is being laid out
					if looks++; looks%50 == 1 {
						must(t, p.Click(ctx, "#bottom [data-pane="+pane+"]"))
					}
					return f.check(`document.body.dataset.pane`) == pane
				})
				// The field is in the pane of the chat, so the message is sent in its name.
				f.check(`void (document.getElementById("text").value = "write it", document.getElementById("composer").requestSubmit())`)
				f.wait(where+": it asks", reading)
				if got := f.check(`document.body.dataset.pane`); got != pane {
					t.Errorf("%s: the question shows the pane %s", where, got)
				}
				if got := f.check(`["nav", "aside"].filter((s) => document.querySelector(s).checkVisibility({visibilityProperty: true})).join()`); got != map[string]string{"chat": "", "files": "nav", "activity": "aside"}[pane] {
					t.Errorf("%s: below the question is %q", where, got)
				}
				last := ""
				poll.Until(t, where+": it is in view", func() bool {
					last = f.check(seenParts) + f.check(wholeSheet)
					return last == ""
				}, func() string { return last })
			}
			written := func() {
				t.Helper()
				f.rested()
				all := f.requests()
				if got := strings.Join(all[len(all)-1].results(), " "); !strings.Contains(got, `"bytes":8`) {
					t.Errorf("%s: the model gets %q", where, got)
				}
			}
			open := func() bool { return f.check(`document.getElementById("ask").hidden`) != "true" }

			ask(fmt.Sprintf("%s-%d-by-pointer.txt", pane, size[0]))
			for _, how := range []struct {
				style string
				keeps bool // the focus stays in the question, where Don't allow counts also unseen
			}{
				{"main { display: none !important }", false},
				{"main, main * { visibility: hidden !important }", false},
				{"main > #ask { display: none !important }", false},
				{"#ask { z-index: -1 !important }", true},
			} {
				f.check(`document.getElementById("ask").shadowRoot.getElementById("sheet").focus()`)
				f.wait(where+": it can be answered", asking)
				f.check(`style(` + js(how.style) + `)`)
				keys := []string{once, session, project, never, "Enter"}
				if !how.keeps {
					f.wait(where+": the focus leaves what is hidden", `!document.getElementById("ask").contains(document.activeElement)`)
					keys = append(keys, reject)
				}
				for _, key := range keys {
					must(t, f.Press(ctx, key))
				}
				if eval[bool](t, p, answerBlind) || !open() {
					t.Fatalf("%s: an answer counts with the style %s", where, how.style)
				}
				f.check(`unspoil()`)
			}
			f.wait(where+": it can be answered again", reading)
			must(t, p.Click(ctx, "#ask >>> #once"))
			written()

			ask(fmt.Sprintf("%s-%d-by-key.txt", pane, size[0]))
			f.check(`document.getElementById("ask").shadowRoot.getElementById("sheet").focus()`)
			f.answer(once)
			written()
		}
	}
	if n := f.check(`document.querySelectorAll("#grants button").length`); n != "0" {
		t.Errorf("%s lasting answers", n)
	}
	noErrors(t, p)
}
