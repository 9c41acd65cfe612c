package iframe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// endGrace is how long a worker may take to end idly after its result.
const endGrace = 500 * time.Millisecond

// poolImpl is one goroutine, the loop, that owns all fields below mu. What comes
// from callbacks and other goroutines goes through the queue.
type poolImpl struct {
	ctx    context.Context // ends with the pool
	cancel context.CancelFunc
	queue  *jsx.Queue[func()]
	scope  *jsx.Scope
	done   chan struct{} // the loop has ended
	opts   PoolOptions
	page   frame.DomainPage
	ids    *protocol.IDs

	mu    sync.Mutex
	stats PoolStats
	err   error

	first    chan error // the outcome of the first frame; nil afterwards
	outer    *outerFrame
	outers   int
	slots    map[int]*slot
	lastSlot int
	lastGen  int
	waiting  []*run
	kills    []time.Time
	losses   []time.Time
	held     bool // a replacement waits for the end of killDelay
}

// outerFrame is one outer frame and the port of its script.
type outerFrame struct {
	el    jsx.Value
	scope *jsx.Scope
	port  *jsx.Port // nil before the hello
	beat
}

// slot is one inner frame with its broker.
type slot struct {
	id      int
	born    time.Time
	scope   *jsx.Scope
	control *jsx.Port // host ↔ inner frame; nil before its hello
	data    *jsx.Port // host ↔ broker, for one run
	gen     int
	ready   bool // the broker listens and has no run
	ending  bool // its run has ended, its worker perhaps not
	run     *run
	beat

	answers     []string // to calls, not posted yet
	answerBytes int
}

// beat counts pings that stay unanswered.
type beat struct{ sent, silent int }

func (b *beat) pong() { b.silent = 0 }

func (b *beat) next() int {
	b.sent++
	b.silent++
	return b.sent
}

func newPool(ctx context.Context, opts PoolOptions) (*EnclavePool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &EnclavePool{}
	im := &p.impl
	var err error
	if im.ids, err = protocol.NewIDs("run"); err != nil {
		return nil, err
	}
	im.opts = opts
	im.page = frame.DomainPage{PolicyName: opts.TrustedTypesPolicy, Eval: opts.Level.Hardening().Eval}
	im.ctx, im.cancel = context.WithCancel(context.WithoutCancel(ctx))
	im.queue = jsx.Unbounded[func()]()
	im.scope = jsx.NewScope(jsx.ScopeOptions{})
	im.done = make(chan struct{})
	im.first = make(chan error, 1)
	im.slots = map[int]*slot{}
	first := im.first
	go im.loop()
	im.do(im.begin)
	timeout := time.NewTimer(opts.ReadyTimeout)
	defer timeout.Stop()
	select {
	case err = <-first:
	case <-timeout.C:
		err = protocol.Errorf(protocol.ErrSandbox, "enclave", "", "the frames were not ready after %v", opts.ReadyTimeout)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		_ = im.close()
		return nil, err
	}
	return p, nil
}

// do runs fn on the loop. It never blocks, so callbacks may call it.
func (im *poolImpl) do(fn func()) { _ = im.queue.Push(fn) }

func (im *poolImpl) loop() {
	defer close(im.done)
	for fn, err := range im.queue.All(im.ctx) {
		if err != nil {
			break
		}
		fn()
		if im.queue.Len() == 0 {
			for _, s := range im.slots {
				im.flush(s)
			}
		}
	}
	_ = im.queue.Close()
	for { // what came too late to be heard
		fn, ok, _ := im.queue.TryRecv()
		if !ok {
			break
		}
		fn()
	}
	for _, r := range im.waiting {
		im.finish(r, protocol.ErrAborted, "the pool was closed")
	}
	im.waiting = nil
	im.dropOuter(protocol.ErrAborted, "the pool was closed")
	_ = im.scope.Close()
}

func (im *poolImpl) begin() {
	_, err := im.scope.Every(im.opts.Heartbeat, func() { im.do(im.beat) })
	if err == nil {
		err = im.build()
	}
	if err != nil {
		im.fail(err)
	}
}

// fail ends the pool with err.
func (im *poolImpl) fail(err error) {
	im.mu.Lock()
	if im.err == nil {
		im.err = err
	}
	im.mu.Unlock()
	if im.first != nil {
		im.first <- err
		im.first = nil
	}
	for _, r := range im.waiting {
		im.finish(r, protocol.ErrSandbox, err.Error())
	}
	im.waiting = nil
	im.cancel()
}

