package front

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
)

// with returns a change of the options that switches defences off.
func with(o off) func(*Options) { return func(x *Options) { x.off = o } }

func TestAttackCredential(t *testing.T) {
	count := attack.Start(t, "front")
	p := newPlace(t)
	h, open := p.open(t, nil), p.open(t, with(off{credential: true, origin: true}))
	h.must(t, "acme", "a", "hello")
	secret := p.creds["acme"]
	for _, a := range []struct {
		name   string
		header []string
		open   bool // whether there is a switch for it
	}{
		{"a wrong one", []string{"Authorization", "Bearer bailey-" + strings.Repeat("A", 52)}, true},
		{"a part of one", []string{"Authorization", "Bearer " + secret[:len(secret)-1]}, true},
		{"more than one", []string{"Authorization", "Bearer " + secret + "A"}, true},
		{"the line of the file", []string{"Authorization", "Bearer " + fmt.Sprintf("sha256:%x", p.list.list[0].sum)}, true},
		{"an empty one", []string{"Authorization", "Bearer "}, true},
		{"another scheme", []string{"Authorization", "Basic " + secret}, false},
		{"none", []string{"Authorization", ""}, false},
		{"a page", []string{"Origin", "https://evil.example"}, true},
		{"a page without an origin", []string{"Origin", "null"}, true},
	} {
		code, text := h.do(t, "acme", "GET", "/v1/sessions/a", "", a.header...)
		count.Try(a.name, code == 200 || strings.Contains(text, "hello"))
		if code != 401 && code != 403 || !strings.Contains(text, `"error"`) {
			t.Errorf("%s: %d %s", a.name, code, text)
		}
		if code, _ = open.do(t, "acme", "GET", "/v1/sessions/a", "", a.header...); a.open {
			count.Off(a.name, code == 200)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", h.url+"/v1/sessions/a?credential="+secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Authorization"] = []string{"Bearer wrong", "Bearer " + secret}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	count.Try("two headers", resp.StatusCode == 200)
	// A page that the operator listed may, and hears of it.
	listed := p.open(t, func(o *Options) { o.Origins = []string{"https://app.example"} })
	pre := p.request(t, listed.url, "", "OPTIONS", "/v1/sessions/a/messages", "", "Origin", "https://app.example", "Authorization", "")
	pre.Body.Close()
	if pre.StatusCode != http.StatusNoContent || pre.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("%d %v", pre.StatusCode, pre.Header)
	}
	if code, _ := listed.do(t, "acme", "GET", "/v1/sessions/a", "", "Origin", "https://app.example"); code != 200 {
		t.Errorf("%d", code)
	}
	for _, origin := range []string{"https://app.example.evil.example", "http://app.example", "https://APP.example:8443"} {
		code, _ := listed.do(t, "acme", "GET", "/v1/sessions/a", "", "Origin", origin)
		count.Try(origin, code == 200)
	}
}

