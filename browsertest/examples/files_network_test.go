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

// networkPage is the page of the files example on a server of its own, whose headers the test sets.
type networkPage struct {
	*filesPage
	served *ownServer
}

// onNetwork opens the page in Chromium, with headers that let it reach the models and these hosts.
func onNetwork(t *testing.T, hosts ...string) *networkPage {
	t.Helper()
	return onServer(t, newOwnServer(t), hosts...)
}

// onServer opens the page of a server.
func onServer(t *testing.T, s *ownServer, hosts ...string) *networkPage {
	t.Helper()
	n := &networkPage{served: s}
	n.headers(t, hosts...)
	o := s.open(browser.Chromium)
	f := &filesPage{anyPage: anyPage{o.page, t}, in: o, model: strings.ReplaceAll(t.Name(), "/", "-")}
	f.script = models.add(f.model)
	n.filesPage = f
	settings, _ := json.Marshal(map[string]string{"provider": "local", "model": f.model, "url": models.URL + "/v1", "origin": models.URL})
	must(t, o.Eval(testContext(t), `localStorage.setItem("bailey-files", `+js(string(settings))+`)`, nil))
	f.reload()
	return n
}

// headers writes the page's headers.json.
func (n *networkPage) headers(t *testing.T, hosts ...string) {
	t.Helper()
	use, err := json.Marshal(map[string]any{"blobScripts": true, "connect": append([]string{strings.TrimPrefix(models.URL, "http://")}, hosts...)})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(n.served.dir, "files", "headers.json"), use, 0o644))
}

// set fills fields of the settings by id.
func (n *networkPage) set(kv ...string) {
	n.t.Helper()
	for i := 0; i < len(kv); i += 2 {
		n.check(`void (document.getElementById(` + js(kv[i]) + `).value = ` + js(kv[i+1]) + `)`)
	}
}

// loadAgain accepts the offer to load the page again.
func (n *networkPage) loadAgain() {
	n.t.Helper()
	holds(n.t, "the offer", dialogue(n.t, n.in), "Reload to connect to ", "Chats are kept")
	n.check(`void (globalThis.stale = true)`)
	leaving(n.t, n.in, "Reload")
	n.wait("a new document", `!globalThis.stale && document.readyState === "complete"`)
	n.ready()
}

// relay is a server that fetches pages for a page of another origin. Here it has them itself.
type relay struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // the addresses, with the key of the search
}

func newRelay(t *testing.T) *relay {
	r := &relay{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Headers", "*")
		if req.Method == http.MethodOptions {
			return
		}
		url := req.URL.Query().Get("url")
		r.mu.Lock()
		r.asked = append(r.asked, strings.TrimSpace(url+" "+req.Header.Get("X-Subscription-Token")))
		r.mu.Unlock()
		if strings.HasPrefix(url, "https://api.search.brave.com/") {
			h.Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"web":{"results":[{"title":"Go","url":"https://go.example.com/doc","description":"a language, and `+req.Header.Get("X-Subscription-Token")+`"}]}}`)
			return
		}
		h.Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<h1>Page</h1><p>of <b>%s</b></p><script>bad()</script>`, strings.TrimPrefix(url, "https://"))
	}))
	t.Cleanup(r.Close)
	return r
}

// took returns the requests since the last call.
func (r *relay) took() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.asked
	r.asked = nil
	return list
}

