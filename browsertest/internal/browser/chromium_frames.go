package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Frame is a frame of a page, in any process.
type Frame struct {
	ID, Parent, URL string
	// OwnProcess is set for the topmost frame of another process than the page's.
	OwnProcess bool
}

// FrameValue is the value of an expression in one frame.
type FrameValue struct {
	Frame
	Value json.RawMessage
	// Err is the reason why there is no value: the expression threw, or the frame is gone.
	Err string
}

// Frames returns the page's frames, the page itself first.
func (p *ChromiumPage) Frames(ctx context.Context, b *ChromiumBrowser) ([]Frame, error) {
	var list []Frame
	err := p.eachProcess(ctx, b, func(_ context.Context, frames []Frame) error {
		list = append(list, frames...)
		return nil
	})
	return list, err
}

// EvalFrames evaluates an expression in the main world of each frame of the page, whatever its
// origin, sandbox and policy. It returns a value or an error for each frame.
func (p *ChromiumPage) EvalFrames(ctx context.Context, b *ChromiumBrowser, expression string) ([]FrameValue, error) {
	var list []FrameValue
	err := p.eachProcess(ctx, b, func(tctx context.Context, frames []Frame) error {
		worlds, err := mainWorlds(ctx, tctx)
		if err != nil {
			return err
		}
		s := chromedp.FromContext(tctx).Target
		for _, f := range frames {
			v := FrameValue{Frame: f}
			if id, ok := worlds[f.ID]; ok {
				v.Value, err = evalIn(ctx, s, id, expression)
			} else {
				err = fmt.Errorf("the frame has no JavaScript context: its sandbox or policy forbids scripts, or it is gone")
			}
			if err != nil {
				v.Err = err.Error()
			}
			list = append(list, v)
		}
		return nil
	})
	return list, err
}

// eachProcess calls f for the process of the page, and for each frame with a process of its own.
// The arguments of f are a chromedp context of that process, and its frames.
func (p *ChromiumPage) eachProcess(ctx context.Context, b *ChromiumBrowser, f func(context.Context, []Frame) error) error {
	known := map[string]bool{}
	visit := func(tctx context.Context, own bool, parent string) error {
		r, err := cdp.Call(ctx, chromedp.FromContext(tctx).Target, page.GetFrameTree, cdp.Empty{})
		if err != nil {
			return err
		}
		var list []Frame
		var walk func(*page.FrameTree, string)
		walk = func(t *page.FrameTree, parent string) {
			if t == nil {
				return
			}
			id := string(t.Frame.ID)
			known[id] = true
			list = append(list, Frame{ID: id, Parent: parent, URL: t.Frame.URL + t.Frame.URLFragment, OwnProcess: own && len(list) == 0})
			for _, c := range t.ChildFrames {
				walk(c, id)
			}
		}
		walk(r.FrameTree, parent)
		return f(tctx, list)
	}
	if err := visit(p.ctx, false, ""); err != nil {
		return err
	}
	infos, err := b.targets(ctx)
	if err != nil {
		return err
	}
	seen := map[target.ID]bool{}
	for grown := true; grown; {
		grown = false
		for _, t := range infos {
			parent := string(t.ParentFrameID)
			if t.Type != "iframe" || seen[t.TargetID] || !known[parent] {
				continue
			}
			seen[t.TargetID], grown = true, true
			err := b.attached(ctx, string(t.TargetID), func(tctx context.Context) error { return visit(tctx, true, parent) })
			if err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
			// After any other error: the frame is gone since it was listed.
		}
	}
	return nil
}

// mainWorlds returns the JavaScript contexts of a target's frames, by frame id.
func mainWorlds(ctx, target context.Context) (map[string]runtime.ExecutionContextID, error) {
	worlds := map[string]runtime.ExecutionContextID{}
	var mu sync.Mutex
	lctx, cancel := context.WithCancel(target)
	defer cancel()
	err := chromedp.Listen(lctx, func(ev any) {
		e, ok := ev.(*runtime.EventExecutionContextCreated)
		if !ok || e.Context == nil {
			return
		}
		var aux struct {
			FrameID   string `json:"frameId"`
			IsDefault bool   `json:"isDefault"`
		}
		json.Unmarshal(e.Context.AuxData, &aux)
		if aux.IsDefault {
			mu.Lock()
			worlds[aux.FrameID] = e.Context.ID
			mu.Unlock()
		}
	})
	if err != nil {
		return nil, err
	}
	// Enable reports all existing contexts before it returns.
	s := chromedp.FromContext(target).Target
	for _, c := range []cdp.Command[cdp.Empty, cdp.Empty]{runtime.Disable, runtime.Enable} {
		if _, err := cdp.Call(ctx, s, c, cdp.Empty{}); err != nil {
			return nil, err
		}
	}
	mu.Lock()
	defer mu.Unlock()
	return maps.Clone(worlds), nil
}

func evalIn(ctx context.Context, s cdp.Session, id runtime.ExecutionContextID, expression string) (json.RawMessage, error) {
	yes := true
	r, err := cdp.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ReturnByValue: &yes, AwaitPromise: &yes, ContextID: id,
	})
	if err != nil {
		return nil, err
	}
	return evalResult(r, expression)
}

// evalResult returns the JSON value of an evaluation, or its exception as an error.
func evalResult(r runtime.EvaluateResult, expression string) (json.RawMessage, error) {
	if r.ExceptionDetails != nil {
		text := r.ExceptionDetails.Text
		if r.ExceptionDetails.Exception != nil {
			text = remoteText(r.ExceptionDetails.Exception)
		}
		return nil, fmt.Errorf("browser: evaluating %.80q: %s", expression, text)
	}
	if r.Result == nil || len(r.Result.Value) == 0 {
		return json.RawMessage("null"), nil
	}
	return json.RawMessage(r.Result.Value), nil
}
