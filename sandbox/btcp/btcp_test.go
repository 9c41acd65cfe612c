package btcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// scripted is a relay whose side a test writes. The relay itself is tested with this package in module environment.
type scripted struct {
	mu     sync.Mutex
	opened chan *io.PipeWriter // the streams
	posted chan message
	status int // of /events, 0 is 200
	fail   int // number of posts that fail
	tokens []string
}

func (s *scripted) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	s.tokens = append(s.tokens, r.Header["authorization"])
	if strings.HasSuffix(u.Path, "/events") {
		if s.status != 0 {
			return &fetch.Response{Status: s.status, Body: io.NopCloser(strings.NewReader("no\x1b[31m entry"))}, nil
		}
		in, out := io.Pipe()
		context.AfterFunc(ctx, func() { _ = out.CloseWithError(ctx.Err()) })
		s.opened <- out
		return &fetch.Response{Status: 200, Header: map[string]string{"content-type": "text/event-stream"}, Body: in}, nil
	}
	if s.fail > 0 {
		s.fail--
		return &fetch.Response{Status: 503, Body: io.NopCloser(strings.NewReader("busy"))}, nil
	}
	m, err := decode(string(r.Body))
	if err != nil {
		return nil, err
	}
	s.posted <- m
	return &fetch.Response{Status: 200, Body: io.NopCloser(strings.NewReader(`{"success":true}`))}, nil
}

func box(t *testing.T) *sandbox.Box {
	t.Helper()
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	if err := dir.WriteFile("a.txt", []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "stream.send": true}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	far := sandbox.Func("far", "Of another server.", nil, func(context.Context, *sandbox.Call, struct{}) (string, error) { return "", nil })
	far.Untrusted, far.Server = true, "x"
	b, err := sandbox.New(sandbox.Options{FS: dir, Policy: p, Ask: sandboxtest.Always(policy.AnswerReject), Tools: append(sandbox.Standard(), far)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const session = "0123456789abcdef"

func options(s *scripted) Options {
	now := make(chan time.Time)
	close(now)
	return Options{URL: "https://relay.example", Session: session, Token: "secret-token", Transport: s, Tools: []string{"read"}, Local: true, pause: func(int) <-chan time.Time { return now }}
}

func TestOptions(t *testing.T) {
	b := box(t)
	good := options(&scripted{status: 401})
	for name, change := range map[string]func(*Options){
		"no URL": func(o *Options) { o.URL = "" }, "http": func(o *Options) { o.URL = "http://relay.example" }, "a query": func(o *Options) { o.URL += "?x" }, "a user": func(o *Options) { o.URL = "https://u@relay.example" },
		"a short session": func(o *Options) { o.Session = session[1:] }, "a long session": func(o *Options) { o.Session = strings.Repeat("a", 129) }, "a session with a slash": func(o *Options) { o.Session = session + "/" },
		"a token with a line": func(o *Options) { o.Token = "a\r\nb" }, "a long time": func(o *Options) { o.Time = maxTime + 1 }, "a negative time": func(o *Options) { o.Time = -1 },
		"few bytes": func(o *Options) { o.MaxBytes = 1023 }, "many bytes": func(o *Options) { o.MaxBytes = maxBytes + 1 },
		"no tools": func(o *Options) { o.Tools = nil }, "an unknown tool": func(o *Options) { o.Tools = []string{"nope"} }, "another server's tool": func(o *Options) { o.Tools = []string{"far"} },
	} {
		o := good
		change(&o)
		if err := Serve(t.Context(), b, o); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, change := range []func(*Options){
		func(o *Options) {}, func(o *Options) { o.URL = "http://127.0.0.1:8765/" }, func(o *Options) { o.Session = strings.Repeat("a", 128) }, func(o *Options) { o.Time, o.MaxBytes = maxTime, maxBytes }, func(o *Options) { o.MaxBytes = 1 << 10 },
	} {
		o := good
		change(&o)
		if err := Serve(t.Context(), b, o); !errors.Is(err, protocol.ErrSession) || !strings.Contains(err.Error(), "401: no [31m entry") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func write(t *testing.T, w io.Writer, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", s); err != nil {
			t.Error(err)
		}
	}
}

const hello = `{"jsonrpc":"2.0","method":"connected","params":{"clientId":"c1"}}`

// A transcript in the form of the relay of BTCP's authors.
func TestServeTranscript(t *testing.T) {
	s := &scripted{opened: make(chan *io.PipeWriter, 9), posted: make(chan message, 99)}
	states := make(chan error, 99)
	o := options(s)
	o.OnState = func(err error) { states <- err }
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), box(t), o) }()
	out := <-s.opened
	write(t, out, `not JSON`, `{"jsonrpc":"2.0","id":"early","method":"ping"}`, hello)
	m := <-s.posted
	if m.Method != "tools/register" || !strings.Contains(string(m.Params), `"name":"read"`) || !strings.Contains(string(m.Params), `"capabilities":["fs:read"]`) {
		t.Fatalf("%+v %s", m, m.Params)
	}
	write(t, out, `{"jsonrpc":"2.0","id":"register","result":{"success":true,"registered":1}}`)
	if err := <-states; err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ request, want string }{
		{`{"jsonrpc":"2.0","id":"1","method":"ping"}`, `"pong":true`},
		{`{"jsonrpc":"2.0","id":"2","method":"tools/list"}`, `"name":"read"`},
		{`{"jsonrpc":"2.0","id":"3","method":"tools/list","params":{"filter":{"names":["write"]}}}`, `"tools":[]`},
		{`{"jsonrpc":"2.0","id":"4","method":"tools/list","params":{"filter":{"capabilities":["dom:read"]}}}`, `"tools":[]`},
		{`{"jsonrpc":"2.0","id":"5","method":"tools/call","params":{"name":"read","arguments":{"path":"a.txt"}}}`, `hello`},
		{`{"jsonrpc":"2.0","id":"6","method":"tools/call","params":{"name":"write","arguments":{}}}`, `"code":-32004`},
		{`{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":"read","arguments":{"path":"/etc/passwd"}}}`, `"code":-3200`},
		{`{"jsonrpc":"2.0","id":"8","method":"tools/call","params":7}`, `"code":-32005`},
		{`{"jsonrpc":"2.0","id":"9","method":"dom/evil"}`, `"code":-32601`},
	} {
		write(t, out, c.request)
		m := <-s.posted
		data, _ := json.Marshal(m)
		if !strings.Contains(string(data), c.want) || text(m.ID) != strings.Split(c.request, `"`)[7] {
			t.Errorf("%s\ngot %s\nwant %s", c.request, data, c.want)
		}
	}
	// A cut while an answer is sent: it arrives on the next connection, at the third attempt.
	s.mu.Lock()
	s.fail = 2
	s.mu.Unlock()
	write(t, out, `{"jsonrpc":"2.0","id":"10","method":"ping"}`)
	if m := <-s.posted; text(m.ID) != "10" {
		t.Errorf("%+v", m)
	}
	_ = out.Close()
	if err := <-states; err == nil {
		t.Error("the end was not reported")
	}
	out = <-s.opened
	write(t, out, hello)
	<-s.posted
	write(t, out, `{"jsonrpc":"2.0","id":"disconnect","error":{"code":-32002,"message":"Another browser client connected to this session"}}`)
	if err := <-ended; !errors.Is(err, protocol.ErrSession) || !strings.Contains(err.Error(), "Another browser client") {
		t.Error(err)
	}
	for _, token := range s.tokens {
		if token != "Bearer secret-token" {
			t.Errorf("%q", token)
		}
	}
}

