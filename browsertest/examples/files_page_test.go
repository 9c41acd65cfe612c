package examples

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// filesPage is the page of the files example, in any engine.
type filesPage struct {
	anyPage
	model string
	*script
	in *opened
}

// startFiles opens the page in a new browser, with a model that has a script of its own.
func startFiles(t *testing.T, engine browser.Engine) *filesPage {
	t.Helper()
	o := open(t, engine, site+beside, e2e.Options{})
	must(t, o.WaitFor(testContext(t), `location.href === `+js(site+beside)+` && document.readyState === "complete"`)) // WebKitGTK's driver does not wait
	f := &filesPage{anyPage: anyPage{o.page, t}, in: o}
	f.begin("files-models/")
	return f
}

// filesIn does the same in a running Chromium, and also returns its page.
func filesIn(t *testing.T, b *e2e.Browser) (*filesPage, *e2e.Page) {
	t.Helper()
	return filesAt(t, b, "files-models/")
}

// wholeFilesIn does the same with the page as it is deployed, for tests that count all that it holds and sends.
func wholeFilesIn(t *testing.T, b *e2e.Browser) (*filesPage, *e2e.Page) {
	t.Helper()
	return filesAt(t, b, whole+"-models/")
}

func filesAt(t *testing.T, b *e2e.Browser, path string) (*filesPage, *e2e.Page) {
	t.Helper()
	p, err := b.Page(testContext(t), site+beside)
	must(t, err)
	f := &filesPage{anyPage: anyPage{p.Chrome(), t}, in: &opened{driver: p, engine: browser.Chromium, page: p.Chrome()}}
	f.begin(path)
	return f, p
}

// beside is a file of the page's origin that runs no code. From it the test fills the storage of the page, so that
// the page is loaded only once.
const beside = "files-models/style.css"

// begin chooses the test's model in the page's settings, and loads the page.
func (f *filesPage) begin(path string) {
	f.t.Helper()
	f.model = strings.ReplaceAll(f.t.Name(), "/", "-")
	f.script = models.add(f.model)
	settings, _ := json.Marshal(map[string]string{"provider": "local", "model": f.model, "url": models.URL + "/v1", "origin": models.URL})
	must(f.t, f.in.Eval(testContext(f.t), `localStorage.setItem("bailey-files", `+js(string(settings))+`)`, nil))
	must(f.t, f.in.Goto(testContext(f.t), site+path))
	f.ready()
}

func (f *filesPage) ready() {
	f.t.Helper()
	f.wait("the page is ready", `!document.getElementById("tour").disabled`)
}

func (f *filesPage) reload() {
	f.t.Helper()
	f.check(`(globalThis.stale = true, setTimeout(() => location.reload()))`)
	f.wait("a new document", `!globalThis.stale && document.readyState === "complete"`)
	f.ready()
}

// say writes a message to the assistant, and sends it by the Enter key.
func (f *filesPage) say(text string) {
	f.t.Helper()
	f.check(`(() => { const e = document.getElementById("text"); e.focus(); e.select(); document.execCommand("insertText", false, ` + js(text) + `); })()`)
	f.wait("the words are in the field", `document.getElementById("text").value === `+js(text)+` && document.activeElement.id === "text"`)
	// While a conversation or a folder is being opened, the page keeps the text in the field, and shows that. The
	// test then sends it again.
	taken := `document.getElementById("text").value !== ` + js(text)
	looks := 0
	poll.Until(f.t, "they are taken", func() bool {
		if looks++; looks%50 == 1 {
			must(f.t, f.Press(f.t.Context(), "Enter"))
		}
		return f.check(taken) == "true"
	})
}

// rested waits until the assistant is done.
func (f *filesPage) rested() {
	f.t.Helper()
	f.wait("the assistant is done", `document.getElementById("stop").hidden && document.getElementById("ask").hidden`)
}

// asks waits for a question of consent, goes through it, and returns its text.
func (f *filesPage) asks() string {
	f.t.Helper()
	f.wait("it asks", reading)
	return f.check(`document.getElementById("ask").shadowRoot.getElementById("sheet").innerText`)
}

// The answers to a question of consent, by key.
const once, session, project, reject, never = "1", "2", "3", "4", "5"

// answer answers a question by key, and waits until it is gone.
func (f *filesPage) answer(key string) {
	f.t.Helper()
	title := f.check(`document.getElementById("ask").shadowRoot.getElementById("ask-title").textContent`)
	f.wait("the question has the focus", `document.activeElement.id === "ask"`)
	answerKey(f.t, f, key)
	f.wait("the question is answered", `document.getElementById("ask").hidden || document.getElementById("ask").shadowRoot.getElementById("ask-title").textContent !== `+js(title))
}

// do makes the model call tools, answers the questions with the keys in order, and returns each result that the model
// received. Without a key no question may come.
func (f *filesPage) do(keys string, calls ...call) []string {
	f.t.Helper()
	f.then(turn{calls: calls}, turn{text: "That was it."})
	before := len(f.requests())
	f.say(fmt.Sprintf("do %d", before%10))
	for _, key := range keys {
		f.asks()
		f.answer(string(key))
	}
	poll.Try(func() bool {
		if ask := f.check(`document.getElementById("ask").hidden ? "" : document.getElementById("ask").shadowRoot.getElementById("sheet").innerText`); ask != "" {
			f.t.Fatalf("it asks unexpectedly: %s", ask)
		}
		return len(f.requests()) >= before+2
	})
	f.rested()
	all := f.requests()
	if len(all) < before+2 {
		f.t.Fatalf("the model was asked %d times only; the page says %q", len(all)-before, f.check(`document.getElementById("status").textContent`))
	}
	return all[len(all)-1].results()
}

// one calls do for one call, and returns its result.
func (f *filesPage) one(keys, tool string, kv ...any) string {
	f.t.Helper()
	list := f.do(keys, tc(tool, kv...))
	if len(list) != 1 {
		f.t.Fatalf("%s: %d results", tool, len(list))
	}
	return list[0]
}

// tc returns a tool call. The arguments are alternating names and values.
func tc(tool string, kv ...any) call {
	args := map[string]any{}
	for i := 0; i+1 < len(kv); i += 2 {
		args[kv[i].(string)] = kv[i+1]
	}
	return call{tool, args}
}

// holds reports unless a text has all the words.
func holds(t *testing.T, what, got string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(got, w) {
			t.Errorf("%s: no %q in %q", what, w, got)
		}
	}
}

// cards returns the text of the calls on the cards.
func (f *filesPage) cards() string {
	return f.check(cards + `.join("\n")`)
}
