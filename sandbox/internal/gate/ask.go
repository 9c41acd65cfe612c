package gate

import (
	"context"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Request is one call that the user is asked about. A window shows Title, the Text of each
// effect that has InTitle false, Risk, Destroys, Untrusted, Agent and Diff, and takes an
// answer only while they are in view: together they say all that the call does.
type Request struct {
	Call string // the call's id
	Tool string // the tool's id
	// Title says the call in one line, to be read behind "May the assistant". It names the
	// effects and has at most 240 characters; a longer one is cut, and whole at the head of Diff.
	Title       string
	Description string // the tool's own; do not trust it if Untrusted is set
	// Effects are all that the call does if the user agrees, in words. The gate makes them out of
	// Needs, so no tool can leave one out; a tool may add others.
	Effects   []Effect
	Args      any
	Needs     []policy.Need
	Risk      protocol.Risk // the highest of the effects', or more
	Destroys  bool          // content is lost; a grant for more than this once needs a pattern
	Untrusted bool          // the tool is an MCP server's, or a folder's
	Reason    string        // why the user is asked
	Diff      string        // the content that would be written, removed, sent or run
	Session   string        // the id of the session
	Agent     string        // the subagent that asks, or empty
	Patterns  []string      // what a grant for the session can be for, narrowest first
}

// Reply is what the person says to a request. The zero Reply is a rejection.
type Reply struct {
	Answer protocol.Answer
	// Pattern is what a grant for the session or the project is for: a path or host
	// pattern. Empty is this very subject.
	Pattern string
	// Reason goes to the model with a rejection.
	Reason string
}

// Prompt is what is shown at once.
type Prompt struct {
	Requests []Request
}

// Asker puts a prompt to the person and returns a reply for each request, in their
// order; missing ones are rejections, and an error is one for all. It must honour
// its context.
type Asker interface {
	Ask(ctx context.Context, p Prompt) ([]Reply, error)
}

// waiting is a request on its way into a prompt.
type waiting struct {
	ctx   context.Context
	r     Request
	reply chan Reply
}

// batcher gathers requests of calls that run at the same time into one prompt, and
// shows one prompt at a time.
type batcher struct {
	asker    Asker
	window   time.Duration
	unmarked bool

	mu      sync.Mutex
	active  int // calls under way that may still ask
	queue   []*waiting
	showing bool
	timer   *time.Timer
	pushed  int // how often the window was begun again
}

// begin counts calls that may ask; end takes one away.
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

// flushIfAllWait shows what waits if nobody could still join. mu is held.
func (b *batcher) flushIfAllWait() {
	if len(b.queue) > 0 && len(b.queue) >= b.active {
		b.show()
	}
}

// show is called with mu held.
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

// ask waits for a person's reply.
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

// maxPushes is how often a window is begun again before a prompt is shown.
const maxPushes = 200

// push begins the window, or begins it again: more seem to be on their way. mu is held.
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
	// Those who came in while the person read do not wait for others again.
	b.show()
}

// whileAny ends when nobody waits for the prompt any more.
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

// safeAsk keeps an asker's panic from ending the program; it is no consent.
func safeAsk(ctx context.Context, a Asker, p Prompt) (r []Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = nil, protocol.Errorf(protocol.ErrExecution, "ask", "", "the asker panicked: %v", v)
		}
	}()
	return a.Ask(ctx, p)
}