// A relay that opens the stream and says nothing more does not hold the agent.
func TestJoinWithoutAGreeting(t *testing.T) {
	s := &scripted{opened: make(chan *io.PipeWriter, 9), posted: make(chan message, 99)}
	o := options(s)
	o.Time = time.Millisecond
	tr, err := Join(o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tr.Do(t.Context(), fetch.Request{Method: "POST", URL: o.URL, Body: []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)})
	if !errors.Is(err, protocol.ErrTimeout) {
		t.Errorf("%v", err)
	}
	if len(s.posted) > 0 {
		t.Error("it sent a message")
	}
}

// 16 requests run at once, and the next is refused.
func TestServeAtOnce(t *testing.T) {
	s := &scripted{opened: make(chan *io.PipeWriter, 9), posted: make(chan message, 99)}
	b := box(t)
	block := make(chan struct{})
	wait := sandbox.Func("wait", "Waits.", nil, func(ctx context.Context, _ *sandbox.Call, _ struct{}) (string, error) {
		<-block
		return "done", nil
	})
	p, err := policy.Parse(`{"capabilities": {"stream.send": true}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b, err = sandbox.New(sandbox.Options{Policy: p, Tools: []sandbox.Tool{wait}}); err != nil {
		t.Fatal(err)
	}
	o := options(s)
	o.Tools = []string{"wait"}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, b, o) }()
	out := <-s.opened
	write(t, out, hello)
	<-s.posted
	for i := range maxCalls {
		write(t, out, fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"tools/call","params":{"name":"wait","arguments":{}}}`, i))
	}
	write(t, out, `{"jsonrpc":"2.0","id":"0","method":"tools/call","params":{"name":"wait"}}`) // an id that is in use
	write(t, out, `{"jsonrpc":"2.0","id":"more","method":"tools/call","params":{"name":"wait"}}`)
	if m := <-s.posted; text(m.ID) != "more" || m.Error == nil {
		t.Errorf("%+v", m)
	}
	close(block)
	for range maxCalls {
		if m := <-s.posted; m.Error != nil {
			t.Errorf("%+v", m.Error)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(s.posted) > 0 {
		t.Errorf("%d further answers", len(s.posted))
	}
}

func TestExecute(t *testing.T) {
	run := func(_ context.Context, code string, args any) (any, error) {
		switch {
		case strings.Contains(code, "throw"):
			return nil, errors.New("a path of the host: /etc/passwd")
		case strings.Contains(code, "late"):
			return nil, protocol.Errorf(protocol.ErrTimeout, "run", "", "it took too long")
		}
		return map[string]any{"code": code, "args": args}, nil
	}
	for _, c := range []struct{ message, want string }{
		{`{"id":"1","type":"execute","toolCode":"return 1","args":{"a":1},"capabilities":[]}`, `{"id":"1","result":{"args":{"a":1},"code":"const btcp=Object.freeze({});return 1"},"type":"result"}`},
		{`{"id":"2","type":"execute","toolCode":"return 1","args":null,"capabilities":["dom:read"]}`, `"id":"2","result":{"args":null,"code":"const btcp=Object.freeze({parentDOM:`},
		{`{"id":"3","type":"execute","toolCode":"return 1","args":null,"capabilities":["storage:cookie:read"]}`, `"code":"INVALID_PARAMS","message":"capability \"storage:cookie:read\": there is nothing behind it here; leave it out"},"id":"3"`},
		{`{"id":"3","type":"execute","toolCode":"return 1","args":null,"capabilities":["dom:write"]}`, `{"error":{"code":"CAPABILITY_DENIED"`},
		{`{"id":"4","type":"execute","toolCode":"return 1","args":null,"capabilities":["network:fetch:https://evil.example"]}`, `{"error":{"code":"CAPABILITY_DENIED"`},
		{`{"id":"5","type":"execute","toolCode":"return 1","args":null,"capabilities":["all"]}`, `{"error":{"code":"INVALID_PARAMS"`},
		{`{"id":"6","type":"execute","toolCode":"throw 1","args":null,"capabilities":[]}`, `{"error":{"code":"EXECUTION_ERROR"`},
		{`{"id":"7","type":"execute","toolCode":"late","args":null,"capabilities":[]}`, `{"error":{"code":"TIMEOUT","message":"`},
		{`{"id":"8","type":"result","result":1}`, `{"error":{"code":"INVALID_PARAMS"`},
		{`{"id":"9","type":"execute","toolCode":"x","args":null,"capabilities":[],"more":1}`, `{"error":{"code":"SECURITY_VIOLATION"`},
		{`nothing`, `"id":"unknown","type":"error"}`},
	} {
		got := Execute(t.Context(), c.message, []string{"dom:read", "network:fetch:https://api.example"}, run)
		if !strings.Contains(got, c.want) || strings.Contains(got, "/etc/passwd") {
			t.Errorf("%s\ngot  %s\nwant %s", c.message, got, c.want)
		}
	}
	if got := Execute(t.Context(), `{"id":"1","type":"execute","toolCode":"x","args":null,"capabilities":["network:fetch:https://api.example"]}`, []string{"network:fetch:https://api.example"}, run); !strings.Contains(got, `"type":"result"`) {
		t.Error(got)
	}
}

// A relay that sends comments, and then nothing, is connected to anew after maxSilence. One that never sent any is waited for.
func TestSilentRelay(t *testing.T) {
	for name, tt := range map[string]struct {
		sends string
		lost  bool
	}{
		"a comment": {": alive\n\n", true}, "a comment behind an event": {"data: {}\n\n:\n\n", true},
		"no comment": {"data: {}\n\n", false}, "a colon in a line": {"data: a:b\n\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{opened: make(chan *io.PipeWriter, 1), posted: make(chan message, 10)}
				o, err := options(s).withDefaults()
				if err != nil {
					t.Fatal(err)
				}
				l := &link{o: o, session: session, kind: "browser"}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				body, err := l.open(ctx)
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() {
					ended <- l.read(body, func(message) error { return nil })
					_ = body.Close()
				}()
				relay := <-s.opened
				for range 3 { // each within the time
					if _, err := io.WriteString(relay, tt.sends); err != nil {
						t.Fatal(err)
					}
					<-time.After(maxSilence - time.Second)
				}
				select {
				case err := <-ended:
					t.Fatalf("it ended within the time: %v", err)
				default:
				}
				<-time.After(2 * time.Second)
				synctest.Wait()
				select {
				case err := <-ended:
					if !tt.lost || protocol.CodeOf(err) != protocol.ErrSession || !strings.Contains(err.Error(), "silent for 2m0s") {
						t.Errorf("it ended: %v", err)
					}
				default:
					if tt.lost {
						t.Error("nothing has ended it")
					}
					cancel()
					<-ended
				}
			})
		})
	}
}
