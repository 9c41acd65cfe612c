package gate

import (
	"context"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Request is one call that the user is asked about. All its fields but Key are those of sandbox.Request.
type Request struct {
	Call, Tool         string
	ToolCall           string
	Title, Description string
	Effects            []Effect
	Args               any
	Needs              []policy.Need
	Risk               protocol.Risk
	Destroys           bool
	Untrusted          bool
	Reason             string
	Diff               string
	Session, Agent     string
	App                string
	Patterns           []string
	Once               bool
	Unified            bool
	Key                string // of [Gate.Confirm]: a rejection holds for all requests with this key. Empty is the title
}

// Reply is the user's answer to a request, with the fields of sandbox.Reply. The zero Reply is a
// rejection.
type Reply struct {
	Answer  policy.Answer
	Pattern string
	Reason  string
}

// Ask shows requests to the user and returns one reply for each, in their order. A missing reply is
// a rejection, and an error rejects all requests. It must return when its context ends.
type Ask func(ctx context.Context, requests []Request) ([]Reply, error)

// waiting is a request that waits for its reply.
type waiting struct {
	ctx   context.Context
	r     Request
	reply chan Reply
}

// batcher collects the requests of concurrent calls into one prompt. It shows one prompt at a time.
type batcher struct {
	show     Ask
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
		b.flush()
	}
}

// flush starts a prompt with the waiting requests, unless one is shown already. mu is held.
func (b *batcher) flush() {
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
		b.flush()
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
		var requests []Request
		for _, w := range live {
			r := w.r
			if !b.unmarked {
				r = readable(r)
			}
			requests = append(requests, own(r))
		}
		replies, err := safeAsk(ctx, b.show, requests)
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
	b.flush()
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
func safeAsk(ctx context.Context, ask Ask, requests []Request) (r []Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = nil, protocol.Errorf(protocol.ErrExecution, "ask", "", "the asker panicked: %v", v)
		}
	}()
	return ask(ctx, requests)
}
