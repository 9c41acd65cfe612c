package provider

import (
	"context"
	"math"

	"github.com/bailey-go/bailey/internal/jsx"
)

// promptCore returns the options that availability and create share. They must be equal for the
// result of availability to apply to create.
func promptCore(o *PromptAPI) map[string]any {
	var tags []any
	for _, l := range o.Languages {
		tags = append(tags, l)
	}
	if tags == nil {
		tags = []any{"en"}
	}
	text := []any{map[string]any{"type": "text", "languages": tags}}
	return map[string]any{"expectedInputs": text, "expectedOutputs": text}
}

func promptState(ctx context.Context, o *PromptAPI) (string, error) {
	if !jsx.Supported("LanguageModel.availability") || !jsx.Supported("LanguageModel.create") {
		return promptMissing, nil
	}
	class, err := jsx.Get(jsx.Global(), "LanguageModel")
	if err != nil {
		return "", err
	}
	v, err := jsx.CallAwait(ctx, class, "availability", promptCore(o))
	if err != nil {
		return "", thrown(ctx, err)
	}
	return jsx.String(v, 64)
}

func thrown(ctx context.Context, err error) error {
	name := "no reason"
	if e := jsx.AsError(err); e != nil {
		if je, ok := e.(*jsx.Error); ok && je.Name != "" {
			name = je.Name
		}
	}
	return promptFailed(ctx, name, err)
}

func promptStream(ctx context.Context, o *PromptAPI, r promptRequest, chunk func(string) error) (u promptUsage, err error) {
	signal, stop := jsx.Signal(ctx)
	defer stop()
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	session, err := promptSession(ctx, s, o, r, signal)
	if err != nil {
		return u, thrown(ctx, err)
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
	stream, err := jsx.Call(session, "promptStreaming", r.ask, options)
	if err != nil {
		return u, thrown(ctx, err)
	}
	reader, err := jsx.Call(stream, "getReader")
	if err != nil {
		return u, err
	}
	for {
		piece, err := jsx.CallAwait(ctx, reader, "read")
		if err != nil {
			return u, thrown(ctx, err)
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

func promptSession(ctx context.Context, s *jsx.Scope, o *PromptAPI, r promptRequest, signal jsx.Value) (jsx.Value, error) {
	class, err := jsx.Get(jsx.Global(), "LanguageModel")
	if err != nil {
		return class, err
	}
	create := promptCore(o)
	create["signal"] = signal
	if len(r.before) > 0 {
		var turns []any
		for _, t := range r.before {
			turns = append(turns, map[string]any{"role": t.Role, "content": t.Content})
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
