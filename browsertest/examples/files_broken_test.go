package examples

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// conversation returns the text of the document behind two frames, in Chromium.
func conversation(t *testing.T, p driver) string {
	t.Helper()
	return inFrame(t, p, `document.body.innerText`)
}

// shows waits until the conversation contains words.
func shows(t *testing.T, p driver, words string) {
	t.Helper()
	var last string
	poll.Until(t, fmt.Sprintf("the conversation says %q", words), func() bool {
		last = conversation(t, p)
		return strings.Contains(last, words)
	}, func() string { return fmt.Sprintf("it says %q", last) })
}

// A reload while a call waits, and while an answer streams: nothing is done without the user, the
// messages are kept, and the conversation can continue.
func TestFilesReloadOnDisk(t *testing.T) {
	long(t)
	t.Parallel()
	b := withDisk(t)
	f, p := filesIn(t, b)
	d := newDisk(t, "reloaded", map[string]string{"a.txt": "a\n"})
	f.drop(p, d)
	f.one(once, "write", "path", "first.txt", "content", "1\n")
	f.then(turn{calls: []call{tc("write", "path", "second.txt", "content", "2\n")}})
	f.say("write a second one")
	f.asks()
	f.reload()
	d.holds("second.txt", "-")
	f.again("reloaded")
	shows(t, p, "write a second one")
	holds(t, "the cards are there", f.cards(), "done write first.txt")
	f.script.mu.Lock()
	f.turns = nil
	f.script.mu.Unlock()
	f.one(once, "write", "path", "third.txt", "content", "3\n")
	d.holds("third.txt", "3\n")
	d.holds("second.txt", "-")

	hold := make(chan struct{})
	f.then(turn{text: "a beginning and an end", hold: hold})
	f.say("tell me")
	shows(t, p, "a beginning")
	poll.Until(t, "the piece is stored", func() bool {
		var yes bool
		err := p.Eval(t.Context(), `(async () => {
		for (const {name} of await indexedDB.databases()) {
			const get = r => new Promise((ok, no) => { r.onsuccess = () => ok(r.result); r.onerror = () => no(r.error); });
			const db = await get(indexedDB.open(name));
			try {
				for (const store of db.objectStoreNames)
					if (JSON.stringify(await get(db.transaction(store).objectStore(store).getAll())).includes("a begin")) return true;
			} finally { db.close(); }
		}
		return false;
	})()`, &yes)
		return err == nil && yes
	}, func() string { return conversation(t, p) })
	f.reload()
	close(hold)
	f.again("reloaded")
	shows(t, p, "tell me")
	shows(t, p, "a begin")
	f.wait("it offers to continue", `!document.getElementById("trouble").hidden && document.getElementById("again").textContent === "Continue"`)
	f.then(turn{text: " and the rest of it"})
	f.click("#again")
	shows(t, p, "and the rest of it")
	holds(t, "the model is told", fmt.Sprint(f.requests()[len(f.requests())-1].Messages), "was cut off")
	holds(t, "and it goes on", f.one("", "read", "path", "third.txt"), "3")
	f.click("#tab-undo")
	f.click("#undo")
	f.wait("taken back after two reloads", `document.getElementById("status").textContent.startsWith("Took back")`)
	d.holds("third.txt", "-")
}

