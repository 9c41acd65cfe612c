package examples

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// playing is a model with a list of turns, that keeps what it is sent.
type playing struct {
	*httptest.Server
	mu    sync.Mutex
	turns []turn
	sent  []string
}

func cors(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "*, authorization, content-type, accept, http-referer, x-title")
}

func newPlaying(t *testing.T, turns ...turn) *playing {
	m := &playing{turns: turns}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cors(w)
		if r.Method == http.MethodOptions {
			return
		}
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		m.sent = append(m.sent, string(body))
		n := len(m.sent)
		next := turn{text: "that is all"}
		if n <= len(m.turns) {
			next = m.turns[n-1]
		}
		m.mu.Unlock()
		next.write(w, n)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *playing) all() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.sent, "\n")
}

// elsewhere opens the page with a model elsewhere, and headers that let it reach hosts too.
func elsewhere(t *testing.T, engine browser.Engine, m *playing, hosts ...string) *opened {
	t.Helper()
	s := newOwnServer(t)
	file := filepath.Join(s.dir, "files", "headers.json")
	use, err := json.Marshal(map[string]any{"connect": append(hosts, strings.TrimPrefix(m.URL, "http://"))})
	must(t, err)
	must(t, os.WriteFile(file, use, 0o644))
	p := s.open(engine)
	kept, err := json.Marshal(map[string]string{"provider": "openrouter", "model": "playing", "url": m.URL + "/v1", "origin": m.URL, "key": "k"})
	must(t, err)
	must(t, p.Eval(testContext(t), `localStorage.setItem("bailey-files", `+js(string(kept))+`)`, nil))
	must(t, p.Reload(testContext(t)))
	filesReady(t, p)
	return p
}

// kept returns everything that the page has stored, as text.
const kept = `(async () => {
	const out = [document.documentElement.outerHTML, JSON.stringify(localStorage), JSON.stringify(sessionStorage), ...[...document.querySelectorAll("input, textarea")].map((e) => e.value)];
	const text = (v, depth = 0) => {
		if (v instanceof ArrayBuffer || ArrayBuffer.isView(v)) out.push(new TextDecoder("latin1").decode(v));
		else if (v && typeof v === "object" && depth < 9) for (const x of Object.values(v)) text(x, depth + 1);
		else out.push(String(v));
	};
	for (const {name} of await indexedDB.databases()) {
		const db = await new Promise((ok, no) => { const r = indexedDB.open(name); r.onsuccess = () => ok(r.result); r.onerror = () => no(r.error); });
		for (const store of db.objectStoreNames) text(await new Promise((ok, no) => { const r = db.transaction(store).objectStore(store).getAll(); r.onsuccess = () => ok(r.result); r.onerror = () => no(r.error); }));
		db.close();
	}
	return out.join("\n");
})()`

