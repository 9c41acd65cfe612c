package protocol

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// ResultType is the outcome of a tool call.
type ResultType string

const (
	ResultOutput ResultType = "output" // the call succeeded
	ResultError  ResultType = "error"  // the call failed
)

// ToolResult is the result of a tool call, as the caller of the tool receives it.
type ToolResult struct {
	Type      ResultType     `json:"type"`
	Data      any            `json:"data,omitempty"`
	ErrorText string         `json:"error_text,omitempty"`
	Code      Code           `json:"code,omitempty"`
	Reason    Reason         `json:"reason,omitempty"`
	Metadata  ResultMetadata `json:"metadata"`
}

// ResultMetadata is the data about a result that is not part of its output.
type ResultMetadata struct {
	DurationMS float64 `json:"duration_ms"`
	Truncated  bool    `json:"truncated,omitempty"`
	OutputPath string  `json:"output_path,omitempty"` // of the file with the whole output, for the tool read
}

// Output is the result of a call that went well.
func Output(data any, took time.Duration) ToolResult {
	return ToolResult{Type: ResultOutput, Data: data, Metadata: ResultMetadata{DurationMS: ms(took)}}
}

// Failure returns the result of a call that failed with err. It contains the code, the reason and
// the message of err as [Public] returns them, and no wrapped error.
func Failure(err error, took time.Duration) ToolResult {
	p := Public(err)
	return ToolResult{Type: ResultError, ErrorText: p.Message, Code: p.Code, Reason: p.Reason, Metadata: ResultMetadata{DurationMS: ms(took)}}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// OutputLimit is how much of a tool's output stays in its result: bytes, or rows.
// 0 is no limit.
type OutputLimit struct {
	// Bytes is the maximum length of the text.
	Bytes int
	// Rows is the maximum number of lines or rows.
	Rows int
}

// OutputLimitFor returns the limit of a tool. Those that are not known have that of
// the tool read, which is 200 KiB.
func OutputLimitFor(tool string) OutputLimit {
	switch tool {
	case "glob":
		return OutputLimit{Bytes: 200 * kib, Rows: 1_000}
	case "grep":
		return OutputLimit{Bytes: 200 * kib, Rows: 200}
	}
	return OutputLimit{Bytes: 200 * kib}
}

// Sidecar stores the whole of an output that is cut, and returns the path under which the tool read
// finds it.
type Sidecar func(ctx context.Context, whole string) (path string, err error)

// Truncate cuts text to the limit: at the end of a line if there is one near, and never inside a
// character. It stores the whole text with store. If store is nil or fails, the returned head ends
// with a note that the rest is lost, such as "[cut here, and there is nowhere to keep the rest]".
func (o OutputLimit) Truncate(ctx context.Context, text string, store Sidecar) (head string, meta ResultMetadata) {
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
		why = "and keeping the rest failed: " + Public(err).Message
	}
	return text[:end] + "\n[cut here, " + why + "]", meta
}

// TruncateRows returns the first o.Rows rows, and reports whether it cut any.
func TruncateRows[T any](o OutputLimit, rows []T) ([]T, bool) {
	if o.Rows > 0 && len(rows) > o.Rows {
		return rows[:o.Rows], true
	}
	return rows, false
}

// PublicError is the part of an error that crosses a boundary. It contains no data of the host.
type PublicError struct {
	Code    Code   `json:"code"`
	Reason  Reason `json:"reason,omitempty"`
	Message string `json:"message"`
}

// Public returns the part of err that may cross a boundary. The message of an *[Error] is written
// for the other side, so it is kept, cut to 4 KiB. The text of an error about decoded JSON is kept
// too. Any other error may contain paths, URLs or keys of the host, so only its code is kept. For
// nil, Public returns the zero value.
func Public(err error) PublicError {
	code := CodeOf(err)
	p := PublicError{Code: code, Message: code.Error()}
	var e *Error
	switch {
	case err == nil:
		return PublicError{}
	case asError(err, &e):
		p.Reason = e.Reason
		if e.Message != "" {
			p.Message = e.Message
		} else if e.Reason != "" {
			p.Message = e.Reason.Error()
		}
		if e.Subject != "" && e.Op != "" {
			p.Message = e.Op + " " + e.Subject + ": " + p.Message
		}
	case asJSON(err):
		p.Message = err.Error()
	}
	const most = 4 * kib
	if len(p.Message) > most {
		end := most
		for !utf8.RuneStart(p.Message[end]) {
			end--
		}
		p.Message = p.Message[:end] + "…"
	}
	return p
}

// Err returns the error of a failed result as an [*Error], and nil for a result without an error.
func (r ToolResult) Err() error {
	if r.Type != ResultError {
		return nil
	}
	return Errorf(r.Code, "", "", "%s", r.ErrorText).WithReason(r.Reason)
}
