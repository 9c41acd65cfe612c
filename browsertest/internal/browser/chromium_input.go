package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// middleOf returns a JavaScript expression that scrolls an element into view. Its value is the
// middle of the element in the viewport and its size, or null. In the selector " >>> " goes on in the
// open shadow tree of an element.
func middleOf(selector string) string {
	quoted, _ := quoteJS(selector)
	return `(() => {
		const e = ` + quoted + `.split(" >>> ").reduce((e, s) => (e?.shadowRoot ?? e)?.querySelector(s), document);
		if (!e) return null;
		e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
		const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2, r.width, r.height];
	})()`
}

// quoteJS returns s as a JavaScript string.
func quoteJS(s string) (string, error) {
	b, err := json.Marshal(s)
	return string(b), err
}

// point returns the value of middleOf, or an error if there is no element or it has no size.
func point(ctx context.Context, eval func(context.Context, string) (json.RawMessage, error), selector string) (x, y float64, err error) {
	raw, err := eval(ctx, middleOf(selector))
	if err != nil {
		return 0, 0, err
	}
	var at []float64
	if err := json.Unmarshal(raw, &at); err != nil {
		return 0, 0, err
	}
	if len(at) != 4 {
		return 0, 0, fmt.Errorf("browser: nothing in the page matches %q", selector)
	}
	if at[2] == 0 || at[3] == 0 {
		return 0, 0, fmt.Errorf("browser: %q has no size (%g by %g pixels): it cannot be clicked", selector, at[2], at[3])
	}
	return at[0], at[1], nil
}

// Click implements [Page].
func (p *ChromiumPage) Click(ctx context.Context, selector string) error {
	x, y, err := point(ctx, p.Eval, selector)
	if err != nil {
		return err
	}
	return p.ClickAt(ctx, x, y)
}

// ackLimit is the limit for Chromium's report that a frame has handled a mouse event. If the frame
// is removed while it handles the event, the report never comes (seen in Chromium 156 when a frame
// is rebuilt under a click). The event then counts as sent. A test finds out from the effect
// whether a click arrived.
const ackLimit = 10 * time.Second

func (p *ChromiumPage) mouse(ctx context.Context, kind input.DispatchMouseEventType, x, y float64, buttons int64) error {
	params := input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Buttons: buttons}
	if kind != input.DispatchMouseEventTypeMouseMoved {
		params.Button = input.MouseButtonLeft
		params.ClickCount = 1
	}
	limited, cancel := context.WithTimeout(ctx, ackLimit)
	defer cancel()
	_, err := cdp.Call(limited, p.target, input.DispatchMouseEvent, params)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// MoveTo implements [Page].
func (p *ChromiumPage) MoveTo(ctx context.Context, x, y float64) error {
	return p.mouse(ctx, input.DispatchMouseEventTypeMouseMoved, x, y, 0)
}

// ClickAt implements [Page]. It moves the mouse, and then clicks.
func (p *ChromiumPage) ClickAt(ctx context.Context, x, y float64) error {
	if err := p.MoveTo(ctx, x, y); err != nil {
		return err
	}
	if err := p.mouse(ctx, input.DispatchMouseEventTypeMousePressed, x, y, 1); err != nil {
		return err
	}
	return p.mouse(ctx, input.DispatchMouseEventTypeMouseReleased, x, y, 0)
}

