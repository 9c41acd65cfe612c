package examples

import (
	"fmt"
	"testing"
)

// What a person was about to type or to press is no answer to a question that comes up under
// their hands: it can be answered when they have rested, and takes no focus from their text.
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
		must(t, p.Click(ctx, "#once"))
		rested(t, p)

		say(t, p, `delete hours.csv`)
		still := eval[bool](t, p, `new Promise((done) => {
			const ask = document.getElementById("ask");
			const look = () => {
				if (ask.hidden) return setTimeout(look, 5);
				document.getElementById("once").click();
				ask.dispatchEvent(new KeyboardEvent("keydown", {key: "1", bubbles: true}));
				setTimeout(() => done(!ask.hidden && !!document.querySelector("#tree [data-path='hours.csv']")), 300);
			};
			look();
		})`)
		if !still {
			t.Error("a press as the question came up has answered it")
		}
		must(t, p.WaitFor(ctx, asking+` && document.activeElement.id === "ask"`))
		must(t, p.Press(ctx, "4"))
		rested(t, p)
		must(t, p.WaitFor(ctx, `document.querySelector("#cards li:last-child").className === "denied"`))
		noErrors(t, p)
	})
}

// What is said as an answer ends, at whichever moment, is answered.
func TestFilesSaidAsTheAnswerEnds(t *testing.T) {
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
