//go:build !js

package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// told returns the events of a model as lines.
func told(t *testing.T, m sandbox.Model) (out []string, err error) {
	t.Helper()
	ev, err := events(t, m)
	for _, e := range ev {
		line := string(e.Type)
		switch e.Type {
		case sandbox.PartUsage:
			line += fmt.Sprintf(" %d %d %d %d", e.Usage.Input, e.Usage.Output, e.Usage.Cached, e.Usage.Reasoning)
		case sandbox.PartFile:
			line += fmt.Sprintf(" %s %s %q", e.File.Name, e.File.MediaType, e.File.Data)
		case sandbox.PartSource:
			line += " " + e.Source.URL
		case sandbox.PartCall:
			line += " " + e.CallID + string(e.Args) + string(e.Meta)
		case sandbox.PartCallStart:
			continue
		default:
			line += " " + e.Text + string(e.Meta)
		}
		out = append(out, line)
	}
	return out, err
}

// Forms in which servers send the same things.
func TestFormsOfAnswers(t *testing.T) {
	chat := func(delta, finish, more string) string {
		return sse(`{"choices":[{"index":0,"delta":`+delta+`}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]`+more+`}`, "[DONE]")
	}
	gif := "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"
	const pixel = "R0lGODlhAQABAAAAACwAAAAAAQABAAACAkwBADs="
	for _, c := range []struct {
		name string
		make func(provider.Options) sandbox.Model
		text string
		want string // the events, or the error
	}{
		{"thoughts in the start of a block", provider.Anthropic, sse(aStart, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm","signature":"S"}}`, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, aEnd), `reasoning hm, reasoning {"signature":"S"}, usage 1 0 0 0, finish stop`},
		{"tokens of thoughts", provider.Anthropic, sse(aStart, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9,"output_tokens_details":{"thinking_tokens":7}}}`, aEnd), "usage 1 9 0 7, finish stop"},
		{"a flat error", provider.Anthropic, sse(aStart, `{"type":"error","message":"went wrong"}`), "went wrong, again"},
		{"an error without a text", provider.Anthropic, sse(aStart, `{"type":"error","error":{"type":"invalid_request_error"}}`), "the model failed"},
		{"the second choice", provider.OpenAIChat, sse(`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`, `{"choices":[{"index":1,"delta":{},"finish_reason":"length"},{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"), "text a, usage 0 0 0 0, finish stop"},
		{"the second candidate", provider.Gemini, sse(`{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"},{"index":1,"content":{"parts":[{"text":"b"}]},"finishReason":"MAX_TOKENS"}]}`), "text a, usage 0 0 0 0, finish stop"},
		{"an image", provider.OpenAIChat, chat(`{"content":"see","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`+pixel+`"}}]}`, "stop", ""), fmt.Sprintf("text see, file image image/gif %q, usage 0 0 0 0, finish stop", gif)},
		{"an image elsewhere", provider.OpenAIChat, chat(`{"images":[{"image_url":{"url":"https://a.example/x.png"}}]}`, "stop", ""), "source https://a.example/x.png, usage 0 0 0 0, finish stop"},
		{"images of another form", provider.OpenAIChat, chat(`{"content":"a","images":["odd",7]}`, "stop", ""), "text a, usage 0 0 0 0, finish stop"},
		{"an address of another form", provider.OpenAIChat, chat(`{"content":"a","images":[{"image_url":{"url":7}},{"image_url":"x"}]}`, "stop", ""), "text a, usage 0 0 0 0, finish stop"},
		{"data that is no base64", provider.OpenAIChat, chat(`{"images":[{"image_url":{"url":"data:image/png;base64,%"}}]}`, "stop", ""), "source data:image/png;base64,%, usage 0 0 0 0, finish stop"},
		{"details alone", provider.OpenAIChat, chat(`{"reasoning_details":[{"type":"reasoning.text","text":"hm"},{"type":"reasoning.summary","summary":"!"}]}`, "stop", ""), `reasoning hm!, reasoning {"details":[{"type":"reasoning.text","text":"hm"},{"type":"reasoning.summary","summary":"!"}]}, usage 0 0 0 0, finish stop`},
		{"Mistral's end of the window", provider.OpenAIChat, chat(`{"content":"a"}`, "model_length", ""), "text a, usage 0 0 0 0, finish length"},
		{"Mistral's cache", provider.OpenAIChat, chat(`{"content":"a"}`, "stop", `,"usage":{"prompt_tokens":9,"completion_tokens":2,"num_cached_tokens":8}`), "text a, usage 9 2 8 0, finish stop"},
		{"Mistral's other cache", provider.OpenAIChat, chat(`{"content":"a"}`, "stop", `,"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_token_details":{"cached_tokens":8}}`), "text a, usage 9 2 8 0, finish stop"},
		{"DeepSeek's cache", provider.OpenAIChat, chat(`{"content":"a"}`, "stop", `,"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":1}`), "text a, usage 9 2 8 0, finish stop"},
		{"DeepSeek's lack of room", provider.OpenAIChat, chat(`{"content":"a"}`, "insufficient_system_resource", ""), "the server stopped within the answer (insufficient_system_resource), again"},
		{"the end error", provider.OpenAIChat, chat(`{"content":"a"}`, "error", ""), "the server stopped within the answer (error), again"},
		{"tokens of Gemini's own tools", provider.Gemini, sse(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"toolUsePromptTokenCount":40,"candidatesTokenCount":5}}`), "text a, usage 43 5 0 0, finish stop"},
		{"a blocked image", provider.Gemini, sse(`{"candidates":[{"finishReason":"IMAGE_SAFETY"}]}`), "usage 0 0 0 0, finish content-filter"},
		{"a call with an id", provider.Gemini, sse(`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"f1","name":"read","args":{}},"thoughtSignature":"S"}]},"finishReason":"STOP"}]}`), `call f1{}{"thoughtSignature":"S","id":"f1"}, usage 0 0 0 0, finish tool-calls`},
		{"a signed text", provider.Gemini, sse(`{"candidates":[{"content":{"parts":[{"text":"é"},{"text":"b","thoughtSignature":"S"}]}}]}`, `{"candidates":[{"content":{"parts":[{"text":"c"},{"text":"","thoughtSignature":"T"}]},"finishReason":"STOP"}]}`), `text é, text b, text c, text {"signatures":[{"from":2,"to":3,"thoughtSignature":"S"},{"from":4,"to":4,"thoughtSignature":"T"}]}, usage 0 0 0 0, finish stop`},
	} {
		o, _ := answers(t, c.text)
		got, err := told(t, c.make(o))
		is := strings.Join(got, ", ")
		var me *sandbox.ModelError
		if errors.As(err, &me) {
			if is = me.Message; me.Retry {
				is += ", again"
			}
		}
		if is != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, is, c.want)
		}
	}
}

// Gemini's signatures of texts, and its ids of calls, go back in the parts in which they came, and to no
// other model. A text that is not the one that was signed goes back without them.
func TestGeminiGetsItsSignaturesBack(t *testing.T) {
	turn := sse(`{"candidates":[{"content":{"parts":[{"text":"hé"},{"text":"llo","thoughtSignature":"S1"},{"text":"!"}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"f1","name":"read","args":{"path":"a"}},"thoughtSignature":"S2"},{"text":"","thoughtSignature":"S3"}]},"finishReason":"STOP"}]}`)
	last := sse(`{"candidates":[{"content":{"parts":[{"text":"done"}]},"finishReason":"STOP"}]}`)
	o, bodies := answers(t, turn, last)
	_, s, err := run(t, provider.Gemini(o))
	must(t, err)
	for _, want := range []string{`{"role":"model","parts":[{"text":"hé"},{"text":"llo","thoughtSignature":"S1"},{"text":"!"},{"functionCall":{"args":{"path":"a"},"id":"f1","name":"read"},"thoughtSignature":"S2"},{"text":"","thoughtSignature":"S3"}]}`, `"functionResponse":{"id":"f1","name":"read"`} {
		if body := sorted(t, (*bodies)[1]); !strings.Contains(body, sorted(t, want)) {
			t.Errorf("the request lacks %s:\n%s", want, body)
		}
	}
	if n := len(s.Messages()[1].Parts); n != 3 {
		t.Errorf("%d parts of the answer, want the text, the call and the signature", n)
	}

	const meta = `{"signatures":[{"from":1,"to":3,"thoughtSignature":"S"}]}`
	for _, c := range []struct{ text, meta, want string }{
		{"abcd", meta, `[{"text":"a"},{"text":"bc","thoughtSignature":"S"},{"text":"d"}]`},
		{"abc", meta, `[{"text":"a"},{"text":"bc","thoughtSignature":"S"}]`},
		{"ab", meta, `[{"text":"ab"}]`},
		{"", meta, `[{"text":""}]`},
		{"aé", meta, `[{"text":"a"},{"text":"é","thoughtSignature":"S"}]`},
		{"éab", meta, `[{"text":"éab"}]`}, // it begins within a character
		{"ab", `{"signatures":[{"from":2,"to":1,"thoughtSignature":"S"}]}`, `[{"text":"ab"}]`},
		{"ab", `{"signatures":[{"from":-1,"to":1,"thoughtSignature":"S"}]}`, `[{"text":"ab"}]`},
		{"ab", `{"signatures":[{"from":1,"to":2,"thoughtSignature":"S"},{"from":0,"to":1,"thoughtSignature":"T"}]}`, `[{"text":"ab"}]`},
		{"ab", `"odd"`, `[{"text":"ab"}]`},
		{"ab", `{`, `[{"text":"ab"}]`},
		{"ab", "", `[{"text":"ab"}]`},
	} {
		r := &recorder{status: 400, text: "{}"}
		q := asked("")
		q.Messages = []sandbox.ModelMessage{{Role: sandbox.RoleAssistant, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: c.text, Meta: []byte(c.meta)}}}}
		_, _, _, _, _, _ = listen(t.Context(), provider.Gemini(provider.Options{Transport: r, Model: "m"}), q)
		if want := sorted(t, `{"parts":`+c.want+`,"role":"model"}`); !strings.Contains(sorted(t, r.body), want) {
			t.Errorf("%q, %s: the request lacks %s:\n%s", c.text, c.meta, want, r.body)
		}
	}
}

// A server chooses the number of signatures of a text.
func TestManySignatures(t *testing.T) {
	for _, n := range []int{999, 1000, 1001} {
		part := `{"text":"","thoughtSignature":"S"}`
		o, _ := answers(t, sse(`{"candidates":[{"content":{"parts":[`+strings.Join(slices.Repeat([]string{part}, n), ",")+`]},"finishReason":"STOP"}]}`))
		if _, err := told(t, provider.Gemini(o)); (err != nil) != (n > 1000) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// A server that repeats the key in an error, within a stream or in place of one, does not put it into the
// conversation, and its text has a limit.
func TestAttackKeyInAnError(t *testing.T) {
	a := attack.Start(t, "sent")
	a.NoSwitch("the key is taken out of each message of an error, and no option leaves it in")
	const key = "key-1234"
	long := key + " is " + strings.Repeat("wrong ", 5000)
	for name, c := range map[string]struct {
		make func(provider.Options) sandbox.Model
		text string
	}{
		"anthropic": {provider.Anthropic, sse(`{"type":"error","error":{"type":"authentication_error","message":"` + long + `"}}`)},
		"chat":      {provider.OpenAIChat, sse(`{"error":{"message":"` + long + `"}}`)},
		"responses": {provider.OpenAI, sse(`{"type":"error","message":"` + long + `"}`)},
		"failed":    {provider.OpenAI, sse(`{"type":"response.failed","response":{"error":{"message":"` + long + `"}}}`)},
		"gemini":    {provider.Gemini, sse(`{"error":{"code":401,"message":"` + long + `"}}`)},
	} {
		o, _ := answers(t, c.text)
		_, err := told(t, c.make(o))
		a.Try(name, err == nil || strings.Contains(err.Error(), key) || len(err.Error()) > 3000)
		if err == nil || !strings.Contains(err.Error(), "(key) is wrong") {
			t.Errorf("%s: %.100v", name, err)
		}
	}
}

// sorted returns JSON with sorted members.
func sorted(t *testing.T, text string) string {
	t.Helper()
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text // a piece
	}
	out, err := json.Marshal(v)
	must(t, err)
	return string(out)
}
