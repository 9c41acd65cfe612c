package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// A service is a server with models. Its key is in the environment, because the arguments of a program
// are in the list of processes and in the shell's history.
type service struct {
	of  func(provider.Options) sandbox.Model
	key string // the variable with the key
	url string // "" is the provider's own
}

var services = map[string]service{
	"anthropic":  {provider.Anthropic, "ANTHROPIC_API_KEY", ""},
	"openai":     {provider.OpenAI, "OPENAI_API_KEY", ""},
	"gemini":     {provider.Gemini, "GEMINI_API_KEY", ""},
	"openrouter": {provider.OpenAIChat, "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"},
	"chat":       {provider.OpenAIChat, "CHAT_API_KEY", "http://localhost:11434/v1"}, // any server with OpenAI's API, such as Ollama
}

// choice is the model that the options name.
type choice struct{ provider, name, url string }

// model returns the model, or the one that follows rules if no provider is named.
func (c choice) model(env func(string) string, network fetch.Transport) (sandbox.Model, error) {
	if c.provider == "" {
		if c.name != "" || c.url != "" {
			return nil, fmt.Errorf("-model and -url need -provider: one of %s", names())
		}
		return provider.Commands(), nil
	}
	s, ok := services[c.provider]
	switch {
	case !ok:
		return nil, fmt.Errorf("-provider %q is not known: use one of %s", c.provider, names())
	case c.name == "":
		return nil, fmt.Errorf("-provider %s needs -model, the provider's name of a model", c.provider)
	}
	key := env(s.key)
	url := cmp.Or(c.url, s.url)
	if key == "" && (url == "" || strings.HasPrefix(url, "https://")) {
		return nil, fmt.Errorf("-provider %s needs a key: set the environment variable %s", c.provider, s.key)
	}
	return s.of(provider.Options{Transport: network, Model: c.name, Key: key, URL: url, OnDevice: true}), nil
}

func names() string { return strings.Join(slices.Sorted(maps.Keys(services)), ", ") }
