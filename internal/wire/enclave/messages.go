package enclave

import (
	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// The page, an enclave's broker and the code exchange batches of messages. Each batch is
// one string:
//
//	{"v":1,"gen":7,"msgs":[{"type":"tool-call","callId":1,"toolName":"read","args":{"path":"a"}}]}
//
// gen is the generation of the worker that the batch is about. Late messages of a killed worker
// have an older generation and are dropped. messages.js in this folder is the twin of this file.
// Both must accept and reject the same vectors, in testdata/vectors.

// version is the version of the messages. Both sides come from one build, so another version is an
// error, and versions are not negotiated.
const version = 1 // also in batchStart

// maxBatch is the maximum number of messages in one batch.
const maxBatch = 1024

const maxID = 1<<31 - 1 // of calls and generations

// Direction is the sender and the receiver of a batch. A message in a wrong direction is refused.
type Direction uint8

const (
	CodeToBroker Direction = iota // from the untrusted side
	BrokerToCode                  // to the untrusted side
	BrokerToHost                  // from a run to the page
	HostToBroker                  // from the page to a run
)

// carries reports whether messages of a type go in the direction.
func (d Direction) carries(kind string) bool {
	switch kind {
	case "tool-call", "console", "result":
		return d == CodeToBroker || d == BrokerToHost
	case "start", "tool-response", "abort":
		return d == HostToBroker || d == BrokerToCode
	case "ready", "violation", "pong":
		return d == BrokerToHost
	case "ping", "hold":
		return d == HostToBroker
	}
	return false
}

// Message is a message of a batch. The Msg types of this package implement it, and no other types.
type Message interface {
	// Type returns the type of the message, as on the wire.
	Type() string
	write(m *writer, depth int) *strictjson.Error // writes the members after the type
}

// MsgReady reports that a run has its worker. It is the first message of each run. Before it, the
// host has received nothing of the run and may move the run to another broker.
type MsgReady struct{}

// MsgStart starts a run.
type MsgStart struct {
	Run     string              // the run's id
	Args    any                 // the value of args in the code, or nil for undefined
	Context map[string]any      // named constants for the code, whose names are JavaScript identifiers
	Tools   []string            // the names that callTool accepts
	Servers map[string][]string // the tools of each server, as in mcp.<server>.<tool>
	Limits  protocol.Limits     // the limits that the broker and the runtime enforce
}

// MsgToolCall calls a tool. The CallIDs of a run start at 1 and rise.
type MsgToolCall struct {
	CallID int
	Tool   string
	Args   any // nil is undefined
}

// MsgToolResponse is the response to a tool call, with a result or an error.
type MsgToolResponse struct {
	CallID int
	Result any                   // nil is undefined
	Error  *protocol.PublicError // nil for a call that succeeded
}

// MsgConsole is a call of a method of console.
type MsgConsole struct {
	Level protocol.ConsoleLevel
	Args  []any
}

// MsgResult is the last message of a run. The code can forge its estimate.
type MsgResult struct {
	Success bool
	Value   any                // nil is undefined
	Error   *protocol.RunError // nil if Success
	Heap    int                // an estimate of requested bytes, counted in the code's realm
}

// MsgAbort requests the code to stop.
type MsgAbort struct{ Reason string }

// MsgHold begins or ends a pause of the broker's time limit, because a person is asked. It goes to the broker alone.
type MsgHold struct{ On bool }

// MsgViolation reports a message or an action that the broker stopped.
type MsgViolation struct {
	Layer  string
	Code   protocol.Code
	Detail string
}

// MsgPing requests a [MsgPong] with the same number, as a sign of life.
type MsgPing struct{ N int }

// MsgPong is the response to a [MsgPing], with its number.
type MsgPong struct{ N int }

// Type returns ready.
func (*MsgReady) Type() string { return "ready" }

// Type returns start.
func (*MsgStart) Type() string { return "start" }

// Type returns tool-call.
func (*MsgToolCall) Type() string { return "tool-call" }

// Type returns tool-response.
func (*MsgToolResponse) Type() string { return "tool-response" }

// Type returns console.
func (*MsgConsole) Type() string { return "console" }

// Type returns result.
func (*MsgResult) Type() string { return "result" }

// Type returns abort.
func (*MsgAbort) Type() string { return "abort" }

// Type returns hold.
func (*MsgHold) Type() string { return "hold" }

// Type returns violation.
func (*MsgViolation) Type() string { return "violation" }

// Type returns ping.
func (*MsgPing) Type() string { return "ping" }

// Type returns pong.
func (*MsgPong) Type() string { return "pong" }

// Batch is a list of messages that are sent together.
type Batch struct {
	Gen      int
	Messages []Message
	// Sizes are the encoded sizes of the messages, in bytes. [DecodeBatch] sets it, and
	// [EncodeBatch] ignores it. The limits on output and console count these sizes.
	Sizes []int
}
