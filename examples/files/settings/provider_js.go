package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// providers are the models behind an API, by id, with their addresses and default models.
var providers = map[string]struct {
	url, model string
	make       func(provider.Options) sandbox.Model
}{
	"anthropic":  {"https://api.anthropic.com/v1", "claude-sonnet-4-5", provider.Anthropic},
	"openai":     {"https://api.openai.com/v1", "gpt-5", provider.OpenAI},
	"gemini":     {"https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-flash", provider.Gemini},
	"openrouter": {"https://openrouter.ai/api/v1", "openrouter/auto", provider.OpenAIChat},
	"local":      {"http://localhost:11434/v1", "llama3.2", provider.OpenAIChat},
}

// inBrowser is the id of the browser's own model.
const inBrowser = "browser"

// browsers returns the browser's own model. It may be downloaded, because the user pressed a button
// for it, or sent a message.
func browsers() *provider.PromptAPI {
	return &provider.PromptAPI{Download: true, Progress: func(done float64) {
		dom.Status(fmt.Sprintf("The browser fetches its model: %.0f %%", 100*done))
	}}
}

// NewModel returns the chosen model. Without a chosen provider it is [provider.Commands], which follows
// rules. It returns an error if the provider needs a key and has none.
func (k Kept) NewModel() (sandbox.Model, error) {
	p, ok := providers[k.Provider]
	switch {
	case k.Provider == inBrowser:
		return browsers(), nil
	case !ok:
		return provider.Commands(), nil
	}
	if k.Provider != "local" && k.Key == "" {
		return nil, errors.New("the provider needs a key: see Settings")
	}
	return p.make(provider.Options{URL: k.URL, Key: k.Key, Model: k.Model, Effort: k.Effort, Context: k.Context, OnDevice: k.Provider == "local"}), nil
}

// Explain returns the text for the user about a provider's error, and the remedy.
func (k Kept) Explain(err error) string {
	var me *sandbox.ModelError
	if !errors.As(err, &me) {
		return protocol.Public(err).Message
	}
	said := ""
	if m := strings.TrimSpace(me.Message); m != "" && !strings.HasPrefix(m, "the server answered") {
		said = " It says: " + m
	}
	switch {
	case k.Provider == inBrowser:
		return "The browser's own model did not answer: " + me.Message
	case me.Status == 401 || me.Status == 403:
		return "The provider does not accept the key. Look at it in Settings." + said
	case me.Status == 404:
		return fmt.Sprintf("The provider knows no model %q at this address. Look at both in Settings.%s", k.Model, said)
	case me.Status == 413 || me.Status == 400 && strings.Contains(me.Message, "token"):
		return "The conversation has become too long for this model. Begin a new one, or fork an earlier part." + said
	case me.Status == 429:
		return "The provider has had too many requests from this key, or its credit is used up. Wait, and try again." + said
	case me.Status >= 500:
		return fmt.Sprintf("The provider has a fault of its own (%d). Try again later.%s", me.Status, said)
	case me.Status != 0:
		return fmt.Sprintf("The provider refused the request (%d).%s", me.Status, said)
	case strings.Contains(me.Message, "cut off") && !strings.Contains(me.Message, "failed"):
		return "The answer was cut off in the middle. What came is above; try again for a whole one."
	}
	return fmt.Sprintf("No answer came from %s, or it broke off: it is not there, has no network, or does not let this page ask (CORS).", k.Origin)
}
