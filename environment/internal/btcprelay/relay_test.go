package btcprelay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/btcp"
	"github.com/bailey-go/bailey/sandbox/fetch/nethttp"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

const (
	pageToken, agentToken, bothToken = "page-token-0123456789", "agent-token-0123456789", "both-token-0123456789"
	otherToken                       = "other-token-0123456789"
	origin                           = "https://app.example"
)

func tokens() []Token {
	sum := func(s string) [32]byte { return sha256.Sum256([]byte(s)) }
	return []Token{
		{Tenant: "a", Role: Page, SHA256: sum(pageToken)}, {Tenant: "a", Role: Agent, SHA256: sum(agentToken)},
		{Tenant: "a", Role: Both, SHA256: sum(bothToken)}, {Tenant: "b", Role: Both, SHA256: sum(otherToken)},
	}
}

// relay is a relay on loopback.
type relay struct {
	*httptest.Server
	log *boxtest.Log
}

func start(t *testing.T, o Options) *relay {
	t.Helper()
	r := &relay{log: &boxtest.Log{}}
	o.Tokens, o.Origins = tokens(), []string{origin}
	o.Log = slog.New(slog.NewTextHandler(r.log, nil))
	handler, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = httptest.NewServer(handler)
	t.Cleanup(r.Server.Close)
	t.Cleanup(handler.Close)
	return r
}

// page is a box whose tools are served.
type page struct {
	session string
	dir     fsaccess.FS
	asker   *sandboxtest.Asker
	states  chan error
	ended   chan error
	stop    context.CancelFunc
	block   chan struct{} // the tool "wait" waits for it
}

