package examples

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// moody is a provider with the Chat Completions API that answers by its field mood.
type moody struct {
	*httptest.Server
	mu   sync.Mutex
	mood func(w http.ResponseWriter, n int)
	n    int
	keys []string
}

func newMoody(t *testing.T) *moody {
	m := &moody{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Headers", "authorization, content-type, accept")
		h.Set("Access-Control-Expose-Headers", "retry-after")
		if r.Method == http.MethodOptions {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		m.mu.Lock()
		m.n++
		n, mood := m.n, m.mood
		m.keys = append(m.keys, r.Header.Get("Authorization"))
		m.mu.Unlock()
		mood(w, n)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *moody) be(mood func(w http.ResponseWriter, n int)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mood, m.n = mood, 0
}

// speak streams a text, and ends the stream or breaks it off.
func speak(w http.ResponseWriter, text string, whole bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", text)
	w.(http.Flusher).Flush()
	if !whole {
		panic(http.ErrAbortHandler)
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

func refuse(status int, after, text string) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, n int) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, text)
	}
}

// leaving presses a button of the dialogue that may load the page again. It does so with a delay, because
// WebKitGTK's driver never returns from an evaluation whose document goes away.
func leaving(t *testing.T, p driver, text string) {
	t.Helper()
	must(t, p.Eval(testContext(t), `void setTimeout(() => [...document.querySelectorAll("#dialog button")].find((b) => b.textContent === `+js(text)+`).click())`, nil))
}

