package settings

import (
	"errors"
	"fmt"
	"strings"
	"syscall/js"

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
		return nil, errors.New("the model needs a key: enter it in Settings")
	}
	return p.make(provider.Options{URL: k.URL, Key: k.Key, Model: k.Model, Effort: k.Effort, Context: k.Context, OnDevice: k.Provider == "local"}), nil
}

// Explain returns the text for the user about a provider's error and the remedy, and the provider's own
// words. If came is set, a part of the answer came before.
func (k Kept) Explain(err error, came bool) (text, details string) {
	var me *sandbox.ModelError
	if !errors.As(err, &me) {
		return protocol.Public(err).Message, ""
	}
	m := strings.TrimSpace(me.Message)
	if m != "" && !strings.HasPrefix(m, "the server answered") {
		details = "It says: " + m
	}
	host := strings.TrimPrefix(k.Origin, "https://")
	online := js.Global().Get("navigator").Get("onLine").Bool()
	switch {
	case k.Provider == inBrowser:
		return "The browser's own model did not answer: " + m + ".", ""
	case me.Status == 401 || me.Status == 403:
		text = "The provider does not accept the key. Check it in Settings."
	case me.Status == 404:
		text = fmt.Sprintf("The provider knows no model %q at this address. Check both in Settings.", k.Model)
	case me.Status == 413 || me.Status == 400 && strings.Contains(m, "token"):
		text = "The conversation has become too long for this model. Begin a new chat, or fork an earlier part."
	case me.Status == 429:
		text = "The provider has had too many requests with this key, or its credit is used up. Wait, and try again."
	case me.Status >= 500:
		text = fmt.Sprintf("The provider has a fault of its own (%d). Try again later.", me.Status)
	case me.Status != 0:
		text = fmt.Sprintf("The provider refused the request (%d).", me.Status)
	case !online && k.Provider != "local":
		text = "You are offline. Try again once you are connected."
	case came:
		text = "The answer from " + host + " broke off. What came is above. Try again for a whole one."
	case strings.Contains(m, "cut off") && !strings.Contains(m, "failed"):
		text = "The answer from " + host + " ended too early. If the address is right, try again. A login page in between has this effect, too."
	default:
		text = "Can't reach " + host + ", or the connection broke. Is it running, and does it allow requests from this site (CORS)?"
	}
	return text, details
}
