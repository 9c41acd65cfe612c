package compat

import (
	"strings"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// Discriminator is a key of all messages of Enclave. Its value is true.
const Discriminator = "__enclave_msg__"

const maxText = 64 << 10

// EnclaveMessage is a message of Enclave's dialect. Its call ids are texts. [Calls] maps them to
// the numbers of package protocol.
type EnclaveMessage struct {
	RequestID string
	CallID    string // of tool-call and tool-response
	// Message is a *protocol.MsgReady, MsgToolCall, MsgToolResponse, MsgConsole, MsgResult or
	// MsgAbort. Its own CallID is not used.
	Message protocol.Message
}

// DecodeEnclave returns the message of a text. Its values are JSON. A message that is not valid
// gives [protocol.ErrInvalidParams], and an unknown key [protocol.ErrSecurityViolation].
func DecodeEnclave(text string, limits protocol.JSONLimits) (EnclaveMessage, error) {
	r, err := open("enclave message", text, limits)
	if err != nil {
		return EnclaveMessage{}, err
	}
	if r.any(Discriminator) != true {
		r.fail(Discriminator, "must be true")
	}
	m := EnclaveMessage{RequestID: r.id("requestId")}
	kind := r.text("type", 32)
	switch kind {
	case "ready":
		m.Message = &protocol.MsgReady{}
	case "abort":
		m.Message = &protocol.MsgAbort{Reason: r.maybeText("reason", 1024)}
	case "tool-call":
		m.CallID = r.id("callId")
		call := &protocol.MsgToolCall{Tool: r.text("toolName", protocol.MaxToolName), Args: r.any("args")}
		if err := protocol.ValidToolName(call.Tool); err != nil && r.err == nil {
			r.err = err
		}
		m.Message = call
	case "tool-response":
		m.CallID = r.id("callId")
		answer := &protocol.MsgToolResponse{}
		if r.has("error") {
			if r.has("result") {
				r.fail("result", "an answer has a result or an error, not both")
			}
			e := r.failure()
			answer.Error = &protocol.PublicError{Code: e.Code, Message: e.Message}
		} else {
			answer.Result = r.any("result")
		}
		m.Message = answer
	case "console":
		level := protocol.ConsoleLevel(r.text("level", 16))
		args, ok := r.any("args").([]any)
		if !ok || !level.Valid() {
			r.fail("args", "the console has a level and an array of arguments")
		}
		m.Message = &protocol.MsgConsole{Level: level, Args: args}
	case "result":
		m.Message = r.result()
	default:
		r.fail("type", "unknown")
	}
	if err := r.done(); err != nil {
		return EnclaveMessage{}, err
	}
	return m, nil
}

func (r *reader) result() *protocol.MsgResult {
	out := &protocol.MsgResult{}
	ok, isBool := r.any("success").(bool)
	if !isBool {
		r.fail("success", "must be true or false")
	}
	if failed := r.has("error"); failed == ok || failed && r.has("value") {
		r.fail("error", "a result has a value or an error, as success says")
	}
	if out.Success = ok; ok {
		out.Value = r.any("value")
	} else {
		out.Error = r.failure()
	}
	if !r.has("stats") {
		return out
	}
	// The other side counts these beside the code, so they are estimates.
	stats := r.object("stats")
	for _, key := range []string{"duration", "toolCallCount", "startTime", "endTime", "memoryUsage", "consoleCallCount", "consoleBytes"} {
		if stats.has(key) {
			if _, ok := stats.any(key).(float64); !ok {
				stats.fail(key, "must be a number")
			}
		}
	}
	if stats.has("iterationCount") {
		out.Iterations = stats.whole("iterationCount", 1<<31-1)
	}
	r.close(stats)
	return out
}

// failure reads an error: a text, or an object with a message.
func (r *reader) failure() *protocol.RunError {
	if s, ok := r.m["error"].(string); ok {
		r.any("error")
		return &protocol.RunError{Code: protocol.ErrExecution, Name: "Error", Message: clip(s)}
	}
	e := r.object("error")
	out := &protocol.RunError{
		Code: protocol.Code(e.maybeText("code", 64)), Name: e.maybeText("name", 256),
		Message: e.text("message", maxText), Stack: e.maybeText("stack", maxText),
	}
	if !out.Code.Valid() {
		out.Code = protocol.ErrExecution
	}
	r.close(e)
	return out
}

func clip(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	return s
}

// EncodeEnclave returns the text of a message. A message that the dialect does not have, or a bad
// id, gives [protocol.ErrInvalidParams].
func EncodeEnclave(m EnclaveMessage, limits protocol.JSONLimits) (string, error) {
	bad := func(what string) (string, error) {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "enclave message", m.RequestID, "%s", what)
	}
	if m.Message == nil || !validID(m.RequestID) {
		return bad("it must have a message and a requestId")
	}
	out := map[string]any{Discriminator: true, "requestId": m.RequestID, "type": string(m.Message.Type())}
	switch c := m.Message.(type) {
	case *protocol.MsgReady:
	case *protocol.MsgAbort:
		if c.Reason != "" {
			out["reason"] = c.Reason
		}
	case *protocol.MsgToolCall:
		out["callId"], out["toolName"], out["args"] = m.CallID, c.Tool, c.Args
	case *protocol.MsgToolResponse:
		out["callId"] = m.CallID
		if c.Error != nil {
			out["error"] = map[string]any{"name": "Error", "code": string(c.Error.Code), "message": c.Error.Message}
		} else {
			out["result"] = c.Result
		}
	case *protocol.MsgConsole:
		out["level"], out["args"] = string(c.Level), c.Args
	case *protocol.MsgResult:
		out["success"] = c.Success
		out["stats"] = map[string]any{"iterationCount": c.Iterations}
		if c.Success {
			out["value"] = c.Value
		} else {
			out["error"] = c.Error
		}
	default:
		return bad("the dialect has no message " + string(m.Message.Type()))
	}
	if id, ok := out["callId"]; ok && !validID(id.(string)) {
		return bad("it must have a callId")
	}
	return protocol.EncodeJSON(out, limits)
}

