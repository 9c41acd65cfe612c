package examples

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
)

// A key or a click meant for another place does not answer a question that appears at that moment. It can be answered
// once the user has rested, and does not take the focus from a text.
func TestFilesQuestionWaitsForHands(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		const open = `!document.getElementById("ask").hidden`
		say(t, p, `delete trip/packing.txt`)
		must(t, p.Eval(ctx, `void (globalThis.typing = setInterval(() => {
			const text = document.getElementById("text");
			if (document.activeElement !== text) globalThis.lost = !document.getElementById("ask").hidden;
			text.focus();
			document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "1", bubbles: true}));
			text.value += "1";
			if (!document.getElementById("ask").hidden) globalThis.typed = (globalThis.typed ?? 0) + 1;
		}, 50))`, nil))
		must(t, p.WaitFor(ctx, open))
		must(t, p.WaitFor(ctx, `globalThis.typed >= 30`)) // keys, each of which would be an answer
		if got := eval[string](t, p, `[document.getElementById("ask").hidden, document.getElementById("ask").hasAttribute("data-off"), !!globalThis.lost, document.querySelector("#cards li:last-child").className].join()`); got != "false,true,false,running" {
			t.Errorf("while somebody types (hidden, off, focus lost, call): %s", got)
		}
		must(t, p.Eval(ctx, `clearInterval(typing)`, nil))
		must(t, p.WaitFor(ctx, asking))
		if got := eval[string](t, p, `document.activeElement.id`); got != "text" {
			t.Errorf("the focus has gone from the text to %q", got)
		}
		must(t, p.Eval(ctx, `void (document.getElementById("text").value = "")`, nil))
		must(t, p.Click(ctx, "#ask >>> #once"))
		rested(t, p)

		say(t, p, `delete hours.csv`)
		still := eval[bool](t, p, `new Promise((done) => {
			const ask = document.getElementById("ask");
			const look = () => {
				if (ask.hidden) return setTimeout(look, 5);
				document.getElementById("ask").shadowRoot.getElementById("once").click();
				ask.dispatchEvent(new KeyboardEvent("keydown", {key: "1", bubbles: true}));
				setTimeout(() => done(!ask.hidden && !!document.querySelector("#tree [data-path='hours.csv']")), 300);
			};
			look();
		})`)
		if !still {
			t.Error("a press as the question came up has answered it")
		}
		must(t, p.WaitFor(ctx, asking+` && document.activeElement.id === "ask"`))
		answerKey(t, p, "4")
		rested(t, p)
		must(t, p.WaitFor(ctx, `document.querySelector("#cards li:last-child").className === "denied"`))
		noErrors(t, p)
	})
}

// TestAttackKeysMeantForAText: a question takes the focus from an empty text field, and the user, who has just
// paused, types on. No key answers, and the text arrives in the field. After Tab a number answers.
func TestAttackKeysMeantForAText(t *testing.T) {
	table := attack.Start(t, "view")
	table.NoSwitch("the same keys answer behind Tab and behind a click in the question, as the test shows")
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		const waits = asking + ` && document.activeElement.id === "ask"`
		open := func() bool { return eval[bool](t, p, `!document.getElementById("ask").hidden`) }
		for _, text := range []string{"1 more thing", "2", "3", "4 of them", "5"} {
			say(t, p, `delete hours.csv`)
			must(t, p.WaitFor(ctx, waits))
			must(t, p.Press(ctx, text[:1])) // a key of the hand, to where the focus is
			must(t, p.WaitFor(ctx, `document.activeElement.id === "text"`))
			must(t, anyPage{p.page, t}.Type(ctx, text[1:])) // without a click, as the sheet may lie over the field
			table.Try(text, !open())
			if got := eval[string](t, p, `document.getElementById("text").value`); got != text {
				t.Errorf("%q was typed, and the field has %q", text, got)
			}
			must(t, p.Eval(ctx, `void (document.getElementById("text").value = "", document.getElementById("ask").shadowRoot.getElementById("sheet").focus())`, nil))
			// Enter and Space on an answer whose focus does not come from an action of the user.
			for _, answer := range []string{"once", "never"} {
				must(t, p.Eval(ctx, `document.getElementById("ask").shadowRoot.getElementById("`+answer+`").focus()`, nil))
				for _, key := range []string{"Enter", "Space"} {
					must(t, p.Press(ctx, key))
					table.Try(key+" on "+answer, !open())
				}
			}
			must(t, p.Eval(ctx, `document.getElementById("ask").shadowRoot.getElementById("sheet").focus()`, nil))
			if got := eval[string](t, p, `document.getElementById("ask").shadowRoot.getElementById("ask-keys").textContent + getComputedStyle(document.getElementById("ask").shadowRoot.querySelector("#once kbd"), "::before").content`); !strings.Contains(got, "press Tab first") || !strings.Contains(got, "Tab ") {
				t.Errorf("the question says %q", got)
			}
			answerKey(t, p, "4")
			must(t, p.WaitFor(ctx, `document.getElementById("ask").hidden`))
			rested(t, p)
		}
		// A click as the question comes up moves the focus nowhere.
		say(t, p, `delete hours.csv`)
		kept := eval[string](t, p, `new Promise((done) => {
			const ask = document.getElementById("ask");
			const look = () => {
				if (ask.hidden) return setTimeout(look, 5);
				const e = new MouseEvent("mousedown", {bubbles: true, cancelable: true, composed: true});
				document.getElementById("ask").shadowRoot.getElementById("once").dispatchEvent(e);
				done(e.defaultPrevented + " " + ask.hasAttribute("data-tab"));
			};
			look();
		})`)
		table.Try("a click as it comes up", kept != "true true")
		must(t, p.WaitFor(ctx, waits))
		answerKey(t, p, "4")
		rested(t, p)
		// A click in the question, once it is there, is meant for it.
		say(t, p, `delete hours.csv`)
		must(t, p.WaitFor(ctx, waits))
		must(t, p.Click(ctx, "#ask >>> #ask-title"))
		must(t, p.Press(ctx, "4"))
		must(t, p.WaitFor(ctx, `document.getElementById("ask").hidden`))
		rested(t, p)
		noErrors(t, p)
	})
}

// A message sent at any moment around the end of an answer is answered.
func TestFilesSaidAsTheAnswerEnds(t *testing.T) {
	long(t)
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		for i := range 10 {
			must(t, p.Eval(ctx, fmt.Sprintf(`void new MutationObserver((_, o) => {
				o.disconnect();
				setTimeout(() => { document.getElementById("text").value = "read hours.csv"; document.getElementById("composer").requestSubmit(); }, %d);
			}).observe(document.getElementById("heard"), {childList: true})`, 4*i), nil))
			say(t, p, "list the files")
			must(t, p.WaitFor(ctx, fmt.Sprintf(`document.querySelectorAll("#cards .done").length === %d`, 2*(i+1))))
			rested(t, p)
		}
		noErrors(t, p)
	})
}
