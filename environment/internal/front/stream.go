package front

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/environment/internal/jobs"
)

// Limits of what a job answers.
const (
	maxEvent  = 8 << 20  // bytes of one event
	maxEvents = 32 << 20 // bytes of all events of a run
	maxAnswer = 4 << 20  // bytes of another answer
)

// Errors of jobs. What a job said is not part of them.
var (
	errDied = errors.New("front: the job ended before its run")
	errLie  = errors.New("front: the job answered in another form than that of bailey-box")
)

// run is the work for one message, and its events for whoever reads them.
type run struct {
	n       int // the number of the message
	stopped chan struct{}
	stop    func()

	mu     sync.Mutex
	events [][]byte // each a JSON object
	size   int
	over   bool
	wake   chan struct{} // closed by the next change
}

func newRun(n int) *run {
	r := &run{n: n, stopped: make(chan struct{}), wake: make(chan struct{})}
	r.stop = sync.OnceFunc(func() { close(r.stopped) })
	return r
}

func (r *run) changed() {
	close(r.wake)
	r.wake = make(chan struct{})
}

// add reports whether there was room.
func (r *run) add(event []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size+len(event) > maxEvents {
		return false
	}
	r.size += len(event)
	r.events = append(r.events, event)
	r.changed()
	return true
}

// fail adds an error for the user. It has room always.
func (r *run) fail(text string) {
	event, _ := json.Marshal(map[string]string{"type": "error", "errorText": text})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
	r.changed()
}

func (r *run) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.changed()
}

func (r *run) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// from returns the events from a number on, whether there will be no more, and what is closed when there are.
func (r *run) from(i int) ([][]byte, bool, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[min(i, len(r.events)):], r.over, r.wake
}

// Times of streams to clients.
const (
	writeTime = 30 * time.Second // for one event
	beatTime  = 15 * time.Second // between comments that keep a quiet connection open
)

// stream writes the events of a run from a number on. The run goes on without its readers.
func stream(q *request, r *run, i int) {
	h := q.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Vercel-AI-UI-Message-Stream", "v1")
	h.Set("X-Accel-Buffering", "no")
	c := http.NewResponseController(q.w)
	write := func(format string, args ...any) bool {
		if c.SetWriteDeadline(time.Now().Add(writeTime)) != nil {
			return false
		}
		_, err := fmt.Fprintf(q.w, format, args...)
		return err == nil && c.Flush() == nil
	}
	if !write(": run %d\n\n", r.n) {
		return
	}
	beat := time.NewTicker(beatTime)
	defer beat.Stop()
	for {
		events, over, wake := r.from(i)
		for _, e := range events {
			i++
			if !write("id: %d-%d\ndata: %s\n\n", r.n, i, e) {
				return
			}
		}
		if over {
			write("data: [DONE]\n\n")
			return
		}
		select {
		case <-wake:
		case <-beat.C:
			if !write(":\n\n") {
				return
			}
		case <-q.r.Context().Done():
			return
		}
	}
}

// lastEvent reads the header Last-Event-ID of a run: the number of the events that the client has.
func lastEvent(text string, r *run) (int, bool) {
	n, i, _ := strings.Cut(text, "-")
	message, err := strconv.Atoi(n)
	events, err2 := strconv.Atoi(i)
	return events, err == nil && err2 == nil && message == r.n && events >= 0
}

// box is a client of a job's bailey-box.
type box struct {
	j   *jobs.Job
	web http.Client
}

func boxOf(j *jobs.Job) *box {
	return &box{j, http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return j.Dial(ctx) },
			DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (b *box) do(ctx context.Context, method, path string, in any) (*http.Response, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://bailey-box"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+b.j.Credential)
	return b.web.Do(r)
}

// ask sends a request that has a short answer.
func (b *box) ask(ctx context.Context, method, path string, in, out any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	resp, err := b.do(ctx, method, path, in)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDied, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDied, err)
	}
	if resp.StatusCode == http.StatusOK && (len(text) > maxAnswer || json.Unmarshal(text, out) != nil) {
		return 0, errLie
	}
	return resp.StatusCode, nil
}

var eventType = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// chat sends a message to the job and adds the events of its run to r. It returns nil when the stream was complete.
func (b *box) chat(ctx context.Context, text string, r *run, unchecked bool) error {
	resp, err := b.do(ctx, http.MethodPost, "/chat", map[string]string{"text": text})
	if err != nil {
		return fmt.Errorf("%w: %w", errDied, err)
	}
	defer resp.Body.Close()
	if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		return errLie
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	full, done := false, false
	for lines.Scan() {
		line := lines.Text()
		data, ok := strings.CutPrefix(line, "data: ")
		switch {
		case line == "":
			continue
		case unchecked:
			r.add([]byte(strings.TrimPrefix(line, "data: ")))
			continue
		case !ok:
			return errLie
		case data == "[DONE]":
			done = true // the job takes the next message when its answer has ended
			continue
		case done:
			return errLie
		}
		event, ok := checked(data)
		if !ok {
			return errLie
		}
		if !full && !r.add(event) {
			full = true
			r.fail(fmt.Sprintf("The run was stopped: its messages have more than %d MiB. Its work is stored.", maxEvents>>20))
			r.stop()
		}
	}
	switch {
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return errLie
	case !done || lines.Err() != nil:
		return errDied
	}
	return nil
}

// checked returns an event in one line. It is an object with a type.
func checked(data string) ([]byte, bool) {
	var head struct {
		Type string `json:"type"`
	}
	if !strings.HasPrefix(data, "{") || json.Unmarshal([]byte(data), &head) != nil || !eventType.MatchString(head.Type) {
		return nil, false
	}
	var out bytes.Buffer
	if json.Compact(&out, []byte(data)) != nil {
		return nil, false
	}
	return out.Bytes(), true
}
