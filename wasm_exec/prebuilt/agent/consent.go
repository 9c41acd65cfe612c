//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/ui"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

// dialogs are the elements <bailey-consent> of the page that have been asked something. All boxes of the program share them.
type dialogs struct {
	api *page.API

	mu   sync.Mutex
	open []*dialog
}

// dialog is the sheet of one stay of an element in the page. consent.mjs has the other side.
type dialog struct {
	stay  jsx.Value
	scope *jsx.Scope
	sheet *ui.Sheet
	here  context.Context // ends when the element leaves the page
	turn  chan struct{}   // full while a question is shown
	now   atomic.Pointer[asking]
}

// asking is the question that a dialog shows.
type asking struct {
	box     *theBox
	session string
}

var (
	errLeft  = errors.New("the <bailey-consent> was removed from the page during the question")
	errOther = errors.New("the <bailey-consent> shows the questions of another program: call load() once, and share its result")
)

// of returns the dialog of a stay, which is made for the first question.
func (d *dialogs) of(stay jsx.Value) (*dialog, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.open {
		if one.stay.Equal(stay) {
			return one, nil
		}
	}
	if jsx.Has(stay, "update") {
		return nil, errOther
	}
	element, err := jsx.Get(stay, "element")
	if err != nil {
		return nil, err
	}
	signal, err := jsx.Get(stay, "signal")
	if err != nil {
		return nil, err
	}
	one := &dialog{stay: stay, turn: make(chan struct{}, 1)}
	if one.scope, err = d.api.Scope().Child(); err != nil {
		return nil, err
	}
	if one.here, _, err = jsx.WithSignal(one.scope.Context(), one.scope, signal); err != nil {
		return nil, errors.Join(err, one.scope.Close())
	}
	one.sheet, err = ui.New(iframe.ElementOf(jsx.ToRaw(element)), ui.Options{Whose: one.whose, OnAsk: one.shown, OnStop: one.stop})
	if err != nil {
		return nil, errors.Join(err, one.scope.Close())
	}
	update, _, err := one.scope.Func(func([]jsx.Value) { one.sheet.ShowWhose() })
	if err == nil {
		err = jsx.Set(stay, "update", update)
	}
	if err != nil {
		return nil, errors.Join(err, one.sheet.Close(), one.scope.Close())
	}
	d.open = append(d.open, one)
	context.AfterFunc(one.here, func() { d.drop(one) })
	return one, nil
}

// drop closes the dialog of an element that has left the page.
func (d *dialogs) drop(one *dialog) {
	d.mu.Lock()
	for i, other := range d.open {
		if other == one {
			d.open = append(d.open[:i], d.open[i+1:]...)
			break
		}
	}
	d.mu.Unlock()
	_, _ = one.sheet.Close(), one.scope.Close()
}

// ask shows a prompt in the dialog of a stay. The prompts of all boxes wait for their turn.
func (d *dialogs) ask(ctx context.Context, box *theBox, stay jsx.Value, p sandbox.Prompt) ([]sandbox.Reply, error) {
	one, err := d.of(stay)
	if err != nil {
		return nil, err
	}
	select {
	case one.turn <- struct{}{}:
	case <-one.here.Done():
		return nil, errLeft
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-one.turn }()
	one.now.Store(&asking{box, p.Requests[0].Session})
	defer one.now.Store(nil)
	replies, err := one.sheet.Ask(ctx, p)
	if one.here.Err() != nil {
		return nil, errLeft
	}
	return replies, err
}

// whose implements Whose by the property whose of the element.
func (d *dialog) whose(session string) string {
	v, err := jsx.Call(d.stay, "whose", session)
	text := ""
	if err == nil && !jsx.Nullish(v) {
		text, err = jsx.String(v, maxReply)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bailey: <bailey-consent>: whose: %v\n", err)
	}
	return text
}

// shown dispatches the event ask.
func (d *dialog) shown(title string) {
	session := ""
	if now := d.now.Load(); now != nil {
		session = now.session
	}
	_, _ = jsx.Call(d.stay, "tell", "ask", map[string]any{"title": title, "session": session})
}

// stop dispatches the event stop. Unless the page prevents it, the run that asks ends.
func (d *dialog) stop() {
	now := d.now.Load()
	if now == nil {
		return
	}
	goes, err := jsx.Call(d.stay, "tell", "stop", map[string]any{"session": now.session})
	if on, bad := jsx.Bool(goes); err == nil && bad == nil && !on {
		return
	}
	const why = "the user pressed stop"
	if s := now.box.openSession(now.session); s != nil {
		s.s.Interrupt(why)
	} else { // a subagent, a call of the page, or a plan
		now.box.halt(why)
	}
}
