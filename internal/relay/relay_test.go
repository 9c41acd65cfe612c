package relay

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
)

// relayed is a relay, and a server that stands for those on the internet.
type relayed struct {
	*Relay
	log   bytes.Buffer
	inner *httptest.Server
	asked []string
	heads []http.Header
	mu    sync.Mutex
}

// newRelayed returns a relay that reaches the server for names below example.com. open is whether its address on this machine is
// taken for one on the internet.
func newRelayed(t *testing.T, open bool, do http.HandlerFunc) *relayed {
	t.Helper()
	e := &relayed{}
	e.inner = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.asked, e.heads = append(e.asked, r.Host+r.URL.RequestURI()), append(e.heads, r.Header)
		e.mu.Unlock()
		do(w, r)
	}))
	t.Cleanup(e.inner.Close)
	e.again(t, Options{Open: open})
	return e
}

// again makes a relay with other options.
func (e *relayed) again(t *testing.T, o Options) {
	t.Helper()
	o.Log, o.Local = &e.log, func(host string) bool { return host == "127.0.0.1:8080" }
	o.Resolve = func(string) string { return e.inner.Listener.Addr().String() }
	if o.TLS == nil {
		o.TLS = e.trust()
	}
	var err error
	if e.Relay, err = New(o); err != nil {
		t.Fatal(err)
	}
}

// trust returns the configuration that trusts the server.
func (e *relayed) trust() *tls.Config {
	return e.inner.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
}

func get(h http.Handler, target string, headers ...string) *http.Response {
	r := httptest.NewRequest("GET", target, nil)
	r.Host = "127.0.0.1:8080"
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// ask is a page's fetch of an address, with other headers.
func (e *relayed) ask(address string, headers ...string) (status int, body string, h http.Header) {
	all := append([]string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Dest", "empty", "Accept", "text/html"}, headers...)
	res := get(e.Relay, e.Address()+"&url="+url.QueryEscape(address), all...)
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text), res.Header
}

func TestRelay(t *testing.T) {
	e := newRelayed(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/page?b=2", http.StatusFound)
		case "/there":
			http.Redirect(w, r, "https://other.example.com/x", http.StatusFound)
		case "/down":
			http.Redirect(w, r, "http://www.example.com/x", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/none":
			w.WriteHeader(404)
		case "/ninety-nine", "/six-hundred": // no status of HTTP
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprintf(c, "HTTP/1.1 %s Odd\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", map[string]string{"/ninety-nine": "099", "/six-hundred": "600"}[r.URL.Path])
				c.Close()
			}
		case "/odd":
			w.Header().Set("Content-Type", "obey the server")
		default:
			w.Header().Set("Set-Cookie", "a=b")
			w.Header().Set("Content-Type", "text/html; charset=iso-8859-1; obey=yes")
			fmt.Fprint(w, "<p>hello")
		}
	})
	status, body, h := e.ask("https://www.example.com/page?a=1#part", "Cookie", "c=d", "Authorization", "Bearer x", "Referer", "http://localhost/secret")
	if status != 200 || body != "<p>hello" || h.Get("Content-Type") != "text/html; charset=iso-8859-1" || h.Get("Set-Cookie") != "" {
		t.Errorf("%d %q %v", status, body, h)
	}
	if !strings.HasPrefix(h.Get("Content-Security-Policy"), "sandbox") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Disposition") != "attachment" {
		t.Errorf("a browser could show it: %v", h)
	}
	if e.asked[0] != "www.example.com/page?a=1" || e.heads[0].Get("Accept") != "text/html" {
		t.Errorf("asked %q with %v", e.asked[0], e.heads[0])
	}
	for _, name := range []string{"Cookie", "Authorization", "Referer", "Origin", "Sec-Fetch-Site", "X-Forwarded-For"} {
		if v := e.heads[0].Get(name); v != "" {
			t.Errorf("the server got %s: %q", name, v)
		}
	}
	for _, c := range []struct {
		path   string
		status int
		body   string
	}{
		{"/here", 200, "<p>hello"}, {"/none", 404, ""}, {"/there", 502, "moved to https://other.example.com/x"}, {"/down", 502, "moved to http://www.example.com/x"}, {"/round", 502, "did not answer"}, {"/odd", 200, ""},
		{"/ninety-nine", 502, "99"}, {"/six-hundred", 502, "600"},
	} {
		status, body, h := e.ask("https://www.example.com" + c.path)
		if status != c.status || !strings.Contains(body, c.body) || h.Get("Location") != "" || strings.Contains(h.Get("Content-Type"), "obey") {
			t.Errorf("%s: %d %q %v", c.path, status, body, h)
		}
	}
	if log := e.log.String(); strings.Count(log, "\n") != 9 || !strings.Contains(log, `200 "https://www.example.com/page" 8 bytes`) || strings.Contains(log, "a=1") || strings.Contains(log, e.token) {
		t.Errorf("the log: %s", log)
	}
}

