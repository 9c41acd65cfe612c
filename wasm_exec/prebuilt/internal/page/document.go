//go:build js && wasm

package page

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/jsx"
)

const (
	maxImage      = 4 << 20 // bytes of one image, the default of [iframe.DocumentOptions].MaxImage
	maxThemeValue = 256     // bytes of one value of [iframe.Theme].Variables
)

// document implements document(element, options). It returns an object with section, setTheme,
// flush, height and close.
func (a *API) document(ctx context.Context, args []jsx.Value) (any, error) {
	if len(args) == 0 {
		return nil, errors.New("document(element): element is missing")
	}
	opts := iframe.DocumentOptions{Renderer: a.renderer}
	if len(args) > 1 && !jsx.Nullish(args[1]) {
		if err := a.options(&opts, args[1]); err != nil {
			return nil, err
		}
	}
	d, err := iframe.NewDocument(a.ctx, iframe.ElementOf(jsx.ToRaw(args[0])), opts)
	if err != nil {
		return nil, err
	}
	scope, err := a.scope.Child()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return a.Object(scope, map[string]Method{
		"section": {Quick: true, Run: func(_ context.Context, args []jsx.Value) (any, error) { return a.section(scope, d, args) }},
		"setTheme": {Quick: true, Run: func(_ context.Context, args []jsx.Value) (any, error) {
			if len(args) == 0 {
				return nil, errors.New("setTheme(theme): theme is missing")
			}
			t, err := theme(args[0])
			if err != nil {
				return nil, err
			}
			return nil, d.SetTheme(t)
		}},
		"flush":  {Run: func(ctx context.Context, _ []jsx.Value) (any, error) { return nil, d.Flush(ctx) }},
		"height": {Quick: true, Run: func(context.Context, []jsx.Value) (any, error) { return d.Height(), nil }},
		"close": {Run: func(context.Context, []jsx.Value) (any, error) {
			err := d.Close()
			return nil, errors.Join(err, scope.Close())
		}},
	})
}

func (a *API) section(scope *jsx.Scope, d *iframe.Document, args []jsx.Value) (any, error) {
	id, err := Text(args, 0, "section(id): id")
	if err != nil {
		return nil, err
	}
	s := d.Section(id)
	inner, err := scope.Child()
	if err != nil {
		return nil, err
	}
	return a.Object(inner, map[string]Method{
		"write": {Quick: true, Run: func(_ context.Context, args []jsx.Value) (any, error) {
			more, err := Text(args, 0, "write(text): text")
			if err != nil {
				return nil, err
			}
			_, err = s.WriteString(more)
			return nil, err
		}},
		"setLabel": {Quick: true, Run: func(_ context.Context, args []jsx.Value) (any, error) {
			label, err := Text(args, 0, "setLabel(text): text")
			if err != nil {
				return nil, err
			}
			return nil, s.SetLabel(label)
		}},
		"setKind": {Quick: true, Run: func(_ context.Context, args []jsx.Value) (any, error) {
			kind, err := Text(args, 0, "setKind(kind): kind")
			if err != nil {
				return nil, err
			}
			return nil, s.SetKind(kind)
		}},
		"html":  {Quick: true, Run: func(context.Context, []jsx.Value) (any, error) { return s.HTML(), nil }},
		"close": {Quick: true, Run: func(context.Context, []jsx.Value) (any, error) { return nil, s.Close() }},
		"reset": {Quick: true, Run: func(context.Context, []jsx.Value) (any, error) { return nil, s.Reset() }},
		"remove": {Quick: true, Run: func(context.Context, []jsx.Value) (any, error) {
			err := s.Remove()
			return nil, errors.Join(err, inner.Close())
		}},
	})
}

// options reads the DocumentOptions of api.d.mts.
func (a *API) options(o *iframe.DocumentOptions, v jsx.Value) error {
	return Each(v, "document(element, options)", func(key string, value jsx.Value) (err error) {
		switch key {
		case "label":
			o.Label, err = jsx.String(value, 1000)
		case "lang":
			o.Lang, err = jsx.String(value, 100)
		case "maxHeight":
			o.MaxHeight, err = jsx.Int(value)
		case "trustedTypesPolicy":
			o.TrustedTypesPolicy, err = jsx.String(value, 128)
		case "theme":
			o.Theme, err = theme(value)
		case "follow":
			o.Follow, err = jsx.Bool(value)
		case "onHeight":
			o.OnHeight = func(px int) { _, _ = jsx.Invoke(value, px) }
		case "onLink":
			o.OnLink = func(_ context.Context, l iframe.Link) {
				_, _ = jsx.Invoke(value, map[string]any{"section": l.Section, "url": l.URL, "path": l.Path, "host": l.Host(), "text": l.Text})
			}
		case "onImage":
			o.OnImage = func(ctx context.Context, r iframe.ImageRequest) ([]byte, error) {
				p, err := jsx.Invoke(value, map[string]any{"section": r.Section, "url": r.URL, "path": r.Path})
				if err != nil {
					return nil, err
				}
				data, err := jsx.Await(ctx, p)
				if err != nil {
					return nil, err
				}
				return jsx.Bytes(data, maxImage)
			}
		case "onViolation":
			o.OnViolation = func(v iframe.CSPViolation) {
				_, _ = jsx.Invoke(value, map[string]any{"directive": v.Directive, "blocked": v.Blocked, "enforced": v.Enforced, "sample": v.Sample})
			}
		case "onState":
			o.OnState = func(s iframe.State) { _, _ = jsx.Invoke(value, string(s)) }
		default:
			err = ErrNoOption
		}
		return err
	})
}

func theme(v jsx.Value) (t iframe.Theme, err error) {
	if scheme, err := jsx.Get(v, "scheme"); err == nil && !jsx.Nullish(scheme) {
		if t.Scheme, err = jsx.String(scheme, 20); err != nil {
			return t, fmt.Errorf("theme.scheme: %w", err)
		}
	}
	vars, err := jsx.Get(v, "variables")
	if err != nil || jsx.Nullish(vars) {
		return t, nil
	}
	entries, err := jsx.Call(Must(jsx.Get(jsx.Global(), "Object")), "entries", vars)
	if err != nil {
		return t, fmt.Errorf("theme.variables: %w", err)
	}
	n, err := jsx.Length(entries)
	if err != nil {
		return t, err
	}
	t.Variables = map[string]string{}
	for i := range n {
		pair, err := jsx.Index(entries, i)
		if err != nil {
			return t, err
		}
		name, err := jsx.String(Must(jsx.Index(pair, 0)), 200)
		if err != nil {
			return t, fmt.Errorf("theme.variables: %w", err)
		}
		if t.Variables[name], err = jsx.String(Must(jsx.Index(pair, 1)), maxThemeValue); err != nil {
			return t, fmt.Errorf("theme.variables[%q]: %w", name, err)
		}
	}
	return t, nil
}