// The user gives the page a relay and a search engine. The page shows the line that its headers need, and
// is loaded again once. Then the model reads pages and searches, and the user is asked about each site.
// The key reaches the relay alone.
func TestFilesWeb(t *testing.T) {
	t.Parallel()
	r := newRelay(t)
	host := strings.TrimPrefix(r.URL, "http://")
	n := onNetwork(t)
	holds(t, "without a relay", n.one("", "web_fetch", "url", "https://docs.example.com/a"), "no tool")
	n.click("#tab-settings")
	n.set("sites", "https://a.example")
	n.click("#use-web")
	n.wait("it says what a site is", `document.getElementById("status").textContent.includes("is no site")`)
	n.set("relay", r.URL+"/get", "sites", "", "engine", "brave", "search-key", "KEY-12345")
	n.click("#use-web")
	holds(t, "it says", dialogue(t, n.in), "Nothing was changed", "isn't allowed to reach "+host, "policy.json")
	line := n.check(`document.querySelector("#dialog pre").textContent`)
	if !json.Valid([]byte("{"+line+"}")) || !strings.Contains(line, host) {
		t.Fatalf("the line is %q", line)
	}
	noViolations(t, n.in)
	leaving(t, n.in, "Close")
	n.wait("the dialogue is closed", `!document.getElementById("dialog").open`)
	if strings.Contains(n.check(`localStorage.getItem("bailey-files")`), "KEY-12345") {
		t.Error("kept, although the page can't reach the relay")
	}
	n.headers(t, host)
	n.click("#use-web")
	n.loadAgain()
	n.click("#tab-shield")
	holds(t, "where the page can reach", n.check(`document.getElementById("reach").innerText`), r.URL)

	n.then(turn{calls: []call{tc("web_fetch", "url", "https://docs.example.com/a?b=c")}}, turn{text: "That was it."})
	n.say("read it")
	ask := n.asks()
	holds(t, "it asks", ask, "https://docs.example.com/a?b=c", "high risk")
	n.answer(reject)
	n.rested()
	if got := r.took(); len(got) != 0 {
		t.Errorf("after a no the relay was asked for %q", got)
	}
	n.another()
	holds(t, "a page", n.one(session, "web_fetch", "url", "https://docs.example.com/a?b=c"), "# Page", "**docs.example.com/a?b=c**")
	if got := fmt.Sprint(r.took()); got != "[https://docs.example.com/a?b=c]" {
		t.Errorf("the relay was asked for %s", got)
	}
	n.one("", "web_fetch", "url", "https://docs.example.com/second") // the answer holds for the site
	holds(t, "another site", n.one(reject, "web_fetch", "url", "https://other.example.com/"), "rejected")
	holds(t, "the relay's own network", n.one("", "web_fetch", "url", "https://192.168.0.1/"), "private network")
	if got := fmt.Sprint(r.took()); got != "[https://docs.example.com/second]" {
		t.Errorf("the relay was asked for %s", got)
	}

	n.then(turn{calls: []call{tc("web_search", "query", "go language")}}, turn{text: "That was it."})
	n.say("search")
	holds(t, "it asks", n.asks(), "go language", "api.search.brave.com")
	n.answer(once)
	n.rested()
	all := n.requests()
	holds(t, "the hits", strings.Join(all[len(all)-1].results(), ""), "https://go.example.com/doc", "{{secret:brave}}")
	if got := r.took(); len(got) != 1 || !strings.HasPrefix(got[0], "https://api.search.brave.com/res/v1/web/search?q=go+language") || !strings.HasSuffix(got[0], " KEY-12345") {
		t.Errorf("the relay was asked for %q", got)
	}
	if text, _ := json.Marshal(all); strings.Contains(string(text), "KEY-12345") {
		t.Error("the model has the key")
	}
	// Code that the model runs reaches the web by the same question, and by nothing else.
	holds(t, "code", n.one(reject, "code_run", "code", `return await callTool("web_fetch", {url: "https://third.example.com/"})`), "the user declined")
	holds(t, "code", n.one("", "code_run", "code", `return await fetch(`+js(r.URL)+`)`), "fetch")
	if got := r.took(); len(got) != 0 {
		t.Errorf("code reached the relay: %q", got)
	}

	// Without the relay the model has no such tools any more.
	n.click("#tab-settings")
	n.set("relay", "", "engine", "")
	n.click("#use-web")
	n.wait("it is kept", `document.getElementById("status").textContent === "Kept"`)
	holds(t, "without a relay", n.one("", "web_fetch", "url", "https://docs.example.com/a"), "no tool")
}

// Without a relay the user names sites, which the page fetches itself.
func TestFilesSites(t *testing.T) {
	t.Parallel()
	r := newRelay(t)
	host := strings.TrimPrefix(r.URL, "http://")
	n := onNetwork(t, host)
	n.click("#tab-settings")
	n.set("sites", host)
	n.click("#use-web")
	n.loadAgain()
	holds(t, "a page", n.one(once, "web_fetch", "url", r.URL+"/get?url=https://a.example/"), "**a.example/**")
	holds(t, "a site that was not named", n.one("", "web_fetch", "url", "https://docs.example.com/"), "outside what is granted")
}
