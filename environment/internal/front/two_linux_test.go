package front

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/pgtest"
	"github.com/bailey-go/bailey/environment/internal/s3test"
	"github.com/bailey-go/bailey/environment/internal/sessions"
	"github.com/bailey-go/bailey/internal/until"
)

// stores are the stores that front ends share. open opens it for one more of them.
func stores(t *testing.T, kind string) (open func() jobs.Store) {
	var address string
	switch kind {
	case "folder":
		dir := filepath.Join(t.TempDir(), "shared")
		return func() jobs.Store {
			s, err := jobs.Folder(dir)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	case "database":
		address, _ = pgtest.Start(t).Database(t)
	case "bucket":
		address = s3test.Start(t).Address
	}
	return func() jobs.Store {
		s, err := sessions.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return jobs.InSessions(s)
	}
}

// balancer sends each request to the next front end.
func balancer(t *testing.T, list ...*house) string {
	var n atomic.Int64
	var to []*httputil.ReverseProxy
	for _, h := range list {
		u, err := url.Parse(h.url)
		if err != nil {
			t.Fatal(err)
		}
		to = append(to, &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }})
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to[int(n.Add(1))%len(to)].ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Two front ends share a store. A session goes from one to the other with each request. Of two messages at once, each
// is answered or refused with 409, and none is lost.
func TestTwoFronts(t *testing.T) {
	for _, kind := range []string{"folder", "database", "bucket"} {
		t.Run(kind, func(t *testing.T) {
			p := newPlace(t)
			open := stores(t, kind)
			var list []*house
			for range 2 {
				list = append(list, p.open(t, func(o *Options) { o.Jobs.Store = open() }))
			}
			at := balancer(t, list...)
			const rounds = 3
			for i := range rounds {
				if code, text := p.at(t, at, "acme", "POST", "/v1/sessions/a/messages", message(fmt.Sprintf("write %d.txt text %d", i, i))); code != 200 || !strings.HasSuffix(text, "[DONE]\n\n") || strings.Contains(text, `"type":"error"`) {
					t.Fatalf("%d: %d %s", i, code, text)
				}
			}
			_, text := p.at(t, at, "acme", "POST", "/v1/sessions/a/messages", message("recall"))
			if got := words(text); strings.Count(got, "write") != rounds {
				t.Errorf("%q", got)
			}
			for i := range rounds {
				if _, text := p.at(t, at, "acme", "GET", fmt.Sprintf("/v1/sessions/a/files/%d.txt", i), ""); text != fmt.Sprintf("text %d", i) {
					t.Errorf("%d.txt: %q", i, text)
				}
			}
			// While a run is active at one, the other says so.
			r := p.request(t, list[0].url, "acme", "POST", "/v1/sessions/a/messages", message("wait"))
			defer r.Body.Close()
			<-p.model.Came
			for _, x := range [][3]string{{"POST", "messages", message("hello")}, {"GET", "stream", ""}, {"GET", "questions", ""}, {"POST", "stop", ""}, {"POST", "answers", `{"id": "x", "answers": ["once"]}`}} {
				if code, text := p.at(t, list[1].url, "acme", x[0], "/v1/sessions/a/"+x[1], x[2]); code != http.StatusConflict || !strings.Contains(text, "another front end") {
					t.Errorf("%s: %d %s", x[1], code, text)
				}
			}
			if code, _ := p.at(t, list[1].url, "acme", "DELETE", "/v1/sessions/a", ""); code != http.StatusConflict {
				t.Errorf("deleted: %d", code)
			}
			if _, text := p.at(t, list[1].url, "acme", "GET", "/v1/sessions/a", ""); !strings.Contains(text, `"text":"wait","state":"running"`) {
				t.Errorf("%s", text)
			}
			p.model.Goes <- struct{}{}
			b := bufio.NewReader(r.Body)
			for line := ""; line != "data: [DONE]\n"; {
				var err error
				if line, err = b.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			// Many at once.
			var all sync.WaitGroup
			var mu sync.Mutex
			var done []string
			for i := range 6 {
				all.Go(func() {
					text := fmt.Sprint("at once ", i)
					switch code, body := p.at(t, list[i%2].url, "acme", "POST", "/v1/sessions/a/messages", message(text)); code {
					case 200:
						mu.Lock()
						defer mu.Unlock()
						if done = append(done, text); !strings.HasSuffix(body, "[DONE]\n\n") || strings.Contains(body, `"type":"error"`) {
							t.Errorf("%s", body)
						}
					case http.StatusConflict:
					default:
						t.Errorf("%d %s", code, body)
					}
				})
			}
			all.Wait()
			if len(done) == 0 {
				t.Error("none was answered")
			}
			_, text = p.at(t, at, "acme", "POST", "/v1/sessions/a/messages", message("recall"))
			got := words(text)
			for _, text := range done {
				if !strings.Contains(got, text) {
					t.Errorf("%q is lost: %s", text, got)
				}
			}
			if n := strings.Count(got, "at once"); n != len(done) {
				t.Errorf("%d messages were answered, and the session has %d", len(done), n)
			}
			// One ends. The other goes on with all sessions.
			list[0].stop()
			if _, text := p.at(t, list[1].url, "acme", "POST", "/v1/sessions/a/messages", message("recall")); !strings.Contains(words(text), done[0]) {
				t.Errorf("%s", text)
			}
		})
	}
}

// The same behind haproxy, which checks /healthz and keeps a session at one front end by a hash of its path, as
// docs/front.md says.
func TestHaproxy(t *testing.T) {
	p := newPlace(t)
	list := []*house{p.open(t, nil), p.open(t, nil)}
	at := boxtest.Haproxy(t, "../../../docs/front.md", list[0].url, list[1].url)
	const ids = 6
	say := func(id int, text string) string {
		var body string
		until.True(t, "the message is taken", func() bool { // not while haproxy has not noticed that one drains
			var code int
			code, body = p.at(t, at, "acme", "POST", fmt.Sprintf("/v1/sessions/s%d/messages", id), message(text))
			return code == 200
		})
		return words(body)
	}
	for i := range ids {
		say(i, fmt.Sprintf("write x.txt of %d", i))
	}
	// Both have sessions, and a running stream is found again.
	for i, h := range list {
		h.f.mu.Lock()
		if n := len(h.f.sessions); n == 0 || n == ids {
			t.Errorf("front end %d has %d sessions of %d", i, n, ids)
		}
		h.f.mu.Unlock()
	}
	r := p.request(t, at, "acme", "POST", "/v1/sessions/s0/messages", message("wait"))
	defer r.Body.Close()
	<-p.model.Came
	again := p.request(t, at, "acme", "GET", "/v1/sessions/s0/stream", "")
	defer again.Body.Close()
	if again.StatusCode != 200 {
		t.Errorf("the stream again: %d", again.StatusCode)
	}
	p.model.Goes <- struct{}{}
	b := bufio.NewReader(again.Body)
	for line := ""; line != "data: [DONE]\n"; {
		var err error
		if line, err = b.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	list[0].stop()
	for i := range ids {
		if got := say(i, "recall"); !strings.Contains(got, fmt.Sprintf("of %d", i)) {
			t.Errorf("%d: %q", i, got)
		}
	}
}
