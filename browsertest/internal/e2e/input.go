package e2e

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
)

// Click scrolls the first element that matches a CSS selector into view, and clicks its middle.
func (p *Page) Click(ctx context.Context, selector string) error {
	return p.chrome.Click(ctx, selector)
}

// ClickAt clicks at a point of the viewport, in CSS pixels. The point may be in a frame.
func (p *Page) ClickAt(ctx context.Context, x, y float64) error { return p.chrome.ClickAt(ctx, x, y) }

// MoveTo moves the mouse to a point of the viewport, in CSS pixels.
func (p *Page) MoveTo(ctx context.Context, x, y float64) error { return p.chrome.MoveTo(ctx, x, y) }

// Type clicks the first element that matches a CSS selector, and types text. With an empty selector
// it types into the focused element.
func (p *Page) Type(ctx context.Context, selector, text string) error {
	if selector != "" {
		if err := p.Click(ctx, selector); err != nil {
			return err
		}
	}
	return p.chrome.Type(ctx, text)
}

// Press presses one key with modifiers: "Enter", "Shift+Tab", "Control+a".
func (p *Page) Press(ctx context.Context, key string) error { return p.chrome.Press(ctx, key) }

// Drop drags files and folders of this machine from outside of the browser onto the middle of an
// element. The handle of a folder has read permission. Write permission needs a question, unless
// Options.WriteGrants contains the page's origin.
func (p *Page) Drop(ctx context.Context, selector string, paths ...string) error {
	var at []float64
	err := p.Eval(ctx, `(() => { const e = document.querySelector(`+quote(selector)+`); if (!e) return null;
		e.scrollIntoView({block: "center", behavior: "instant"});
		const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, &at)
	if err != nil {
		return err
	}
	if len(at) != 2 {
		return fmt.Errorf("e2e: nothing in the page matches %q", selector)
	}
	files := make([]string, len(paths))
	for i, f := range paths {
		if files[i], err = filepath.Abs(f); err != nil {
			return err
		}
	}
	send := func(kind input.DispatchDragEventType) error {
		_, err := cdp.Call(ctx, p.chrome.Target(), input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: at[0], Y: at[1],
			Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1},
		})
		return err
	}
	// A drop on a page whose dragover handler does not run yet is lost. So the files are held over
	// the page, as a user does, until it has handled two dragover events. A page that never handles
	// one gets the drop after 100 tries.
	if err := p.Eval(ctx, `globalThis.e2eOver ?? addEventListener("dragover", (e) => { if (e.defaultPrevented) e2eOver++; }), globalThis.e2eOver = 0`, nil); err != nil {
		return err
	}
	for over, tries := 0, 0; over < 2 && tries < 100; tries++ {
		// When a frame is moved out of the way, the page below gets the drag only after a new
		// dragenter. With a mouse Chromium sends it by itself.
		if err := send(input.DispatchDragEventTypeDragEnter); err != nil {
			return err
		}
		if err := send(input.DispatchDragEventTypeDragOver); err != nil {
			return err
		}
		if err := p.Eval(ctx, `new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(e2eOver))))`, &over); err != nil {
			return err
		}
	}
	return send(input.DispatchDragEventTypeDrop)
}

// SetFiles chooses files for an <input type=file>, which it does not click.
func (p *Page) SetFiles(ctx context.Context, selector string, paths ...string) error {
	r, err := cdp.Call(ctx, p.chrome.Target(), runtime.Evaluate, runtime.EvaluateParams{Expression: "document.querySelector(" + quote(selector) + ")"})
	if err != nil {
		return err
	}
	if r.Result == nil || r.Result.ObjectID == "" {
		return fmt.Errorf("e2e: nothing in the page matches %q", selector)
	}
	files := make([]string, len(paths))
	for i, f := range paths {
		if files[i], err = filepath.Abs(f); err != nil {
			return err
		}
	}
	_, err = cdp.Call(ctx, p.chrome.Target(), dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, ObjectID: r.Result.ObjectID})
	return err
}