func (r *relay) page(t *testing.T, session string) *page {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &page{session: session, dir: fsaccess.NewMemory(fsaccess.MemoryOptions{}), asker: sandboxtest.Always(policy.AnswerNever), states: make(chan error, 100), ended: make(chan error, 1), stop: cancel, block: make(chan struct{})}
	if err := p.dir.WriteFile("a.txt", []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	rules, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wait := sandbox.Func("wait", "Waits.", nil, func(ctx context.Context, _ *sandbox.Call, _ struct{}) (any, error) {
		select {
		case <-p.block:
			return "waited", nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	picture := sandbox.Func("picture", "Draws.", nil, func(context.Context, *sandbox.Call, struct{}) (any, error) { return "drawn", nil })
	run := picture.Run
	picture.Run = func(ctx context.Context, c *sandbox.Call) (any, error) {
		for _, f := range []sandbox.File{{Name: "p.png", MediaType: "image/png", Data: png}, {Name: "d.pdf", MediaType: "application/pdf", Data: []byte("%PDF-1.7")}} {
			if err := c.AddFile(f); err != nil {
				return nil, err
			}
		}
		return run(ctx, c)
	}
	box, err := sandbox.New(sandbox.Options{FS: p.dir, Policy: rules, Ask: p.asker, Tools: append(sandbox.Standard(), wait, picture)})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		p.ended <- btcp.Serve(ctx, box, btcp.Options{
			URL: r.URL, Session: session, Token: pageToken, Transport: nethttp.New(nil), Tools: []string{"read", "write", "wait", "picture"}, Local: true,
			OnState: func(err error) { p.states <- err },
		})
	}()
	t.Cleanup(cancel)
	return p
}

var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")

// ready waits until the page's tools are registered.
func (p *page) ready(t *testing.T) {
	t.Helper()
	for {
		select {
		case err := <-p.states:
			if err == nil {
				return
			}
		case err := <-p.ended:
			t.Fatalf("Serve ended: %v", err)
		case <-time.After(until.Patience):
			t.Fatal("the tools were not registered")
		}
	}
}

// agent is a box that has the tools of the page.
func (r *relay) agent(t *testing.T, session string, change func()) (*sandbox.Box, *mcpclient.Client) {
	t.Helper()
	tr, err := btcp.Join(btcp.Options{URL: r.URL, Session: session, Token: agentToken, Transport: nethttp.New(nil)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcpclient.Connect(t.Context(), mcpclient.Options{Name: "far", URL: r.URL, Transport: tr, OnChange: change})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	tools, err := c.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.Parse(`{"capabilities": {"net.fetch": ["`+c.Target()+`"]}, "rules": [{"permission": "*", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Options{Policy: rules, Ask: sandboxtest.Always(policy.AnswerOnce), Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return box, c
}

func call(t *testing.T, b *sandbox.Box, tool string, args any) sandbox.ToolResult {
	t.Helper()
	return b.Call(t.Context(), tool, args)
}

func content(r sandbox.ToolResult) string {
	m, _ := r.Data.(map[string]any)
	s, _ := m["content"].(string)
	return s
}

// The tools of a page become tools of a box elsewhere, and each call passes the page's gate.
func TestCallsCrossTheRelay(t *testing.T) {
	r := start(t, Options{})
	session := rand.Text()
	p := r.page(t, session)
	p.ready(t)
	box, _ := r.agent(t, session, nil)
	if got := content(call(t, box, "far_read", map[string]any{"path": "a.txt"})); !strings.Contains(got, "hello") {
		t.Errorf("read: %q", got)
	}
	if res := call(t, box, "far_write", map[string]any{"path": "b.txt", "content": "x"}); res.Err() == nil || !strings.Contains(res.ErrorText, "-32006") {
		t.Errorf("a refused write: %+v", res)
	}
	if n := len(p.asker.Requests()); n != 1 {
		t.Errorf("the page's user was asked %d times", n)
	}
	if _, err := p.dir.Open("b.txt"); err == nil {
		t.Error("the refused file is there")
	}
	if res := call(t, box, "far_read", map[string]any{"path": "../a.txt"}); res.Err() == nil {
		t.Errorf("a name that leads out: %+v", res)
	}
	res := call(t, box, "far_picture", map[string]any{})
	if len(res.Files) != 2 || !bytes.Equal(res.Files[0].Data, png) || res.Files[0].MediaType != "image/png" || string(res.Files[1].Data) != "%PDF-1.7" {
		t.Errorf("files: %+v %s", res.Files, res.ErrorText)
	}
}

// Calls that run while the connection is cut are answered after it.
func TestConnectionIsCut(t *testing.T) {
	r := start(t, Options{})
	session := rand.Text()
	p := r.page(t, session)
	p.ready(t)
	changed := make(chan struct{}, 10)
	box, _ := r.agent(t, session, func() { changed <- struct{}{} })
	done := make(chan sandbox.ToolResult, 1)
	go func() { done <- box.Call(t.Context(), "far_read", map[string]any{"path": "a.txt"}) }()
	if res := <-done; res.Err() != nil {
		t.Fatal(res.ErrorText)
	}
	r.CloseClientConnections()
	if err := <-p.states; err == nil {
		t.Fatal("the page did not notice")
	}
	p.ready(t)
	// The agent's connection was cut too. A call that meets the end fails, and the next one joins again.
	until.True(t, "the agent is back", func() bool {
		return strings.Contains(content(box.Call(t.Context(), "far_read", map[string]any{"path": "a.txt"})), "hello")
	})
}

// Another page takes a session over, and the first one ends.
func TestAnotherPageTakesOver(t *testing.T) {
	r := start(t, Options{})
	session := rand.Text()
	first := r.page(t, session)
	first.ready(t)
	second := r.page(t, session)
	second.ready(t)
	select {
	case err := <-first.ended:
		if !errors.Is(err, protocol.ErrSession) || !strings.Contains(err.Error(), "another page") {
			t.Errorf("the first page ended with %v", err)
		}
	case <-time.After(until.Patience):
		t.Fatal("the first page goes on")
	}
	box, _ := r.agent(t, session, nil)
	if got := content(call(t, box, "far_read", map[string]any{"path": "a.txt"})); !strings.Contains(got, "hello") {
		t.Error(got)
	}
}

// A page that does not answer in time fails the call, and one that goes away ends the session.
func TestTimesAndEnds(t *testing.T) {
	r := start(t, Options{Time: 20 * time.Millisecond, Grace: 20 * time.Millisecond, Keep: time.Millisecond})
	session := rand.Text()
	p := r.page(t, session)
	p.ready(t)
	changed := make(chan struct{}, 10)
	box, _ := r.agent(t, session, func() { changed <- struct{}{} })
	if res := call(t, box, "far_wait", map[string]any{}); res.Err() == nil || !strings.Contains(res.ErrorText, "-32001") {
		t.Errorf("a call without an answer: %+v", res)
	}
	p.stop()
	if err := <-p.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve ended with %v", err)
	}
	select {
	case <-changed:
	case <-time.After(until.Patience):
		t.Fatal("the agent did not learn that the page is gone")
	}
	until.True(t, "the session ends", func() bool {
		c := dial(t, r, agentToken, rand.Text(), "agent")
		defer c.close()
		return c.ask(t, session, "session/join", map[string]any{"sessionId": session}).Error != nil
	})
}

// raw is a client that sends whatever it likes.
type raw struct {
	r      *relay
	token  string
	id     string
	res    *http.Response
	lines  *bufio.Scanner
	cancel context.CancelFunc
	n      int
}

type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (r *relay) get(t *testing.T, ctx context.Context, path, token string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", r.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func dial(t *testing.T, r *relay, token, session, kind string) *raw {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	res := r.get(t, ctx, "/events?sessionId="+session+"&clientType="+kind, token)
	c := &raw{r: r, token: token, res: res, lines: bufio.NewScanner(res.Body), cancel: cancel}
	c.lines.Buffer(nil, 8<<20)
	t.Cleanup(c.close)
	if res.StatusCode != 200 {
		return c
	}
	var p struct {
		ClientID string `json:"clientId"`
	}
	if m := c.next(t); m.Method != "connected" || json.Unmarshal(m.Params, &p) != nil || p.ClientID == "" {
		t.Fatalf("%+v", m)
	}
	c.id = p.ClientID
	return c
}

func (c *raw) close() { c.cancel(); c.res.Body.Close() }

// next returns the next message. The zero value is the end of the stream.
func (c *raw) next(t *testing.T) (m reply) {
	t.Helper()
	for c.lines.Scan() {
		if data, ok := strings.CutPrefix(c.lines.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	return m
}

func (c *raw) post(t *testing.T, session, from, body string) (int, string) {
	t.Helper()
	url := c.r.URL + "/message?sessionId=" + session
	if from != "" {
		url += "&clientId=" + from
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

func (c *raw) ask(t *testing.T, session, method string, params any) reply {
	t.Helper()
	c.n++
	data, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.n, "method": method, "params": params})
	if status, text := c.post(t, session, c.id, string(data)); status != 200 {
		t.Fatalf("%s: %d %s", method, status, text)
	}
	for {
		m := c.next(t)
		if m.Method == "" {
			return m
		}
	}
}

// An agent or a stranger gets no more than its token and its session allow.
func TestAttackRelay(t *testing.T) {
	suite := attack.Start(t, "relay")
	t.Run("off", func(t *testing.T) { attackRelay(t, Options{off: true, Time: 50 * time.Millisecond}, suite.Off) })
	t.Run("on", func(t *testing.T) { attackRelay(t, Options{}, suite.Try) })
}

func attackRelay(t *testing.T, o Options, tried func(name string, succeeded bool)) {
	r := start(t, o)
	session := rand.Text()
	p := r.page(t, session)
	p.ready(t)
	for _, token := range []string{"", "x", strings.ToUpper(pageToken), pageToken + "x", "Bearer " + pageToken} {
		res := r.get(t, t.Context(), "/events?sessionId="+session+"&clientType=agent", token)
		res.Body.Close()
		tried("token "+token, res.StatusCode != 401)
	}
	for _, path := range []string{"/sessions", "/sessions?sessionId=" + session, "/events?sessionId=*", "/events?sessionId=short", "/events?sessionId=" + strings.Repeat("a", 129), "/events", "/../events?sessionId=" + session,
		"/token/" + pageToken + "/events?sessionId=" + session, "/events?sessionId=" + strings.Repeat("a", 15) + "%00"} {
		res := r.get(t, t.Context(), path, bothToken)
		text, _ := io.ReadAll(io.LimitReader(res.Body, 100))
		res.Body.Close()
		tried("path "+path, res.StatusCode == 200 || bytes.Contains(text, []byte(session)))
	}
	for _, o := range []string{"https://evil.example", "null", "https://app.example.evil.example", "http://app.example"} {
		res := r.get(t, t.Context(), "/health", pageToken, "Origin", o)
		res.Body.Close()
		tried("origin "+o, res.StatusCode == 200 || res.Header.Get("Access-Control-Allow-Origin") != "")
	}
	// Another tenant does not see the session, and may have one of the same name.
	other := dial(t, r, otherToken, rand.Text(), "agent")
	tried("another tenant joins", other.ask(t, other.id, "ping", nil).Error != nil)
	tried("another tenant joins", other.ask(t, session+"", "session/join", map[string]any{"sessionId": session}).Error == nil)
	// An agent's token can't be a page, and a page's not an agent.
	for _, c := range [][2]string{{agentToken, "browser"}, {pageToken, "agent"}} {
		tried("role "+c[1], dial(t, r, c[0], session, c[1]).res.StatusCode == 200)
	}
	// An agent that has joined can't act as the page, nor as another client.
	a := dial(t, r, agentToken, rand.Text(), "agent")
	if m := a.ask(t, session, "session/join", map[string]any{"sessionId": session}); m.Error != nil {
		t.Fatal(m.Error)
	}
	b := dial(t, r, bothToken, rand.Text(), "agent")
	for _, from := range []string{"", a.id} {
		for _, body := range []string{
			`{"jsonrpc":"2.0","id":"1","method":"tools/register","params":{"tools":[{"name":"evil"}]}}`,
			`{"jsonrpc":"2.0","id":"1","result":{"content":[]}}`,
			`{"jsonrpc":"2.0","method":"tools/register","params":{"tools":[]}}`,
		} {
			status, _ := a.post(t, session, from, body)
			tried("an agent as the page: "+body, status == 200)
		}
	}
	status, _ := a.post(t, session, b.id, `{"jsonrpc":"2.0","id":"9","method":"tools/call","params":{"name":"read"}}`)
	tried("in the name of another client", status == 200)
	// One that has not joined calls nothing.
	tried("a call without joining", b.ask(t, session, "tools/call", map[string]any{"name": "read", "arguments": map[string]any{"path": "a.txt"}}).Error == nil)
	tried("an unknown method", a.ask(t, session, "tools/evil", nil).Error == nil)
	// Neither names of tools that are not offered nor damaged requests reach the box.
	for _, params := range []any{map[string]any{"name": "bash", "arguments": map[string]any{"command": "ls"}}, map[string]any{"name": "undo"}, nil, map[string]any{"name": 1}, map[string]any{"name": "read", "arguments": []any{}}, map[string]any{"name": "read", "arguments": map[string]any{"path": 1}}} {
		m := a.ask(t, session, "tools/call", params)
		var res struct {
			IsError bool `json:"isError"`
		}
		_ = json.Unmarshal(m.Result, &res)
		tried(fmt.Sprint("params ", params), m.Error == nil && !res.IsError)
	}
	for _, body := range []string{``, `[]`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}`,
		strings.Repeat("[", 100000), `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 400) + `","method":"ping"}`} {
		status, _ := a.post(t, session, a.id, body)
		tried("body "+body[:min(len(body), 40)], status == 200)
	}
	// The logs name no session and no token.
	for _, secret := range []string{session, pageToken, agentToken, "a.txt", "hello"} {
		tried("logs", strings.Contains(r.log.String(), secret))
	}
	tried("the page's user is asked", len(p.asker.Requests()) > 0)
	dial(t, r, otherToken, session, "browser")
	took := len(p.states) > 0 || len(p.ended) > 0
	if o.off {
		<-p.ended
		took = true
	}
	tried("another tenant takes the session", took)
}

// Each limit, at it and above it.
func TestAttackLimitsOfTheRelay(t *testing.T) {
	suite := attack.Start(t, "relay")
	r := start(t, Options{})
	session := rand.Text()
	p := r.page(t, session)
	p.ready(t)
	above := func(name string, accepted bool) { suite.Try("above: "+name, accepted) }
	suite.NoSwitch("a limit has none; at the limit each is accepted")
	page := dial(t, r, pageToken, rand.Text(), "browser")
	own := strings.Split(page.res.Request.URL.Query().Get("sessionId"), "&")[0]
	register := func(n int) int {
		status, _ := page.post(t, own, page.id, `{"jsonrpc":"2.0","id":"r","method":"tools/register","params":{"tools":[`+strings.TrimSuffix(strings.Repeat(`{"name":"x"},`, n), ",")+`]}}`)
		return status
	}
	if register(MaxTools) != 200 {
		t.Error("256 tools were refused")
	}
	above("tools", register(MaxTools+1) == 200)
	body := func(n int) int {
		const frame = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""}}`
		status, _ := page.post(t, own, page.id, strings.Replace(frame, `""`, `"`+strings.Repeat("a", n-len(frame))+`"`, 1))
		return status
	}
	if body(MaxBytes) != 200 {
		t.Error("a message of 1 MiB was refused")
	}
	above("a message", body(MaxBytes+1) == 200)
	var agents []*raw
	for range MaxAgents {
		a := dial(t, r, agentToken, rand.Text(), "agent")
		if m := a.ask(t, session, "session/join", map[string]any{"sessionId": session}); m.Error != nil {
			t.Fatal(m.Error)
		}
		agents = append(agents, a)
	}
	more := dial(t, r, agentToken, rand.Text(), "agent")
	above("agents", more.ask(t, session, "session/join", map[string]any{"sessionId": session}).Error == nil)
	agents[0].close()
	until.True(t, "a place is free", func() bool {
		return more.ask(t, session, "session/join", map[string]any{"sessionId": session}).Error == nil
	})
	// A page that reads nothing keeps the requests that it was sent, up to the limit.
	a := agents[1]
	if m := a.ask(t, own, "session/join", map[string]any{"sessionId": own}); m.Error != nil {
		t.Fatal(m.Error)
	}
	for i := range MaxPending {
		if status, text := a.post(t, own, a.id, fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"tools/call","params":{"name":"x"}}`, i)); status != 200 {
			t.Fatal(status, text)
		}
	}
	above("requests that wait", a.ask(t, own, "tools/call", map[string]any{"name": "x"}).Error == nil)
}

// A tenant has so many sessions and clients. An agent has no session of its own, and a place that is free is given again.
func TestAttackNumbersOfATenant(t *testing.T) {
	suite := attack.Start(t, "relay")
	suite.NoSwitch("a limit has none; at the limit each is accepted")
	r := start(t, Options{sessions: 3, clients: 5, Grace: time.Millisecond})
	var pages []*raw
	for range 3 {
		c := dial(t, r, pageToken, rand.Text(), "browser")
		if c.res.StatusCode != 200 {
			t.Fatal(c.res.Status)
		}
		pages = append(pages, c)
	}
	suite.Try("a fourth session", dial(t, r, pageToken, rand.Text(), "browser").res.StatusCode != 429)
	for range 2 {
		if c := dial(t, r, agentToken, rand.Text(), "agent"); c.res.StatusCode != 200 {
			t.Fatal(c.res.Status)
		}
	}
	suite.Try("a sixth client", dial(t, r, agentToken, rand.Text(), "agent").res.StatusCode != 429)
	if c := dial(t, r, otherToken, rand.Text(), "browser"); c.res.StatusCode != 200 {
		t.Errorf("another tenant has no place: %s", c.res.Status)
	}
	pages[0].close()
	until.True(t, "a place is free", func() bool {
		c := dial(t, r, pageToken, rand.Text(), "browser")
		return c.res.StatusCode == 200
	})
}

// A client that does not read is ended, and the memory of the relay stays bounded.
func TestAttackClientsThatDoNotRead(t *testing.T) {
	suite := attack.Start(t, "relay")
	r := start(t, Options{})
	session := rand.Text()
	page := dial(t, r, bothToken, session, "browser")
	a := dial(t, r, bothToken, rand.Text(), "agent")
	if m := a.ask(t, session, "session/join", map[string]any{"sessionId": session}); m.Error != nil {
		t.Fatal(m.Error)
	}
	big := `{"jsonrpc":"2.0","method":"tools/register","params":{"tools":["` + strings.Repeat("x", 900<<10) + `"]}}`
	ended := false
	for range 64 {
		if status, text := page.post(t, session, page.id, big); status != 200 {
			t.Fatal(status, text)
		}
		if status, _ := a.post(t, session, a.id, `{"jsonrpc":"2.0","method":"ping"}`); status == 404 {
			ended = true
			break
		}
	}
	suite.NoSwitch("the queue's limit has none")
	suite.Try("an agent that does not read is kept", !ended)
}