// Another tenant uses the id of a session, in every request that has one.
func TestAttackOtherTenant(t *testing.T) {
	count := attack.Start(t, "front")
	try := func(change func(*Options), prefix string, count func(string, bool)) {
		p := newPlace(t)
		p.rules = asking
		h := p.open(t, change)
		id := prefix + "secret" // as the owner names it to this front end
		r := h.request(t, h.url, "acme", "POST", "/v1/sessions/"+id+"/messages", message("write key.txt top-secret"))
		defer r.Body.Close()
		stream := bufio.NewReader(r.Body)
		data, _ := events(t, stream, "data-question")
		var q struct{ ID string }
		if json.Unmarshal([]byte(data), &q) != nil || q.ID == "" {
			t.Fatal(data)
		}
		has := func(name, method, path, body string) {
			resp := h.request(t, h.url, "beta", method, path, body)
			defer resp.Body.Close()
			found := false
			lines := bufio.NewReader(resp.Body)
			for line, err := "", error(nil); err == nil && !found; {
				line, err = lines.ReadString('\n')
				found = strings.Contains(line, "top-secret") || strings.Contains(line, q.ID) || strings.Contains(line, `{"ok":true}`)
			}
			count(name, resp.StatusCode < 300 && found)
		}
		at := "/v1/sessions/acme-secret"
		has("its messages", "GET", at, "")
		has("its stream", "GET", at+"/stream", "")
		has("its questions", "GET", at+"/questions", "")
		has("an answer to its question", "POST", at+"/answers", `{"id": "`+q.ID+`", "answers": ["once"]}`)
		if prefix == "" {
			// The same id is a session of the other tenant's own.
			for path, body := range map[string]string{"/stream": "", "/questions": "", "/changes": "", "/files/key.txt": "", "": ""} {
				has("the same id: "+path, "GET", "/v1/sessions/secret"+path, body)
			}
			has("an answer with the same id", "POST", "/v1/sessions/secret/answers", `{"id": "`+q.ID+`", "answers": ["once"]}`)
			has("a stop with the same id", "POST", "/v1/sessions/secret/stop", "")
			if code, _ := h.do(t, "acme", "POST", "/v1/sessions/secret/answers", `{"id": "`+q.ID+`", "answers": ["once"]}`); code != 200 {
				t.Fatal("the question is gone")
			}
		}
		if _, err := io.Copy(io.Discard, stream); err != nil {
			t.Fatal(err)
		}
		has("its changes", "GET", at+"/changes", "")
		has("its files", "GET", at+"/files/key.txt", "")
		h.request(t, h.url, "beta", "DELETE", at, "").Body.Close()
		code, _ := h.do(t, "acme", "GET", "/v1/sessions/"+id, "")
		count("its end", code != 200)
		if prefix == "" {
			h.request(t, h.url, "beta", "DELETE", "/v1/sessions/secret", "").Body.Close()
			code, _ := h.do(t, "acme", "GET", "/v1/sessions/"+id, "")
			count("the end of the same id", code != 200)
			for _, guess := range []string{"0", "1", "acme", "acme-", "acme--secret", "secre", "secret0"} {
				code, text := h.do(t, "beta", "GET", "/v1/sessions/"+guess, "")
				count("a guess: "+guess, code == 200 || strings.Contains(text, "secret"))
			}
			_, text := h.do(t, "beta", "GET", "/v1/sessions", "")
			count("the list", strings.Contains(text, "secret"))
		}
		h.stop()
	}
	try(nil, "", count.Try)
	try(with(off{owner: true}), "acme-", count.Off)
}

// Ids and paths with tricks reach no other file, and nothing but a session of the form is stored.
func TestAttackPaths(t *testing.T) {
	count := attack.Start(t, "front")
	count.NoSwitch("an id is looked up in a pattern and a path in a list: there is no file system behind it to be reached without them")
	p := newPlace(t)
	h := p.open(t, nil)
	h.must(t, "acme", "a", "write x.txt top-secret")
	for _, id := range []string{"..", "%2e%2e", ".", "%2e", "..%2fbeta-a", "a%2f..%2f..", "a%00", "A", "%41", "-a", "_a", "a.b", "a%20", "a%0a", "%c3%a4", "a%5c..", "~", strings.Repeat("a", 37)} {
		code, text := h.do(t, "acme", "POST", "/v1/sessions/"+id+"/messages", message("hello"))
		count.Try(id+": "+text, code < 300)
		code, text = h.do(t, "acme", "GET", "/v1/sessions/"+id+"/files/x.txt", "")
		count.Try(id+": "+text, code == 200)
	}
	for _, path := range []string{"../x.txt", "%2e%2e/x.txt", "..%2fstate", "%2fetc%2fpasswd", "./x.txt", "x.txt/", "x.txt%00", "X.TXT", "d/../x.txt", "%2e/x.txt", "..%5cx.txt", "../../../../../../etc/passwd", "%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", h.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Opaque = "/v1/sessions/a/files/" + path
		r.Header.Set("Authorization", "Bearer "+p.creds["acme"])
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		count.Try(path, resp.StatusCode == 200)
	}
	if list, err := p.store.Jobs(t.Context(), "acme"); err != nil || len(list) != 1 {
		t.Errorf("%q %v", list, err)
	}
}

