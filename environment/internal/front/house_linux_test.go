package front

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/pgtest"
)

// program builds bailey-box once, into a folder that TestMain removes.
var program = sync.OnceValues(func() (string, error) { return boxtest.Program(programDir) })

var programDir string

// The test is also a bailey-box that lies.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "liar" {
		liar(os.Args[2])
		return
	}
	var err error
	if programDir, err = os.MkdirTemp("/tmp", "front-box-"); err == nil {
		err = os.Chmod(programDir, 0o711)
	}
	if err != nil {
		panic(err)
	}
	code := pgtest.Main(m.Run)
	os.RemoveAll(programDir)
	os.Exit(code)
}

const (
	allowed = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`
	asking  = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "fs.read", "action": "allow"}]}`
)

// model is a server of Chat Completions that does what the last message of the user says: "write NAME TEXT" calls the
// tool, "recall" tells all messages of the user, "wait" answers when the test says so, and others are repeated.
type model struct {
	url  string
	came chan struct{} // has a value for each wait that has begun
	goes chan struct{} // lets one go on
}

func newModel(t testing.TB) *model {
	m := &model{came: make(chan struct{}, 100), goes: make(chan struct{}, 100)}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var said []string
	role := ""
	for _, x := range in.Messages {
		if role = x.Role; role != "user" {
			continue
		}
		text, ok := x.Content.(string)
		if !ok {
			b, _ := json.Marshal(x.Content)
			var parts []struct{ Text string }
			_ = json.Unmarshal(b, &parts)
			for _, p := range parts {
				text += p.Text
			}
		}
		said = append(said, text)
	}
	last := said[len(said)-1]
	delta := map[string]any{"content": "you said: " + last}
	reason := "stop"
	switch word, rest, _ := strings.Cut(last, " "); {
	case role == "tool":
		delta["content"] = "the call has ended"
	case word == "write":
		name, text, _ := strings.Cut(rest, " ")
		args, _ := json.Marshal(map[string]any{"path": name, "content": text})
		delta = map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "call-1", "type": "function", "function": map[string]any{"name": "write", "arguments": string(args)}}}}
		reason = "tool_calls"
	case word == "recall":
		delta["content"] = fmt.Sprintf("messages: %q", said)
	case word == "wait":
		m.came <- struct{}{}
		select {
		case <-m.goes:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range []any{map[string]any{"choices": []any{map[string]any{"delta": delta}}}, map[string]any{"choices": []any{map[string]any{"delta": map[string]any{}, "finish_reason": reason}}}} {
		b, _ := json.Marshal(c)
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// place is what the front ends of a test share.
type place struct {
	model *model
	store jobs.Store
	creds map[string]string // by tenant
	list  *Tenants
	rules string
}

func newPlace(t testing.TB) *place {
	t.Helper()
	if err := confine.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	s, err := jobs.Folder(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	p := &place{model: newModel(t), store: s, creds: map[string]string{}, rules: allowed}
	var lines strings.Builder
	for _, tenant := range []string{"acme", "beta"} {
		secret, line, err := NewCredential(tenant)
		if err != nil {
			t.Fatal(err)
		}
		p.creds[tenant] = secret
		lines.WriteString(line + "\n")
	}
	if p.list, err = ParseTenants(strings.NewReader(lines.String())); err != nil {
		t.Fatal(err)
	}
	return p
}

// house is a front end.
type house struct {
	*place
	f    *Front
	url  string
	log  *boxtest.Log
	stop func()
}

// open opens a front end with real boxes.
func (p *place) open(t testing.TB, change func(*Options)) *house {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "front-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "policy.json")
	box, err := program()
	if err = errors.Join(err, os.WriteFile(file, []byte(p.rules), 0o644)); err != nil {
		t.Fatal(err)
	}
	h := &house{place: p, log: &boxtest.Log{}}
	o := Options{Tenants: p.list, Log: slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Rate: 1000, Burst: 1000,
		Jobs: jobs.Options{Box: []string{box, "-policy", file, "-cache", "none", "-model", "test@" + p.model.url + "/v1"}, Dir: dir, Store: p.store, Warm: 1, Env: []string{"BAILEY_KEY=key-of-the-model"}}}
	if change != nil {
		change(&o)
	}
	if h.f, err = New(o); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(h.f)
	server.Config = h.f.Server()
	server.Start()
	h.url = server.URL
	h.stop = sync.OnceFunc(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		if err := h.f.Drain(now); err != nil {
			t.Error(err)
		}
		server.Close()
		if left, _ := filepath.Glob(filepath.Join(dir, "job-*")); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
		os.RemoveAll(dir)
	})
	t.Cleanup(h.stop)
	return h
}

// request sends a request of a tenant. The caller closes the body.
func (p *place) request(t testing.TB, url, tenant, method, path, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.creds[tenant])
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (h *house) do(t testing.TB, tenant, method, path, body string, header ...string) (int, string) {
	t.Helper()
	return h.at(t, h.url, tenant, method, path, body, header...)
}

func (p *place) at(t testing.TB, url, tenant, method, path, body string, header ...string) (int, string) {
	t.Helper()
	resp := p.request(t, url, tenant, method, path, body, header...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func message(text string) string {
	b, _ := json.Marshal(map[string]string{"text": text})
	return string(b)
}

// say sends a message and returns the stream when it has ended.
func (h *house) say(t testing.TB, tenant, id, text string) (int, string) {
	t.Helper()
	return h.do(t, tenant, "POST", "/v1/sessions/"+id+"/messages", message(text))
}

// must is say for a message that is answered.
func (h *house) must(t testing.TB, tenant, id, text string) string {
	t.Helper()
	code, body := h.say(t, tenant, id, text)
	if code != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") || strings.Contains(body, `"type":"error"`) {
		t.Fatalf("%s: %d %s", text, code, body)
	}
	return words(body)
}

// words returns the text of a stream.
func words(stream string) string {
	var out strings.Builder
	for line := range strings.Lines(stream) {
		var e struct{ Delta string }
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &e) == nil {
			out.WriteString(e.Delta)
		}
	}
	return out.String()
}

// events reads a stream up to an event of a type, and returns its data and its id.
func events(t testing.TB, r *bufio.Reader, kind string) (data, id string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("no event %s: %v", kind, err)
		}
		if text, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(text)
		}
		if text, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(text, `"type":"`+kind+`"`) {
			return text, id
		}
	}
}
