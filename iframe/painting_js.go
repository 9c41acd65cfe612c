package iframe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailey-go/bailey/iframe/internal/localpath"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/wire/document"
)

// touched is called on the loop after the conversation changed.
func (im *documentImpl) touched() {
	if im.dirty {
		return
	}
	im.dirty = true
	im.rest()
}

// frameTime is a little more than the duration of a frame at 60 Hz.
const frameTime = 17 * time.Millisecond

// rest arranges for pending changes to be shown, once the last batch has been answered. At most
// one batch is on its way, so a slow frame receives fewer and larger batches. After a pause the
// first text is sent at once, which saves half a frame of waiting. The text after it waits for
// the next animation frame.
func (im *documentImpl) rest() {
	f := im.frame
	if f == nil || f.port == nil || f.seq != f.answered || !im.dirty || im.paint == nil || im.paint.Pending() {
		return
	}
	if f.replayed < 0 && time.Since(im.shownAt) >= frameTime {
		im.show()
		return
	}
	im.paint.Request()
}

// show posts one batch. A new frame first receives the whole content, and then only changes.
func (im *documentImpl) show() {
	f := im.frame
	if f == nil || f.port == nil || f.seq != f.answered {
		return
	}
	b := &im.batch
	b.Reset(f.seq + 1)
	if f.replayed >= 0 {
		if f.replayed == 0 {
			im.dirty = true
			if im.opts.CSS != "" {
				b.CSS(string(im.opts.CSS))
			}
		}
		if f.replayed = im.c.replay(b, f.replayed); f.replayed == -1 {
			f.heard = time.Now()
		}
	} else {
		im.dirty = im.c.paint(b, time.Now)
		if b.Len() == 0 {
			if im.dirty { // a large open block waits for its turn, and only this requests the next frame
				im.paint.Request()
			}
			im.settle()
			return
		}
	}
	im.post(f)
}

func (im *documentImpl) post(f *liveFrame) {
	f.seq++
	im.shownAt = time.Now()
	if blocks, alone := im.c.posted(); len(blocks) > 0 {
		f.last, f.alone = blocks, alone
	}
	text := im.batch.String()
	if im.deadly != "" && strings.Contains(text, im.deadly) {
		text = fmt.Sprintf(`[%d,["no such order"]]`, f.seq)
	}
	if err := f.port.Post(text); err != nil {
		im.lose(f, err)
	}
}

// settle answers the callers of Flush, if everything has been shown.
func (im *documentImpl) settle() {
	f := im.frame
	if len(im.waiters) == 0 || f == nil || f.port == nil || f.seq != f.answered || f.replayed >= 0 || !im.c.idle() {
		return
	}
	for _, w := range im.waiters {
		w <- nil
	}
	im.waiters = nil
}

// heard handles a message from the live frame.
func (im *documentImpl) heard(f *liveFrame, text string) {
	m, err := document.ParseMessage(text)
	if err != nil {
		return
	}
	f.heard, f.silent = time.Now(), 0
	switch m.Kind {
	case "ack":
		if m.Seq != f.seq {
			return
		}
		f.answered = m.Seq
		im.stretch(f, m.Height)
		if !f.shown && f.replayed < 0 {
			f.shown = true
			if f.again {
				im.state(StateRebuilt)
			}
		}
		if f.replayed >= 0 {
			im.show()
			return
		}
		im.rest()
		im.settle()
	case "size":
		im.stretch(f, m.Height)
	case "scroll":
		if f.said.scroll.take(im.rates.scroll, f.heard) {
			im.scrollTo(f, m.Height)
		}
	case "drag":
		f.dragged()
	case "link":
		link, err := linkTo(m.Fields[0], m.Fields[1], m.Fields[2])
		if im.opts.OnLink != nil && err == nil && f.said.link.take(im.rates.link, f.heard) {
			im.calls.start(func(ctx context.Context) { im.opts.OnLink(ctx, link) })
		}
	case "copy", "save", "open", "csv":
		if f.said.copy.take(im.rates.copy, f.heard) {
			im.copy(m.Kind, m.Fields)
		}
	case "image":
		im.image(f, m.Seq, ImageRequest{Section: m.Fields[0], URL: m.Fields[1], Path: localpath.Of(m.Fields[1])})
	case "violation":
		if im.opts.OnViolation != nil && f.said.violation.take(im.rates.violation, f.heard) {
			v := CSPViolation{Directive: m.Fields[0], Blocked: m.Fields[1], Enforced: m.Fields[2] == "enforce", Sample: m.Fields[3]}
			im.calls.start(func(context.Context) { im.opts.OnViolation(v) })
		}
	case "error":
		im.lose(f, errors.New("iframe: the frame's script failed: "+m.Fields[0]))
	}
}

