package examples

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	served "github.com/bailey-go/bailey/internal/relay"
)

// internet stands for the servers on the internet. It has every name.
type internet struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	heads []http.Header
}

func newInternet(t *testing.T) *internet {
	w := &internet{}
	w.Server = httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked, w.heads = append(w.asked, r.Host+r.URL.RequestURI()), append(w.heads, r.Header)
		w.mu.Unlock()
		switch r.URL.Path {
		case "/moved":
			http.Redirect(out, r, "https://elsewhere.example.com/x", http.StatusFound)
		case "/long":
			fmt.Fprint(out, strings.Repeat("x", 1001))
		case "/res/v1/web/search":
			out.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(out, `{"web":{"results":[{"title":"Go","url":"https://go.example.com/doc","description":"found"}]}}`)
		default:
			out.Header().Set("Content-Type", "text/html")
			out.Header().Set("Set-Cookie", "id=1")
			fmt.Fprintf(out, "<h1>Page</h1><p>of <b>%s</b></p><script>bad()</script>", r.Host)
		}
	}))
	t.Cleanup(w.Close)
	return w
}

// serverLog is the log of a server, which writes it while the test reads it.
type serverLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *serverLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// took returns the requests since the last call.
func (w *internet) took() ([]string, []http.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked, heads := w.asked, w.heads
	w.asked, w.heads = nil, nil
	return asked, heads
}

// beside puts a relay beside a served page. It reaches the internet of the test. With open it takes this
// machine for a part of it.
func (w *internet) beside(t *testing.T, s *ownServer, log *serverLog, open bool) (address string) {
	t.Helper()
	trust := w.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trust.ServerName = "example.com"
	r, err := served.New(served.Options{Log: log, Bytes: 1000, TLS: trust, Open: open,
		Local:   func(host string) bool { return strings.HasPrefix(host, "127.0.0.1:") },
		Resolve: func(string) string { return w.Listener.Addr().String() }})
	must(t, err)
	page := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.addr})
	front := httptest.NewServer(r.Beside(page))
	t.Cleanup(front.Close)
	s.addr = strings.TrimPrefix(front.URL, "http://")
	return r.Address()
}

// use fills in the relay of the page's own server, which the page reaches without another header.
func (n *networkPage) use(kv ...string) {
	n.t.Helper()
	n.click("#tab-settings")
	n.set(kv...)
	n.click("#use-web")
	n.wait("it is kept", `document.getElementById("status").textContent === "Kept"`)
}

// The page fetches and searches through the relay that serve -relay puts beside it. The user is asked
// about each site, and a server on the internet gets nothing of the page but the question.
func TestFilesRelay(t *testing.T) {
	t.Parallel()
	w, log := newInternet(t), &serverLog{}
	s := newOwnServer(t)
	address := w.beside(t, s, log, true)
	n := onServer(t, s)
	n.use("relay", address, "engine", "brave", "search-key", "KEY-12345")

	holds(t, "after a no", n.one(reject, "web_fetch", "url", "https://docs.example.com/a"), "rejected")
	if asked, _ := w.took(); len(asked) > 0 {
		t.Errorf("after a no %q was asked for", asked)
	}
	n.another()
	holds(t, "a page", n.one(session, "web_fetch", "url", "https://docs.example.com/a?b=c"), "# Page", "**docs.example.com**")
	asked, heads := w.took()
	if fmt.Sprint(asked) != "[docs.example.com/a?b=c]" {
		t.Fatalf("asked for %q", asked)
	}
	for name, values := range heads[0] {
		if !slices.Contains([]string{"Accept", "Accept-Encoding", "Connection", "User-Agent"}, name) { // the relay's own
			t.Errorf("the server got %s: %q", name, values)
		}
	}
	if n.check(`document.cookie`) != "" {
		t.Error("the page has a server's cookie")
	}
	holds(t, "a redirect to another host", n.one("", "web_fetch", "url", "https://docs.example.com/moved"), "moved to https://elsewhere.example.com/x")
	if got := n.one("", "web_fetch", "url", "https://docs.example.com/long"); strings.Contains(got, "xxx") {
		t.Errorf("of an answer that is too long the model has a part: %.100s", got)
	}
	if asked, _ = w.took(); fmt.Sprint(asked) != "[docs.example.com/moved docs.example.com/long]" {
		t.Errorf("asked for %q", asked)
	}
	holds(t, "a search", n.one(once, "web_search", "query", "go language"), "https://go.example.com/doc")
	if asked, heads = w.took(); len(asked) != 1 || !strings.HasPrefix(asked[0], "api.search.brave.com/res/v1/web/search?q=go+language") || heads[0].Get("X-Subscription-Token") != "KEY-12345" {
		t.Errorf("the search asked for %q with %v", asked, heads)
	}
	if text, _ := json.Marshal(n.requests()); strings.Contains(string(text), "KEY-12345") {
		t.Error("the model has the key")
	}
	if !strings.Contains(log.String(), `200 "https://docs.example.com/a"`) || strings.Contains(log.String(), "b=c") {
		t.Errorf("the relay's log: %s", log)
	}
	noViolations(t, n.in)

	// Another page's relay, and one of an earlier start, have other tokens.
	n.use("relay", "/.relay?token=x")
	holds(t, "another token", n.one("", "web_fetch", "url", "https://docs.example.com/a"), "403")
	if asked, _ = w.took(); len(asked) > 0 {
		t.Errorf("without the token %q was asked for", asked)
	}
}

// The relay that the command serves refuses a name that leads to this machine, and one that does not exist.
// The page tells the reason.
func TestFilesRelayRefuses(t *testing.T) {
	t.Parallel()
	w, log := newInternet(t), &serverLog{}
	s := newOwnServer(t)
	address := w.beside(t, s, log, false)
	n := onServer(t, s)
	n.use("relay", address)
	holds(t, "a name that leads here", n.one(once, "web_fetch", "url", "https://docs.example.com/a"), "502")
	if asked, _ := w.took(); len(asked) > 0 || !strings.Contains(log.String(), "private network") {
		t.Errorf("%q was asked for; the log: %s", asked, log)
	}

	s = newOwnServer(t, "-relay") // as a user starts it
	n = onServer(t, s)
	n.use("relay", s.relay)
	holds(t, "a name that does not exist", n.one(once, "web_fetch", "url", "https://no.such.name.invalid/"), "502")
}