// A search engine gets the user's key, and no other host does.
func TestRelaySearches(t *testing.T) {
	e := newRelayed(t, true, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %q", r.Method, r.Host, text)
	})
	conf := e.trust()
	conf.ServerName = "example.com"
	e.again(t, Options{Open: true, TLS: conf})
	post := func(address, body string) (int, string) {
		r := httptest.NewRequest("POST", e.Address()+"&url="+url.QueryEscape(address), strings.NewReader(body))
		r.Host = "127.0.0.1:8080"
		for k, v := range map[string]string{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty", "Authorization": "Bearer key", "X-Subscription-Token": "key"} {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	e.ask("https://api.search.brave.com/res/v1/web/search?q=x", "X-Subscription-Token", "key", "Authorization", "Bearer key")
	if h := e.heads[0]; h.Get("X-Subscription-Token") != "key" || h.Get("Authorization") != "" {
		t.Errorf("Brave got %v", h)
	}
	if code, body := post("https://api.tavily.com/search", `{"query":"x"}`); code != 200 || !strings.Contains(body, `POST api.tavily.com "{\"query\":\"x\"}"`) || e.heads[1].Get("Authorization") != "Bearer key" || e.heads[1].Get("X-Subscription-Token") != "" {
		t.Errorf("Tavily: %d %s, %v", code, body, e.heads)
	}
	if code, _ := post("https://www.example.com/", "x"); code != 405 || len(e.asked) != 2 {
		t.Errorf("POST to another host: %d", code)
	}
	for _, n := range []int{relayQuery - 1, relayQuery, relayQuery + 1} {
		if code, _ := post("https://api.tavily.com/search", strings.Repeat("x", n)); (code == 413) != (n > relayQuery) {
			t.Errorf("%d bytes: %d", n, code)
		}
	}
}

// TestAttackRelay asks the relay as others than its page, for other places than the internet.
func TestAttackRelay(t *testing.T) {
	count := attack.Start(t, "headers")
	count.NoSwitch("each row is the one that passes with one thing changed, and TestRelay shows that one")
	e := newRelayed(t, true, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") })
	for name, headers := range map[string][]string{
		"a page of another site":  {"Sec-Fetch-Site", "cross-site"},
		"another port's page":     {"Sec-Fetch-Site", "same-site"},
		"an old browser":          {"Sec-Fetch-Site", ""},
		"the address bar":         {"Sec-Fetch-Site", "none", "Sec-Fetch-Dest", "document"},
		"a link in the page":      {"Sec-Fetch-Dest", "document"},
		"a frame":                 {"Sec-Fetch-Dest", "iframe"},
		"a script":                {"Sec-Fetch-Dest", "script"},
		"a service worker":        {"Sec-Fetch-Dest", "serviceworker"},
		"a name for this machine": {"Host", "evil.example:8080"},
	} {
		status, body, _ := e.ask("https://www.example.com/", headers...)
		count.Try(name, status == 200 || strings.Contains(body, "secret"))
	}
	for name, target := range map[string]string{"no token": Path + "?url=https://www.example.com/", "another token": Path + "?token=x&url=https://www.example.com/", "a part of it": Path + "?token=" + e.token[:31] + "&url=https://www.example.com/"} {
		res := get(e.Relay, target, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Dest", "empty")
		count.Try(name, res.StatusCode != 403)
	}
	for _, address := range []string{"http://www.example.com/", "https://localhost/", "https://127.0.0.1/", "https://[::1]/", "https://10.0.0.1/", "https://169.254.169.254/latest", "https://intranet/", "https://db.internal/", "https://DB.INTERNAL./", "https://www.example.com:22/",
		"https://user@www.example.com/", "file:///etc/passwd", "https://0x7f.1/", "https://2130706433/", "", "https://www.example.com/" + strings.Repeat("x", 8<<10)} {
		status, body, _ := e.ask(address)
		count.Try(fmt.Sprintf("%.60s", address), status == 200 || strings.Contains(body, "secret"))
	}
	if len(e.asked) > 0 {
		t.Errorf("the server was asked %q", e.asked)
	}
	// A public name that resolves to this machine, which is where the test's server is.
	e = newRelayed(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") })
	status, body, _ := e.ask("https://www.example.com/")
	count.Try("a name that resolves to this machine", status == 200 || len(e.asked) > 0 || !strings.Contains(body, "private network"))
}

func TestRelaysLimits(t *testing.T) {
	size := 0
	e := newRelayed(t, true, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", size)) })
	e.again(t, Options{Open: true, Bytes: 1000})
	for _, size = range []int{999, 1000, 1001} {
		func() {
			defer func() {
				if cut := recover() != nil; cut != (size > 1000) {
					t.Errorf("%d bytes: cut off %t", size, cut)
				}
			}()
			if status, body, _ := e.ask("https://www.example.com/"); status != 200 || len(body) != size {
				t.Errorf("%d bytes: %d with %d", size, status, len(body))
			}
		}()
	}
	for i := 4; i <= relayRate+1; i++ { // three were asked above
		size = 1
		if status, _, _ := e.ask("https://www.example.com/"); (status == 429) != (i > relayRate) {
			t.Fatalf("request %d of a minute: %d", i, status)
		}
	}
	// As many requests as there are slots are at work at the same time.
	var now, most int
	var mu sync.Mutex
	full := make(chan struct{})
	e = newRelayed(t, true, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		if now++; now > most {
			most = now
		}
		if now == relayAtOnce {
			close(full)
		}
		mu.Unlock()
		<-full
		mu.Lock()
		now--
		mu.Unlock()
	})
	var wg sync.WaitGroup
	for range relayAtOnce + 3 {
		wg.Go(func() { e.ask("https://www.example.com/") })
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatal("the requests never ended")
	}
	if most > relayAtOnce {
		t.Errorf("%d at the same time", most)
	}
}
