package iframe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/wire/document"
)

const (
	// helloGrace is how long a loaded frame may take to send its hello. Its script runs before
	// its load event, so the message should already be on its way.
	helloGrace = 2 * time.Second
	// silentBeats is the number of unanswered heartbeats after which the frame counts as lost.
	silentBeats = 3
	// More than maxRebuilds losses within rebuildWindow end a document. Another frame would
	// soon be lost as well.
	maxRebuilds   = 5
	rebuildWindow = time.Minute
)

// documentImpl has one goroutine, the loop, that owns all fields below mu. Callbacks and other
// goroutines pass functions to it through the queue.
type documentImpl struct {
	ctx    context.Context // ends with the document
	cancel context.CancelFunc
	queue  *jsx.Queue[func()]
	scope  *jsx.Scope
	done   chan struct{} // closed when the loop has ended
	parent jsx.Value
	opts   DocumentOptions
	c      *conversation
	page   frame.DocumentPage
	calls  *caller
	rates  rates

	mu     sync.Mutex
	height int
	err    error

	begun   atomic.Bool // a frame has sent its hello, so the time for warming up is over
	first   chan error  // the outcome of the first frame, nil afterwards
	frame   *liveFrame
	frames  int // made so far: the generation of the next
	losses  []time.Time
	paint   *jsx.Animation
	dirty   bool
	shownAt time.Time // when the last batch was sent
	hidden  bool
	waiters []chan error
	beatAt  time.Time
	batch   document.Batch
	deadly  string // for tests: a batch that contains this text ends the frame's script
}

// liveFrame is one outer frame and its contents.
type liveFrame struct {
	generation int
	scope      *jsx.Scope
	outer      jsx.Value
	dragged    func()    // reports to the page that files are dragged over the frame
	port       *jsx.Port // nil before the hello
	portScope  *jsx.Scope
	seq        int  // the last batch posted
	answered   int  // the last batch answered
	replayed   int  // sections sent since the hello, -1: all
	shown      bool // the first batch was answered
	again      bool // it replaces a lost frame, or was loaded again
	heard      time.Time
	silent     int
	scrolls    bool // the content is taller than MaxHeight
	said       buckets
	taken      int       // messages accepted within the rate
	last       []blockAt // the blocks of the last batch that had any
	alone      bool      // that batch was a single suspect block
}

