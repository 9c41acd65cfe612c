package models

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
)

const key = `sk-key/of+the"model-0123456789`

// server is a model's server that keeps what it was sent.
type server struct {
	*httptest.Server

	mu     sync.Mutex
	answer func(http.ResponseWriter, *http.Request)
	seen   []seen
}

type seen struct {
	path, host, body string
	header           http.Header
}

const usual = `{"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}}`

func newServer(t testing.TB) *server {
	s := &server{answer: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, usual)
	}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, seen{r.RequestURI, r.Host, string(body), r.Header.Clone()})
		answer := s.answer
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// last returns the requests since the last call.
func (s *server) last() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.seen
	s.seen = nil
	return list
}

// does sets the answer.
func (s *server) does(f func(http.ResponseWriter, *http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *server) host() string { return strings.TrimPrefix(s.URL, "http://") }

// opened is a proxy with a job in a run.
type opened struct {
	*Proxy
	j   *Job
	end func()

	mu   sync.Mutex
	done []string
}

func open(t testing.TB, s *server, change func(*Options)) *opened {
	t.Helper()
	x := &opened{}
	o := Options{Model: "good", URL: s.URL + "/api", Key: key, Done: func(tenant, result string, tokens int64) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.done = append(x.done, fmt.Sprint(tenant, " ", result, " ", tokens))
	}}
	if change != nil {
		change(&o)
	}
	var err error
	if x.Proxy, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	x.j, x.end = x.job(t, "acme")
	return x
}

func (x *opened) job(t testing.TB, tenant string) (*Job, func()) {
	t.Helper()
	j, err := x.Job()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, j.Begin(tenant)
}

func with(o off) func(*Options) { return func(x *Options) { x.off = o } }

// raw sends bytes to a job's listener, and returns all that is answered until its end.
func raw(j *Job, text string) string {
	c, err := net.Dial("tcp", j.l.Addr().String())
	if err != nil {
		return ""
	}
	defer c.Close()
	go func() { _, _ = io.WriteString(c, text) }()
	all, _ := io.ReadAll(c)
	return string(all)
}

// post is a request with a token. Headers are lines.
func post(j *Job, token, line, body string, headers ...string) string {
	all := append([]string{line + " HTTP/1.1", "Authorization: Bearer " + token, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body)), "Connection: close"}, headers...)
	if !slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Host:") }) {
		all = append(all, "Host: model")
	}
	return raw(j, strings.Join(all, "\r\n")+"\r\n\r\n"+body)
}

const (
	line = "POST /v1/chat/completions"
	body = `{"model": "good", "messages": []}`
)