// build makes the outer frame, which holds the first inner one.
func (im *poolImpl) build() error {
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return err
	}
	if jsx.Nullish(page) {
		return fmt.Errorf("iframe: an enclave needs a page, and this is a worker: %w", errors.ErrUnsupported)
	}
	el, err := jsx.Call(page, "createElement", "iframe")
	if err != nil {
		return err
	}
	for _, a := range [][2]string{
		{"sandbox", frame.Sandbox}, {"allow", frame.Allow}, {"referrerpolicy", "no-referrer"}, {"title", "Sandbox"},
		{"aria-hidden", "true"}, {"tabindex", "-1"}, {"data-bailey", "enclave"},
	} {
		if _, err := jsx.Call(el, "setAttribute", a[0], a[1]); err != nil {
			return err
		}
	}
	style, err := jsx.Get(el, "style")
	if err != nil {
		return err
	}
	for _, p := range [][2]string{{"position", "fixed"}, {"width", "0"}, {"height", "0"}, {"border", "0"}, {"visibility", "hidden"}} {
		if _, err := jsx.Call(style, "setProperty", p[0], p[1]); err != nil {
			return err
		}
	}
	o := &outerFrame{el: el, scope: jsx.NewScope(jsx.ScopeOptions{})}
	if _, err := o.scope.Add(jsx.Track(jsx.Frames)); err != nil {
		return err
	}
	im.outer = o
	im.outers++
	im.lastSlot = 1
	im.slots[1] = im.newSlot(1)
	if _, err := o.scope.Listen(jsx.Global(), "message", func(event jsx.Value) { im.hello(o, event) }); err != nil {
		return err
	}
	if _, err := o.scope.Listen(el, "load", func(jsx.Value) { im.loaded(o) }); err != nil {
		return err
	}
	policy, err := jsx.Trusted(im.opts.TrustedTypesPolicy)
	if err == nil {
		err = policy.SetSrcdoc(el, im.page.Srcdoc())
	}
	if err != nil {
		return err
	}
	body, err := jsx.Get(page, "body")
	if err != nil {
		return err
	}
	if jsx.Nullish(body) {
		return errors.New("iframe: the page has no body yet; make enclaves after it was parsed")
	}
	_, err = jsx.Call(body, "append", el)
	return err
}

// hello believes a message only if its source is the outer frame just made, and
// only the first one. It runs in a callback.
func (im *poolImpl) hello(o *outerFrame, event jsx.Value) {
	if data, err := jsx.Get(event, "data"); err != nil || !isString(data, frame.DomainHello) {
		return
	}
	source, err := jsx.Get(event, "source")
	if err != nil {
		return
	}
	window, err := jsx.Get(o.el, "contentWindow")
	if err != nil || jsx.Nullish(window) || !window.Equal(source) {
		return
	}
	ports, err := jsx.Get(event, "ports")
	if err != nil {
		return
	}
	if n, err := jsx.Length(ports); err != nil || n != 1 {
		return
	}
	port, err := jsx.Index(ports, 0)
	if err != nil {
		return
	}
	im.do(func() { im.attach(o, port) })
}

func (im *poolImpl) attach(o *outerFrame, v jsx.Value) {
	if im.outer != o || o.port != nil {
		return
	}
	port, err := o.scope.Port(v)
	if err != nil {
		return
	}
	o.port = port
	err = port.OnMessage(func(m jsx.Message) {
		word, rest, ok := note(m)
		ports, err := m.Ports()
		if !ok || err != nil {
			return
		}
		im.do(func() {
			if im.outer != o {
				return
			}
			switch word {
			case "pong":
				o.pong()
			case "inner":
				if id, err := strconv.Atoi(rest); err == nil && len(ports) == 1 {
					im.adopt(im.slots[id], ports[0])
				}
			}
		})
	})
	if err != nil {
		im.fail(err)
		return
	}
	im.assign()
}

// note reads a word from a frame. It runs in a callback.
func note(m jsx.Message) (word, rest string, ok bool) {
	s, err := jsx.String(m.Data, frame.MaxNote)
	if err != nil {
		return "", "", false
	}
	return frame.ParseNote(s)
}

