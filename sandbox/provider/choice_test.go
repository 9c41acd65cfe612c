//go:build !js

package provider_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// Each API gets the temperature and the choice of a tool in its own form. After a result no call is
// forced.
func TestTemperatureAndToolChoice(t *testing.T) {
	type form struct{ none, auto, required, tool, temperature string }
	for name, c := range map[string]struct {
		make func(provider.Options) sandbox.Model
		key  string
		form form
	}{
		"anthropic": {provider.Anthropic, "tool_choice", form{`{"type":"none"}`, `{"type":"auto"}`, `{"type":"any"}`, `{"name":"a_b","type":"tool"}`, "temperature"}},
		"chat":      {provider.OpenAIChat, "tool_choice", form{`"none"`, `"auto"`, `"required"`, `{"function":{"name":"a_b"},"type":"function"}`, "temperature"}},
		"responses": {provider.OpenAI, "tool_choice", form{`"none"`, `"auto"`, `"required"`, `{"name":"a_b","type":"function"}`, "temperature"}},
		"gemini":    {provider.Gemini, "toolConfig", form{`{"functionCallingConfig":{"mode":"NONE"}}`, `{"functionCallingConfig":{"mode":"AUTO"}}`, `{"functionCallingConfig":{"mode":"ANY"}}`, `{"functionCallingConfig":{"allowedFunctionNames":["a_b"],"mode":"ANY"}}`, "generationConfig"}},
	} {
		user := sandbox.ModelMessage{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: "hi"}}}
		called := sandbox.ModelMessage{Role: sandbox.RoleAssistant, Parts: []sandbox.ModelPart{{Type: sandbox.PartCall, CallID: "c", Tool: "a.b", Args: json.RawMessage("{}")}}}
		result := sandbox.ModelMessage{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartResult, CallID: "c", Tool: "a.b", Text: "ok"}}}
		tools := []sandbox.ModelTool{{Name: "a.b", Parameters: json.RawMessage("{}")}}
		after := []sandbox.ModelMessage{user, called, result}
		for _, s := range []struct {
			choice   string
			messages []sandbox.ModelMessage
			tools    []sandbox.ModelTool
			want     string
		}{
			{"", nil, tools, ""}, {"auto", nil, tools, c.form.auto}, {"none", nil, tools, c.form.none}, {"required", nil, tools, c.form.required}, {"a.b", nil, tools, c.form.tool},
			{"required", nil, nil, ""}, {"other", nil, tools, ""},
			{"auto", after, tools, c.form.auto}, {"none", after, tools, c.form.none}, {"required", after, tools, ""}, {"a.b", after, tools, ""}, {"required", append(slices.Clone(after), user), tools, c.form.required},
		} {
			r := &recorder{status: 400, text: "{}"}
			m := c.make(provider.Options{Transport: r, Model: "m", ToolChoice: s.choice})
			if s.messages == nil {
				s.messages = []sandbox.ModelMessage{user}
			}
			listen(t.Context(), m, sandbox.ModelRequest{Messages: s.messages, Tools: s.tools})
			var body map[string]json.RawMessage
			must(t, json.Unmarshal([]byte(r.body), &body))
			if got := string(body[c.key]); got != s.want {
				t.Errorf("%s, %q with %d messages and %d tools: %s, want %s", name, s.choice, len(s.messages), len(s.tools), got, s.want)
			}
			if _, ok := body[c.form.temperature]; ok {
				t.Errorf("%s has a temperature: %s", name, r.body)
			}
		}
		for _, temperature := range []float64{0, 0.5} {
			r := &recorder{status: 400, text: "{}"}
			listen(t.Context(), c.make(provider.Options{Transport: r, Model: "m", Temperature: &temperature}), asked(""))
			var body map[string]any
			must(t, json.Unmarshal([]byte(r.body), &body))
			got := body["temperature"]
			if config, ok := body["generationConfig"].(map[string]any); ok {
				got = config["temperature"]
			}
			if fmt.Sprint(got) != fmt.Sprint(temperature) {
				t.Errorf("%s, %v: %s", name, temperature, r.body)
			}
		}
	}
}
