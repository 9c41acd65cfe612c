package front

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/models"
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
	<-h.model.Came
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
		<-h.model.Came
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
		h.model.Goes <- struct{}{}
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
	<-h.model.Came
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
	<-h.model.Came
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

// A drain ends a job that does not end its run, and its message is lost and not forgotten.
func TestDrainOfAJobThatStays(t *testing.T) {
	p := newPlace(t)
	h := p.open(t, func(o *Options) {
		o.Jobs.Box, o.StopTime = []string{os.Args[0], "liar", "waits"}, time.Millisecond
	})
	r := h.request(t, h.url, "acme", "POST", "/v1/sessions/a/messages", message("hello"))
	defer r.Body.Close()
	b := bufio.NewReader(r.Body)
	events(t, b, "start")
	ended := make(chan struct{})
	go func() {
		h.stop()
		close(ended)
	}()
	if data, _ := events(t, b, "error"); !strings.Contains(data, "Your message is stored") {
		t.Errorf("%s", data)
	}
	<-ended
	next := p.open(t, nil)
	if _, text := next.do(t, "acme", "GET", "/v1/sessions/a", ""); !strings.Contains(text, `"text":"hello","state":"lost"`) {
		t.Errorf("%s", text)
	}
}

// down is a store that can't be reached for a while.
type down struct {
	jobs.Store
	now atomic.Bool
}

var errDown = errors.New("the store is down")

func (d *down) Put(ctx context.Context, job string, data []byte) (string, error) {
	if d.now.Load() {
		return "", errDown
	}
	return d.Store.Put(ctx, job, data)
}

func (d *down) Append(ctx context.Context, job string, e jobs.Entry) error {
	if d.now.Load() {
		return errDown
	}
	return d.Store.Append(ctx, job, e)
}

func (d *down) Entries(ctx context.Context, job string) ([]jobs.Entry, error) {
	if d.now.Load() {
		return nil, errDown
	}
	return d.Store.Entries(ctx, job)
}

// A drain goes on until the store is back, and stores the work of a run that ended meanwhile. If the store does not come
// back, the drain ends with the number of sessions whose work is lost.
func TestDrainWithoutStore(t *testing.T) {
	for _, back := range []bool{true, false} {
		t.Run(fmt.Sprintf("back %v", back), func(t *testing.T) {
			p := newPlace(t)
			store := &down{Store: p.store}
			h := p.open(t, func(o *Options) { o.Jobs.Store = store })
			h.must(t, "acme", "a", "write a.txt one")
			h.must(t, "acme", "b", "write b.txt idle")
			r := h.request(t, h.url, "acme", "POST", "/v1/sessions/a/messages", message("wait"))
			defer r.Body.Close()
			<-h.model.Came
			store.now.Store(true)
			h.model.Goes <- struct{}{}
			b := bufio.NewReader(r.Body)
			if data, _ := events(t, b, "error"); !strings.Contains(data, "could not be stored yet") {
				t.Errorf("%s", data)
			}
			if _, err := io.Copy(io.Discard, b); err != nil {
				t.Errorf("the stream was cut: %v", err)
			}
			if code, text := h.say(t, "acme", "c", "hello"); code != http.StatusServiceUnavailable || !strings.Contains(text, "can't reach its store") {
				t.Errorf("%d %s", code, text)
			}
			if !back {
				h.f.o.StoreTime = time.Millisecond
			}
			ended := make(chan error)
			go func() { ended <- h.f.Drain(t.Context()) }()
			until.True(t, "it could not be stored", func() bool { return strings.Contains(h.log.String(), "job not stored, it is tried again") })
			if back {
				store.now.Store(false)
			}
			err := <-ended
			store.now.Store(false)
			want := `messages: ["write a.txt one" "wait" "recall"]`
			if back && err != nil {
				t.Error(err)
			}
			if !back {
				// The idle one has nothing that is not stored, but the store could not say so.
				if err == nil || !strings.Contains(err.Error(), "sessions could not be stored") {
					t.Errorf("%v", err)
				}
				want = `messages: ["write a.txt one" "recall"]`
			}
			next := p.open(t, nil)
			if got := next.must(t, "acme", "a", "recall"); got != want {
				t.Errorf("%q", got)
			}
			if _, text := next.do(t, "acme", "GET", "/v1/sessions/a", ""); strings.Contains(text, `"text":"wait","state":"lost"`) == back || !strings.Contains(text, `"text":"wait"`) {
				t.Errorf("%s", text)
			}
			for id, want := range map[string]string{"a": "one", "b": "idle"} {
				if _, text := next.do(t, "acme", "GET", "/v1/sessions/"+id+"/files/"+id+".txt", ""); text != want {
					t.Errorf("%s: %q", id, text)
				}
			}
		})
	}
}

// A client that does not read its stream holds up neither the run nor a drain.
func TestDrainWithAClientThatWaits(t *testing.T) {
	p := newPlace(t)
	h := p.open(t, func(o *Options) { o.Jobs.Box = []string{os.Args[0], "liar", "many events"} })
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := message("hello")
	if _, err := fmt.Fprintf(c, "POST /v1/sessions/a/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", p.creds["acme"], len(body), body); err != nil {
		t.Fatal(err)
	}
	until.True(t, "the run ends", func() bool { return strings.Contains(h.log.String(), `"run ended"`) })
	if err := h.f.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	h.f.mu.Lock()
	open := h.f.gates["acme"].open
	h.f.mu.Unlock()
	if open != 1 {
		t.Errorf("%d requests are open: the client took its stream", open)
	}
	if text := h.log.String(); !strings.Contains(text, `"drain ended","lost":0`) {
		t.Errorf("%s", text)
	}
	// The program of this test has no sessions of its own, so the state of the message can't be seen.
	next := p.open(t, nil)
	if _, text := next.do(t, "acme", "GET", "/v1/sessions/a", ""); !strings.Contains(text, `"entries":2`) || !strings.Contains(text, `"text":"hello"`) {
		t.Errorf("%s", text)
	}
}

// Jobs elsewhere do not reach an address of loopback here, so a front end of such jobs has no model for them.
func TestModelOfJobsElsewhere(t *testing.T) {
	store, err := jobs.Folder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(Options{Jobs: jobs.Options{Store: store}, Tenants: &Tenants{}, Source: struct{ jobs.Source }{}, Model: &models.Options{Model: "m", URL: "https://host.example/v1"}})
	if err == nil || !strings.Contains(err.Error(), "Options.Model") {
		t.Errorf("%v", err)
	}
}
