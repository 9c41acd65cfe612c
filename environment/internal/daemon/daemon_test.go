package daemon

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/chat"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

type house struct {
	url, credential string
	dir             fsaccess.FS
	asker           *chat.Asker
	begun           int // sessions
}

const page = "https://app.example"

func start(t *testing.T, off off) *house {
	t.Helper()
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	if err := dir.WriteFile("a.txt", []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	return startIn(t, off, dir, sandboxtest.CallTool("write", map[string]any{"path": "b.txt", "content": "made"}), sandboxtest.Say("done"))
}

func startIn(t *testing.T, off off, dir fsaccess.FS, turns ...sandboxtest.Turn) *house {
	t.Helper()
	h := &house{credential: NewCredential(), asker: &chat.Asker{}, dir: dir}
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Options{FS: dir, Policy: p, Ask: h.asker})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(ctx context.Context) (*sandbox.Session, error) {
		s, err := box.NewSession(ctx, sandbox.SessionOptions{})
		if err == nil {
			h.begun++
			t.Cleanup(s.Close)
		}
		return s, err
	}
	s, err := begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	handler, err := New(Options{Box: box, Asker: h.asker, Session: s, Model: &sandboxtest.Model{Turns: turns}, Credential: h.credential, Origins: []string{page},
		Files: dir, Begin: begin, Walls: []Wall{{"Landlock", "files"}}, off: off})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	h.url = web.URL
	return h
}

func (h *house) do(t *testing.T, method, path, body string, header ...string) (int, string) {
	t.Helper()
	code, text, _ := h.ask(t, method, path, body, header...)
	return code, text
}

func (h *house) ask(t *testing.T, method, path, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.credential)
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else if header[i+1] == "" {
			req.Header.Del(header[i])
		} else if header[i] == "Origin" {
			req.Header.Add(header[i], header[i+1])
		} else {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

// A run is a stream of messages, and its question is answered by another request.
func TestChat(t *testing.T) {
	h := start(t, off{})
	type answer struct {
		code int
		text string
	}
	done := make(chan answer, 1)
	go func() {
		code, text := h.do(t, "POST", "/chat", `{"text": "write it"}`)
		done <- answer{code, text}
	}()
	var list []chat.Shown
	until.True(t, "the question", func() bool {
		_, text := h.do(t, "GET", "/questions", "")
		return json.Unmarshal([]byte(text), &list) == nil && len(list) == 1
	})
	if len(list[0].Requests) != 1 || !strings.Contains(list[0].Requests[0].Title, "b.txt") {
		t.Errorf("%+v", list)
	}
	for _, bad := range []string{`{"id": "x", "answers": ["once"]}`, `{"id": "` + list[0].ID + `", "answers": []}`, `{"id": "` + list[0].ID + `", "answers": ["yes"]}`} {
		if code, text := h.do(t, "POST", "/answer", bad); code != http.StatusConflict {
			t.Errorf("%s: %d %s", bad, code, text)
		}
	}
	if code, text := h.do(t, "POST", "/answer", `{"id": "`+list[0].ID+`", "answers": ["once"]}`); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	a := <-done
	if a.code != 200 || !strings.Contains(a.text, `"tool-output-available"`) || !strings.HasSuffix(a.text, "data: [DONE]\n\n") {
		t.Errorf("%d %s", a.code, a.text)
	}
	if data, err := h.dir.ReadFile("b.txt"); err != nil || string(data) != "made" {
		t.Errorf("%q %v", data, err)
	}
}

// preflight reports whether a browser would send the request that it asks about.
func (h *house) preflight(t *testing.T, header ...string) bool {
	t.Helper()
	code, _, got := h.ask(t, "OPTIONS", "/files", "", header...)
	return code == http.StatusNoContent && got.Get("Access-Control-Allow-Origin") != "" && got.Get("Access-Control-Allow-Private-Network") == "true" &&
		strings.Contains(got.Get("Access-Control-Allow-Methods"), "PUT") && strings.Contains(got.Get("Access-Control-Allow-Headers"), "Authorization")
}

// No origin is let in by its form alone.
func TestCheckOrigin(t *testing.T) {
	for origin, good := range map[string]bool{"https://app.example": true, "https://app.example:8443": true, "http://127.0.0.1:8080": true, "http://localhost:8080": true,
		"": false, "null": false, "*": false, "https://*": false, "app.example": false, "http://app.example": false, "https://app.example/": false, "https://app.example/a": false,
		"https://u@app.example": false, "https://APP.example": false, "file://": false, "https://": false, "https://app.example#": false} {
		if err := CheckOrigin(origin); (err == nil) != good {
			t.Errorf("%q: %v", origin, err)
		}
	}
}

type bearer struct{ credential string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.credential)
	return http.DefaultTransport.RoundTrip(r)
}

