package protocol

// The page, an enclave's frame, its broker and the code exchange batches of messages. Each batch is
// one string:
//
//	{"v":1,"gen":7,"msgs":[{"type":"tool-call","callId":1,"toolName":"read","args":{"path":"a"}}]}
//
// gen is the generation of the worker that the batch is about. Late messages of a killed worker
// have an older generation and are dropped. messages.js in this folder is the twin of this file.
// Both must accept and reject the same vectors, in testdata/vectors.

// Version is the version of the messages. Both sides come from one build, so another version is an
// error, and versions are not negotiated.
const Version = 1

// MaxBatch is the maximum number of messages in one batch.
const MaxBatch = 1024

const maxID = 1<<31 - 1 // of calls and generations

// MessageType is the type of a message, as on the wire.
type MessageType string

const (
	TypeReady        MessageType = "ready"         // broker → host: the run has its worker
	TypeStart        MessageType = "start"         // host → broker → code: begin the run
	TypeToolCall     MessageType = "tool-call"     // code → broker → host: call a tool
	TypeToolResponse MessageType = "tool-response" // host → broker → code: the result of a tool call
	TypeConsole      MessageType = "console"       // code → broker → host: a call of console
	TypeResult       MessageType = "result"        // code → broker → host: the result of the run, its last message
	TypeAbort        MessageType = "abort"         // host → broker → code: stop
	TypeViolation    MessageType = "violation"     // broker → host: a message or an action was stopped
	TypePing         MessageType = "ping"          // host → broker, host → frame: are you alive?
	TypePong         MessageType = "pong"          // broker → host, frame → host: the answer to ping
	TypeSpawn        MessageType = "spawn"         // host → frame: create the workers of this generation
	TypeSpawned      MessageType = "spawned"       // frame → host: the workers were created
	TypeKill         MessageType = "kill"          // host → frame: terminate the workers
	TypeKilled       MessageType = "killed"        // frame → host: the workers were terminated
	TypeLost         MessageType = "lost"          // frame → host: a worker died or never started
)

// Direction is the sender and the receiver of a batch. A message in a wrong direction is refused.
type Direction uint8

const (
	CodeToBroker Direction = iota // from the untrusted side
	BrokerToCode                  // to the untrusted side
	BrokerToHost                  // from a run to the page
	HostToBroker                  // from the page to a run
	FrameToHost                   // from the enclave's frame to the page
	HostToFrame                   // from the page to the enclave's frame
)

func (d Direction) carries(t MessageType) bool {
	switch t {
	case TypeToolCall, TypeConsole, TypeResult:
		return d == CodeToBroker || d == BrokerToHost
	case TypeStart, TypeToolResponse, TypeAbort:
		return d == HostToBroker || d == BrokerToCode
	case TypeReady, TypeViolation:
		return d == BrokerToHost
	case TypePing:
		return d == HostToBroker || d == HostToFrame
	case TypePong:
		return d == BrokerToHost || d == FrameToHost
	case TypeSpawn, TypeKill:
		return d == HostToFrame
	case TypeSpawned, TypeKilled, TypeLost:
		return d == FrameToHost
	}
	return false
}

// Message is a message of a batch. The Msg types of this package implement it, and no other types.
type Message interface {
	Type() MessageType
	write(m *writer, depth int) *jsonError // writes the members after the type
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
	Limits  Limits              // the limits that the broker and the runtime enforce
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
	Result any          // nil is undefined
	Error  *PublicError // nil for a call that succeeded
}

// MsgConsole is a call of a method of console.
type MsgConsole struct {
	Level ConsoleLevel
	Args  []any
}

// MsgResult is the last message of a run. The code can forge its estimates.
type MsgResult struct {
	Success bool
	Value   any       // nil is undefined
	Error   *RunError // nil if Success

	Iterations int // an estimate, counted in the code's realm
	Heap       int // an estimate of requested bytes, counted in the code's realm
}

// MsgAbort requests the code to stop.
type MsgAbort struct{ Reason string }

// MsgViolation reports a message or an action that the broker stopped.
type MsgViolation struct {
	Layer  string
	Code   Code
	Detail string
}

// MsgPing requests a [MsgPong] with the same number, as a sign of life.
type MsgPing struct{ N int }

// MsgPong is the response to a [MsgPing], with its number.
type MsgPong struct{ N int }

// MsgSpawn creates a broker and the worker below it from these scripts.
type MsgSpawn struct {
	Broker string // the source of the broker
	Code   string // the source of the runtime with the code
}

// MsgSpawned reports that the workers were created.
type MsgSpawned struct{}

// MsgKill terminates the workers.
type MsgKill struct{}

// MsgKilled reports that the workers were terminated.
type MsgKilled struct{}

// MsgLost reports that a worker died or never started. Detail is the browser's error text.
type MsgLost struct{ Detail string }

func (*MsgReady) Type() MessageType        { return TypeReady }
func (*MsgStart) Type() MessageType        { return TypeStart }
func (*MsgToolCall) Type() MessageType     { return TypeToolCall }
func (*MsgToolResponse) Type() MessageType { return TypeToolResponse }
func (*MsgConsole) Type() MessageType      { return TypeConsole }
func (*MsgResult) Type() MessageType       { return TypeResult }
func (*MsgAbort) Type() MessageType        { return TypeAbort }
func (*MsgViolation) Type() MessageType    { return TypeViolation }
func (*MsgPing) Type() MessageType         { return TypePing }
func (*MsgPong) Type() MessageType         { return TypePong }
func (*MsgSpawn) Type() MessageType        { return TypeSpawn }
func (*MsgSpawned) Type() MessageType      { return TypeSpawned }
func (*MsgKill) Type() MessageType         { return TypeKill }
func (*MsgKilled) Type() MessageType       { return TypeKilled }
func (*MsgLost) Type() MessageType         { return TypeLost }

// Batch is a list of messages that are sent together.
type Batch struct {
	Gen      int
	Messages []Message
	// Sizes are the encoded sizes of the messages, in bytes. [DecodeBatch] sets it, and
	// [EncodeBatch] ignores it. The limits on output and console count these sizes.
	Sizes []int
}
