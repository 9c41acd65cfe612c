package boxtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Key is what a [Model] wants as its bearer token.
const Key = "key-of-the-model"

// Model is a server of Chat Completions that does what the last message of the user says: "write NAME TEXT" calls the
// tool, "recall" tells all messages of the user, "wait" answers when the test says so, "half" does so after the first
// word of its answer, and others are repeated.
type Model struct {
	URL  string
	Came chan struct{} // has a value for each wait that has begun
	Goes chan struct{} // lets one go on

	mu    sync.Mutex
	asked map[string]int
}

// NewModel starts a model for a test.
func NewModel(t testing.TB) *Model {
	m := &Model{Came: make(chan struct{}, 100), Goes: make(chan struct{}, 100), asked: map[string]int{}}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	m.URL = s.URL
	return m
}

// Asked returns the number of requests whose last message was this one of the user.
func (m *Model) Asked(text string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[text]
}

// ServeHTTP implements [http.Handler].
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+Key {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": {"message": "wrong key"}}`)
		return
	}
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
	if role == "user" {
		m.mu.Lock()
		m.asked[last]++
		m.mu.Unlock()
	}
	send := func(choices ...any) {
		b, _ := json.Marshal(map[string]any{"choices": choices})
		fmt.Fprintf(w, "data: %s\n\n", b)
		_ = http.NewResponseController(w).Flush()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	delta := map[string]any{"content": "you said: " + last}
	reason := "stop"
	switch word, rest, _ := strings.Cut(last, " "); {
	case role == "tool":
		delta["content"] = "the call has ended"
	case word == "write" || word == "read":
		name, text, _ := strings.Cut(rest, " ")
		in := map[string]any{"path": name}
		if word == "write" {
			in["content"] = text
		}
		args, _ := json.Marshal(in)
		delta = map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "call-1", "type": "function", "function": map[string]any{"name": word, "arguments": string(args)}}}}
		reason = "tool_calls"
	case word == "recall":
		delta["content"] = fmt.Sprintf("messages: %q", said)
	case word == "wait" || word == "half":
		if word == "half" {
			send(map[string]any{"delta": map[string]any{"content": "begun "}})
		}
		m.Came <- struct{}{}
		select {
		case <-m.Goes:
		case <-r.Context().Done():
			return
		}
	}
	send(map[string]any{"delta": delta})
	send(map[string]any{"delta": map[string]any{}, "finish_reason": reason})
	fmt.Fprint(w, "data: [DONE]\n\n")
}