// loaded runs in a callback: the frame's parser is done, and its script with it
// unless a policy forbade it.
func (im *poolImpl) loaded(o *outerFrame) {
	_, _ = o.scope.AfterFunc(helloGrace, func() {
		im.do(func() {
			if im.outer != o {
				return
			}
			heard := o.port != nil
			for _, s := range im.slots {
				heard = heard && (s.control != nil || s.id != 1)
			}
			if !heard {
				im.fail(enclaveBlockedError())
			}
		})
	})
}

func enclaveBlockedError() error {
	return fmt.Errorf("%w: srcdoc frames and their workers inherit the page's Content-Security-Policy. Add to script-src: %s; and add: worker-src blob:",
		ErrFrameBlocked, strings.Join(frame.ScriptHashes(), " "))
}

func (im *poolImpl) newSlot(id int) *slot {
	s := &slot{id: id, born: time.Now(), scope: jsx.NewScope(jsx.ScopeOptions{})}
	_, _ = s.scope.Add(jsx.Track(jsx.Frames))
	return s
}

// adopt takes the control port of an inner frame that has said hello.
func (im *poolImpl) adopt(s *slot, v jsx.Value) {
	if s == nil || s.control != nil {
		_, _ = jsx.Call(v, "close")
		return
	}
	port, err := s.scope.Port(v)
	if err != nil {
		return
	}
	s.control = port
	err = port.OnMessage(func(m jsx.Message) {
		word, rest, ok := note(m)
		if !ok || word != "lost" {
			return
		}
		im.do(func() {
			if im.slots[s.id] != s {
				return
			}
			if strings.HasPrefix(rest, "blocked") {
				im.fail(enclaveBlockedError())
				return
			}
			im.loseSlot(s, "its broker failed: "+rest)
		})
	})
	if err == nil {
		err = im.prepare(s)
	}
	if err != nil {
		im.loseSlot(s, err.Error())
	}
}

// prepare gives the broker of s the port for its next run.
func (im *poolImpl) prepare(s *slot) error {
	im.lastGen++
	s.gen, s.ready, s.ending, s.run, s.silent, s.answers = im.lastGen, false, false, nil, 0, nil
	data, far, err := s.scope.Channel()
	if err != nil {
		return err
	}
	s.data = data
	l := im.opts.Limits
	most := l.MessageBytes + l.ConsoleBytes + l.Output + 1<<16
	err = data.OnMessage(func(m jsx.Message) {
		text, err := jsx.String(m.Data, most)
		im.do(func() {
			if im.slots[s.id] != s || s.data != data {
				return
			}
			if err != nil {
				im.stop(s, protocol.ErrSecurityViolation, "the broker sent what is no text, or too long")
				return
			}
			im.heard(s, text)
		})
	})
	if err != nil {
		return err
	}
	return s.control.Post(frame.Note("run", s.gen), far)
}

// assign gives runs that wait to brokers that are ready, and makes more frames
// where there are too few.
func (im *poolImpl) assign() {
	if im.ctx.Err() != nil {
		return
	}
	for _, s := range im.slots {
		for len(im.waiting) > 0 && s.ready {
			r := im.waiting[0]
			im.waiting = im.waiting[1:]
			if !r.over { // else aborted while it waited
				im.beginRun(s, r)
			}
		}
	}
	free := 0
	for _, s := range im.slots {
		if s.run == nil && !s.ending {
			free++
		}
	}
	want := max(im.opts.Spare, len(im.waiting))
	if im.outer == nil || im.outer.port == nil || im.held {
		return
	}
	for ; free < want && len(im.slots) < im.opts.Max; free++ {
		if d := killDelay(time.Now(), im.kills); d > 0 {
			im.held = true
			_, _ = im.scope.AfterFunc(d, func() { im.do(func() { im.held = false; im.addSlot(); im.assign() }) })
			return
		}
		im.addSlot()
	}
}

func (im *poolImpl) addSlot() {
	if im.outer == nil || im.outer.port == nil || len(im.slots) >= im.opts.Max {
		return
	}
	im.lastSlot++
	s := im.newSlot(im.lastSlot)
	im.slots[s.id] = s
	if err := im.outer.port.Post(frame.Note("add", s.id)); err != nil {
		im.loseOuter(err.Error())
	}
}

