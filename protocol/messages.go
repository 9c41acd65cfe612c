package protocol

// What crosses between the page, an enclave's frame, its broker and the code is
// batches of messages, each batch one string:
//
//	{"v":1,"gen":7,"msgs":[{"type":"tool-call","callId":1,"toolName":"read","args":{"path":"a"}}]}
//
// gen is the generation of the worker that it is about: what a killed one still
// sends has an older number and is dropped. messages.js beside this file is the
// twin of it; testdata/vectors holds what both must take and refuse.

// Version is the version of the messages. Both sides come from one build, so
// another version is an error and not a negotiation.
const Version = 1

// MaxBatch is the most messages in one batch.
const MaxBatch = 1024

const maxID = 1<<31 - 1 // of calls and generations

// MessageType is the type of a message, as on the wire.
type MessageType string

const (
	TypeReady        MessageType = "ready"         // broker → host: the run has its worker
	TypeStart        MessageType = "start"         // host → broker → code: begin
	TypeToolCall     MessageType = "tool-call"     // code → broker → host
	TypeToolResponse MessageType = "tool-response" // host → broker → code
	TypeConsole      MessageType = "console"       // code → broker → host
	TypeResult       MessageType = "result"        // code → broker → host: the one terminal message
	TypeAbort        MessageType = "abort"         // host → broker → code
	TypeViolation    MessageType = "violation"     // broker → host: something was stopped
	TypePing         MessageType = "ping"          // host → broker, host → frame
	TypePong         MessageType = "pong"          // the answer
	TypeSpawn        MessageType = "spawn"         // host → frame: make the workers of this generation
	TypeSpawned      MessageType = "spawned"       // frame → host
	TypeKill         MessageType = "kill"          // host → frame
	TypeKilled       MessageType = "killed"        // frame → host
	TypeLost         MessageType = "lost"          // frame → host: a worker died or never started
)

// Direction is who speaks to whom. A message in the wrong direction is refused.
type Direction uint8

const (
	CodeToBroker Direction = iota // the untrusted side
	BrokerToCode
	BrokerToHost
	HostToBroker
	FrameToHost
	HostToFrame
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

// Message is one of the Msg types.
type Message interface {
	Type() MessageType
	write(m *writer, depth int) *jsonError // the members, after the type
}

// MsgReady says that a run has its worker: the first message of each run. Until it
// comes nothing of the run was heard, so the host may give it to another broker.
type MsgReady struct{}

// MsgStart begins a run.
type MsgStart struct {
	Run     string              // the run's id
	Args    any                 // what the code sees as args; absent is undefined
	Context map[string]any      // named constants; names are JavaScript identifiers
	Tools   []string            // the names callTool takes
	Servers map[string][]string // mcp.<server>.<tool>
	Limits  Limits              // what the broker and the runtime count
}

// MsgToolCall asks for a tool. CallIDs begin with 1 and rise within a run.
type MsgToolCall struct {
	CallID int
	Tool   string
	Args   any // absent is undefined
}

// MsgToolResponse answers a call, with a result or an error.
type MsgToolResponse struct {
	CallID int
	Result any // absent is undefined
	Error  *PublicError
}

// MsgConsole is a call of console.
type MsgConsole struct {
	Level ConsoleLevel
	Args  []any
}

// MsgResult ends a run. What it says about use is the code's own estimate.
type MsgResult struct {
	Success bool
	Value   any       // absent is undefined
	Error   *RunError // if not Success

	Iterations int // an estimate: it was counted where the code runs
	Heap       int // an estimate, likewise
}

// MsgAbort asks the code to stop.
type MsgAbort struct{ Reason string }

// MsgViolation reports what the broker stopped.
type MsgViolation struct {
	Layer  string
	Code   Code
	Detail string
}

// MsgPing asks for a sign of life.
type MsgPing struct{ N int }

// MsgPong is the sign of life with the ping's number.
type MsgPong struct{ N int }

// MsgSpawn makes a broker and the worker below it out of these scripts.
type MsgSpawn struct {
	Broker string // source of the broker
	Code   string // source of the runtime with the code
}

// MsgSpawned says that the workers were made.
type MsgSpawned struct{}

// MsgKill terminates the workers.
type MsgKill struct{}

// MsgKilled says that they were terminated.
type MsgKilled struct{}

// MsgLost says that a worker died or never started, and what the browser said.
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

// Batch is what crosses at once.
type Batch struct {
	Gen      int
	Messages []Message
	// Sizes holds, after decoding, the bytes each message had. Limits on output and
	// console go by them.
	Sizes []int
}
