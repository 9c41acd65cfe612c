package iframe

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
)

// maxCalls is how many calls into the app may be under way at once, and
// maxWaiting how many more may wait. What is over is dropped: a frame can't
// flood the app.
const (
	maxCalls   = 8
	maxWaiting = 1000
)

// caller runs the app's functions on goroutines of their own.
type caller struct {
	ctx     context.Context
	mu      sync.Mutex
	running int
	waiting []func(context.Context)
	ordered []func(context.Context)
	pumping bool
	closed  bool
}

func newCaller(ctx context.Context) *caller { return &caller{ctx: ctx} }

// start runs fn as soon as there is room; it reports false if there is not even
// room to wait.
func (c *caller) start(fn func(context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed || len(c.waiting) >= maxWaiting:
		return false
	case c.running >= maxCalls:
		c.waiting = append(c.waiting, fn)
	default:
		c.running++
		go c.run(fn)
	}
	return true
}

func (c *caller) run(fn func(context.Context)) {
	for fn != nil {
		fn(c.ctx)
		c.mu.Lock()
		fn = nil
		if len(c.waiting) > 0 && !c.closed {
			fn, c.waiting = c.waiting[0], c.waiting[1:]
		} else {
			c.running--
		}
		c.mu.Unlock()
	}
}

// inOrder runs fn behind those given to inOrder before.
func (c *caller) inOrder(fn func(context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ordered = append(c.ordered, fn)
	if c.pumping {
		return
	}
	c.pumping = true
	go func() {
		for {
			c.mu.Lock()
			if len(c.ordered) == 0 {
				c.pumping = false
				c.mu.Unlock()
				return
			}
			next := c.ordered[0]
			c.ordered = c.ordered[1:]
			c.mu.Unlock()
			next(c.ctx)
		}
	}()
}

func (c *caller) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.waiting = true, nil
}

// copy hands a code block's text, as the host wrote it, to the clipboard.
func (im *documentImpl) copy(f *liveFrame, at []string) {
	key, _ := strconv.Atoi(at[1])
	n, _ := strconv.Atoi(at[2])
	text, ok := im.c.code(at[0], key, n)
	if !ok {
		return
	}
	to := im.opts.OnCopy
	if to == nil {
		to = toClipboard
	}
	where := strings.Join(at, "\x1f")
	im.calls.start(func(ctx context.Context) {
		word := "Copied"
		if err := to(ctx, text); err != nil {
			word = "Not copied"
		}
		im.c.tell(func(b *frame.Batch) { b.Copied(where, word) })
	})
}

func toClipboard(ctx context.Context, text string) error {
	clipboard, err := jsx.Lookup(jsx.Global(), "navigator.clipboard")
	if err != nil {
		return err
	}
	if jsx.Nullish(clipboard) {
		return errors.New("iframe: no clipboard here: it needs a secure context")
	}
	_, err = jsx.CallAwait(ctx, clipboard, "writeText", text)
	return err
}

// image asks the app for an image and hands it to the frame that asked.
func (im *documentImpl) image(f *liveFrame, request int, r ImageRequest) {
	of := f.port
	answer := func(url, state string) {
		im.do(func() {
			if im.frame == f && f.port == of {
				im.c.tell(func(b *frame.Batch) { b.Image(request, url, state) })
			}
		})
	}
	if im.opts.OnImage == nil {
		answer("", "refused")
		return
	}
	ok := im.calls.start(func(ctx context.Context) {
		data, err := im.opts.OnImage(ctx, r)
		url := ""
		if err == nil {
			url, err = imageURL(data, im.opts.MaxImage)
		}
		if err != nil {
			answer("", "refused")
			return
		}
		answer(url, "shown")
	})
	if !ok {
		answer("", "refused")
	}
}

func pixels(n int) string { return strconv.Itoa(n) + "px" }