// Stop in the middle of code, of a program, of a question and of an answer: the run ends, the model
// receives the reason, no call is left half done, and the next message is answered.
func TestFilesStop(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		hold := make(chan struct{})
		defer close(hold)
		for _, c := range []struct {
			name string
			turn turn
			busy string // true in the middle of the run
		}{
			{"code", turn{calls: []call{tc("code_run", "code", "for (;;);")}}, `!!document.querySelector("#cards li:last-child.running")`},
			{"program", turn{calls: []call{tc("tool_run", "command", "awk", "args", []any{"BEGIN { while (1) x = x + 1 }"})}}, `!!document.querySelector("#cards li:last-child.running")`},
			{"shell", turn{calls: []call{tc("bash", "command", "while :; do echo x > half.txt; done")}}, `!document.getElementById("ask").hidden`},
			{"question", turn{calls: []call{tc("delete", "path", "hours.csv")}}, `!document.getElementById("ask").hidden`},
			{"answer", turn{text: "half of it, and the other half", hold: hold}, `!document.getElementById("stop").hidden`},
		} {
			t.Run(c.name, func(t *testing.T) {
				f.t = t
				f.then(c.turn)
				f.say("begin " + c.name)
				f.wait("the model was asked", `!document.getElementById("stop").hidden`)
				f.wait("it is at work", c.busy)
				if c.name == "answer" {
					shows(t, f.in, "half of it")
				}
				must(t, f.Click(t.Context(), stopButton(t, f.in)))
				f.rested()
				f.script.mu.Lock()
				f.turns = nil
				f.script.mu.Unlock()
				if got := f.check(`document.querySelectorAll("#cards li.running").length`); got != "0" {
					t.Errorf("%s calls still run", got)
				}
				holds(t, "afterwards", f.one("", "read", "path", "hours.csv"), "hours")
				holds(t, "nothing half done", f.one("", "glob", "pattern", "half*"), `"paths":[]`)
			})
		}
	})
}

// The tab's renderer is killed in the middle of a run. In a new one the conversation and the folder
// are as before, and complete.
func TestFilesCrash(t *testing.T) {
	t.Parallel()
	long(t)
	eachEngine(t, func(t *testing.T, f *filesPage) {
		if f.in.engine == browser.WebKit {
			t.Skip("WebKitWebDriver ends its session with a page's process: nothing can look at what is left, which is nothing, as the page's memory is all there was")
		}
		f.one(once, "write", "path", "before.txt", "content", "whole\n")
		f.then(turn{calls: []call{tc("code_run", "code", `for (let i = 0; ; i++) await callTool("read", {path: "before.txt"})`)}})
		f.say("never end")
		f.wait("it runs", `!!document.querySelector("#cards li:last-child.running")`)
		f.in.crash(t)
		f.in = f.in.more(site + "files-models/")
		f.Page = f.in.page
		f.ready()
		f.script.mu.Lock()
		f.turns = nil
		f.script.mu.Unlock()
		shows(t, f.in, "never end")
		holds(t, "the file", f.one("", "read", "path", "before.txt"), "whole")
	})
}

// A reload while a call waits, and while an answer streams, in each engine: nothing is done without
// the user, and the conversation continues with the data that the engine keeps.
func TestFilesReloadInEngines(t *testing.T) {
	t.Parallel()
	long(t) // in Chromium, TestFilesReloadOnDisk does it on a disk
	eachEngine(t, func(t *testing.T, f *filesPage) {
		kept := func(words string) {
			t.Helper()
			f.reload()
			f.script.mu.Lock()
			f.turns = nil
			f.script.mu.Unlock()
			if f.in.lasts() {
				shows(t, f.in, words)
			} else if f.check(`document.getElementById("welcome").hidden`) != "false" {
				t.Error("what is gone is not begun anew")
			}
		}
		f.one(once, "write", "path", "first.txt", "content", "1\n")
		f.then(turn{calls: []call{tc("write", "path", "second.txt", "content", "2\n")}})
		f.say("write a second one")
		f.asks()
		kept("write a second one")
		holds(t, "it was not written", f.one("", "read", "path", "second.txt"), "not_found")
		if f.in.lasts() {
			holds(t, "the first is there", f.one("", "read", "path", "first.txt"), "1")
		}
		hold := make(chan struct{})
		f.then(turn{text: "a beginning and an end", hold: hold})
		f.say("tell me")
		shows(t, f.in, "a beginning")
		kept("tell me")
		close(hold)
		holds(t, "and it goes on", f.one(once, "write", "path", "third.txt", "content", "3\n"), "version")
		f.click("#tab-undo")
		f.click("#undo")
		f.wait("taken back", `document.getElementById("status").textContent.startsWith("Took back") && !document.querySelector("#tree [data-path='third.txt']")`)
	})
}