// A job uses a token that is not its own, or not at its time.
func TestAttackToken(t *testing.T) {
	count := attack.Start(t, "front")
	s := newServer(t)
	reached := func(answer string) bool { return len(s.last()) > 0 || strings.Contains(answer, " 200 ") }
	x := open(t, s, nil)
	if answer := post(x.j, x.j.token, line, body); !reached(answer) || !strings.Contains(answer, "choices") {
		t.Fatalf("%s", answer)
	}
	other, end := x.job(t, "beta")
	tokens := func(own *Job) map[string]string {
		return map[string]string{"another job's token": other.token, "the key itself": key, "no token": "", "a part of the token": own.token[:len(own.token)-1], "more than the token": own.token + "A", "another case": strings.ToLower(own.token)}
	}
	for name, token := range tokens(x.j) {
		count.Try(name, reached(post(x.j, token, line, body)))
	}
	count.Try("two tokens", reached(post(x.j, x.j.token, line, body, "Authorization: Bearer "+other.token)))
	count.Try("another scheme", reached(raw(x.j, line+" HTTP/1.1\r\nHost: x\r\nAuthorization: Basic "+x.j.token+"\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")))
	end()
	count.Try("its token after the run", reached(post(other, other.token, line, body)))
	// A connection from before the end of the job.
	c, err := net.Dial("tcp", other.l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	end = other.Begin("beta")
	request := fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", line, other.token, len(body), body)
	b := bufio.NewReader(c)
	do := func() bool {
		if _, err := io.WriteString(c, request); err != nil {
			return false
		}
		resp, err := http.ReadResponse(b, nil)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode == 200
	}
	if !do() {
		t.Error("a connection that stays was refused")
	}
	end()
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	s.last()
	count.Try("a connection that outlives the job", do() || reached(""))
	count.Try("its token after the job", reached(post(other, other.token, line, body)))
	count.Try("its token after the job, at another one", reached(post(x.j, other.token, line, body)))
	early, err := x.Job()
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	count.Try("a job that waits for a tenant", reached(post(early, early.token, line, body)))

	open1 := open(t, s, with(off{token: true, active: true}))
	other, end = open1.job(t, "beta")
	count.Off("another job's token", reached(post(open1.j, other.token, line, body)))
	end()
	count.Off("its token after the run", reached(post(other, other.token, line, body)))
	early, err = open1.Job()
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	count.Off("a job that waits for a tenant", reached(post(early, early.token, line, body)))
}

// The end of a run ends its requests.
func TestEnd(t *testing.T) {
	s := newServer(t)
	came, gone := make(chan bool), make(chan bool)
	s.does(func(w http.ResponseWriter, r *http.Request) {
		came <- true
		<-r.Context().Done()
		gone <- true
	})
	x := open(t, s, nil)
	go func() {
		<-came
		x.end()
	}()
	answer := post(x.j, x.j.token, line, body)
	<-gone
	if !strings.Contains(answer, " 503 ") || strings.Contains(answer, s.host()) {
		t.Errorf("%s", answer)
	}
}

// A request that leads to another host, or to another path of the model's.
func TestAttackModelPath(t *testing.T) {
	count := attack.Start(t, "front")
	s, evil := newServer(t), newServer(t)
	x, open := open(t, s, nil), open(t, s, with(off{path: true}))
	for _, a := range []struct {
		line string
		open bool
	}{
		{"POST http://" + evil.host() + "/v1/chat/completions", true}, {"POST //" + evil.host() + "/v1/chat/completions", true}, {"POST /v1/../admin", true}, {"POST /v1/chat/completions/../../files", true},
		{"POST /v1/files", true}, {"POST /v1/chat/completions?x=1", true}, {"POST /v1/chat/completions#x", true}, {"POST /v1/%2e%2e/admin", true}, {"POST /v1/chat%2fcompletions", true}, {"GET /v1/chat/completions", true}, {"DELETE /v1/models/a", true},
		{"CONNECT " + evil.host(), false}, {"POST @" + evil.host() + "/x", false}, {"POST /v1/chat/completions HTTP/1.1\r\nX:", false}, {"POST *", false}, {`POST \\` + evil.host() + `\x`, false},
	} {
		try := func(x *opened) bool {
			answer := post(x.j, x.j.token, a.line, body)
			bad := strings.Contains(answer, " 200 ") && strings.HasPrefix(a.line, "GET")
			for _, r := range s.last() {
				bad = bad || r.path != "/api/chat/completions"
			}
			for _, r := range evil.last() {
				bad = bad || strings.Contains(r.header.Get("Authorization"), key) || r.body != ""
			}
			return bad
		}
		count.Try(a.line, try(x))
		if a.open {
			count.Off(a.line, try(open))
		}
	}
}

// A job adds to what the server is told, and by whom.
func TestAttackModelHeaders(t *testing.T) {
	count := attack.Start(t, "front")
	s := newServer(t)
	x, open := open(t, s, nil), open(t, s, with(off{headers: true}))
	for _, a := range []struct {
		header string
		open   bool
	}{
		{"OpenAI-Organization: other", true}, {"OpenAI-Project: other", true}, {"X-Api-Key: other", true}, {"Cookie: a=other", true}, {"X-Forwarded-For: other", true}, {"Host: other", true}, {"Idempotency-Key: other", true},
		{"Accept-Encoding: other", true}, {"X-Echo: {{key}} other", true},
		{"X: a\rAuthorization: other", false}, {"X: a\n Authorization: other", false}, {"Connection: close, Authorization, other", false}, {"Proxy-Authorization: other", false}, {"Trailer: other", false}, {"Expect: other", false},
	} {
		try := func(x *opened) bool {
			post(x.j, x.j.token, line, body, a.header)
			for _, r := range s.last() {
				h := r.header.Clone()
				if h.Get("Authorization") != "Bearer "+key || len(h["Authorization"]) != 1 || strings.Contains(fmt.Sprint(h, r.host), "other") {
					return true
				}
			}
			return false
		}
		count.Try(a.header, try(x))
		if a.open {
			count.Off(a.header, try(open))
		}
	}
	// The token is no placeholder elsewhere: a body that has it is sent as it is.
	post(x.j, x.j.token, line, `{"messages": [{"content": "`+x.j.token+`"}]}`)
	list := s.last()
	count.Try("the token in the body", len(list) != 1 || strings.Contains(list[0].body, key))
}

// The server leads to another host.
func TestAttackModelRedirect(t *testing.T) {
	count := attack.Start(t, "front")
	s, evil := newServer(t), newServer(t)
	x, open := open(t, s, nil), open(t, s, with(off{redirects: true}))
	for _, status := range []int{301, 302, 303, 307, 308} {
		s.does(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			http.Redirect(w, r, evil.URL+"/x", status)
		})
		try := func(x *opened) bool {
			answer := post(x.j, x.j.token, line, body)
			bad := strings.Contains(answer, "Location") || strings.Contains(answer, evil.host())
			for _, r := range evil.last() {
				bad = bad || strings.Contains(r.header.Get("Authorization"), key)
			}
			return bad
		}
		count.Try(fmt.Sprint(status), try(x))
		count.Off(fmt.Sprint(status), try(open))
	}
}