// The settings: for a server that the page's headers do not name, the page shows the line that they need. A
// server that they name is used after a reload, which keeps the conversation. An error of a provider is
// shown as a sentence with another try. The key is sent only to the provider, and can be deleted.
func TestFilesProviders(t *testing.T) {
	t.Parallel()
	eachServed(t, func(t *testing.T, s *ownServer, p *opened) {
		ctx := testContext(t)
		m := newMoody(t)
		say(t, p, "find packing.txt")
		rested(t, p)
		must(t, p.Click(ctx, "#tab-settings"))
		must(t, p.Eval(ctx, `(() => { const e = document.getElementById("provider"); e.value = "local"; e.dispatchEvent(new Event("change")); })()`, nil))
		must(t, p.WaitFor(ctx, `!document.getElementById("remote").hidden`))
		must(t, p.Eval(ctx, `void (() => { document.getElementById("url").value = `+js(m.URL+"/v1")+`; document.getElementById("model").value = "moody"; document.getElementById("key").value = "sk-secret"; })()`, nil))
		press(t, p, "#use")
		must(t, p.WaitFor(ctx, `!document.getElementById("needs").hidden`))
		noViolations(t, p)
		line := eval[string](t, p, `document.getElementById("needs-line").textContent`)
		if !strings.Contains(line, strings.TrimPrefix(m.URL, "http://")) || !json.Valid([]byte("{"+line+"}")) {
			t.Fatalf("it says %q", line)
		}
		must(t, os.WriteFile(filepath.Join(s.dir, "files", "headers.json"), []byte("{"+line+"}"), 0o644)) // what a build makes of it
		press(t, p, "#use")
		if got := dialogue(t, p); !strings.Contains(got, "Chats are kept") {
			t.Error(got)
		}
		must(t, p.Eval(ctx, `void (globalThis.stale = true)`, nil))
		leaving(t, p, "Reload")
		must(t, p.WaitFor(ctx, `!globalThis.stale && document.getElementById("tour") && !document.getElementById("tour").disabled`))
		if got := cardsOf(t, p); p.lasts() && !strings.Contains(got, "packing.txt") {
			t.Errorf("the conversation is gone: %q", got)
		}
		if got := eval[string](t, p, `document.getElementById("model-name").textContent`); got != "moody" {
			t.Error(got)
		}
		if got := eval[string](t, p, `JSON.stringify(localStorage)`); strings.Contains(got, "sk-secret") {
			t.Errorf("the settings have the key in plain text: %s", got)
		}
		for _, c := range []struct {
			name string
			mood func(http.ResponseWriter, int)
			want []string
		}{
			{"401", refuse(401, "", "bad key"), []string{"does not accept the key", "Settings", "bad key"}},
			{"404", refuse(404, "", "no such model"), []string{"knows no model", "moody"}},
			{"500 for good", refuse(500, "0.01", "oops"), []string{"a fault of its own (500)", "oops"}},
			{"429 for good", refuse(429, "0.01", "slow down"), []string{"too many requests", "slow down"}},
			{"cut off for good", func(w http.ResponseWriter, n int) {
				w.Header().Set("Retry-After", "0")
				piece := fmt.Sprintf("piece %d of an answer", n)
				defer poll.Try(func() bool { // a browser drops what it has not delivered when the connection ends
					values, _ := p.EvalFrames(ctx, `document.body.innerText.includes(`+js(piece)+`)`)
					return slices.ContainsFunc(values, func(v browser.FrameValue) bool { return string(v.Value) == "true" })
				})
				speak(w, piece, false)
			}, []string{"broke off", "What came is above"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				m.be(c.mood)
				say(t, p, "hello")
				if err := p.WaitFor(testContext(t), `!document.getElementById("trouble").hidden && document.getElementById("stop").hidden && document.getElementById("trouble-text").textContent.includes(`+js(c.want[0])+`)`); err != nil {
					t.Fatalf("%v; the page says %q and %q", err, eval[string](t, p, `document.getElementById("trouble-text").textContent`), eval[string](t, p, `document.getElementById("status").textContent`))
				}
				got := eval[string](t, p, `document.getElementById("trouble-text").textContent + document.getElementById("trouble-details").textContent`)
				for _, w := range c.want {
					if !strings.Contains(got, w) {
						t.Errorf("no %q in %q", w, got)
					}
				}
				if strings.Contains(got, "sk-secret") || strings.Contains(got, "{") {
					t.Errorf("it says %q", got)
				}
			})
		}
		noViolations(t, p)
		// Another try answers the same message, and nothing of the failed try is left.
		m.be(func(w http.ResponseWriter, n int) {
			if n == 1 {
				speak(w, "half of ", false)
			}
			speak(w, "whole again", true)
		})
		press(t, p, "#again")
		must(t, p.WaitFor(testContext(t), `document.getElementById("status").textContent === "Done" && document.getElementById("trouble").hidden`))
		must(t, p.WaitFor(testContext(t), `document.getElementById("heard").textContent.includes("whole again")`))
		if got := inFrame(t, p, `document.body.innerText`); !strings.Contains(got, "whole again") || strings.Contains(got, "half of") {
			t.Errorf("it shows %q", got)
		}
		m.Close()
		keepPort(t, strings.TrimPrefix(m.URL, "http://"))
		say(t, p, "hello?")
		must(t, p.WaitFor(testContext(t), `/attempt|Try 1/.test(document.getElementById("status").textContent)`))
		press(t, p, "#stop")
		must(t, p.WaitFor(testContext(t), `document.getElementById("stop").hidden && document.getElementById("status").textContent.startsWith("Stopped")`))
		for _, k := range m.keys {
			if k != "Bearer sk-secret" {
				t.Errorf("the key was %q", k)
			}
		}
		must(t, p.Click(ctx, "#tab-settings"))
		press(t, p, "#wipe")
		saysStatus(t, p, "key is removed")
		if got := eval[string](t, p, `JSON.stringify(localStorage) + document.getElementById("key").value`); strings.Contains(got, "sk-secret") {
			t.Error("the key is still in the browser")
		}
	})
}

