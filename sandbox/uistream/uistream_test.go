package uistream_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/uistream"
)

// AI SDK's own code judges the streams of whole runs, in browsertest/internal/aisdk.
func TestVersions(t *testing.T) {
	chunks := []sandbox.Chunk{
		{Type: "start-step"},
		{Type: "tool-input-start", ToolCallID: "c", ToolName: "write"},
		{Type: "tool-approval-request", ApprovalID: "q", ToolCallID: "c"},
		{Type: "tool-approval-response", ApprovalID: "q", ToolCallID: "c", Approved: true},
		{Type: "reset-step"},
		{Type: "tool-input-start", ToolCallID: "d", ToolName: "write"},
		{Type: "tool-output-denied", ToolCallID: "d", ErrorText: "no"},
		{Type: "reset-step"},
	}
	want := map[int]string{
		7: `{"type":"start-step"} {"toolCallId":"c","toolName":"write","type":"tool-input-start"} {"approvalId":"q","toolCallId":"c","type":"tool-approval-request"} ` +
			`{"approvalId":"q","approved":true,"type":"tool-approval-response"} {"type":"reset-step"} {"toolCallId":"d","toolName":"write","type":"tool-input-start"} ` +
			`{"toolCallId":"d","type":"tool-output-denied"} {"type":"reset-step"} [DONE]`,
		6: `{"type":"start-step"} {"toolCallId":"c","toolName":"write","type":"tool-input-start"} {"data":{"toolCallId":"c"},"id":"q","type":"data-approval"} ` +
			`{"data":{"approved":true,"toolCallId":"c"},"id":"q","type":"data-approval"} {"errorText":"the answer was cut off before this call","toolCallId":"c","type":"tool-output-error"} ` +
			`{"toolCallId":"d","toolName":"write","type":"tool-input-start"} {"errorText":"no","toolCallId":"d","type":"tool-output-error"} [DONE]`,
	}
	for v, want := range want {
		var b strings.Builder
		w, err := uistream.NewWriter(&b, v)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			if err := w.Write(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := strings.TrimPrefix(strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n\n"), "\n\ndata: ", " "), "data: ")
		if got != want {
			t.Errorf("version %d:\n%s\nwant\n%s", v, got, want)
		}
	}
}

// Both versions have the same chunks for files, sources and tools of servers.
func TestFilesAndSources(t *testing.T) {
	meta := map[string]any{"anthropic": map[string]any{"a": 1.0}}
	for c, want := range map[*sandbox.Chunk]string{
		{Type: "file", URL: "data:image/png;base64,AA==", MediaType: "image/png", ProviderMetadata: meta}:                   `{"mediaType":"image/png","providerMetadata":{"anthropic":{"a":1}},"type":"file","url":"data:image/png;base64,AA=="}`,
		{Type: "source-url", SourceID: "s", URL: "https://a.example/", Title: "A"}:                                          `{"sourceId":"s","title":"A","type":"source-url","url":"https://a.example/"}`,
		{Type: "source-url", SourceID: "s", URL: "https://a.example/"}:                                                      `{"sourceId":"s","type":"source-url","url":"https://a.example/"}`,
		{Type: "source-document", SourceID: "s", MediaType: "application/pdf", Title: "A", Filename: "a.pdf"}:               `{"filename":"a.pdf","mediaType":"application/pdf","sourceId":"s","title":"A","type":"source-document"}`,
		{Type: "reasoning-end", ID: "r", ProviderMetadata: meta}:                                                            `{"id":"r","providerMetadata":{"anthropic":{"a":1}},"type":"reasoning-end"}`,
		{Type: "tool-input-available", ToolCallID: "c", ToolName: "far_x", Dynamic: true, Input: 1, ProviderMetadata: meta}: `{"dynamic":true,"input":1,"providerMetadata":{"anthropic":{"a":1}},"toolCallId":"c","toolName":"far_x","type":"tool-input-available"}`,
		{Type: "tool-output-available", ToolCallID: "c", Dynamic: true, Output: 1}:                                          `{"dynamic":true,"output":1,"toolCallId":"c","type":"tool-output-available"}`,
		{Type: "start", Dynamic: true, ProviderMetadata: meta}:                                                              `{"type":"start"}`,
	} {
		for _, v := range []int{6, 7} {
			var b strings.Builder
			w, err := uistream.NewWriter(&b, v)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(*c); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(strings.TrimPrefix(b.String(), "data: ")); got != want {
				t.Errorf("version %d: %s, want %s", v, got, want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, v := range []int{5, 6, 7, 8} {
		if _, err := uistream.NewWriter(&strings.Builder{}, v); (err == nil) != (v == 6 || v == 7) {
			t.Errorf("version %d: %v", v, err)
		}
	}
	w, err := uistream.NewWriter(&strings.Builder{}, 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(sandbox.Chunk{Type: "mine"}); err == nil {
		t.Error("an unknown type is written")
	}
	for _, v := range []int{6, 7} {
		w, err := uistream.NewWriter(gone{}, v)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(sandbox.Chunk{Type: "start"}); !errors.Is(err, errGone) {
			t.Errorf("Write = %v", err)
		}
		if err := w.Close(); !errors.Is(err, errGone) {
			t.Errorf("Close = %v", err)
		}
	}
}

var errGone = errors.New("gone")

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errGone }

func TestHeaderIsAHeader(t *testing.T) {
	r := httptest.NewRecorder()
	w, err := uistream.NewWriter(r, 7)
	if err != nil {
		t.Fatal(err)
	}
	r.Header().Set(w.Header())
	if got := r.Header().Get("x-vercel-ai-ui-message-stream"); got != "v1" {
		t.Errorf("%q", got)
	}
}
