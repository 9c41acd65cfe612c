package gate

import (
	"context"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Request is one call that the user is asked about. A window shows Title, the Text of each effect
// that has InTitle false, Risk, Destroys, Untrusted, Agent and Diff. Together they describe
// everything that the call does. The window accepts an answer only while they are in view.
type Request struct {
	Call string // the call's id
	Tool string // the tool's id
	// Title describes the call in one line, to be read after "May the assistant". It names the
	// effects and has at most 240 characters. A longer title is cut, and is complete at the
	// beginning of Diff.
	Title       string
	Description string // the tool's own text; don't trust it if Untrusted is set
	// Effects are all effects of the call if the user agrees. The gate derives them from Needs, so
	// a tool can't omit one. A tool may add others.
	Effects   []Effect
	Args      any           // the call's arguments, a copy
	Needs     []policy.Need // the permissions that the call needs
	Risk      protocol.Risk // the highest risk of the effects, or a higher one
	Destroys  bool          // content is lost; a grant beyond this call needs a pattern
	Untrusted bool          // the tool is from an MCP server, or a skill from a folder
	Reason    string        // why the user is asked
	Diff      string        // the content that would be written, removed, sent or run
	Session   string        // the id of the session
	Agent     string        // the subagent that makes the call, or empty
	Patterns  []string      // suggested patterns for a grant, narrowest first
}

// Reply is the user's answer to a request. The zero Reply is a rejection.
type Reply struct {
	Answer protocol.Answer // such as protocol.AnswerOnce
	// Pattern is the pattern of a grant for the session or the project: a path or host pattern.
	// Empty is exactly the subject of the request.
	Pattern string
	// Reason is sent to the model with a rejection.
	Reason string
}

// Prompt is the list of requests that are shown at the same time.
type Prompt struct {
	Requests []Request
}

// An Asker shows a prompt to the user and returns one reply for each request, in the order of the
// requests. A missing reply is a rejection, and an error rejects all requests. Ask must return when
// its context ends.
type Asker interface {
	Ask(ctx context.Context, p Prompt) ([]Reply, error)
}

// waiting is a request that waits for its reply.
type waiting struct {
	ctx   context.Context
	r     Request
	reply chan Reply
}

// batcher collects the requests of concurrent calls into one prompt. It shows one prompt at a time.
type batcher struct {
	asker    Asker
	window   time.Duration
	unmarked bool

	mu      sync.Mutex
	active  int // running calls that may still ask
	queue   []*waiting
	showing bool
	timer   *time.Timer
	pushed  int // the number of restarts of the window
}

// begin adds calls that may ask. The method end removes one.
func (b *batcher) begin(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active += n
}

func (b *batcher) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active--
	b.flushIfAllWait()
}

// flushIfAllWait shows the waiting requests if all running calls wait. mu is held.
func (b *batcher) flushIfAllWait() {
	if len(b.queue) > 0 && len(b.queue) >= b.active {
		b.show()
	}
}

// show starts a prompt with the waiting requests, unless one is shown already. mu is held.
func (b *batcher) show() {
	if b.showing || len(b.queue) == 0 {
		return
	}
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.pushed = 0
	batch := b.queue
	b.queue, b.showing = nil, true
	go b.prompt(batch)
}

// ask queues a request and waits for the user's reply.
func (b *batcher) ask(ctx context.Context, r Request) (Reply, error) {
	w := &waiting{ctx, r, make(chan Reply, 1)}
	b.mu.Lock()
	b.queue = append(b.queue, w)
	b.push()
	b.flushIfAllWait()
	b.mu.Unlock()
	select {
	case reply := <-w.reply:
		return reply, nil
	case <-ctx.Done():
		return Reply{}, context.Cause(ctx)
	}
}

// maxPushes is the number of restarts of a window after which the prompt is shown.
const maxPushes = 200

// push starts or restarts the window, because more requests may follow. mu is held.
func (b *batcher) push() {
	if b.showing || b.pushed > maxPushes {
		return
	}
	b.pushed++
	if b.timer != nil {
		b.timer.Reset(b.window)
		return
	}
	b.timer = time.AfterFunc(b.window, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.timer = nil
		b.show()
	})
}

func (b *batcher) prompt(batch []*waiting) {
	live := batch[:0]
	for _, w := range batch {
		if w.ctx.Err() == nil {
			live = append(live, w)
		}
	}
	if len(live) > 0 {
		ctx, cancel := whileAny(live)
		p := Prompt{}
		for _, w := range live {
			r := w.r
			if !b.unmarked {
				r = readable(r)
			}
			p.Requests = append(p.Requests, own(r))
		}
		replies, err := safeAsk(ctx, b.asker, p)
		cancel()
		for i, w := range live {
			var r Reply
			switch {
			case err != nil:
				r.Reason = "the question was not answered"
			case i < len(replies):
				r = replies[i]
			}
			w.reply <- r
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.showing = false
	// Requests that arrived during the prompt don't wait for another window.
	b.show()
}

// whileAny returns a context that ends when all requests of the prompt have ended.
func whileAny(list []*waiting) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(list[0].ctx))
	var mu sync.Mutex
	left := len(list)
	var stops []func() bool
	for _, w := range list {
		stops = append(stops, context.AfterFunc(w.ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// safeAsk calls the asker and returns a panic as an error, so that it is a rejection and does not
// end the program.
func safeAsk(ctx context.Context, a Asker, p Prompt) (r []Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = nil, protocol.Errorf(protocol.ErrExecution, "ask", "", "the asker panicked: %v", v)
		}
	}()
	return a.Ask(ctx, p)
}