// The server's answer has the key.
func TestAttackModelEcho(t *testing.T) {
	count := attack.Start(t, "front")
	s := newServer(t)
	x, open := open(t, s, nil), open(t, s, with(off{echo: true, headers: true}))
	quoted, _ := json.Marshal(key)
	flush := func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }
	for name, answer := range map[string]func(w http.ResponseWriter){
		"a body":       func(w http.ResponseWriter) { fmt.Fprint(w, `{"x": `+key+`}`) },
		"text of JSON": func(w http.ResponseWriter) { fmt.Fprintf(w, `{"x": %s}`, quoted) },
		"other JSON":   func(w http.ResponseWriter) { fmt.Fprint(w, strings.ReplaceAll(key, "/", `\/`)) },
		"an error":     func(w http.ResponseWriter) { w.WriteHeader(400); fmt.Fprint(w, key) },
		"a part of it": func(w http.ResponseWriter) { w.WriteHeader(401); fmt.Fprint(w, "wrong key: "+key[:10]+"***") },
		"a part, 403":  func(w http.ResponseWriter) { w.WriteHeader(403); fmt.Fprint(w, "wrong key: "+key[:10]+"***") },
		"a header":     func(w http.ResponseWriter) { w.Header().Set("X-Key", key); fmt.Fprint(w, "{}") },
		"a cookie":     func(w http.ResponseWriter) { w.Header().Set("Set-Cookie", "a="+key[:10]); fmt.Fprint(w, "{}") },
		"the type": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json; x="+key)
			fmt.Fprint(w, "{}")
		},
		"the retry time": func(w http.ResponseWriter) { w.Header().Set("Retry-After", key); fmt.Fprint(w, "{}") },
		"in two pieces": func(w http.ResponseWriter) {
			fmt.Fprint(w, key[:7])
			flush(w)
			fmt.Fprint(w, key[7:])
		},
		"events": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range key {
				fmt.Fprint(w, key[i:i+1])
				flush(w)
			}
		},
		"compressed": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, key)
			z.Close()
		},
		"another type": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, key)
		},
	} {
		s.does(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			answer(w)
		})
		try := func(x *opened) bool {
			resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(post(x.j, x.j.token, line, body))), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			all, _ := io.ReadAll(resp.Body)
			if resp.Header.Get("Content-Encoding") == "gzip" {
				z, err := gzip.NewReader(bytes.NewReader(all))
				if err == nil {
					all, _ = io.ReadAll(z)
				}
			}
			text := string(all) + fmt.Sprint(resp.Header, resp.Trailer)
			return strings.Contains(strings.NewReplacer(`\/`, "/", `\"`, `"`).Replace(text), key[:10])
		}
		count.Try(name, try(x))
		got := try(open)
		if count.Off(name, got); !got {
			t.Errorf("%s: did not succeed without the defence", name)
		}
	}
}

// A job asks for another model than the operator's.
func TestAttackModelName(t *testing.T) {
	count := attack.Start(t, "front")
	s := newServer(t)
	x, open := open(t, s, nil), open(t, s, with(off{model: true}))
	for _, body := range []string{`{"model": "dear"}`, `{"model": "good", "model": "dear"}`, `{"model": "dear", "model": "good"}`, `{"mod\u0065l": "dear"}`, `{"model": ["dear"]}`, `["dear"]`, `{"model": "dear"} {}`, `{"model": "dear"`, ``} {
		try := func(x *opened) bool {
			post(x.j, x.j.token, line, body)
			for _, r := range s.last() {
				if strings.Contains(r.body, "dear") {
					return true
				}
			}
			return false
		}
		count.Try(body, try(x))
		if body != "" {
			count.Off(body, try(open))
		}
	}
}

