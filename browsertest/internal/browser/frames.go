package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Framer is a Page of an engine other than Chromium that evaluates an expression in itself and in
// each frame below it, whatever its origin. The page itself is first.
type Framer interface {
	EvalFrames(ctx context.Context, expression string) ([]FrameValue, error)
}

// EvalFrames implements [Framer].
func (p *firefoxPage) EvalFrames(ctx context.Context, expression string) ([]FrameValue, error) {
	type node struct {
		Context, URL string
		Children     []node
	}
	var tree struct{ Contexts []node }
	if err := p.f.bidi.call(ctx, "browsingContext.getTree", map[string]any{"root": p.context}, &tree); err != nil {
		return nil, err
	}
	var list []FrameValue
	var walk func(n node, parent string)
	walk = func(n node, parent string) {
		v := FrameValue{Frame: Frame{ID: n.Context, Parent: parent, URL: n.URL}}
		var err error
		if v.Value, err = (&firefoxPage{p.f, n.Context}).Eval(ctx, expression); err != nil {
			v.Err = err.Error()
		}
		list = append(list, v)
		for _, c := range n.Children {
			walk(c, n.Context)
		}
	}
	for _, n := range tree.Contexts {
		walk(n, "")
	}
	return list, ctx.Err()
}

// EvalFrames implements [Framer]. A frame within a shadow tree has no number, and is left out.
func (p *webkitPage) EvalFrames(ctx context.Context, expression string) ([]FrameValue, error) {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	call := p.k.wd.call
	var list []FrameValue
	// A frame is addressed by the numbers of the frames from the page down to it.
	var visit func(way []int) error
	visit = func(way []int) error {
		if err := call(ctx, http.MethodPost, "/window", map[string]string{"handle": p.handle}, nil); err != nil {
			return err
		}
		if err := call(ctx, http.MethodPost, "/frame", map[string]any{"id": nil}, nil); err != nil {
			return err
		}
		for _, i := range way {
			if call(ctx, http.MethodPost, "/frame", map[string]any{"id": i}, nil) != nil {
				return ctx.Err() // the frame is gone since it was counted
			}
		}
		var at struct {
			URL    string
			Frames int
		}
		raw, err := evalWebKit(ctx, call, `({url: location.href, frames: frames.length})`)
		if err == nil {
			err = json.Unmarshal(raw, &at)
		}
		v := FrameValue{Frame: Frame{ID: fmt.Sprint(way), URL: at.URL}}
		if len(way) > 0 {
			v.Parent = fmt.Sprint(way[:len(way)-1])
		}
		if err == nil {
			v.Value, err = evalWebKit(ctx, call, expression)
		}
		if err != nil {
			v.Err = err.Error()
		}
		list = append(list, v)
		for i := range at.Frames {
			if err := visit(append(way[:len(way):len(way)], i)); err != nil {
				return err
			}
		}
		return nil
	}
	err := visit([]int{})
	if last := call(ctx, http.MethodPost, "/frame", map[string]any{"id": nil}, nil); err == nil {
		err = last
	}
	return list, err
}
