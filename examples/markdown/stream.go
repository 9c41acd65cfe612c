//go:build js && wasm

package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"syscall/js"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/examples/internal/dom"
)

// stream shows text as a new answer at the chosen speed, in pieces of about a token. It first stops
// the current answer.
func (a *app) stream(title, text string) {
	a.halt()
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	a.stop = cancel
	a.answers++
	section := a.doc.Section("answer-" + strconv.Itoa(a.answers))
	section.SetLabel(title)
	dom.Hide("hint", true)
	dom.Enable("stop", true)
	dom.Enable("clear", true)

	speed, _ := strconv.Atoi(dom.Value("speed"))
	defer follow(speed > 0)()
	start := time.Now()
	dom.Status("Streaming…")
	n, err := io.Copy(section, &model{ctx: ctx, text: text, perSecond: speed, start: start})
	section.Close()
	if flushErr := a.doc.Flush(a.ctx); err == nil {
		err = flushErr
	}
	switch {
	case ctx.Err() != nil:
		dom.Status(fmt.Sprintf("Stopped after %d bytes", n))
	case err != nil:
		dom.Status(err.Error())
	default:
		dom.Status(fmt.Sprintf("%d bytes in %.1f s", n, time.Since(start).Seconds()))
	}
	report(title, section.Report())
	if ctx.Err() == nil {
		dom.Enable("stop", false)
	}
}

// halt stops the current stream. The text so far stays.
func (a *app) halt() {
	if a.stop != nil {
		a.stop()
	}
	dom.Enable("stop", false)
}

func (a *app) clear() {
	a.halt()
	for _, s := range a.doc.Sections() {
		s.Remove()
	}
	clearStopped()
	dom.Hide("hint", false)
	dom.Enable("clear", false)
	dom.Status("")
}

// model is a reader that returns text as a model would send it: tokens of about four bytes at
// perSecond. Late tokens are followed by several at once.
type model struct {
	ctx       context.Context
	text      string
	perSecond int // 0: all at once
	start     time.Time
	given     int // number of tokens returned
}

func (m *model) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	if m.text == "" {
		return 0, io.EOF
	}
	if m.perSecond == 0 {
		n := copy(p, m.text)
		m.text = m.text[n:]
		return n, nil
	}
	due := m.start.Add(time.Duration(m.given) * time.Second / time.Duration(m.perSecond))
	select {
	case <-m.ctx.Done():
		return 0, m.ctx.Err()
	case <-time.After(time.Until(due)):
	}
	m.given++
	n := min(4, len(m.text), len(p))
	for n < len(m.text) && n < len(p) && !utf8.RuneStart(m.text[n]) {
		n++
	}
	copy(p, m.text[:n])
	m.text = m.text[n:]
	return n, nil
}

// follow brings the place of a new answer into view. While it streams, its end stays in view until the user scrolls up. The
// function that it returns ends that.
func follow(streams bool) (end func()) {
	page, box := dom.Document().Get("scrollingElement"), dom.Element("conversation")
	if !streams {
		before := box.Call("getBoundingClientRect").Get("bottom").Float()
		return func() {
			if before > js.Global().Get("innerHeight").Float()*.6 { // otherwise its beginning is in view
				page.Call("scrollBy", 0, before-80)
			}
		}
	}
	toEnd := func() { page.Set("scrollTop", page.Get("scrollHeight")) }
	last := 0.0
	seen := js.FuncOf(func(js.Value, []js.Value) any {
		top := page.Get("scrollTop").Float()
		if top >= last { // otherwise the user scrolled up
			toEnd()
			last = page.Get("scrollTop").Float()
		}
		return nil
	})
	observer := js.Global().Get("ResizeObserver").New(seen)
	observer.Call("observe", box)
	toEnd()
	return func() {
		observer.Call("disconnect")
		seen.Release()
	}
}