// A tenant uses more than it may, with one job or with two. Another one is served.
func TestAttackModelLimits(t *testing.T) {
	count := attack.Start(t, "front")
	s := newServer(t)
	now := time.Unix(1000, 0)
	limits := func(o *Options) {
		o.Requests, o.Bytes, o.Tokens, o.Open, o.MaxRequest = 1000, 1<<20, 10_000, 100, 1<<20
		o.now = func() time.Time { return now }
	}
	for _, a := range []struct {
		name   string
		change func(*Options)
		most   int // requests that are served of 10
	}{
		{"requests", func(o *Options) { o.Requests = 4 }, 4},
		{"tokens", func(o *Options) { o.Tokens = 301 }, 4},
		{"bytes", func(o *Options) { o.Bytes = int64(4 * (len(body) + len(usual))) }, 4},
	} {
		flood := func(x *opened) (n int) {
			second, _ := x.job(t, "acme")
			for i := range 10 {
				j := []*Job{x.j, second}[i%2]
				if answer := post(j, j.token, line, body); strings.Contains(answer, " 200 ") && strings.Contains(answer, "total_tokens") {
					n++
				} else if !strings.Contains(answer, " 429 ") && !strings.Contains(answer, "200 OK") && answer != "" || // cut in its body, or before it
					strings.Contains(answer, " 429 ") && (!strings.Contains(answer, "Retry-After") || !strings.Contains(answer, a.name)) {
					t.Errorf("%s: %s", a.name, answer)
				}
			}
			return n
		}
		x := open(t, s, func(o *Options) { limits(o); a.change(o) })
		n := flood(x)
		count.Try(a.name, n > a.most)
		if n == 0 || n < a.most-1 {
			t.Errorf("%s: %d were served", a.name, n)
		}
		other, _ := x.job(t, "beta")
		if answer := post(other, other.token, line, body); !strings.Contains(answer, " 200 ") {
			t.Errorf("another tenant: %s", answer)
		}
		now = now.Add(2 * time.Hour)
		if answer := post(x.j, x.j.token, line, body); !strings.Contains(answer, " 200 ") {
			t.Errorf("%s: two hours later: %s", a.name, answer)
		}
		count.Off(a.name, flood(open(t, s, func(o *Options) { limits(o); a.change(o); o.off.limits = true })) > a.most)
	}
	// Requests that are open, and bodies without an end.
	came, goes := make(chan bool, 10), make(chan bool)
	s.does(func(w http.ResponseWriter, r *http.Request) {
		came <- true
		select {
		case <-goes:
		case <-r.Context().Done():
		}
	})
	holds := func(x *opened) bool {
		ended := make(chan bool)
		send := func() {
			post(x.j, x.j.token, line, body)
			ended <- true
		}
		for range 2 {
			go send()
			<-came
		}
		go send()
		third, left := false, 2
		select {
		case <-came:
			third, left = true, 3
		case <-ended:
		}
		for range left {
			goes <- true
			<-ended
		}
		return third
	}
	two := func(o *Options) { limits(o); o.Open = 2 }
	count.Try("open requests", holds(open(t, s, two)))
	count.Off("open requests", holds(open(t, s, func(o *Options) { two(o); o.off.limits = true })))
	s.does(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			if _, err := fmt.Fprintf(w, "data: %s\n\n", strings.Repeat("x", 10_000)); err != nil {
				return
			}
		}
	})
	endless := open(t, s, func(o *Options) { limits(o); o.Bytes, o.MaxResponse = 1<<30, 1<<20 })
	answer := post(endless.j, endless.j.token, line, body)
	count.Try("a response without an end", len(answer) > 2<<20)
	s.last()
	for name, head := range map[string]string{"a body without a length": "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "a large body": fmt.Sprintf("Content-Length: %d\r\n\r\n", 2<<20)} {
		answer := raw(endless.j, line+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+endless.j.token+"\r\nConnection: close\r\n"+head)
		count.Try(name, !strings.Contains(answer, " 413 ") || len(s.last()) > 0)
	}
}

