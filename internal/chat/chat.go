// Package chat is the part that all servers of conversations over HTTP share: the questions that wait for an answer,
// and a run that is a UI message stream with these questions in it. It authenticates nobody.
package chat

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Asker keeps questions until a client answers them. Its zero value has no questions.
type Asker struct {
	mu      sync.Mutex
	open    map[string]*question
	streams map[*func(Shown)]bool // of the active runs
}

type question struct {
	prompt sandbox.Prompt
	answer chan []sandbox.Reply
}

// Ask waits for the answer of a client.
func (a *Asker) Ask(ctx context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	q := &question{p, make(chan []sandbox.Reply, 1)}
	id := Random(8)
	a.mu.Lock()
	if a.open == nil {
		a.open = map[string]*question{}
	}
	a.open[id] = q
	var watch []func(Shown)
	for f := range a.streams {
		watch = append(watch, *f)
	}
	a.mu.Unlock()
	for _, f := range watch {
		f(show(id, q))
	}
	defer func() {
		a.mu.Lock()
		delete(a.open, id)
		a.mu.Unlock()
	}()
	select {
	case r := <-q.answer:
		return r, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Shown is a question as a client shows it, see [sandbox.Request].
type Shown struct {
	ID       string `json:"id"`
	Requests []View `json:"requests"`
}

// View is what the user must see of one request.
type View struct {
	ToolCall  string   `json:"toolCallId,omitempty"` // as in the stream
	Title     string   `json:"title"`
	Effects   []string `json:"effects"`
	Risk      string   `json:"risk"`
	Reason    string   `json:"reason,omitempty"`
	Diff      string   `json:"diff,omitempty"`
	Unified   bool     `json:"unified,omitempty"`
	Destroys  bool     `json:"destroys,omitempty"`
	Untrusted bool     `json:"untrusted,omitempty"`
	Agent     string   `json:"agent,omitempty"`
	Once      bool     `json:"once,omitempty"`
}

func show(id string, q *question) Shown {
	s := Shown{ID: id}
	for _, r := range q.prompt.Requests {
		v := View{ToolCall: r.ToolCall, Title: r.Title, Risk: string(r.Risk), Reason: r.Reason, Diff: r.Diff, Unified: r.Unified, Destroys: r.Destroys, Untrusted: r.Untrusted, Agent: r.Agent, Once: r.Once}
		for _, e := range r.Effects {
			v.Effects = append(v.Effects, e.Text)
		}
		s.Requests = append(s.Requests, v)
	}
	return s
}

// watch has each question shown to do, until the returned function is called.
func (a *Asker) watch(do func(Shown)) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.streams == nil {
		a.streams = map[*func(Shown)]bool{}
	}
	a.streams[&do] = true
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.streams, &do)
	}
}

// Questions returns the questions that wait.
func (a *Asker) Questions() []Shown {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := []Shown{}
	for id, q := range a.open {
		out = append(out, show(id, q))
	}
	slices.SortFunc(out, func(x, y Shown) int { return strings.Compare(x.ID, y.ID) })
	return out
}

// Reply answers a question. Exactly one valid answer for each request is needed.
func (a *Asker) Reply(id string, answers []policy.Answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.open[id]
	if q == nil {
		return protocol.Errorf(protocol.ErrInvalidParams, "answer", id, "there is no such question; it may have been answered or withdrawn")
	}
	if len(answers) != len(q.prompt.Requests) {
		return protocol.Errorf(protocol.ErrInvalidParams, "answer", id, "the question has %d requests and needs as many answers", len(q.prompt.Requests))
	}
	var out []sandbox.Reply
	for _, x := range answers {
		if !x.Valid() {
			return protocol.Errorf(protocol.ErrInvalidParams, "answer", id, "the answers are once, session, project, reject and never")
		}
		out = append(out, sandbox.Reply{Answer: x})
	}
	delete(a.open, id)
	q.answer <- out
	return nil
}

// Random returns n random bytes in hexadecimal.
func Random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// A Writer writes chunks, as that of package uistream.
type Writer interface {
	Header() (name, value string)
	Write(c sandbox.Chunk) error
	Close() error
}

// Stream runs the model in a session, whose last message is the user's. The response is the run's stream, in which each
// question is a part data-question. If the client goes away, its context ends and so does the run.
func (a *Asker) Stream(ctx context.Context, w http.ResponseWriter, format func(io.Writer) (Writer, error), box *sandbox.Box, s *sandbox.Session, m sandbox.Model, o sandbox.RunOptions) error {
	out, err := format(flushing{w, http.NewResponseController(w)})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set(out.Header())
	var mu sync.Mutex // of out
	over := false
	write := func(c sandbox.Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		if over { // a question of another session came at the end of this run
			return nil
		}
		return out.Write(c)
	}
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}()
	defer a.watch(func(q Shown) { _ = write(sandbox.Chunk{Type: "data-question", ID: q.ID, Data: q}) })()
	if o.Progress == 0 {
		o.Progress = time.Second
	}
	for c, err := range box.Run(ctx, s, m, o) {
		if err != nil {
			c = sandbox.Chunk{Type: "error", ErrorText: protocol.Public(err).Message}
		}
		if write(c) != nil {
			return nil // the client is gone, and the run ends with its context
		}
	}
	mu.Lock()
	defer mu.Unlock()
	_ = out.Close()
	return nil
}

// flushing sends each event at once.
type flushing struct {
	io.Writer
	c *http.ResponseController
}

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err == nil {
		err = f.c.Flush()
	}
	return n, err
}
