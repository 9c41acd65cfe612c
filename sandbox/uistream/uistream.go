// Package uistream writes the chunks of a run as the UI message stream of AI SDK (npm package ai),
// which its useChat and readUIMessageStream read. Version 7 reads all chunks as they are. Version 6
// lacks two of them and gets others in their place.
package uistream

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/bailey-go/bailey/sandbox"
)

// Version is a major version of AI SDK, 6 or 7.

// Writer writes chunks as server-sent events. It must be used by one goroutine at a time.
type Writer struct {
	w       io.Writer
	version int
	open    []string // version 6: calls of the current step without a result
}

// NewWriter returns a Writer for a major version of AI SDK, 6 or 7. A version that it does not know is an error.
func NewWriter(w io.Writer, v int) (*Writer, error) {
	if v != 6 && v != 7 {
		return nil, fmt.Errorf("uistream: there is no form for version %d of AI SDK: use 6 or 7", v)
	}
	return &Writer{w: w, version: v}, nil
}

// Header returns the name and the value of the response header by which AI SDK knows its stream. The
// content type is text/event-stream.
func (*Writer) Header() (name, value string) { return "X-Vercel-AI-UI-Message-Stream", "v1" }

// Write writes a chunk. It returns the error of the underlying writer, or that of a chunk that has
// no form as JSON.
func (w *Writer) Write(c sandbox.Chunk) error {
	if w.version == 7 {
		return w.event(c)
	}
	for _, c := range w.older(c) {
		if err := w.event(c); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the event that ends the stream. It does not close the underlying writer.
func (w *Writer) Close() error {
	_, err := io.WriteString(w.w, "data: [DONE]\n\n")
	return err
}

func (w *Writer) event(c sandbox.Chunk) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.w, "data: %s\n\n", data)
	return err
}

// older returns what version 6 gets for a chunk. Its messages have no answered question within a
// stream, so a question is a data part whose id is the question's, and a denied call is one that
// failed. It can't take back a step that is repeated, so the calls of that step fail.
func (w *Writer) older(c sandbox.Chunk) []sandbox.Chunk {
	switch c.Type {
	case "start-step":
		w.open = nil
	case "tool-input-start", "tool-input-available":
		w.opened(c.ToolCallID)
	case "tool-input-error", "tool-output-available", "tool-output-error":
		if !c.Preliminary {
			w.ended(c.ToolCallID)
		}
	case "tool-output-denied":
		w.ended(c.ToolCallID)
		c.Type = "tool-output-error"
		if c.ErrorText == "" {
			c.ErrorText = "the user declined"
		}
	case "tool-approval-request":
		return []sandbox.Chunk{{Type: sandbox.ChunkApproval, ID: c.ApprovalID, Data: map[string]any{"toolCallId": c.ToolCallID}}}
	case "tool-approval-response":
		return []sandbox.Chunk{{Type: sandbox.ChunkApproval, ID: c.ApprovalID, Data: map[string]any{"toolCallId": c.ToolCallID, "approved": c.Approved}}}
	case "reset-step":
		var list []sandbox.Chunk
		for _, id := range w.open {
			list = append(list, sandbox.Chunk{Type: "tool-output-error", ToolCallID: id, ErrorText: "the answer was cut off before this call"})
		}
		w.open = nil
		return list
	}
	return []sandbox.Chunk{c}
}

func (w *Writer) opened(call string) {
	if !slices.Contains(w.open, call) {
		w.open = append(w.open, call)
	}
}

func (w *Writer) ended(call string) {
	w.open = slices.DeleteFunc(w.open, func(id string) bool { return id == call })
}
