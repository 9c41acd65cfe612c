package examples

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// The page does not ask for notifications by itself. Once the user has enabled them, one is shown
// for an answer or a question while the tab is hidden, and none while it is in view.
func TestFilesNotifications(t *testing.T) {
	long(t)
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openFiles(t, b)
	must(t, p.CDP(ctx, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `globalThis.told = []; globalThis.requests = 0; globalThis.away = false;
		globalThis.Notification = class extends EventTarget { static get permission() { return globalThis.requests ? "granted" : "default"; } static async requestPermission() { globalThis.requests++; return "granted"; } constructor(title, o) { super(); globalThis.told.push(title + ": " + o.body); } close() {} };
		Object.defineProperty(document, "hidden", {get: () => globalThis.away});`}, nil))
	must(t, p.Reload(ctx))
	filesReady(t, p)
	told := func() string { return strings.Join(eval[[]string](t, p, `globalThis.told`), " | ") }
	say(t, p, "find packing.txt")
	rested(t, p)
	if n := eval[int](t, p, `globalThis.requests`); n != 0 || told() != "" {
		t.Errorf("unasked: %d requests, %q", n, told())
	}
	press(t, p, "#notify")
	must(t, p.WaitFor(ctx, `document.getElementById("notify").getAttribute("aria-pressed") === "true"`))
	say(t, p, `delete trip/packing.txt`)
	asked(t, p)
	answerKey(t, p, "4")
	must(t, p.WaitFor(ctx, `document.getElementById("stop").hidden`))
	if told() != "" {
		t.Errorf("in view it tells %q", told())
	}
	must(t, p.Eval(ctx, `globalThis.away = true`, nil))
	say(t, p, `delete trip/packing.txt`)
	asked(t, p)
	must(t, p.WaitFor(ctx, `globalThis.told.some((s) => s.includes("Delete trip/packing.txt?"))`))
	answerKey(t, p, "4")
	must(t, p.WaitFor(ctx, `globalThis.told.some((s) => s.startsWith("The assistant is done"))`))
}

// Speech is off until its button is pressed. Then a dialogue first states where the sound may go.
func TestFilesVoice(t *testing.T) {
	long(t)
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		understands := eval[bool](t, p, `typeof (globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition) === "function"`)
		if shown := eval[bool](t, p, `!document.getElementById("voice").hidden`); shown != understands {
			t.Fatalf("the browser has speech recognition: %v, and there is a button: %v", understands, shown)
		}
		if !understands {
			return
		}
		must(t, p.Eval(ctx, `globalThis.starts = 0; webkitSpeechRecognition.prototype.start = function () { globalThis.starts++; const e = new Event("result"); e.results = [[{transcript: "list the files"}]]; this.dispatchEvent(e); this.dispatchEvent(new Event("end")); }`, nil))
		press(t, p, "#voice")
		if got := dialogue(t, p); !strings.Contains(got, "Chrome to Google") {
			t.Error(got)
		}
		noViolations(t, p)
		choose(t, p, "No")
		if n := eval[int](t, p, `globalThis.starts`); n != 0 {
			t.Error("it listens without a yes")
		}
		press(t, p, "#voice")
		dialogue(t, p)
		choose(t, p, "Speak")
		must(t, p.WaitFor(ctx, `document.getElementById("text").value === "list the files" && document.getElementById("voice").getAttribute("aria-pressed") === "false"`))
		if n := eval[int](t, p, `globalThis.starts`); n != 1 {
			t.Errorf("%d starts", n)
		}
	})
}

// After a closed dialogue, or a folder refused by the browser, the page shows the remedy. The
// chosen theme stays.
func TestFilesRefusedFolderAndTheme(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		if p.engine == browser.Chromium {
			must(t, p.Eval(ctx, `void (globalThis.showDirectoryPicker = () => Promise.reject(new DOMException("The user aborted a request.", "AbortError")))`, nil))
			press(t, p, "#pick")
			saysStatus(t, p, "Downloads")
			if eval[bool](t, p, `document.getElementById("status").className === "bad"`) {
				t.Error("a closed dialogue is shown as a failure")
			}
		} else if !eval[bool](t, p, `document.getElementById("pick").disabled && !document.getElementById("upload").disabled`) {
			t.Error("it offers what this browser does not have, or not what it has")
		} else {
			holds(t, "the reason", eval[string](t, p, `document.getElementById("pick").title`), "Chromium", "Upload")
		}
		before := eval[string](t, p, `getComputedStyle(document.body).backgroundColor`)
		must(t, p.Click(ctx, "#theme"))
		must(t, p.WaitFor(ctx, `getComputedStyle(document.body).backgroundColor !== `+js(before)))
		must(t, p.Reload(ctx))
		filesReady(t, p)
		if got := eval[string](t, p, `getComputedStyle(document.body).backgroundColor`); got == before {
			t.Error("after a reload the theme is the other again")
		}
	})
}