// A provider is chosen, and the reload put off. The page shows why the next message cannot be sent and the
// remedy, keeps the text, and offers the reload. It makes no request before that.
func TestFilesProviderLater(t *testing.T) {
	long(t)
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		p, ctx := f.in, testContext(t)
		use := func(answer string) {
			t.Helper()
			must(t, p.Eval(ctx, `document.getElementById("tab-settings").click()`, nil))
			press(t, p, "#use")
			dialogue(t, p)
			leaving(t, p, answer)
		}
		choice := func(id string) {
			t.Helper()
			must(t, p.Eval(ctx, `(() => { const e = document.getElementById("provider"); e.value = `+js(id)+`; e.dispatchEvent(new Event("change")); })()`, nil))
		}
		local := eval[string](t, p, `localStorage.getItem("bailey-files")`)
		must(t, p.Eval(ctx, `localStorage.removeItem("bailey-files")`, nil)) // no model is connected
		must(t, p.Reload(ctx))
		filesReady(t, p)
		var k map[string]string
		must(t, json.Unmarshal([]byte(local), &k))
		choosing := func() {
			t.Helper()
			choice("local")
			must(t, p.WaitFor(ctx, `!document.getElementById("remote").hidden`))
			must(t, p.Eval(ctx, `void (() => { document.getElementById("url").value = `+js(k["url"])+`; document.getElementById("model").value = `+js(k["model"])+`; })()`, nil))
			use("Later")
		}
		choosing()
		saysStatus(t, p, "Reload the page")
		f.then(turn{text: "here I am"})
		must(t, p.Type(ctx, "#text", "are you there?"))
		must(t, p.Press(ctx, "Enter"))
		must(t, p.WaitFor(ctx, `!document.getElementById("trouble").hidden`))
		holds(t, "the sentence", eval[string](t, p, `document.getElementById("trouble-text").textContent`), "Reload the page", k["origin"], "Your draft is kept")
		if !eval[bool](t, p, `document.getElementById("reload").checkVisibility() && !document.getElementById("again").checkVisibility() && document.getElementById("stop").hidden`) {
			t.Error("it does not offer the reload alone")
		}
		noViolations(t, p)
		if n := len(f.requests()); n != 0 {
			t.Errorf("%d requests came", n)
		}
		must(t, p.Eval(ctx, `globalThis.stale = true`, nil))
		press(t, p, "#reload")
		must(t, p.WaitFor(ctx, `!globalThis.stale && document.readyState === "complete"`))
		filesReady(t, p)
		if got := eval[string](t, p, `document.getElementById("text").value`); got != "are you there?" {
			t.Errorf("the field has %q", got)
		}
		must(t, p.Eval(ctx, `document.getElementById("text").focus()`, nil))
		must(t, p.Press(ctx, "Enter"))
		shows(t, p, "here I am")
		f.rested()
	})
}

// The browser's own model, here one that the test provides, is chosen without a reload, answers in the
// conversation, and gives the reason if it cannot.
func TestFilesBrowsersModel(t *testing.T) {
	long(t)
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		must(t, p.Eval(ctx, `void (globalThis.LanguageModel = undefined)`, nil))
		must(t, p.Click(ctx, "#tab-settings"))
		must(t, p.WaitFor(ctx, `document.querySelector("#provider [value=browser]").disabled`))
		must(t, p.Eval(ctx, `void (globalThis.LanguageModel = class {
			static async availability() { return globalThis.state ?? "available"; }
			static async create() { return new LanguageModel(); }
			promptStreaming() { return new ReadableStream({start(c) { c.enqueue(JSON.stringify({text: "I am on this machine."})); c.close(); }}); }
			destroy() {}
			get contextUsage() { return 1; }
		})`, nil))
		must(t, p.Click(ctx, "#tab-steps"))
		must(t, p.Click(ctx, "#tab-settings"))
		must(t, p.WaitFor(ctx, `!document.querySelector("#provider [value=browser]").disabled`))
		must(t, p.Eval(ctx, `(() => { const e = document.getElementById("provider"); e.value = "browser"; e.dispatchEvent(new Event("change")); })()`, nil))
		press(t, p, "#use")
		must(t, p.WaitFor(ctx, `document.getElementById("model-name").textContent.includes("browser's own model")`))
		say(t, p, "hello")
		must(t, p.WaitFor(ctx, `document.getElementById("heard").textContent.includes("I am on this machine.")`))
		must(t, p.WaitFor(ctx, `document.getElementById("stop").hidden`))
		must(t, p.Eval(ctx, `void (globalThis.state = "unavailable")`, nil))
		say(t, p, "hello again")
		must(t, p.WaitFor(ctx, `document.getElementById("trouble-text").textContent.includes("does not work on this device")`))
		noErrors(t, p)
	})
}