// kill removes a frame, in the order that leaves no message behind: the data port,
// the workers, the frame. What comes later finds no slot of that number.
func (im *poolImpl) kill(s *slot) {
	if im.slots[s.id] != s {
		return
	}
	delete(im.slots, s.id)
	if s.data != nil {
		_ = s.data.Close()
	}
	if s.control != nil {
		_ = s.control.Post(frame.Note("kill", s.gen))
	}
	if im.outer != nil && im.outer.port != nil {
		_ = im.outer.port.Post(frame.Note("remove", s.id))
	}
	_ = s.scope.Close()
	now := time.Now()
	for len(im.kills) > 0 && now.Sub(im.kills[0]) > killWindow {
		im.kills = im.kills[1:]
	}
	im.kills = append(im.kills, now)
	im.count(func(st *PoolStats) { st.Kills++ })
}

// stop ends a slot's run with an error and its frame with it.
func (im *poolImpl) stop(s *slot, code protocol.Code, why string) {
	im.kill(s)
	if r := s.run; r != nil {
		im.finish(r, code, why)
	}
	im.assign()
}

// loseSlot is stop for a frame that died by itself.
func (im *poolImpl) loseSlot(s *slot, why string) {
	if im.slots[s.id] != s {
		return
	}
	im.count(func(st *PoolStats) { st.Lost++ })
	if im.tooOften(why) {
		return
	}
	im.stop(s, protocol.ErrSandbox, "the sandbox was lost: "+why)
}

func (im *poolImpl) loseOuter(why string) {
	if im.ctx.Err() != nil {
		return
	}
	im.count(func(st *PoolStats) { st.Lost += max(1, len(im.slots)); st.Rebuilt++ })
	im.dropOuter(protocol.ErrSandbox, "the sandbox was lost: "+why)
	if im.tooOften(why) {
		return
	}
	if err := im.build(); err != nil {
		im.fail(err)
	}
}

// tooOften ends a pool whose frames die faster than it makes sense to make them.
func (im *poolImpl) tooOften(why string) bool {
	now := time.Now()
	for len(im.losses) > 0 && now.Sub(im.losses[0]) > rebuildWindow {
		im.losses = im.losses[1:]
	}
	im.losses = append(im.losses, now)
	if len(im.losses) <= 4*maxRebuilds {
		return false
	}
	im.fail(fmt.Errorf("%w %d times in %v, at last: %s", ErrFrameLost, len(im.losses), rebuildWindow, why))
	return true
}

func (im *poolImpl) dropOuter(code protocol.Code, why string) {
	for _, s := range im.slots {
		delete(im.slots, s.id)
		if s.data != nil {
			_ = s.data.Close()
		}
		_ = s.scope.Close()
		if s.run != nil {
			im.finish(s.run, code, why)
		}
	}
	if im.outer != nil {
		_, _ = jsx.Call(im.outer.el, "remove")
		_ = im.outer.scope.Close()
		im.outer = nil
	}
}

// beat asks everything for a sign of life.
func (im *poolImpl) beat() {
	o := im.outer
	if o == nil || o.port == nil {
		return
	}
	if o.silent >= silentBeats {
		im.loseOuter("the outer frame does not answer")
		return
	}
	_ = o.port.Post(frame.Note("ping", o.next()))
	for _, s := range im.slots {
		switch {
		case s.control == nil && time.Since(s.born) > im.opts.ReadyTimeout:
			im.loseSlot(s, "the inner frame was not ready")
		case s.data == nil:
		case s.silent >= silentBeats:
			im.loseSlot(s, "the broker does not answer")
		default:
			ping, err := protocol.EncodeBatch(protocol.Batch{Gen: s.gen, Messages: []protocol.Message{&protocol.MsgPing{N: s.next()}}}, protocol.HostToBroker, protocol.JSONLimits{})
			if err == nil {
				_ = s.data.Post(ping)
			}
		}
	}
}

func (im *poolImpl) count(fn func(*PoolStats)) {
	im.mu.Lock()
	defer im.mu.Unlock()
	fn(&im.stats)
}

func (im *poolImpl) snapshot() PoolStats {
	answer := make(chan PoolStats, 1)
	im.do(func() {
		im.mu.Lock()
		st := im.stats
		im.mu.Unlock()
		st.Frames, st.Waiting = len(im.slots), len(im.waiting)
		for _, s := range im.slots {
			if s.ready {
				st.Ready++
			}
			if s.run != nil {
				st.Busy++
			}
		}
		answer <- st
	})
	select {
	case st := <-answer:
		return st
	case <-im.done:
		im.mu.Lock()
		defer im.mu.Unlock()
		return im.stats
	}
}

func (im *poolImpl) close() error {
	im.cancel()
	<-im.done
	return nil
}
