//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

// providers are the functions for the names of providers. "browser" and "commands" have no server.
var providers = map[string]func(provider.Options) sandbox.Model{
	"anthropic":   provider.Anthropic,
	"openai":      provider.OpenAI,
	"openai-chat": provider.OpenAIChat,
	"gemini":      provider.Gemini,
}

// modelOf reads the ModelOptions of agent.d.mts.
func modelOf(v jsx.Value) (sandbox.Model, error) {
	var o provider.Options
	var kind string
	set := map[string]bool{}
	err := page.Each(v, "", func(key string, value jsx.Value) (err error) {
		set[key] = true
		switch key {
		case "provider":
			kind, err = jsx.String(value, 20)
		case "name":
			o.Model, err = jsx.String(value, 256)
		case "key":
			o.Key, err = jsx.String(value, 8<<10)
		case "url":
			o.URL, err = jsx.String(value, 8<<10)
		case "header":
			o.Header = map[string]string{}
			err = page.Each(value, "", func(name string, value jsx.Value) (err error) {
				o.Header[name], err = jsx.String(value, 8<<10)
				return err
			})
		case "maxTokens":
			o.MaxTokens, err = positive(value)
		case "context":
			o.Context, err = positive(value)
		case "effort":
			o.Effort, err = jsx.String(value, 20)
		case "thinkingTokens":
			o.ThinkingTokens, err = positive(value)
		case "textOnly":
			o.TextOnly, err = jsx.Bool(value)
		case "temperature":
			var t float64
			t, err = jsx.Finite(value)
			o.Temperature = &t
		case "toolChoice":
			o.ToolChoice, err = jsx.String(value, 128)
		case "body":
			var x any
			if x, err = tree(value); err == nil {
				var ok bool
				if o.Body, ok = x.(map[string]any); !ok {
					err = errors.New("must be an object")
				}
			}
		case "onDevice":
			o.OnDevice, err = jsx.Bool(value)
		default:
			err = page.ErrNoOption
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	alone := kind == "browser" || kind == "commands"
	for key := range set {
		if alone && key != "provider" {
			return nil, fmt.Errorf("%s: the provider %q has no such option", key, kind)
		}
	}
	switch make := providers[kind]; {
	case kind == "browser":
		return &provider.PromptAPI{}, nil
	case kind == "commands":
		return provider.Commands(), nil
	case make == nil:
		return nil, fmt.Errorf("provider: %q: must be anthropic, openai, openai-chat, gemini, browser or commands", kind)
	case strings.TrimSpace(o.Model) == "":
		return nil, errors.New("name: is missing: the provider's name of the model")
	default:
		return make(o), nil
	}
}

func positive(v jsx.Value) (int, error) {
	n, err := jsx.Int(v)
	if err == nil && n < 1 {
		err = errors.New("must be a number above 0")
	}
	return n, err
}
