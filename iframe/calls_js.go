package iframe

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/wire/document"
)

// maxCalls is the number of calls into the app that may be active at once, and maxWaiting the
// number of further calls that may wait. Calls above that are dropped, so a frame can't flood
// the app.
const (
	maxCalls   = 8
	maxWaiting = 1000
)

// caller runs the app's functions on their own goroutines.
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

// start runs fn when fewer than maxCalls calls are active. It returns false if the queue is
// full or the caller is closed.
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

// inOrder runs fn after the functions that earlier calls of inOrder added.
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

// copy hands a code block or table to the app, to be copied or saved. Its text is from the host's own HTML.
func (im *documentImpl) copy(kind string, at []string) {
	key, _ := strconv.Atoi(at[1])
	n, _ := strconv.Atoi(at[2])
	text, lang, ok := im.c.code(at[0], key, n, kind == "csv")
	if !ok {
		return
	}
	to, done := im.opts.OnCopy, "Copied"
	if to == nil {
		to = toClipboard
	}
	if kind == "save" || kind == "open" {
		save := im.opts.OnSave
		if done = "Saved"; kind == "open" {
			save, done = im.opts.OnOpen, "Opened"
		} else if save == nil {
			save = toFile
		}
		if save == nil {
			return // no button asks for it
		}
		to = func(ctx context.Context, text string) error { return save(ctx, fileName(lang), text) }
	}
	where := kind + "\x1f" + strings.Join(at, "\x1f")
	im.calls.start(func(ctx context.Context) {
		word := done
		if err := to(ctx, text); err != nil {
			word = "Not " + strings.ToLower(done)
		}
		im.c.tell(func(b *document.Batch) { b.Copied(where, word) })
	})
}

// toFile has the browser save a file.
func toFile(_ context.Context, name, text string) error {
	blob, err := jsx.NewGlobal("Blob", []any{text}, map[string]any{"type": "text/plain;charset=utf-8"})
	if err != nil {
		return err
	}
	return saveBlob(blob, name)
}

func saveBlob(blob jsx.Value, name string) error {
	addresses, err := jsx.Get(jsx.Global(), "URL")
	if err != nil {
		return err
	}
	address, err := jsx.Call(addresses, "createObjectURL", blob)
	if err != nil {
		return err
	}
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return err
	}
	link, err := jsx.Call(page, "createElement", "a")
	if err != nil {
		return err
	}
	for _, a := range [][2]any{{"href", address}, {"download", name}} {
		if _, err := jsx.Call(link, "setAttribute", a[0], a[1]); err != nil {
			return err
		}
	}
	_, err = jsx.Call(link, "click")
	// The browser has read the address when click returns, and keeps the data until it is saved.
	_, _ = jsx.Call(addresses, "revokeObjectURL", address)
	return err
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

// image requests an image from the app and sends it to the frame that asked for it.
func (im *documentImpl) image(f *liveFrame, request int, r ImageRequest) {
	of := f.port
	answer := func(url, state string) {
		im.do(func() {
			if im.frame == f && f.port == of {
				im.c.tell(func(b *document.Batch) { b.Image(request, url, state) })
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