// A run can be stopped while its question stands. Its stream has the question, and ends.
func TestStop(t *testing.T) {
	h := start(t, off{})
	done := make(chan string, 1)
	go func() {
		_, text := h.do(t, "POST", "/chat", `{"text": "write it"}`)
		done <- text
	}()
	until.True(t, "the question", func() bool { return len(h.asker.Questions()) == 1 })
	id := h.asker.Questions()[0].ID
	if code, text := h.do(t, "POST", "/chat", `{"text": "more"}`); code != http.StatusConflict {
		t.Errorf("%d %s", code, text)
	}
	if _, text := h.do(t, "POST", "/stop", ""); !strings.Contains(text, "true") {
		t.Error(text)
	}
	text := <-done
	if !strings.Contains(text, `"data-question"`) || !strings.Contains(text, id) || !strings.Contains(text, `"toolCallId"`) || !strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Error(text)
	}
	if _, text := h.do(t, "POST", "/stop", ""); !strings.Contains(text, "false") {
		t.Error(text)
	}
	if _, err := h.dir.Stat("b.txt"); err == nil {
		t.Error("the call was made")
	}
}

func TestMCP(t *testing.T) {
	h := start(t, off{})
	connect := func(credential string) (*sdk.ClientSession, error) {
		return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{credential}}, MaxRetries: -1}, nil)
	}
	client, err := connect(h.credential)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	res, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "read", Arguments: map[string]any{"path": "a.txt"}})
	if err != nil || res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, "hello") {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := connect(NewCredential()); err == nil {
		t.Error("another launch's credential was accepted")
	}
}

func TestAttackDaemon(t *testing.T) {
	count := attack.Start(t, "machine")
	h := start(t, off{})
	noCredential, anyOrigin, anyHost := start(t, off{guard: true}), start(t, off{origin: true}), start(t, off{host: true})
	for _, a := range []struct {
		name    string
		without *house
		header  []string
	}{
		{"no credential", noCredential, []string{"Authorization", ""}},
		{"a wrong credential", noCredential, []string{"Authorization", "Bearer " + strings.Repeat("0", 64)}},
		{"a part of a credential", noCredential, []string{"Authorization", "Bearer " + h.credential[:63]}},
		{"another scheme", noCredential, []string{"Authorization", "Basic " + h.credential}},
		{"the named page without the credential", noCredential, []string{"Origin", page, "Authorization", ""}},
		{"a page", anyOrigin, []string{"Origin", "https://evil.example"}},
		{"a page of loopback", anyOrigin, []string{"Origin", "http://127.0.0.1:8080"}},
		{"a page without an origin of its own", anyOrigin, []string{"Origin", "null"}},
		{"the named host without TLS", anyOrigin, []string{"Origin", "http://app.example"}},
		{"the named host at another port", anyOrigin, []string{"Origin", page + ":8443"}},
		{"a host that begins like the named one", anyOrigin, []string{"Origin", page + ".evil.example"}},
		{"a host that ends like the named one", anyOrigin, []string{"Origin", "https://evil-app.example"}},
		{"a second origin behind the named one", anyOrigin, []string{"Origin", page, "Origin", "https://evil.example"}},
		{"two origins in one", anyOrigin, []string{"Origin", page + " https://evil.example"}},
		{"a page's request without an origin", anyOrigin, []string{"Sec-Fetch-Site", "cross-site"}},
		{"a name that leads to loopback", anyHost, []string{"Host", "evil.example"}},
		{"such a name, and the named page", anyHost, []string{"Host", "evil.example", "Origin", page}},
		{"a name that begins like loopback", anyHost, []string{"Host", "127.0.0.1.evil.example"}},
	} {
		code, _ := h.do(t, "GET", "/questions", "", a.header...)
		count.Try(a.name, code == 200)
		code, _ = a.without.do(t, "GET", "/questions", "", a.header...)
		count.Off(a.name, code == 200)
		if _, key, _ := strings.Cut(strings.Join(a.header, " "), "Authorization"); key != "" || !strings.Contains(strings.Join(a.header, " "), "Origin") {
			continue
		}
		pre := append([]string{"Access-Control-Request-Method", "PUT", "Access-Control-Request-Private-Network", "true", "Authorization", ""}, a.header...)
		count.Try("before a request, "+a.name, h.preflight(t, pre...))
		count.Off("before a request, "+a.name, a.without.preflight(t, pre...))
	}
	if !h.preflight(t, "Origin", page, "Access-Control-Request-Method", "PUT", "Access-Control-Request-Private-Network", "true", "Authorization", "") {
		t.Error("the named page is not let in")
	}
	if code, _ := h.do(t, "GET", "/questions", "", "Origin", page, "Sec-Fetch-Site", "cross-site"); code != 200 {
		t.Errorf("the named page gets %d", code)
	}
	// A form can't send JSON, and text is not taken for it.
	code, _ := h.do(t, "POST", "/answer", `{"id": "x", "answers": ["once"]}`, "Content-Type", "text/plain")
	count.Try("a body of another type", code == 200 || code == http.StatusConflict)
	// A body has a limit.
	code, _ = h.do(t, "POST", "/chat", `{"text": "`+strings.Repeat("x", maxBody)+`"}`)
	count.Try("a long body", code == 200)
}

func TestAskerEndsWithItsContext(t *testing.T) {
	a := &chat.Asker{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := a.Ask(ctx, sandbox.Prompt{}); done <- err }()
	until.True(t, "the question", func() bool { return len(a.Questions()) == 1 })
	cancel()
	if err := <-done; err == nil || len(a.Questions()) != 0 {
		t.Errorf("%v, %v", err, a.Questions())
	}
}