// Calls maps the ids of a dialect's open calls to the numbers of package protocol. The zero Calls
// is ready for use. It is for one run, and not safe for concurrent use.
type Calls struct {
	ids  map[int]string
	nums map[string]int
	last int
}

// Open returns a new number for a dialect's call. An id of an open call gives
// [protocol.ErrSecurityViolation], and more than 100,000 open calls [protocol.ErrResourceLimit].
func (c *Calls) Open(id string) (int, error) {
	if _, twice := c.nums[id]; twice {
		return 0, protocol.Errorf(protocol.ErrSecurityViolation, "call", id, "there is an open call with this id")
	}
	if len(c.nums) >= 100_000 {
		return 0, protocol.Errorf(protocol.ErrResourceLimit, "call", id, "there are too many open calls")
	}
	if c.nums == nil {
		c.nums, c.ids = map[string]int{}, map[int]string{}
	}
	c.last++
	c.nums[id], c.ids[c.last] = c.last, id
	return c.last, nil
}

// Close returns the dialect's id of a call and removes the call. ok is false if no such call is
// open.
func (c *Calls) Close(n int) (id string, ok bool) {
	if id, ok = c.ids[n]; ok {
		delete(c.ids, n)
		delete(c.nums, id)
	}
	return id, ok
}

// EnclaveOptions are the options of Enclave's library, as types of package protocol.
type EnclaveOptions struct {
	Level  protocol.Level
	Limits protocol.Limits // zero for options that are not set, see [protocol.Limits.Or]
}

// ParseEnclaveOptions returns the options of a JSON object with securityLevel, timeout (ms),
// maxToolCalls, maxConsoleCalls, maxConsoleOutputBytes, maxIterations and memoryLimit (an estimate
// of the bytes that repeat, join and fill may request). All are optional. Another key is an error.
func ParseEnclaveOptions(text string) (EnclaveOptions, error) {
	r, err := open("enclave options", text, protocol.JSONLimits{})
	if err != nil {
		return EnclaveOptions{}, err
	}
	var o EnclaveOptions
	if r.has("securityLevel") {
		if o.Level, err = protocol.ParseLevel(r.text("securityLevel", 16)); err != nil {
			return EnclaveOptions{}, err
		}
	}
	if r.has("timeout") {
		o.Limits.Time = time.Duration(r.whole("timeout", 300_000)) * time.Millisecond
	}
	for key, to := range map[string]*int{
		"maxToolCalls": &o.Limits.ToolCalls, "maxConsoleCalls": &o.Limits.ConsoleCalls, "maxConsoleOutputBytes": &o.Limits.ConsoleBytes,
		"maxIterations": &o.Limits.Iterations, "memoryLimit": &o.Limits.HeapMemory,
	} {
		if r.has(key) {
			if *to = r.whole(key, 1<<31-1); *to == 0 {
				r.fail(key, "must be at least 1")
			}
		}
	}
	if err := r.done(); err != nil {
		return EnclaveOptions{}, err
	}
	return o, o.Limits.Validate()
}
