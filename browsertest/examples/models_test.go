package examples

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// modelServer is a provider on loopback with the Chat Completions API. The name of the model
// selects its script.
type modelServer struct {
	URL     string
	mu      sync.Mutex
	scripts map[string]*script
}

// script is the output of one model, turn by turn.
type script struct {
	mu    sync.Mutex
	turns []turn
	next  func(chatRequest) turn // in place of turns
	asked []chatRequest
}

// turn is one answer of the model, or a failure.
type turn struct {
	text   string
	thinks string // before the text
	calls  []call
	status int           // not 200: an error, with text as its message
	after  string        // its Retry-After
	cut    bool          // the connection breaks behind the text
	pace   time.Duration // between pieces of 64 bytes
	hold   chan struct{} // waited for in the middle of the text, or before the failure
	input  int           // tokens of the request, 0 for 10
	args   chan struct{} // waited for in the middle of the arguments of the only call
}

type call struct {
	tool string
	args map[string]any
}

type chatRequest struct {
	Model    string
	Effort   string `json:"reasoning_effort"`
	Messages []chatMessage
	Tools    []json.RawMessage
	header   http.Header
	size     int // bytes of the request
}

type chatMessage struct {
	Role    string
	Content string   // its texts
	Files   []string // addresses of its images
}

// UnmarshalJSON implements [json.Unmarshaler]. The content is a text, or a list of parts.
func (m *chatMessage) UnmarshalJSON(data []byte) error {
	var raw struct {
		Role    string
		Content json.RawMessage
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	m.Role = raw.Role
	if len(raw.Content) == 0 {
		return nil
	}
	if raw.Content[0] != '[' {
		return json.Unmarshal(raw.Content, &m.Content)
	}
	var parts []struct {
		Text  string
		Image struct{ URL string } `json:"image_url"`
	}
	if err := json.Unmarshal(raw.Content, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		m.Content += p.Text
		if p.Image.URL != "" {
			m.Files = append(m.Files, p.Image.URL)
		}
	}
	return nil
}

// results returns the tools' results since the user's last message.
func (r chatRequest) results() []string {
	var out []string
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "user"; i-- {
		if r.Messages[i].Role == "tool" {
			out = append([]string{r.Messages[i].Content}, out...)
		}
	}
	return out
}

// latest returns the tools' results since the model's last output.
func (r chatRequest) latest() []string {
	var out []string
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role == "tool"; i-- {
		out = append([]string{r.Messages[i].Content}, out...)
	}
	return out
}

// said returns the user's last message.
func (r chatRequest) said() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].Content
		}
	}
	return ""
}

var models = &modelServer{scripts: map[string]*script{}}

// start serves until stop is called.
func (s *modelServer) start() (stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.URL = "http://" + l.Addr().String()
	server := &http.Server{Handler: s}
	go server.Serve(l)
	return func() { server.Close() }, nil
}

// add gives a model a script. After its last turn the model reports that it is done.
func (s *modelServer) add(name string, turns ...turn) *script {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc := &script{turns: turns}
	s.scripts[name] = sc
	return sc
}

// then adds turns.
func (s *script) then(turns ...turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turns...)
}

// requests returns the requests so far.
func (s *script) requests() []chatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[:len(s.asked):len(s.asked)]
}

func (s *script) answer(r chatRequest) turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	if s.next != nil {
		return s.next(r)
	}
	if len(s.turns) == 0 {
		return turn{text: "(done)"}
	}
	t := s.turns[0]
	s.turns = s.turns[1:]
	return t
}