// Each error of a provider is shown in plain words, without the key, and the next message works.
func TestFilesProviderErrors(t *testing.T) {
	long(t)
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		const key = "sk-never-shown-123456"
		f.check(`localStorage.setItem("bailey-files", JSON.stringify({...JSON.parse(localStorage.getItem("bailey-files")), key: ` + js(key) + `}))`)
		f.reload()
		refused := func(status int, text, after string) []turn {
			one := turn{status: status, text: text, after: after}
			return []turn{one, one, one, one, one, one, one, one}
		}
		for _, c := range []struct {
			name  string
			turns []turn
			want  string
		}{
			{"a key that is not known", refused(401, "Incorrect API key provided: "+key, ""), "Incorrect API key provided"},
			{"a model that is not there", refused(404, "The model does not exist", ""), "The model does not exist"},
			{"a request it does not take", refused(400, "context length exceeded", ""), "context length exceeded"},
			{"too many requests, then an answer", []turn{{status: 429, text: "slow down", after: "0"}, {text: "patience pays"}}, "patience pays"},
			{"out of order, then an answer", []turn{{status: 503, text: "Overloaded", after: "0"}, {text: "up again"}}, "up again"},
			{"cut off, then an answer", []turn{{text: "half an ans", cut: true}, {text: "a whole answer"}}, "a whole answer"},
			{"a call that is not JSON's idea of one", []turn{{calls: []call{tc("write", "path", 7)}}, {text: "my mistake"}}, "my mistake"},
			{"a tool that is not there", []turn{{calls: []call{tc("launch", "at", "dawn")}}, {text: "no rocket"}}, "no rocket"},
		} {
			t.Run(c.name, func(t *testing.T) {
				f.t = t
				f.then(c.turns...)
				f.say("try " + c.name)
				said := func() string { // the card of an error has the provider's words
					return conversation(t, f.in) + f.check(`document.getElementById("trouble").checkVisibility() ? document.getElementById("trouble").textContent : ""`)
				}
				poll.Until(t, "it says "+c.want, func() bool { return strings.Contains(said(), c.want) }, said)
				f.rested()
				f.script.mu.Lock()
				f.turns = nil
				f.script.mu.Unlock()
				if text := said() + f.check(`document.body.innerText`) + f.check(`document.body.textContent`); strings.Contains(text, key) {
					t.Error("the key is shown")
				}
				f.then(turn{text: "well again after " + c.name})
				f.say("and now?")
				shows(t, f.in, "well again after "+c.name)
				f.rested()
			})
		}
		for _, r := range f.requests() {
			if r.header.Get("Authorization") != "Bearer "+key {
				t.Fatalf("a request without its key: %q", r.header.Get("Authorization"))
			}
		}
	})
}

// Without a network the folder, the tools and the reader of commands work. A remote model reports
// that it cannot be reached, and answers when the network is back.
func TestFilesModelOffline(t *testing.T) {
	long(t)
	t.Parallel()
	f, p := filesIn(t, launch(t, e2e.Options{}))
	ctx := testContext(t)
	f.one("", "bash", "command", "awk 'BEGIN { print 1 }'") // its program is fetched
	must(t, p.Offline(ctx, true))
	f.say("anybody there?")
	f.wait("it is at work", `!document.getElementById("stop").hidden`)
	before := len(f.requests())
	must(t, p.WaitFor(testContext(t), `!document.getElementById("trouble").hidden`)) // after a few tries
	f.rested()
	if n := len(f.requests()); n != before {
		t.Errorf("%d requests came through while there was no network", n-before)
	}
	must(t, p.Offline(ctx, false))
	f.then(turn{text: "back again"})
	f.say("and now?")
	shows(t, p, "back again")
	f.rested()

	// The reader of commands needs no network at all.
	must(t, p.Eval(ctx, `(() => { const s = document.getElementById("provider"); s.value = "commands"; s.dispatchEvent(new Event("change")); })()`, nil))
	f.check(`document.getElementById("tab-settings").click()`)
	f.click("#use")
	f.wait("it is saved", `document.getElementById("status").textContent === "Saved."`)
	must(t, p.Reload(ctx))
	f.ready()
	must(t, p.Offline(ctx, true))
	for i, words := range []string{"list the files", "search for TODO in notes", `javascript: return 6 * 7`} {
		f.say(words)
		f.rested()
		f.wait(words, fmt.Sprintf(`document.querySelectorAll("#cards li.done").length >= %d`, i+1))
	}
}