// Pieces of a response are sent on at once, and its tokens are counted.
func TestStream(t *testing.T) {
	s := newServer(t)
	goes := make(chan bool)
	s.does(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, "data: {\"a\": 1}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-goes
		fmt.Fprint(w, "data: {\"usage\": {\"prompt_tokens\": 5, \"completion_tokens\": 7}}\n\ndata: [DONE]\n\n")
	})
	x := open(t, s, nil)
	args := x.j.Args()
	_, url, _ := strings.Cut(args[1], "@")
	r, err := http.NewRequestWithContext(t.Context(), "POST", url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimPrefix(x.j.Env()[0], "BAILEY_KEY="))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b := bufio.NewReader(resp.Body)
	if line, err := b.ReadString('\n'); err != nil || line != "data: {\"a\": 1}\n" {
		t.Fatalf("%q %v", line, err)
	}
	goes <- true
	if rest, err := io.ReadAll(b); err != nil || !strings.HasSuffix(string(rest), "[DONE]\n\n") {
		t.Errorf("%q %v", rest, err)
	}
	until.True(t, "it is counted", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return strings.Join(x.done, ",") == "acme done 12"
	})
	if args[0] != "-model" || !strings.HasPrefix(args[1], "good@http://127.0.0.1:") {
		t.Errorf("%q", args)
	}
}

func TestCounter(t *testing.T) {
	for _, c := range []struct {
		events bool
		text   string
		want   int64
	}{
		{false, usual, 100},
		{false, `{"x": "` + strings.Repeat("y", 92) + `"}`, (40 + 100) / 4},
		{true, "data: {\"a\": 1}\n\ndata: {\"a\": 2}\r\n\r\ndata: [DONE]\n\n", 40/4 + 3},
		{true, "data: {\"usage\": null}\n\ndata: {\"usage\": {\"total_tokens\": 9}}\n\ndata: [DONE]\n\n", 9},
		{true, "data: {\"usage\": {\"total_tokens\": 9}}", 9},
		{true, "data: " + strings.Repeat("x", maxLine) + "\ndata: {\"usage\": {\"total_tokens\": 9}}\n", 9},
		{true, "data: {\"usage\": {\"total_tokens\": -9}}\n", 40/4 + 1},
		{true, "data: {\"usage\": \"9\"}\n", 40/4 + 1},
	} {
		for _, size := range []int{1, 7, len(c.text)} {
			n := &counter{asked: 40, events: c.events}
			if size == 1 && len(c.text) > maxLine {
				continue
			}
			for piece := range slices.Chunk([]byte(c.text), size) {
				_, _ = n.Write(piece)
			}
			if got := n.tokens(); got != c.want {
				t.Errorf("%.60q in pieces of %d: %d, want %d", c.text, size, got, c.want)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Model: "m"}, {Model: "m@x", URL: "https://a.example"}, {Model: "m", URL: "ftp://a.example"}, {Model: "m", URL: "https://u:p@a.example"}, {Model: "m", URL: "https://a.example/?x"},
		{Model: "m", URL: "https://a.example", Key: "short"}, {Model: "m", URL: "https://a.example", Key: "with a space"}, {Model: "m", URL: "https://a.example", Tokens: -1}, {Model: "m", URL: "https://a.example", Open: -1}} {
		if p, err := New(o); err == nil {
			p.Close()
			t.Errorf("%+v was accepted", o)
		}
	}
	// OpenAI's newer models know another name for the most tokens.
	for url, want := range map[string]string{"https://api.openai.com/v1": `{"max_completion_tokens":5,"model":"m"}`, "https://a.example/v1": `{"max_tokens":5,"model":"m"}`} {
		p, err := New(Options{Model: "m", URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.body([]byte(`{"max_tokens": 5}`)); err != nil || string(got) != want {
			t.Errorf("%s: %s %v", url, got, err)
		}
		if p.to.String() != url+"/chat/completions" {
			t.Errorf("%s", p.to)
		}
		p.Close()
	}
}

// A request with 100 KB through the proxy, and without it.
func BenchmarkPass(b *testing.B) {
	s := newServer(b)
	s.does(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, usual)
		s.last()
	})
	x := open(b, s, func(o *Options) { o.Requests, o.Bytes, o.Tokens = 1<<40, 1<<50, 1<<50 })
	_, through, _ := strings.Cut(x.j.Args()[1], "@")
	text := `{"messages": "` + strings.Repeat("x", 100_000) + `"}`
	for name, url := range map[string]string{"proxy": through + "/chat/completions", "direct": s.URL} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), "POST", url, strings.NewReader(text))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+x.j.token)
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 {
					b.Fatalf("%d %v", resp.StatusCode, err)
				}
			}
		})
	}
}
