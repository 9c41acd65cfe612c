package front

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

// A session has a folder, a conversation and changes, and is removed with all of it.
func TestSession(t *testing.T) {
	p := newPlace(t)
	h := p.open(t, nil)
	if got := h.must(t, "acme", "a", "hello"); got != "you said: hello" {
		t.Errorf("%q", got)
	}
	h.must(t, "acme", "a", "write d/x.txt one")
	h.must(t, "acme", "a", "write y.txt two")
	if got := h.must(t, "acme", "a", "recall"); !strings.Contains(got, "hello") || !strings.Contains(got, "write y.txt two") {
		t.Errorf("%q", got)
	}
	h.must(t, "acme", "b", "hello")
	h.must(t, "beta", "a", "other")
	if _, text := h.do(t, "acme", "GET", "/v1/sessions", ""); strings.TrimSpace(text) != `{"sessions":[{"id":"a"},{"id":"b"}]}` {
		t.Errorf("%s", text)
	}
	var shown struct {
		Entries  int
		Messages []said
	}
	if _, text := h.do(t, "acme", "GET", "/v1/sessions/a", ""); json.Unmarshal([]byte(text), &shown) != nil || len(shown.Messages) != 4 || shown.Messages[2] != (said{5, "write y.txt two", "done"}) {
		t.Errorf("%s", text)
	}
	var diff struct {
		From, To int
		Files    []change
	}
	if _, text := h.do(t, "acme", "GET", "/v1/sessions/a/changes", ""); json.Unmarshal([]byte(text), &diff) != nil || len(diff.Files) != 2 || diff.Files[0].Path != "d/x.txt" || diff.Files[0].Change != "added" || !strings.Contains(diff.Files[0].Diff, "+one") {
		t.Errorf("%s", text)
	}
	h.must(t, "acme", "a", "write y.txt three")
	if _, text := h.do(t, "acme", "GET", fmt.Sprintf("/v1/sessions/a/changes?from=%d", shown.Entries), ""); json.Unmarshal([]byte(text), &diff) != nil || len(diff.Files) != 1 || diff.Files[0].Change != "modified" || !strings.Contains(diff.Files[0].Diff, "-two\n") {
		t.Errorf("%s", text)
	}
	for path, want := range map[string]string{"y.txt": "three", "d/x.txt": "one", fmt.Sprintf("y.txt?at=%d", shown.Entries): "two"} {
		if code, text := h.do(t, "acme", "GET", "/v1/sessions/a/files/"+path, ""); code != 200 || text != want {
			t.Errorf("%s: %d %q", path, code, text)
		}
	}
	for _, path := range []string{"/v1/sessions/a/files/none", "/v1/sessions/none", "/v1/sessions/none/changes", "/v1/sessions/a/changes?from=0", "/v1/sessions/a/changes?to=1000"} {
		if code, text := h.do(t, "acme", "GET", path, ""); code != 404 && code != 400 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	for range 2 {
		if code, text := h.do(t, "acme", "DELETE", "/v1/sessions/a", ""); code != http.StatusNoContent {
			t.Errorf("%d %s", code, text)
		}
	}
	if code, _ := h.do(t, "acme", "GET", "/v1/sessions/a", ""); code != 404 {
		t.Errorf("%d", code)
	}
	if got := h.must(t, "acme", "a", "recall"); strings.Contains(got, "hello") {
		t.Errorf("a new session knows the deleted one: %q", got)
	}
	if got := h.must(t, "beta", "a", "recall"); got != `messages: ["other" "recall"]` {
		t.Errorf("%q", got)
	}
}

// A question comes over the stream, and a second request answers it. A reader that left comes back.
func TestQuestionAndReconnect(t *testing.T) {
	p := newPlace(t)
	p.rules = asking
	h := p.open(t, nil)
	first := h.request(t, h.url, "acme", "POST", "/v1/sessions/a/messages", message("write x.txt one"))
	data, id := events(t, bufio.NewReader(first.Body), "data-question")
	first.Body.Close() // the run goes on
	var q struct {
		ID   string
		Data struct {
			Requests []struct{ Title, ToolCallID string }
		}
	}
	if json.Unmarshal([]byte(data), &q) != nil || len(q.Data.Requests) != 1 || !strings.Contains(q.Data.Requests[0].Title, "x.txt") || q.Data.Requests[0].ToolCallID == "" {
		t.Fatalf("%s", data)
	}
	if _, text := h.do(t, "acme", "GET", "/v1/sessions/a/questions", ""); !strings.Contains(text, q.ID) {
		t.Errorf("%s", text)
	}
	if code, text := h.say(t, "acme", "a", "more"); code != http.StatusConflict {
		t.Errorf("a second run: %d %s", code, text)
	}
	if code, _ := h.do(t, "acme", "DELETE", "/v1/sessions/a", ""); code != http.StatusConflict {
		t.Errorf("deleted during its run: %d", code)
	}
	whole := h.request(t, h.url, "acme", "GET", "/v1/sessions/a/stream", "")
	defer whole.Body.Close()
	rest := h.request(t, h.url, "acme", "GET", "/v1/sessions/a/stream", "", "Last-Event-ID", id)
	defer rest.Body.Close()
	all := bufio.NewReader(whole.Body)
	events(t, all, "data-question")
	for _, bad := range []string{`{"id": "none", "answers": ["once"]}`, `{"id": "` + q.ID + `", "answers": []}`, `{"id": "` + q.ID + `", "answers": ["yes"]}`} {
		if code, text := h.do(t, "acme", "POST", "/v1/sessions/a/answers", bad); code != http.StatusConflict {
			t.Errorf("%s: %d %s", bad, code, text)
		}
	}
	if code, text := h.do(t, "acme", "POST", "/v1/sessions/a/answers", `{"id": "`+q.ID+`", "answers": ["once"]}`); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	events(t, all, "tool-output-available")
	text := bufio.NewReader(rest.Body)
	line, err := text.ReadString('\n')
	for err == nil && !strings.Contains(line, "tool-output-available") {
		if strings.Contains(line, "data-question") {
			t.Error("an event came twice")
		}
		line, err = text.ReadString('\n')
	}
	if err != nil {
		t.Error(err)
	}
	until.True(t, "the run ends", func() bool {
		code, _ := h.do(t, "acme", "GET", "/v1/sessions/a/stream", "")
		return code == http.StatusNoContent
	})
	// A reader that missed the end gets it.
	if code, text := h.do(t, "acme", "GET", "/v1/sessions/a/stream", "", "Last-Event-ID", id); code != 200 || !strings.HasSuffix(text, "[DONE]\n\n") {
		t.Errorf("%d %s", code, text)
	}
	if code, text := h.do(t, "acme", "GET", "/v1/sessions/a/files/x.txt", ""); code != 200 || text != "one" {
		t.Errorf("%d %q", code, text)
	}
}

// A run is stopped, and its session goes on.
func TestStop(t *testing.T) {
	h := newPlace(t).open(t, nil)
	h.must(t, "acme", "a", "write x.txt one")
	r := h.request(t, h.url, "acme", "POST", "/v1/sessions/a/messages", message("wait"))
	defer r.Body.Close()
	<-h.model.came
	if code, text := h.do(t, "acme", "POST", "/v1/sessions/a/stop", ""); code != 200 || !strings.Contains(text, "true") {
		t.Errorf("%d %s", code, text)
	}
	b := bufio.NewReader(r.Body)
	for {
		line, err := b.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "data: [DONE]\n" {
			break
		}
	}
	if got := h.must(t, "acme", "a", "recall"); got != `messages: ["write x.txt one" "wait" "recall"]` {
		t.Errorf("%q", got)
	}
	if code, text := h.do(t, "acme", "POST", "/v1/sessions/a/stop", ""); code != 200 || !strings.Contains(text, "false") {
		t.Errorf("%d %s", code, text)
	}
}

// An idle job is paused, and its session goes on with its files and its conversation.
func TestIdle(t *testing.T) {
	h := newPlace(t).open(t, func(o *Options) { o.Jobs.Idle = time.Millisecond })
	h.must(t, "acme", "a", "write x.txt one")
	until.True(t, "the job is paused", func() bool {
		h.f.mu.Lock()
		defer h.f.mu.Unlock()
		return h.f.taken == 0 && len(h.f.sessions) == 0
	})
	h.must(t, "acme", "a", "write y.txt two")
	if got := h.must(t, "acme", "a", "recall"); got != `messages: ["write x.txt one" "write y.txt two" "recall"]` {
		t.Errorf("%q", got)
	}
	for path, want := range map[string]string{"x.txt": "one", "y.txt": "two"} {
		if _, text := h.do(t, "acme", "GET", "/v1/sessions/a/files/"+path, ""); text != want {
			t.Errorf("%s: %q", path, text)
		}
	}
}

// A tenant has as many runs as it may. Jobs that are idle make room.
func TestLimits(t *testing.T) {
	h := newPlace(t).open(t, func(o *Options) { o.Jobs.PerTenant, o.MaxJobs, o.MaxSessions = 2, 3, 4 })
	begin := func(tenant, id string) {
		r := h.request(t, h.url, tenant, "POST", "/v1/sessions/"+id+"/messages", message("wait"))
		t.Cleanup(func() { r.Body.Close() })
		if r.StatusCode != 200 {
			t.Fatalf("%s of %s: %d", id, tenant, r.StatusCode)
		}
		<-h.model.came
	}
	refused := func(tenant, id string, status int, words string) {
		t.Helper()
		r := h.request(t, h.url, tenant, "POST", "/v1/sessions/"+id+"/messages", message("hello"))
		defer r.Body.Close()
		var out struct{ Error string }
		if err := json.NewDecoder(r.Body).Decode(&out); err != nil || r.StatusCode != status || r.Header.Get("Retry-After") == "" || !strings.Contains(out.Error, words) {
			t.Errorf("%s: %d %+v %v", id, r.StatusCode, out, err)
		}
	}
	h.must(t, "acme", "a", "hello")
	begin("acme", "b")
	begin("acme", "c") // a is paused for it
	refused("acme", "d", http.StatusTooManyRequests, "2 runs of this tenant")
	begin("beta", "a")
	refused("beta", "b", http.StatusServiceUnavailable, "3 jobs run here")
	for range 3 {
		h.model.goes <- struct{}{}
	}
	until.True(t, "the runs end", func() bool {
		code, _ := h.say(t, "acme", "d", "hello")
		return code == 200
	})
	refused("acme", "e", http.StatusTooManyRequests, "4 sessions")
	if got := h.must(t, "acme", "a", "recall"); got != `messages: ["hello" "recall"]` {
		t.Errorf("%q", got)
	}
}

// A job that is killed in its run loses the run and no message.
func TestJobDies(t *testing.T) {
	h := newPlace(t).open(t, nil)
	h.must(t, "acme", "a", "write x.txt one")
	r := h.request(t, h.url, "acme", "POST", "/v1/sessions/a/messages", message("wait"))
	defer r.Body.Close()
	<-h.model.came
	h.f.mu.Lock()
	j := h.f.sessions["acme-a"].job
	h.f.mu.Unlock()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if data, _ := events(t, bufio.NewReader(r.Body), "error"); !strings.Contains(data, "Your message is stored") {
		t.Errorf("%s", data)
	}
	until.True(t, "the session is free", func() bool {
		_, text := h.do(t, "acme", "GET", "/v1/sessions/a", "")
		return strings.Contains(text, `"text":"wait","state":"lost"`)
	})
	if got := h.must(t, "acme", "a", "recall"); got != `messages: ["write x.txt one" "recall"]` {
		t.Errorf("%q", got)
	}
	if _, text := h.do(t, "acme", "GET", "/v1/sessions/a", ""); !strings.Contains(text, `"text":"wait","state":"lost"`) || !strings.Contains(text, `"text":"recall","state":"done"`) {
		t.Errorf("%s", text)
	}
	if _, text := h.do(t, "acme", "GET", "/v1/sessions/a/files/x.txt", ""); text != "one" {
		t.Errorf("%q", text)
	}
}

// A drain stops what does not end, stores everything, and refuses what is new.
func TestDrain(t *testing.T) {
	p := newPlace(t)
	h := p.open(t, nil)
	h.must(t, "acme", "b", "write b.txt idle")
	h.must(t, "acme", "a", "write a.txt one")
	r := h.request(t, h.url, "acme", "POST", "/v1/sessions/a/messages", message("wait"))
	defer r.Body.Close()
	<-h.model.came
	ended := make(chan struct{})
	go func() {
		h.stop()
		close(ended)
	}()
	b := bufio.NewReader(r.Body)
	for {
		line, err := b.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream was cut: %v", err)
		}
		if line == "data: [DONE]\n" {
			break
		}
	}
	<-ended
	next := p.open(t, nil)
	if got := next.must(t, "acme", "a", "recall"); got != `messages: ["write a.txt one" "wait" "recall"]` {
		t.Errorf("%q", got)
	}
	for id, want := range map[string]string{"a": "one", "b": "idle"} {
		if _, text := next.do(t, "acme", "GET", "/v1/sessions/"+id+"/files/"+id+".txt", ""); text != want {
			t.Errorf("%s: %q", id, text)
		}
	}
	next.f.draining.Store(true)
	if code, text := next.say(t, "acme", "a", "hello"); code != http.StatusServiceUnavailable || !strings.Contains(text, "about to end") {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := next.do(t, "", "GET", "/healthz", ""); code != http.StatusServiceUnavailable {
		t.Errorf("%d", code)
	}
}
