package sandbox

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
)

// The types of a [ToolResult].
const (
	resultOutput = "output" // the call succeeded
	resultError  = "error"  // the call failed
)

// ToolResult is the result of a tool call, as the caller of the tool receives it.
type ToolResult struct {
	Type      string          `json:"type"`           // "output", or "error" if the call failed, see [ToolResult.Err]
	Data      any             `json:"data,omitempty"` // the output, also that of a failed call until it failed, see [Call.Partial]
	ErrorText string          `json:"error_text,omitempty"`
	Code      protocol.Code   `json:"code,omitempty"`
	Reason    protocol.Reason `json:"reason,omitempty"`
	Metadata  ResultMetadata  `json:"metadata"`
	// Files are the files that the tool added by [Call.AddFile]. They are not in the result's JSON.
	Files []File `json:"-"`
}

// ResultMetadata is the data about a result that is not part of its output.
type ResultMetadata struct {
	DurationMS float64 `json:"duration_ms"`
	Truncated  bool    `json:"truncated,omitempty"`
	OutputPath string  `json:"output_path,omitempty"` // of the file with the whole output, for the tool read
}

// succeeded returns the result of a call that went well.
func succeeded(data any, took time.Duration) ToolResult {
	return ToolResult{Type: resultOutput, Data: data, Metadata: ResultMetadata{DurationMS: ms(took)}}
}

// failed returns the result of a call that failed with err. It contains the code, the reason and
// the message of err as [protocol.Public] returns them, and no wrapped error.
func failed(err error, took time.Duration) ToolResult {
	p := protocol.Public(err)
	return ToolResult{Type: resultError, ErrorText: p.Message, Code: p.Code, Reason: p.Reason, Metadata: ResultMetadata{DurationMS: ms(took)}}
}

// outputLimit is how much of a tool's output stays in its result: bytes, or rows.
// 0 is no limit.
type outputLimit struct {
	// Bytes is the maximum length of the text.
	Bytes int
	// Rows is the maximum number of lines or rows.
	Rows int
}

// outputLimitFor returns the limit of a tool. Other tools have that of the tool read, which is 200 KiB.
func outputLimitFor(tool string) outputLimit {
	switch tool {
	case "glob":
		return outputLimit{Bytes: 200 << 10, Rows: 1_000}
	case "grep":
		return outputLimit{Bytes: 200 << 10, Rows: 200}
	}
	return outputLimit{Bytes: 200 << 10}
}

// sidecar stores the whole of an output that is cut, and returns the path under which the tool read
// finds it.
type sidecar func(ctx context.Context, whole string) (path string, err error)

// truncate cuts text to the limit: at the end of a line if there is one near, and never inside a
// character. It stores the whole text with store. If store is nil or fails, the returned head ends
// with a note that the rest is lost, such as "[cut here, and there is nowhere to keep the rest]".
func (o outputLimit) truncate(ctx context.Context, text string, store sidecar) (head string, meta ResultMetadata) {
	end := len(text)
	if o.Rows > 0 {
		rows := 0
		for i := 0; i < len(text); i++ {
			if text[i] == '\n' {
				if rows++; rows == o.Rows {
					end = i + 1
					break
				}
			}
		}
	}
	if o.Bytes > 0 && end > o.Bytes {
		end = o.Bytes
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		if nl := strings.LastIndexByte(text[:end], '\n'); nl > end-end/8 {
			end = nl + 1
		}
	}
	if end == len(text) {
		return text, meta
	}
	meta.Truncated = true
	why := "and there is nowhere to keep the rest"
	if store != nil {
		path, err := store(ctx, text)
		if err == nil {
			meta.OutputPath = path
			return text[:end], meta
		}
		why = "and keeping the rest failed: " + protocol.Public(err).Message
	}
	return text[:end] + "\n[cut here, " + why + "]", meta
}

// truncateRows returns the first o.Rows rows, and reports whether it cut any.
func truncateRows[T any](o outputLimit, rows []T) ([]T, bool) {
	if o.Rows > 0 && len(rows) > o.Rows {
		return rows[:o.Rows], true
	}
	return rows, false
}

// Err returns the error of a failed result as an [*protocol.Error], and nil for a result without an error.
func (r ToolResult) Err() error {
	if r.Type != resultError {
		return nil
	}
	return protocol.Errorf(r.Code, "", "", "%s", r.ErrorText).WithReason(r.Reason)
}