// stretch makes the outer frame as tall as its content.
func (im *documentImpl) stretch(f *liveFrame, height int) {
	if height < 0 {
		return // not laid out yet, a size follows
	}
	clamped := min(height, im.opts.MaxHeight)
	im.mu.Lock()
	before := im.height
	im.height = clamped
	im.mu.Unlock()
	if clamped != before || !f.shown {
		ends := im.ends(clamped > before)
		if style, err := jsx.Get(f.outer, "style"); err == nil {
			_, _ = jsx.Call(style, "setProperty", "height", pixels(max(1, clamped)))
		}
		for _, el := range ends {
			if bottom, err := jsx.GetFinite(el, "scrollHeight"); err == nil {
				_ = jsx.Set(el, "scrollTop", bottom)
			}
		}
	}
	if on := im.opts.OnHeight; on != nil && clamped != before {
		im.calls.inOrder(func(context.Context) { on(clamped) })
	}
	if over := height > im.opts.MaxHeight; over != f.scrolls {
		f.scrolls = over
		im.c.tell(func(b *document.Batch) { b.Overflow(over) })
	}
}

// followWithin is the distance from the end, in CSS pixels, within which Follow takes the user to be there.
const followWithin = 40

// ends returns the elements that scroll the document and are at their end, if Follow is set. It reads the
// places itself and keeps no flag: a scroll event comes after the document has grown again.
func (im *documentImpl) ends(grows bool) (out []jsx.Value) {
	if !im.opts.Follow || !grows {
		return nil
	}
	add := func(el jsx.Value) {
		top, err1 := jsx.GetFinite(el, "scrollTop")
		seen, err2 := jsx.GetFinite(el, "clientHeight")
		all, err3 := jsx.GetFinite(el, "scrollHeight")
		if err1 == nil && err2 == nil && err3 == nil && all-top-seen <= followWithin {
			out = append(out, el)
		}
	}
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return nil
	}
	if el, err := jsx.Get(page, "scrollingElement"); err == nil && !jsx.Nullish(el) {
		add(el)
	}
	for el := im.parent; err == nil && !jsx.Nullish(el); el, err = jsx.Get(el, "parentElement") {
		style, err := jsx.Call(jsx.Global(), "getComputedStyle", el)
		if err != nil {
			break
		}
		if way, _ := jsx.GetString(style, "overflowY", 20); way == "auto" || way == "scroll" {
			add(el)
		}
	}
	return out
}

// scrollTo brings a place inside the frame into view. y is its distance from the top of the
// frame in CSS pixels. The frame can't do this itself: its own document never scrolls, and it
// may not scroll its parents.
func (im *documentImpl) scrollTo(f *liveFrame, y int) {
	style, err := jsx.Get(f.outer, "style")
	if err != nil {
		return
	}
	_, _ = jsx.Call(style, "setProperty", "scroll-margin-top", pixels(-y))
	_, _ = jsx.Call(f.outer, "scrollIntoView", map[string]any{"block": "start"})
	_, _ = jsx.Call(style, "removeProperty", "scroll-margin-top")
}

// beat checks whether the frame is alive. Time in which the page was hidden, or the host itself
// did not run, does not count against the frame.
func (im *documentImpl) beat() {
	now := time.Now()
	late := now.Sub(im.beatAt) > im.opts.Heartbeat*3/2
	im.beatAt = now
	f := im.frame
	if f == nil {
		return
	}
	if connected, err := jsx.GetBool(f.outer, "isConnected"); err == nil && !connected {
		// The frame was removed from the page. If its parent is still in the page, the frame is
		// put back. If the parent is gone too, the app may bring it back later.
		if at, err := jsx.GetBool(im.parent, "isConnected"); err == nil && at {
			im.lose(f, errTakenOut)
		}
		return
	}
	if f.port == nil || im.hidden || late {
		f.silent = 0
		return
	}
	if f.seq != f.answered {
		if f.silent++; f.silent >= silentBeats {
			im.lose(f, errors.New("the frame did not answer"))
		}
		return
	}
	f.silent = 0
	if now.Sub(f.heard) >= im.opts.Heartbeat {
		im.batch.Reset(f.seq + 1)
		im.post(f)
	}
}
