package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// SetFrozen freezes the page as a browser freezes a background tab, or ends that.
func (p *ChromiumPage) SetFrozen(ctx context.Context, frozen bool) error {
	state := page.SetWebLifecycleStateStateActive
	if frozen {
		state = page.SetWebLifecycleStateStateFrozen
	}
	_, err := cdp.Call(ctx, p.target, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: state})
	if err != nil || frozen {
		return err
	}
	// Freezing hides the page. Neither the end of the freeze nor the activation of the tab, which
	// is active already, shows it. So another tab must come and go.
	show, err := p.cover(ctx)
	if err != nil {
		return err
	}
	return show()
}

// Hide puts another tab before the page, in its window, until the returned function is called.
func (p *ChromiumPage) Hide(ctx context.Context) (show func() error, err error) {
	if show, err = p.cover(ctx); err != nil {
		return nil, err
	}
	return show, p.becomes(ctx, "hidden")
}

// cover puts another tab before the page, and returns a function that closes that tab.
func (p *ChromiumPage) cover(ctx context.Context) (uncover func() error, err error) {
	// A new tab opens in the window that was used last.
	if _, err := cdp.Call(ctx, p.target, page.BringToFront, cdp.Empty{}); err != nil {
		return nil, err
	}
	tab, err := chromedp.CallBrowser(p.ctx, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		return nil, err
	}
	return func() error {
		if _, err := chromedp.CallBrowser(p.ctx, target.CloseTarget, target.CloseTargetParams(tab)); err != nil {
			return err
		}
		if _, err := chromedp.CallBrowser(p.ctx, target.ActivateTarget, target.ActivateTargetParams{TargetID: p.target.TargetID}); err != nil {
			return err
		}
		return p.becomes(p.ctx, "visible")
	}, nil
}

// becomes waits until the page itself has the visibility state. The browser returns from the
// command that changes it before that.
func (p *ChromiumPage) becomes(ctx context.Context, state string) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	for {
		v, err := p.Eval(ctx, "document.visibilityState")
		if err != nil {
			return fmt.Errorf("browser: the page did not become %s: %w", state, err)
		}
		if string(v) == `"`+state+`"` {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Interrupt ends the script that the page is running, however busy it is.
func (p *ChromiumPage) Interrupt(ctx context.Context) error {
	_, err := cdp.Call(ctx, p.target, runtime.TerminateExecution, cdp.Empty{})
	return err
}

// CollectGarbage collects the garbage of the page's JavaScript twice. The second collection finds
// the objects that finalisers of the first have released.
func (p *ChromiumPage) CollectGarbage(ctx context.Context) error {
	for range 2 {
		if _, err := cdp.Call(ctx, p.target, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			return err
		}
	}
	return nil
}

// Counts are the objects of a page, after a garbage collection.
type Counts struct {
	HeapUsed  int64
	Documents int
	Nodes     int
	Listeners int
	Frames    int
	Workers   int
	Targets   int
}

// Count collects garbage, and returns the counts of the page. Targets is the count of the whole
// browser.
func (p *ChromiumPage) Count(ctx context.Context, b *ChromiumBrowser) (Counts, error) {
	var c Counts
	if err := p.CollectGarbage(ctx); err != nil {
		return c, err
	}
	h, err := cdp.Call(ctx, p.target, runtime.GetHeapUsage, cdp.Empty{})
	if err != nil {
		return c, err
	}
	d, err := cdp.Call(ctx, p.target, memory.GetDOMCounters, cdp.Empty{})
	if err != nil {
		return c, err
	}
	c.HeapUsed, c.Documents, c.Nodes, c.Listeners = int64(h.UsedSize), int(d.Documents), int(d.Nodes), int(d.JsEventListeners)
	list, err := b.targets(ctx)
	if err != nil {
		return c, err
	}
	c.Targets = len(list)
	frames, err := p.Frames(ctx, b)
	if err != nil {
		return c, err
	}
	c.Frames = len(frames) - 1
	own := map[string]bool{}
	for _, f := range frames {
		own[f.ID] = true
	}
	for _, t := range list {
		if t.Type == "worker" && own[string(t.ParentFrameID)] {
			c.Workers++
		}
	}
	return c, nil
}

// attached calls f with a chromedp context that is attached to a target.
func (b *ChromiumBrowser) attached(ctx context.Context, id string, f func(context.Context) error) error {
	tctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(target.ID(id)), chromedp.WithDetachOnCancel())
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	if err := chromedp.Do(tctx); err != nil {
		return fmt.Errorf("browser: attaching to target %s: %w", id, err)
	}
	return f(tctx)
}

// Target is something that the DevTools protocol can attach to, such as a page or a worker.
type Target struct{ ID, Type, URL, Title string }

// targets returns the targets that belong to pages. Those of the browser's own interface are left
// out.
func (b *ChromiumBrowser) targets(ctx context.Context) ([]*target.Info, error) {
	var r target.GetTargetsResult
	if err := b.Call(ctx, target.GetTargets.Method, target.GetTargetsParams{}, &r); err != nil {
		return nil, err
	}
	var list []*target.Info
	for _, t := range r.TargetInfos {
		switch t.Type {
		case "page", "iframe", "worker", "shared_worker", "service_worker":
			list = append(list, t)
		}
	}
	return list, nil
}

// Targets returns the pages, the frames with a process of their own, and the workers.
func (b *ChromiumBrowser) Targets(ctx context.Context) ([]Target, error) {
	infos, err := b.targets(ctx)
	list := []Target{}
	for _, t := range infos {
		list = append(list, Target{string(t.TargetID), string(t.Type), t.URL, t.Title})
	}
	return list, err
}

// Crash ends the renderer process of a target, and returns when it has ended.
func (b *ChromiumBrowser) Crash(ctx context.Context, id string) error {
	return b.attached(ctx, id, func(tctx context.Context) error { return crash(ctx, chromedp.FromContext(tctx).Target) })
}

// Crash ends the page's renderer process, and returns when it has ended.
func (p *ChromiumPage) Crash(ctx context.Context) error { return crash(ctx, p.target) }

// crash returns when the target is gone: by the command, or because it went away on its own before.
func crash(ctx context.Context, s cdp.Session) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	gone, stop := s.Subscribe("Inspector.targetCrashed")
	defer stop()
	refused := make(chan error, 1)
	go func() {
		// The session of a frame ends with the command. That of a page stays, without an answer.
		if _, err := cdp.Call(ctx, s, page.Crash, cdp.Empty{}); err != nil {
			refused <- err
		}
	}()
	var err error
	select {
	case <-gone:
		return nil
	case err = <-refused:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if errors.Is(err, chromedp.ErrTargetDetached) {
		return nil
	}
	return fmt.Errorf("browser: the renderer did not end: %w", err)
}