func (s *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Headers", "authorization, content-type, accept, x-api-key, anthropic-version, anthropic-dangerous-direct-browser-access")
	h.Set("Access-Control-Expose-Headers", "retry-after")
	if r.Method == http.MethodOptions {
		return
	}
	if r.URL.Path == "/v1/models" {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"swift"},{"id":"deep"}]}`)
		return
	}
	var req chatRequest
	body, err := io.ReadAll(r.Body)
	anthropic := r.URL.Path == "/v1/messages"
	if err == nil && anthropic {
		req, err = readAnthropic(body)
	} else if err == nil {
		err = json.Unmarshal(body, &req)
	}
	s.mu.Lock()
	sc := s.scripts[req.Model]
	s.mu.Unlock()
	if err != nil || sc == nil || r.URL.Path != "/v1/chat/completions" && !anthropic {
		http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
		return
	}
	req.header, req.size = r.Header, len(body)
	if t := sc.answer(req); anthropic && t.status == 0 {
		t.writeAnthropic(w, len(req.Messages))
	} else {
		t.write(w, len(req.Messages))
	}
}

// write sends an answer as a stream of events.
func (t turn) write(w http.ResponseWriter, n int) {
	if t.status != 0 {
		if t.hold != nil {
			<-t.hold
		}
		if t.after != "" {
			w.Header().Set("Retry-After", t.after)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(t.status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, t.text)
		return
	}
	out := e2e.NewCompletions(w)
	out.Input = max(t.input, 10)
	if t.thinks != "" {
		out.Delta(map[string]any{"reasoning_content": t.thinks})
	}
	size := len(t.text)
	if t.pace > 0 {
		size = 64
	} else if t.hold != nil {
		size = (len(t.text) + 1) / 2
	}
	for i, rest := 0, t.text; rest != ""; i++ {
		piece := strings.ToValidUTF8(rest[:min(size, len(rest))], "")
		if piece == "" {
			break
		}
		rest = rest[len(piece):]
		out.Delta(map[string]any{"content": piece})
		<-time.After(t.pace) // as a model is slow: the page is looked at meanwhile
		if i == 0 && t.hold != nil {
			<-t.hold
		}
	}
	if t.cut {
		panic(http.ErrAbortHandler)
	}
	var calls []e2e.Called
	for i, c := range t.calls {
		args, _ := json.Marshal(c.args)
		calls = append(calls, e2e.Called{ID: fmt.Sprintf("m%d-%d", n, i), Tool: c.tool, Args: string(args)})
	}
	if t.args != nil {
		part := func(id, tool, text string) {
			out.Delta(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": id, "type": "function", "function": map[string]any{"name": tool, "arguments": text}}}})
		}
		c := calls[0]
		if path, ok := t.calls[0].args["path"]; ok { // first, as in the tool's description
			first, _ := json.Marshal(path)
			rest := maps.Clone(t.calls[0].args)
			delete(rest, "path")
			more, _ := json.Marshal(rest)
			c.Args = `{"path":` + string(first) + "," + string(more[1:])
		}
		part(c.ID, c.Tool, "")
		half := len(c.Args) / 2
		for rest := c.Args[:half]; rest != ""; rest = rest[min(64, len(rest)):] {
			part("", "", rest[:min(64, len(rest))])
		}
		<-t.args
		part("", "", c.Args[half:])
		calls = nil
	}
	out.End(calls, 10)
}

// withModels copies the built examples that ask a model, with headers that let them reach the models.
func withModels(built string) error {
	for _, example := range []string{"assistant", "files", whole} {
		copied := filepath.Join(built, example+"-models")
		if err := copyBuilt(copied, filepath.Join(built, example)); err != nil {
			return err
		}
		file := filepath.Join(copied, "headers.json")
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var use map[string]any
		if err := json.Unmarshal(text, &use); err != nil {
			return err
		}
		use["connect"] = []string{strings.TrimPrefix(models.URL, "http://")}
		if text, err = json.Marshal(use); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// whole is the files example as it is deployed, with its service worker. With -short the page of most tests has none:
// at each first load the worker stores 26 MB for the time without a network, which takes as much of the processor's
// time as all else of the load. make e2e tests all of it with the worker.
const whole = "files-whole"

// withoutWorker makes the copy whole. With -short it takes the service worker out of the example itself.
func withoutWorker(built string) error {
	files := filepath.Join(built, "files")
	if err := copyBuilt(filepath.Join(built, whole), files); err != nil || !testing.Short() {
		return err
	}
	file := filepath.Join(files, "manifest.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var manifest map[string]json.RawMessage
	if err := json.Unmarshal(text, &manifest); err != nil {
		return err
	}
	if manifest["offline"] == nil {
		return fmt.Errorf("%s has no service worker", file)
	}
	delete(manifest, "offline")
	if text, err = json.Marshal(manifest); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// copyBuilt copies a built example. A large file, which no test changes, becomes a link.
func copyBuilt(to, from string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(copied, 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > 1<<20 && os.Link(name, copied) == nil {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(copied, data, 0o644)
	})
}
