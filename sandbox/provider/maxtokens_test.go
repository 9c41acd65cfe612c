package provider_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// The limit of the options reaches every provider, and the limit of a request replaces it.
func TestMaxTokens(t *testing.T) {
	for name, c := range map[string]struct {
		model func(provider.Options) sandbox.Model
		url   string
		key   string // of the limit in the body
		unset string // the part of the body without a limit, or empty if it has none
	}{
		"anthropic":   {provider.Anthropic, "", `"max_tokens":`, `"max_tokens":8192`},
		"openai":      {provider.OpenAI, "", `"max_output_tokens":`, ""},
		"gemini":      {provider.Gemini, "", `"generationConfig":{"maxOutputTokens":`, ""},
		"chat":        {provider.OpenAIChat, "", `"max_completion_tokens":`, ""},
		"chat, azure": {provider.OpenAIChat, "https://me.openai.azure.com/openai/v1", `"max_completion_tokens":`, ""},
		"chat, local": {provider.OpenAIChat, "http://localhost:11434/v1", `"max_tokens":`, ""},
		"chat, other": {provider.OpenAIChat, "https://notopenai.com/v1", `"max_tokens":`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sent := func(options, request int) string {
				var body string
				m := c.model(provider.Options{URL: c.url, Model: "m", MaxTokens: options, Transport: fetch.TransportFunc(func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
					body = string(r.Body)
					return nil, errors.New("not there")
				})})
				for range m.Stream(t.Context(), sandbox.ModelRequest{MaxTokens: request}) {
				}
				return body
			}
			if got := sent(123, 0); !strings.Contains(got, c.key+"123") {
				t.Errorf("the limit of the options is not sent: %s", got)
			}
			if got := sent(123, 45); !strings.Contains(got, c.key+"45") || strings.Contains(got, "123") {
				t.Errorf("the limit of the request is not sent: %s", got)
			}
			if got := sent(0, 0); got == "" || !strings.Contains(got, c.unset) || c.unset == "" && (strings.Contains(strings.ToLower(got), "max")) {
				t.Errorf("without a limit: %s", got)
			}
		})
	}
}