// A secret is typed once, and the page shows it never again. The assistant sees its name, and a request to its
// host gets it after a question that names both. An answer with it comes back without it. It can be removed.
func TestFilesSecrets(t *testing.T) {
	t.Parallel()
	const value = "Zq7-correct-horse-9battery"
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			ctx := testContext(t)
			got := make(chan string, 10)
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				cors(w)
				if r.Method == http.MethodOptions {
					return
				}
				got <- r.Header.Get("Authorization")
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"login": "octo", "you": %q}`, r.Header.Get("Authorization"))
			}))
			t.Cleanup(api.Close)
			host := strings.TrimPrefix(api.URL, "http://")
			m := newPlaying(t, turn{calls: []call{{"secrets", map[string]any{}}}},
				turn{calls: []call{{"web_request", map[string]any{"url": api.URL + "/user", "headers": map[string]any{"authorization": "Bearer secret.github.placeholder"}}}}},
				turn{text: "you are octo"})
			p := elsewhere(t, engine, m, host)
			must(t, p.Click(ctx, "#tab-settings"))
			fill := func(name, value, hosts string) {
				t.Helper()
				for id, text := range map[string]string{"secret-name": name, "secret-value": value, "secret-hosts": hosts} {
					must(t, p.Eval(ctx, fmt.Sprintf(`void (document.getElementById(%q).value = %s)`, id, js(text)), nil))
				}
				press(t, p, "#secret-add")
			}
			fill("github", "short", host)
			saysStatus(t, p, "8 to 4096 characters")
			fill("github", value, "api.elsewhere.example")
			must(t, p.WaitFor(ctx, `!document.getElementById("needs").hidden`))
			if text := eval[string](t, p, `document.getElementById("needs").textContent`); !strings.Contains(text, "api.elsewhere.example") || !strings.Contains(text, "policy.json") || !strings.Contains(text, "save the secret again") {
				t.Errorf("it says %q", text)
			}
			fill("github", value, host)
			if text := dialogue(t, p); !strings.Contains(text, "hosts of the secret") {
				t.Error(text)
			}
			must(t, p.Eval(ctx, `void (globalThis.stale = true)`, nil))
			leaving(t, p, "Reload")
			must(t, p.WaitFor(ctx, `!globalThis.stale && document.getElementById("tour") && !document.getElementById("tour").disabled`))
			must(t, p.Click(ctx, "#tab-settings"))
			if text := eval[string](t, p, `document.getElementById("secrets").innerText`); !strings.Contains(text, "github for "+host) {
				t.Errorf("the list says %q", text)
			}
			if strings.Contains(eval[string](t, p, kept), value) {
				t.Error("the value is in the page, or stored in clear text")
			}
			must(t, p.Click(ctx, "#tab-steps"))
			say(t, p, "who am I there?")
			if text := asked(t, p); !strings.Contains(text, "ook which secrets there are") {
				t.Errorf("it asks %q", text)
			}
			answerKey(t, p, "1")
			must(t, p.WaitFor(ctx, `document.getElementById("ask").shadowRoot.getElementById("sheet").innerText.includes("send the secret github to `+host+`")`))
			asked(t, p)
			answerKey(t, p, "1")
			rested(t, p)
			select {
			case header := <-got:
				if header != "Bearer "+value {
					t.Errorf("its host gets %q", header)
				}
			default:
				t.Fatalf("its host gets nothing: %s", cardsOf(t, p))
			}
			must(t, p.WaitFor(ctx, `document.getElementById("heard").textContent.includes("you are octo")`))
			if sent := m.all(); strings.Contains(sent, value) || !strings.Contains(sent, "octo") || !strings.Contains(sent, `Bearer secret.github.placeholder`) {
				t.Errorf("the model receives %.2000s", sent)
			}
			if text := eval[string](t, p, kept); strings.Contains(text, value) || !strings.Contains(text, "secret.github.placeholder") {
				t.Error("the value is in the page, or stored in clear text, after its use")
			}
			must(t, p.Click(ctx, "#tab-settings"))
			must(t, p.Click(ctx, "#secrets button"))
			must(t, p.WaitFor(ctx, `!document.getElementById("no-secrets").hidden`))
			if n := eval[int](t, p, `document.getElementById("secrets").children.length`); n != 0 {
				t.Errorf("%d secrets are left", n)
			}
			noErrors(t, p)
		})
	}
}

// Of a long text a model elsewhere receives the beginning, the end and the size, and more of it only if the user
// agrees. The card shows exactly that.
func TestFilesSendsTheEnds(t *testing.T) {
	long(t)
	t.Parallel()
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			ctx := testContext(t)
			text := func(from, to int) (b string) {
				for i := from; i < to; i++ {
					b += fmt.Sprintf("line %04d of the file\n", i)
				}
				return b
			}
			long := text(0, 100) + "THE MIDDLE\n" + text(101, 201)
			more := turn{calls: []call{{"read", map[string]any{"path": "long.txt", "offset": 60, "limit": 80}}}}
			m := newPlaying(t, turn{calls: []call{{"write", map[string]any{"path": "long.txt", "content": long}}}},
				turn{calls: []call{{"read", map[string]any{"path": "long.txt"}}}}, turn{text: "I have read it"},
				more, turn{text: "I have no more"}, more, turn{text: "I have more"})
			p := elsewhere(t, engine, m)
			say(t, p, "go on")
			asked(t, p)
			answerKey(t, p, "1")
			rested(t, p)
			must(t, p.WaitFor(ctx, `document.getElementById("heard").textContent.includes("I have read it")`))
			receives := func() (received string) {
				t.Helper()
				var last struct {
					Messages []struct {
						Role    string
						Content any
					}
				}
				m.mu.Lock()
				err := json.Unmarshal([]byte(m.sent[len(m.sent)-1]), &last)
				m.mu.Unlock()
				must(t, err)
				for _, x := range last.Messages {
					if x.Role == "tool" {
						received, _ = x.Content.(string)
					}
				}
				return received
			}
			received := receives()
			if !strings.Contains(received, "line 0001") || !strings.Contains(received, "line 0200") || strings.Contains(received, "THE MIDDLE") || !strings.Contains(received, fmt.Sprintf("of %d bytes in 201 lines", len(long))) {
				t.Errorf("the model receives %q", received)
			}
			part := func(title string) string {
				return eval[string](t, p, `[...document.querySelectorAll("#cards li:last-child pre")].find((e) => e.ariaLabel === `+js(title)+`)?.textContent ?? ""`)
			}
			if got := part("What the model saw"); got != received {
				t.Errorf("the card shows %q, and the model received %q", got, received)
			}
			if !strings.Contains(part("Result"), "THE MIDDLE") {
				t.Error("the user does not see all")
			}
			// More than half of the file is sent only if the user agrees, who sees the text.
			for _, c := range []struct {
				key, said string
				sent      bool
			}{{reject, "I have no more", false}, {once, "I have more", true}} {
				say(t, p, "read the middle")
				holds(t, "the question", asked(t, p), "long.txt", "bytes were sent", "THE MIDDLE")
				answerKey(t, p, c.key)
				must(t, p.WaitFor(ctx, `document.getElementById("heard").textContent.includes(`+js(c.said)+`)`))
				rested(t, p)
				received := receives()
				if strings.Contains(received, "THE MIDDLE") != c.sent || strings.Contains(received, "not sent") == c.sent {
					t.Errorf("after the answer %s the model receives %q", c.key, received)
				}
				if got := part("What the model saw"); got != received {
					t.Errorf("the card shows %q, and the model received %q", got, received)
				}
			}
			noErrors(t, p)
		})
	}
}