// Type implements [Page]. It types the text key by key.
func (p *ChromiumPage) Type(ctx context.Context, text string) error {
	for _, r := range text {
		for _, k := range kb.Encode(r) {
			if _, err := cdp.Call(ctx, p.target, input.DispatchKeyEvent, *k); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyNames are the keys that have no character of their own in kb.Keys.
var keyNames = map[string]string{
	"Enter": kb.Enter, "Tab": kb.Tab, "Backspace": kb.Backspace, "Delete": kb.Delete,
	"Escape": kb.Escape, "ArrowDown": kb.ArrowDown, "ArrowUp": kb.ArrowUp,
	"ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "Home": kb.Home, "End": kb.End,
	"PageUp": kb.PageUp, "PageDown": kb.PageDown, "Space": " ", "Insert": kb.Insert,
	"F1": kb.F1, "F2": kb.F2, "F3": kb.F3, "F4": kb.F4, "F5": kb.F5, "F6": kb.F6,
	"F7": kb.F7, "F8": kb.F8, "F9": kb.F9, "F10": kb.F10, "F11": kb.F11, "F12": kb.F12,
}

// splitKey returns the modifiers and the name of a key such as "Control+Shift+a".
func splitKey(key string) (mods []string, name string, err error) {
	name = key
	for {
		m, rest, ok := strings.Cut(name, "+")
		if !ok || rest == "" {
			break
		}
		switch m {
		case "Control", "Shift", "Alt", "Meta":
			mods = append(mods, m)
		default:
			return nil, "", fmt.Errorf("browser: key %q: %q is no modifier: use Control, Shift, Alt or Meta", key, m)
		}
		name = rest
	}
	return mods, name, nil
}

// Press implements [Page].
func (p *ChromiumPage) Press(ctx context.Context, key string) error {
	mods, name, err := splitKey(key)
	if err != nil {
		return err
	}
	char, ok := keyNames[name]
	if !ok {
		char = name
	}
	runes := []rune(char)
	if len(runes) != 1 {
		return fmt.Errorf("browser: key %q is unknown: use one character or a name such as Enter, Tab, ArrowDown", name)
	}
	k, ok := kb.Keys[runes[0]]
	if !ok {
		return p.Type(ctx, char)
	}
	var bits chromedp.Modifier
	for _, m := range mods {
		bits |= map[string]chromedp.Modifier{
			"Control": chromedp.ModifierCtrl, "Shift": chromedp.ModifierShift,
			"Alt": chromedp.ModifierAlt, "Meta": chromedp.ModifierMeta,
		}[m]
	}
	if k.Shift {
		bits |= chromedp.ModifierShift
	}
	down := input.DispatchKeyEventParams{
		Type: input.DispatchKeyEventTypeRawKeyDown, Key: k.Key, Code: k.Code, Modifiers: int64(bits),
		WindowsVirtualKeyCode: k.Windows, NativeVirtualKeyCode: k.Native,
	}
	if k.Text != "" && bits&^chromedp.ModifierShift == 0 {
		down.Type = input.DispatchKeyEventTypeKeyDown
		down.Text, down.UnmodifiedText = k.Text, k.Unmodified
	}
	if bits == chromedp.ModifierCtrl {
		// Headless Chromium has no keyboard shortcuts of a desktop.
		down.Commands = map[string][]string{
			"a": {"selectAll"}, "c": {"copy"}, "x": {"cut"}, "v": {"paste"}, "z": {"undo"},
		}[k.Key]
	}
	if _, err := cdp.Call(ctx, p.target, input.DispatchKeyEvent, down); err != nil {
		return err
	}
	up := down
	up.Type, up.Text, up.UnmodifiedText, up.Commands = input.DispatchKeyEventTypeKeyUp, "", "", nil
	_, err = cdp.Call(ctx, p.target, input.DispatchKeyEvent, up)
	return err
}

// SetFiles implements [Filer]. For webkitdirectory it takes one folder.
func (p *ChromiumPage) SetFiles(ctx context.Context, selector string, paths ...string) error {
	files, err := absolute(paths)
	if err != nil {
		return err
	}
	quoted, err := quoteJS(selector)
	if err != nil {
		return err
	}
	r, err := cdp.Call(ctx, p.target, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.querySelector(" + quoted + ")"})
	if err != nil {
		return err
	}
	if r.Result == nil || r.Result.ObjectID == "" {
		return fmt.Errorf("browser: nothing in the page matches %q", selector)
	}
	_, err = cdp.Call(ctx, p.target, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, ObjectID: r.Result.ObjectID})
	return err
}

// Drop drags files and folders from outside of the browser onto the middle of an element.
func (p *ChromiumPage) Drop(ctx context.Context, selector string, paths ...string) error {
	files, err := absolute(paths)
	if err != nil {
		return err
	}
	x, y, err := point(ctx, p.Eval, selector)
	if err != nil {
		return err
	}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		_, err := cdp.Call(ctx, p.target, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: x, Y: y,
			Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