// raw sends bytes on one connection, and returns all that is answered until its end.
func raw(t *testing.T, h *house, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() { _, _ = io.WriteString(c, text) }() // the server may have closed it
	all, _ := io.ReadAll(c)
	return string(all)
}

// A request is two requests for one of two programs on the way.
func TestAttackSmuggling(t *testing.T) {
	count := attack.Start(t, "front")
	p := newPlace(t)
	h, open := p.open(t, nil), p.open(t, with(off{chunked: true}))
	inner := "GET /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + p.creds["beta"] + "\r\nConnection: close\r\n\r\n"
	head := "POST /v1/sessions/a/stop HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + p.creds["acme"] + "\r\n"
	for _, a := range []struct {
		name, text string
		open       bool
	}{
		{"both lengths", head + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s", 5+len(inner), inner), true},
		{"chunks", head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner, true},
		{"an upgrade", head + "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + inner, true},
		{"a hidden encoding", head + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n%s", 5+len(inner), inner), false},
		{"another encoding", head + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n%s", 5+len(inner), inner), false},
		{"two lengths", head + fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n\r\n%s", len(inner), inner), false},
		{"a signed length", head + "Content-Length: +0\r\n\r\n" + inner, false},
		{"a folded header", head + "X: a\r\n Content-Length: 5\r\nContent-Length: 0x0\r\n\r\n" + inner, false},
	} {
		count.Try(a.name, strings.Contains(raw(t, h, a.text), `"sessions"`))
		if a.open {
			count.Off(a.name, strings.Contains(raw(t, open, a.text), `"sessions"`))
		}
	}
}

// Requests that are too large or too slow.
func TestAttackBodies(t *testing.T) {
	count := attack.Start(t, "front")
	p := newPlace(t)
	// A body that came in no time at all is in time for the largest one.
	h, open := p.open(t, func(o *Options) { o.BodyTime = 100 * time.Millisecond }), p.open(t, with(off{body: true}))
	large := message(strings.Repeat("x", 2<<20))
	code, text := h.say(t, "acme", "a", strings.Repeat("x", 2<<20))
	count.Try("a large body", code == 200)
	if code != http.StatusRequestEntityTooLarge && code != http.StatusRequestTimeout {
		t.Errorf("%d %s", code, text)
	}
	code, _ = open.do(t, "acme", "POST", "/v1/sessions/a/messages", large)
	count.Off("a large body", code == 200)
	// The server answers although the body never comes to its end, or waits for it.
	slow := func(h *house, path, secret string) (net.Conn, *bufio.Reader) {
		c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err == nil {
			_, err = fmt.Fprintf(c, "POST /v1/sessions/b/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"text\":", path, secret)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c, bufio.NewReader(c)
	}
	for path, secret := range map[string]string{"messages": p.creds["acme"], "stop": p.creds["acme"], "answers": "wrong"} {
		c, b := slow(h, path, secret)
		all, err := io.ReadAll(b) // up to the end of the connection
		if err != nil {
			t.Error(err)
		}
		count.Try("a slow body: "+path, strings.Contains(string(all), " 200 ") && path == "messages")
		if path == "messages" && !strings.Contains(string(all), " 408 ") {
			t.Errorf("%s", all)
		}
		c.Close()
	}
	c, b := slow(open, "messages", p.creds["acme"])
	defer c.Close()
	if _, err := io.WriteString(c, `"hello"} `); err != nil {
		t.Fatal(err)
	}
	line, _ := b.ReadString('\n')
	count.Off("a slow body", strings.Contains(line, " 200 "))
	// Headers that are too large, and bodies of another form.
	all := raw(t, h, "GET /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+p.creds["acme"]+"\r\nX: "+strings.Repeat("x", maxHeader+8<<10)+"\r\n\r\n")
	count.Try("a large header", strings.Contains(all, " 200 "))
	for _, body := range []string{`{`, `[]`, `{"text": 1}`, `{"text": "x", "more": 1}`, `{"text": "x"} {"text": "y"}`, `{"text": " "}`, strings.Repeat("[", 100_000)} {
		code, _ := h.do(t, "acme", "POST", "/v1/sessions/a/messages", body)
		count.Try(body[:min(len(body), 30)], code < 300 || code >= 500)
	}
	code, _ = h.do(t, "acme", "POST", "/v1/sessions/a/messages", message("x"), "Content-Type", "text/plain")
	count.Try("a form", code < 300)
}

// A tenant sends as many requests as it can, and another one is served all the same.
func TestAttackFlood(t *testing.T) {
	count := attack.Start(t, "front")
	p := newPlace(t)
	limit := func(o *Options) { o.Rate, o.Burst, o.Open = 0.0001, 20, 3 }
	h := p.open(t, limit)
	open := p.open(t, func(o *Options) { limit(o); o.off.flood = true })
	flood := func(h *house) int {
		n := 0
		for range 40 {
			if code, _ := h.do(t, "acme", "GET", "/v1/sessions", ""); code == 200 {
				n++
			}
		}
		return n
	}
	count.Try("requests", flood(h) > 20)
	count.Off("requests", flood(open) > 20)
	r := h.request(t, h.url, "acme", "GET", "/v1/sessions", "")
	r.Body.Close()
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if code, _ := h.do(t, "beta", "GET", "/v1/sessions", ""); code != 200 {
		t.Errorf("another tenant: %d", code)
	}
	// Streams that nobody ends.
	streams := func(h *house) int {
		r := h.request(t, h.url, "beta", "POST", "/v1/sessions/s/messages", message("wait"))
		defer r.Body.Close()
		<-p.model.Came
		n := 1
		for range 5 {
			r := h.request(t, h.url, "beta", "GET", "/v1/sessions/s/stream", "")
			defer r.Body.Close()
			if r.StatusCode == 200 {
				n++
			}
		}
		p.model.Goes <- struct{}{}
		return n
	}
	count.Try("streams", streams(h) > 3)
	h.stop()
	count.Off("streams", streams(open) > 3)
}

// A job answers falsely. Nothing of it reaches the tenant but as an event of the stream, and no other tenant at all.
func TestAttackLies(t *testing.T) {
	count := attack.Start(t, "front")
	p := newPlace(t)
	for _, a := range []struct {
		way  string
		open bool
	}{{"a page", true}, {"a status", true}, {"a redirect", true}, {"no JSON", true}, {"no type", true}, {"another field", true}, {"a carriage return", true}, {"a long event", false}, {"no end", false}, {"many events", false}} {
		lying := func(o *Options) { o.Jobs.Box = []string{os.Args[0], "liar", a.way} }
		h := p.open(t, lying)
		r := h.request(t, h.url, "acme", "POST", "/v1/sessions/a/messages", message("hello"))
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		count.Try(a.way, strings.Contains(string(b), lie) || strings.Contains(fmt.Sprint(r.Header), lie) || strings.Contains(h.log.String(), lie))
		if !strings.Contains(string(b), `"type":"error"`) {
			t.Errorf("%s: the tenant does not hear of it: %.300s", a.way, b)
		}
		code, _ := h.do(t, "acme", "GET", "/v1/sessions/a", "")
		if code != 200 {
			t.Errorf("%s: the message is lost: %d", a.way, code)
		}
		h.stop()
		if a.open {
			open := p.open(t, func(o *Options) { lying(o); o.off.lies = true })
			_, text := open.say(t, "acme", "b", "hello")
			bad := strings.Contains(text, lie) || !strings.Contains(text, `"type":"error"`)
			count.Off(a.way, bad)
			open.stop()
		}
	}
	// Its answers to other requests.
	h := p.open(t, func(o *Options) {
		o.Jobs.Box, o.StopTime = []string{os.Args[0], "liar", "waits"}, time.Millisecond
	})
	r := h.request(t, h.url, "acme", "POST", "/v1/sessions/c/messages", message("hello"))
	defer r.Body.Close()
	events(t, bufio.NewReader(r.Body), "start")
	for _, x := range [][3]string{{"GET", "questions", ""}, {"POST", "answers", `{"id": "x", "answers": ["once"]}`}} {
		resp := h.request(t, h.url, "acme", x[0], "/v1/sessions/c/"+x[1], x[2])
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		count.Try(x[1], strings.Contains(string(b)+fmt.Sprint(resp.Header), lie) || resp.StatusCode != http.StatusBadGateway)
	}
	// It does not stop, so it is killed.
	if code, _ := h.do(t, "acme", "POST", "/v1/sessions/c/stop", ""); code != 200 {
		t.Errorf("%d", code)
	}
	until.True(t, "its end", func() bool {
		_, text := h.do(t, "acme", "GET", "/v1/sessions/c", "")
		return strings.Contains(text, `"lost"`)
	})
}

// A model writes a page, and a browser is led to it at the address of the front end.
func TestAttackPageOfAModel(t *testing.T) {
	count := attack.Start(t, "front")
	p := newPlace(t)
	h, open := p.open(t, nil), p.open(t, with(off{files: true}))
	h.must(t, "acme", "a", "hello")
	h.f.mu.Lock()
	dir := h.f.sessions["acme-a"].job.Dir
	h.f.mu.Unlock()
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte("<html><script>alert(1)</script>"), 0o644); err != nil {
		t.Fatal(err)
	}
	h.must(t, "acme", "a", "hello") // the end of a run stores it
	try := func(h *house) bool {
		r := h.request(t, h.url, "acme", "GET", "/v1/sessions/a/files/x", "")
		r.Body.Close()
		return strings.Contains(r.Header.Get("Content-Type"), "html") && r.Header.Get("Content-Disposition") == "" && r.Header.Get("Content-Security-Policy") == ""
	}
	count.Try("a page", try(h))
	count.Off("a page", try(open))
}

// Contents and credentials are looked for in all logs, and in all metrics.
func TestAttackLogs(t *testing.T) {
	count := attack.Start(t, "front")
	count.NoSwitch("the places that write logs have no contents: a switch would put them there for the test alone")
	p := newPlace(t)
	reader := sdk.NewManualReader()
	h := p.open(t, func(o *Options) { o.Meter = sdk.NewMeterProvider(sdk.WithReader(reader)) })
	secrets := []string{"needle-in-a-message", "needle-in-a-file", "needle-in-a-path", "needle-in-an-answer", "needle-in-a-credential", "key-of-the-model", p.creds["acme"], strings.TrimPrefix(p.creds["acme"], "bailey-")}
	h.must(t, "acme", "a", "write needle-in-a-path.txt needle-in-a-file")
	h.must(t, "acme", "a", "needle-in-a-message")
	h.do(t, "acme", "POST", "/v1/sessions/a/answers", `{"id": "needle-in-an-answer", "answers": ["once"]}`)
	h.do(t, "acme", "POST", "/v1/sessions/a/answers", `{"needle-in-an-answer": 1}`)
	h.do(t, "acme", "GET", "/v1/sessions/a/files/needle-in-a-path.txt", "")
	h.do(t, "acme", "GET", "/v1/sessions/a/files/needle-in-a-path", "")
	h.do(t, "acme", "GET", "/v1/sessions/a", "", "Authorization", "Bearer needle-in-a-credential")
	// A job dies with all of that, and its folder can't be stored.
	r := h.request(t, h.url, "acme", "POST", "/v1/sessions/a/messages", message("wait needle-in-a-message"))
	<-p.model.Came
	h.f.mu.Lock()
	j := h.f.sessions["acme-a"].job
	h.f.mu.Unlock()
	if err := os.Symlink("needle-in-a-path", filepath.Join(j.Dir, "needle-in-a-path")); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r.Body); err != nil {
		t.Error(err)
	}
	r.Body.Close()
	h.must(t, "acme", "b", "needle-in-a-message")
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	numbers, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	h.stop()
	log := h.log.String()
	for _, want := range []string{"run ended", "run lost", `"session":"acme-a"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s: %s", want, log)
		}
	}
	for _, want := range []string{"bailey.front.jobs", "bailey.front.job.start.duration", "bailey.front.run.duration", "bailey.front.refusals", "acme", "lost", "credential"} {
		if !strings.Contains(string(numbers), want) {
			t.Errorf("the metrics lack %s: %s", want, numbers)
		}
	}
	for _, s := range secrets {
		count.Try(s+" in the log", strings.Contains(log, s))
		count.Try(s+" in the metrics", strings.Contains(string(numbers), s))
	}
}
