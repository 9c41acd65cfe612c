//go:build !js

package provider_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// A server chooses the number of pieces of an answer. Four times the pieces may allocate about four
// times the bytes: work that is quadratic allocates sixteen times as many.
func TestPiecesAreJoinedInLinearTime(t *testing.T) {
	word := strings.Repeat("a", 100)
	each := func(line string) func(n int) string {
		return func(n int) string { return strings.Repeat(sse(line), n) }
	}
	const done = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	for name, c := range map[string]struct {
		make       func(provider.Options) sandbox.Model
		start, end string
		pieces     func(n int) string
	}{
		"texts of details":     {provider.OpenAIChat, "", sse(done), each(`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"` + word + `","index":0}]}}]}`)},
		"summaries of details": {provider.OpenAIChat, "", sse(done), each(`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"` + word + `"}]}}]}`)},
		"details in one event": {provider.OpenAIChat, "", sse(done), func(n int) string {
			return sse(`{"choices":[{"delta":{"reasoning_details":[` + strings.Repeat(`{"type":"reasoning.text","text":"`+word+`"},`, n) + `{"type":"reasoning.text"}]}}]}`)
		}},
		"parts of a text": {provider.OpenAIChat, "", sse(done), func(n int) string {
			return sse(`{"choices":[{"delta":{"content":[` + strings.Repeat(`{"type":"text","text":"`+word+`"},`, n) + `{"type":"text"}]}}]}`)
		}},
		"parts of a thought": {provider.OpenAIChat, "", sse(done), func(n int) string {
			return sse(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[` + strings.Repeat(`{"text":"`+word+`"},`, n) + `{}]}]}}]}`)
		}},
		"a signature": {provider.Anthropic, sse(aStart, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}`), sse(`{"type":"content_block_stop","index":0}`, aEnd),
			each(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` + word + `"}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			allocated := func(n int) uint64 {
				m := c.make(provider.Options{Transport: &recorder{status: 200, text: c.start + c.pieces(n) + c.end}, Model: "m"})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				text, thought, _, _, _, err := listen(t.Context(), m, sandbox.ModelRequest{})
				runtime.ReadMemStats(&after)
				if got := strings.Count(text+thought, "a"); err != nil || got < n*len(word) {
					t.Fatalf("%v: %d of %d bytes", err, got, n*len(word))
				}
				return after.TotalAlloc - before.TotalAlloc
			}
			few, many := allocated(1000), allocated(4000)
			if many > 7*few {
				t.Errorf("1,000 pieces allocate %d bytes, and 4,000 pieces %d", few, many)
			}
		})
	}
}

// The details of a stored conversation are joined when they are sent back, also in linear time.
func TestDetailsAreSentBackInLinearTime(t *testing.T) {
	allocated := func(n int) uint64 {
		r := &recorder{status: 400, text: "{}"}
		q := asked("")
		part := q.Messages[1].Parts[0]
		part.Meta = json.RawMessage(`{"details":[{"type":"reasoning.text","text":"` + strings.Repeat("a", 100) + `"}]}`)
		for range n {
			q.Messages[1].Parts = append(q.Messages[1].Parts, part)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _, _, _, _ = listen(t.Context(), provider.OpenAIChat(provider.Options{Transport: r, Model: "m"}), q)
		runtime.ReadMemStats(&after)
		if !strings.Contains(r.body, `"reasoning_details":[{"type":"reasoning.text","text":"`+strings.Repeat("a", 100*n)+`"}]`) {
			t.Fatal("the details are not joined")
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(1000), allocated(4000)
	if many > 7*few {
		t.Errorf("1,000 details allocate %d bytes, and 4,000 details %d", few, many)
	}
}
