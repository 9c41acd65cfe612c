//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox/secrets"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

// secret is a Secret of agent.d.mts. Its value is behind a function, so that no error or trace prints it.
type secret struct {
	name  string
	value func() string
	hosts []string
}

// secretOf reads a Secret. Its errors contain no value, and no key that may be one.
func secretOf(name string, v jsx.Value) (secret, error) {
	s := secret{name: name}
	if jsx.TypeOf(v) != "object" {
		return s, errors.New("a secret must be an object with value and hosts")
	}
	err := page.Each(v, "", func(key string, value jsx.Value) (err error) {
		switch key {
		case "value":
			text, err := jsx.String(value, 8<<10)
			s.value = func() string { return text }
			return err
		case "hosts":
			n, err := jsx.Length(value)
			if err != nil || !jsx.IsArray(value) {
				return errors.New("must be a list of hosts, such as ['api.example.org']")
			}
			for i := range min(n, 100) { // the store refuses more than 16
				item, err := jsx.Index(value, i)
				if err != nil {
					return err
				}
				host, err := jsx.String(item, 1000)
				if err != nil {
					return err
				}
				s.hosts = append(s.hosts, host)
			}
		default:
			return page.ErrNoOption
		}
		return nil
	})
	if err == nil && s.value == nil {
		err = errors.New("value is missing")
	}
	return s, err
}

// secretsOf reads the option secrets.
func secretsOf(v jsx.Value) (list []secret, err error) {
	if jsx.TypeOf(v) != "object" {
		return nil, errors.New("must be an object of secrets by their names")
	}
	list = []secret{}
	var wrong error // of a secret, without its name, which page.Each would add
	err = page.Each(v, "", func(name string, value jsx.Value) error {
		s, err := secretOf(name, value)
		if err != nil && wrong == nil {
			wrong = err
		}
		list = append(list, s)
		return nil
	})
	return list, errors.Join(err, wrong)
}

// openSecrets returns the store of a box, or nil if it has none.
func openSecrets(ctx context.Context, o *boxOptions) (*secrets.Store, error) {
	if o.secrets == nil && o.secretStore == "" {
		return nil, nil
	}
	store := &secrets.Store{}
	if o.secretStore != "" {
		var err error
		if store, err = secrets.OpenStore(ctx, o.secretStore); err != nil {
			return nil, fmt.Errorf("box(options): secretStore: %w", err)
		}
	}
	for _, s := range o.secrets {
		if err := store.Set(ctx, s.name, s.value(), s.hosts); err != nil {
			return nil, fmt.Errorf("box(options): secrets: %w", err)
		}
	}
	return store, nil
}

var errNoSecrets = errors.New("the box has no secrets: give it the option secrets or secretStore")

// secretMethods adds the methods of a box about its secrets. store is nil for a box without any.
func secretMethods(store *secrets.Store, to map[string]page.Method) {
	of := func(run func(ctx context.Context, s *secrets.Store, args []jsx.Value) (any, error)) page.Method {
		return page.Method{Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			if store == nil {
				return nil, errNoSecrets
			}
			return run(ctx, store, args)
		}}
	}
	text := func(what string, do func(ctx context.Context, s *secrets.Store, text, host string) (string, error)) page.Method {
		return of(func(ctx context.Context, s *secrets.Store, args []jsx.Value) (any, error) {
			text, err := page.Text(args, 0, what+": text")
			if err != nil {
				return nil, err
			}
			host, err := page.Text(args, 1, what+": host")
			if err != nil {
				return nil, err
			}
			return do(ctx, s, text, host)
		})
	}
	to["secrets"] = of(func(ctx context.Context, s *secrets.Store, _ []jsx.Value) (any, error) {
		all, err := s.List(ctx)
		out := map[string]any{}
		for name, hosts := range all {
			list := make([]any, len(hosts))
			for i, h := range hosts {
				list[i] = h
			}
			out[name] = map[string]any{"hosts": list, "placeholder": s.Placeholder(name)}
		}
		return out, err
	})
	to["setSecret"] = of(func(ctx context.Context, s *secrets.Store, args []jsx.Value) (any, error) {
		name, err := page.Text(args, 0, "setSecret(name, secret): name")
		if err != nil {
			return nil, err
		}
		if len(args) < 2 {
			return nil, errors.New("setSecret(name, secret): secret is missing")
		}
		one, err := secretOf(name, args[1])
		if err != nil {
			return nil, fmt.Errorf("setSecret(name, secret): %w", err)
		}
		return nil, s.Set(ctx, name, one.value(), one.hosts)
	})
	to["removeSecret"] = of(func(ctx context.Context, s *secrets.Store, args []jsx.Value) (any, error) {
		name, err := page.Text(args, 0, "removeSecret(name): name")
		if err != nil {
			return nil, err
		}
		return nil, s.Remove(ctx, name)
	})
	to["fillSecrets"] = text("fillSecrets(text, host)", func(ctx context.Context, s *secrets.Store, text, host string) (string, error) {
		return s.Fill(ctx, text, host)
	})
	to["hideSecrets"] = text("hideSecrets(text, host)", func(ctx context.Context, s *secrets.Store, text, host string) (string, error) {
		return s.Hide(ctx, text, host)
	})
}