func newDocument(ctx context.Context, parent Element, opts DocumentOptions) (*Document, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if !jsx.InstanceOf(parent.impl.v, "HTMLElement") {
		return nil, fmt.Errorf("iframe: NewDocument: parent is no element; get one with ElementByID or ElementOf")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if opts.Renderer == nil {
		if opts.Renderer, err = markdown.New(markdown.Options{}); err != nil {
			return nil, err
		}
	}
	d := &Document{opts: opts}
	im := &d.impl
	im.opts = opts
	im.parent = parent.impl.v
	im.page = frame.DocumentPage{Label: opts.Label, Lang: opts.Lang, PolicyName: opts.TrustedTypesPolicy, Opens: opts.OnOpen != nil}
	im.ctx, im.cancel = context.WithCancel(ctx)
	im.queue = jsx.Unbounded[func()]()
	im.scope = jsx.NewScope(jsx.ScopeOptions{})
	im.done = make(chan struct{})
	im.first = make(chan error, 1)
	im.calls = newCaller(im.ctx)
	im.rates = frameRates()
	d.c = newConversation(opts.Renderer, func() { im.do(im.touched) })
	d.c.setTheme(opts.Theme)
	im.c = d.c
	if _, err := im.scope.Add(jsx.Track(jsx.Documents)); err != nil {
		return nil, err
	}
	first := im.first
	go im.loop()
	im.do(im.start)
	im.do(func() { go warm(im.ctx, im.opts.Renderer, &im.begun) })
	timeout := time.NewTimer(opts.ReadyTimeout)
	defer timeout.Stop()
	select {
	case err = <-first:
	case <-timeout.C:
		err = fmt.Errorf("iframe: the frame was not ready after %v: %w", opts.ReadyTimeout, context.DeadlineExceeded)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		im.close()
		return nil, err
	}
	return d, nil
}

// do runs fn on the loop. It never blocks, so callbacks may call it.
func (im *documentImpl) do(fn func()) { _ = im.queue.Push(fn) }

func (im *documentImpl) loop() {
	defer close(im.done)
	for fn, err := range im.queue.All(im.ctx) {
		if err != nil {
			break
		}
		fn()
	}
	im.end()
}

// end releases everything after the loop has stopped.
func (im *documentImpl) end() {
	im.c.close()
	im.dropFrame()
	im.mu.Lock()
	if im.err == nil {
		im.err = ErrClosed
	}
	im.mu.Unlock()
	for _, w := range im.waiters {
		w <- ErrClosed
	}
	_ = im.queue.Close()
	// A Flush that came after the end of the loop is answered here.
	for {
		fn, ok, _ := im.queue.TryRecv()
		if !ok {
			break
		}
		im.waiters = nil
		fn()
		for _, w := range im.waiters {
			w <- ErrClosed
		}
	}
	_ = im.scope.Close()
	im.calls.close()
}

// start makes the first frame, and sets up the rest while the browser loads it.
func (im *documentImpl) start() {
	err := im.build()
	if err == nil {
		err = im.listen()
	}
	if err != nil {
		im.fail(err)
	}
}

func (im *documentImpl) listen() error {
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return err
	}
	look := func(jsx.Value) {
		hidden, err := jsx.GetBool(page, "hidden")
		im.do(func() { im.hidden = err == nil && hidden; im.rest() })
	}
	look(jsx.Value{})
	// A frozen page runs nothing. Messages missed during that time are not the frame's fault.
	for _, event := range []string{"visibilitychange", "freeze", "resume"} {
		if _, err := im.scope.Listen(page, event, look); err != nil {
			return err
		}
	}
	if im.paint, err = im.scope.Animation(func() { im.do(im.show) }); err != nil {
		return err
	}
	_, err = im.scope.Every(im.opts.Heartbeat, func() { im.do(im.beat) })
	return err
}

// fail ends the document with err.
func (im *documentImpl) fail(err error) {
	im.mu.Lock()
	if im.err == nil {
		im.err = err
	}
	im.mu.Unlock()
	if im.first != nil {
		im.first <- err
		im.first = nil
	} else {
		im.state(StateFailed)
	}
	im.cancel()
}

// lose removes a lost frame and builds another.
func (im *documentImpl) lose(f *liveFrame, cause error) {
	if im.frame != f || im.ctx.Err() != nil {
		return
	}
	now := time.Now()
	for len(im.losses) > 0 && now.Sub(im.losses[0]) > rebuildWindow {
		im.losses = im.losses[1:]
	}
	im.losses = append(im.losses, now)
	if !errors.Is(cause, errTakenOut) {
		im.c.accuse(f.last, f.alone)
	}
	im.state(StateLost)
	if len(im.losses) > maxRebuilds {
		im.fail(fmt.Errorf("%w %d times in %v, at last: %w", ErrFrameLost, len(im.losses), rebuildWindow, cause))
		return
	}
	if err := im.build(); err != nil {
		im.fail(errors.Join(ErrFrameLost, err))
	}
}

// errTakenOut is the cause of a loss that the frame's content did not cause.
var errTakenOut = errors.New("the frame was removed from the page")

func (f *liveFrame) close() {
	_ = f.scope.Close()
	_, _ = jsx.Call(f.outer, "remove")
}

func (im *documentImpl) dropFrame() {
	if im.frame != nil {
		im.frame.close()
		im.frame = nil
	}
}

func (im *documentImpl) currentHeight() int {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.height
}

func (im *documentImpl) failure() error {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.err
}

func (im *documentImpl) flush(ctx context.Context) error {
	answer := make(chan error, 1)
	im.do(func() {
		im.waiters = append(im.waiters, answer)
		im.settle()
	})
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-im.done:
		return ErrClosed
	}
}

func (im *documentImpl) close() error {
	im.cancel()
	<-im.done
	return nil
}

// state calls OnState on its own goroutine, in order.
func (im *documentImpl) state(s State) {
	if im.opts.OnState != nil {
		im.calls.inOrder(func(context.Context) { im.opts.OnState(s) })
	}
}
