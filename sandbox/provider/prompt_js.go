package provider

import (
	"context"
	"math"

	"github.com/bailey-go/bailey/internal/jsx"
)

// promptCore returns the options that availability and create share. They must be equal for the
// result of availability to apply to create.
func promptCore(o *PromptAPI, images bool) map[string]any {
	var tags []any
	for _, l := range o.Languages {
		tags = append(tags, l)
	}
	if tags == nil {
		tags = []any{"en"}
	}
	text := map[string]any{"type": "text", "languages": tags}
	in := []any{text}
	if images {
		in = append(in, map[string]any{"type": "image"})
	}
	return map[string]any{"expectedInputs": in, "expectedOutputs": []any{text}}
}

func promptState(ctx context.Context, o *PromptAPI, images bool) (string, error) {
	if !jsx.Supported("LanguageModel.availability") || !jsx.Supported("LanguageModel.create") {
		return promptMissing, nil
	}
	class, err := jsx.Get(jsx.Global(), "LanguageModel")
	if err != nil {
		return "", err
	}
	v, err := jsx.CallAwait(ctx, class, "availability", promptCore(o, images))
	if err != nil {
		return "", thrown(ctx, images, err)
	}
	return jsx.String(v, 64)
}

func thrown(ctx context.Context, images bool, err error) error {
	name := "no reason"
	if e := jsx.AsError(err); e != nil {
		if je, ok := e.(*jsx.Error); ok && je.Name != "" {
			name = je.Name
		}
	}
	return promptFailed(ctx, name, images, err)
}

func promptStream(ctx context.Context, o *PromptAPI, r promptRequest, chunk func(string) error) (u promptUsage, err error) {
	signal, stop := jsx.Signal(ctx)
	defer stop()
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	session, err := promptSession(ctx, s, o, r, signal)
	if err != nil {
		return u, thrown(ctx, r.images, err)
	}
	defer jsx.Call(session, "destroy")
	if n := number(session, "contextWindow", "inputQuota"); n > 0 { // 1<<30 is a number that no conversation reaches
		o.window.Store(int64(min(n, 1<<30)))
	}
	u.before = used(session)
	options := map[string]any{"signal": signal}
	if r.schema != nil {
		options["responseConstraint"] = r.schema
	}
	ask, err := promptContent(turn{Content: r.ask, Images: r.shown})
	if err != nil {
		return u, err
	}
	if len(r.shown) > 0 {
		ask = []any{map[string]any{"role": "user", "content": ask}}
	}
	stream, err := jsx.Call(session, "promptStreaming", ask, options)
	if err != nil {
		return u, thrown(ctx, r.images, err)
	}
	reader, err := jsx.Call(stream, "getReader")
	if err != nil {
		return u, err
	}
	for {
		piece, err := jsx.CallAwait(ctx, reader, "read")
		if err != nil {
			return u, thrown(ctx, r.images, err)
		}
		if done, err := jsx.GetBool(piece, "done"); err != nil || done {
			u.after = used(session)
			return u, err
		}
		text, err := jsx.GetString(piece, "value", maxPrompt)
		if err == nil {
			err = chunk(text)
		}
		if err != nil {
			_, _ = jsx.Call(reader, "releaseLock")
			return u, err
		}
	}
}

// promptContent returns the content of a message: a text, or a list of images and the text.
// https://developer.mozilla.org/en-US/docs/Web/API/Prompt_API/Multimodal
func promptContent(t turn) (any, error) {
	if len(t.Images) == 0 {
		return t.Content, nil
	}
	var list []any
	for _, f := range t.Images {
		data, err := jsx.FromBytes(f.Data)
		if err != nil {
			return nil, err
		}
		blob, err := jsx.NewGlobal("Blob", []any{data}, map[string]any{"type": f.MediaType})
		if err != nil {
			return nil, err
		}
		list = append(list, map[string]any{"type": "image", "value": blob})
	}
	if t.Content != "" {
		list = append(list, map[string]any{"type": "text", "value": t.Content})
	}
	return list, nil
}

func promptSession(ctx context.Context, s *jsx.Scope, o *PromptAPI, r promptRequest, signal jsx.Value) (jsx.Value, error) {
	class, err := jsx.Get(jsx.Global(), "LanguageModel")
	if err != nil {
		return class, err
	}
	create := promptCore(o, r.images)
	create["signal"] = signal
	if len(r.before) > 0 {
		var turns []any
		for _, t := range r.before {
			content, err := promptContent(t)
			if err != nil {
				return class, err
			}
			turns = append(turns, map[string]any{"role": t.Role, "content": content})
		}
		create["initialPrompts"] = turns
	}
	if o.Progress != nil {
		monitor, _, err := s.Function(func(args []jsx.Value) any {
			if len(args) > 0 {
				_, _ = s.Listen(args[0], "downloadprogress", func(e jsx.Value) {
					if done, err := jsx.GetFinite(e, "loaded"); err == nil {
						o.Progress(done)
					}
				})
			}
			return nil
		})
		if err != nil {
			return class, err
		}
		create["monitor"] = monitor
	}
	return jsx.CallAwait(ctx, class, "create", create)
}

// used returns the number of tokens in a session, or 0.
func used(session jsx.Value) int64 {
	return int64(min(max(0, number(session, "contextUsage", "inputUsage")), 1<<30))
}

// number returns the first of the properties that is a number, or 0. Older browsers have the second
// name. The value may be infinite.
func number(session jsx.Value, names ...string) float64 {
	for _, name := range names {
		v, err := jsx.Get(session, name)
		if err != nil {
			continue
		}
		if n, err := jsx.Float64(v); err == nil && !math.IsNaN(n) {
			return n
		}
	}
	return 0
}
