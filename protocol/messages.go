package protocol

import (
	"math"
	"strconv"
	"unicode/utf8"
)

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
	TypeReady        MessageType = "ready"         // broker → host: the port is up
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

// MsgReady says that the broker listens.
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

// EncodeBatch writes a batch.
func EncodeBatch(b Batch, d Direction, limits JSONLimits) (string, error) {
	l := limits.filled()
	if b.Gen < 1 || b.Gen > maxID {
		return "", Errorf(ErrInvalidParams, "encode", "batch", "the generation must be 1 to %d", maxID)
	}
	if len(b.Messages) > MaxBatch {
		return "", Errorf(ErrResourceLimit, "encode", "batch", "there are more than %d messages", MaxBatch)
	}
	w := &writer{limit: l.Bytes, nodes: l.Nodes, tagged: true}
	w.b = append(w.b, `{"v":`...)
	w.b = strconv.AppendInt(w.b, Version, 10)
	w.b = append(w.b, `,"gen":`...)
	w.b = strconv.AppendInt(w.b, int64(b.Gen), 10)
	w.b = append(w.b, `,"msgs":[`...)
	w.nodes -= 7
	for i, m := range b.Messages {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if !d.carries(m.Type()) {
			return "", Errorf(ErrInvalidParams, "encode", string(m.Type()), "this message does not go in that direction")
		}
		w.b = append(append(append(w.b, `{"type":"`...), m.Type()...), '"')
		w.nodes -= 3
		if err := m.write(w, l.Depth-3); err != nil {
			return "", err.within(element(i))
		}
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, "]}"...)
	if len(w.b) > l.Bytes {
		return "", w.over("the batch is over the limit of " + strconv.Itoa(l.Bytes) + " bytes")
	}
	return string(w.b), nil
}

// key writes a member's key.
func (w *writer) key(name string) {
	w.b = append(append(append(w.b, ',', '"'), name...), '"', ':')
	w.nodes--
}

// put writes a member.
func (w *writer) put(name string, v any, depth int) *jsonError {
	w.key(name)
	if err := w.value(v, depth); err != nil {
		return err.within(member(name))
	}
	return nil
}

// putAny writes a member that is left out where it is nil.
func (w *writer) putAny(name string, v any, depth int) *jsonError {
	if _, undefined := v.(Undefined); v == nil || undefined {
		return nil
	}
	return w.put(name, v, depth)
}

func firstErr(errs ...*jsonError) *jsonError {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (*MsgReady) write(*writer, int) *jsonError   { return nil }
func (*MsgSpawned) write(*writer, int) *jsonError { return nil }
func (*MsgKill) write(*writer, int) *jsonError    { return nil }
func (*MsgKilled) write(*writer, int) *jsonError  { return nil }

func (m *MsgStart) write(w *writer, depth int) *jsonError {
	err := m.check()
	if err == "" {
		return firstErr(w.put("run", m.Run, depth), w.putAny("args", m.Args, depth), w.put("context", orEmpty(m.Context), depth),
			w.put("tools", orNone(m.Tools), depth), w.put("servers", orEmpty(m.Servers), depth), w.put("limits", wireLimits(m.Limits), depth))
	}
	return w.bad(err)
}

func orEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (m *MsgToolCall) write(w *writer, depth int) *jsonError {
	if err := m.check(); err != "" {
		return w.bad(err)
	}
	return firstErr(w.put("callId", m.CallID, depth), w.put("toolName", m.Tool, depth), w.putAny("args", m.Args, depth))
}

func (m *MsgToolResponse) write(w *writer, depth int) *jsonError {
	if err := m.check(); err != "" {
		return w.bad(err)
	}
	if m.Error != nil {
		return firstErr(w.put("callId", m.CallID, depth), w.put("error", m.Error, depth))
	}
	return firstErr(w.put("callId", m.CallID, depth), w.putAny("result", m.Result, depth))
}

func (m *MsgConsole) write(w *writer, depth int) *jsonError {
	if !m.Level.Valid() {
		return w.bad("unknown level of console")
	}
	args := m.Args
	if args == nil {
		args = []any{}
	}
	return firstErr(w.put("level", string(m.Level), depth), w.put("args", args, depth))
}

func (m *MsgResult) write(w *writer, depth int) *jsonError {
	if err := m.check(); err != "" {
		return w.bad(err)
	}
	err := w.put("success", m.Success, depth)
	if m.Success {
		err = firstErr(err, w.putAny("value", m.Value, depth))
	} else {
		err = firstErr(err, w.put("error", m.Error, depth))
	}
	if m.Iterations != 0 {
		err = firstErr(err, w.put("iterations", m.Iterations, depth))
	}
	if m.Heap != 0 {
		err = firstErr(err, w.put("heap", m.Heap, depth))
	}
	return err
}

func (m *MsgAbort) write(w *writer, depth int) *jsonError {
	return w.put("reason", clip(m.Reason), depth)
}

func (m *MsgViolation) write(w *writer, depth int) *jsonError {
	if err := m.check(); err != "" {
		return w.bad(err)
	}
	return firstErr(w.put("layer", m.Layer, depth), w.put("code", string(m.Code), depth), w.put("detail", clip(m.Detail), depth))
}

func (m *MsgPing) write(w *writer, depth int) *jsonError { return w.put("n", m.N, depth) }
func (m *MsgPong) write(w *writer, depth int) *jsonError { return w.put("n", m.N, depth) }

func (m *MsgSpawn) write(w *writer, depth int) *jsonError {
	return firstErr(w.put("broker", m.Broker, depth), w.put("code", m.Code, depth))
}

func (m *MsgLost) write(w *writer, depth int) *jsonError {
	return w.put("detail", clip(m.Detail), depth)
}

// maxNote is the most bytes of a reason or a detail; they are for people.
const maxNote = 1024

func clip(s string) string {
	if len(s) <= maxNote {
		return s
	}
	end := maxNote - 3
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// The checks that encoding and decoding share: what is wrong, or nothing.

func (m *MsgStart) check() string {
	switch {
	case !validID(m.Run):
		return "the run must have an id"
	case m.Limits.Validate() != nil:
		return m.Limits.Validate().Error()
	case len(m.Tools) > maxTools:
		return "there are too many tools"
	}
	for name := range m.Context {
		if !validIdentifier(name) {
			return "the constant " + quote(name) + " is not a JavaScript identifier that may be used"
		}
	}
	for _, name := range m.Tools {
		if err := ValidToolName(name); err != nil {
			return err.Error()
		}
	}
	for server, tools := range m.Servers {
		if !validName(server) || reservedKey(server) {
			return "the server's name " + quote(server) + " is not allowed"
		}
		for _, name := range tools {
			if err := ValidToolName(name); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

func (m *MsgToolCall) check() string {
	if m.CallID < 1 || m.CallID > maxID {
		return "callId must be a whole number from 1"
	}
	if err := ValidToolName(m.Tool); err != nil {
		return err.Error()
	}
	return ""
}

func (m *MsgToolResponse) check() string {
	switch {
	case m.CallID < 1 || m.CallID > maxID:
		return "callId must be a whole number from 1"
	case m.Error != nil && m.Result != nil:
		return "an answer has a result or an error, not both"
	case m.Error != nil && (!m.Error.Code.Valid() || !m.Error.Reason.Valid()):
		return "the error has an unknown code or reason"
	}
	return ""
}

func (m *MsgResult) check() string {
	switch {
	case m.Success && m.Error != nil || !m.Success && (m.Error == nil || m.Value != nil):
		return "a result has a value or an error, as success says"
	case m.Error != nil && !m.Error.Code.Valid():
		return "the error has an unknown code"
	case m.Iterations < 0 || m.Heap < 0:
		return "counts can't be negative"
	}
	return ""
}

func (m *MsgViolation) check() string {
	if !validName(m.Layer) || len(m.Layer) > 64 || !m.Code.Valid() {
		return "a violation must name its layer and code"
	}
	return ""
}

// validIdentifier reports whether name can be declared as a constant: letters,
// digits, _ and $, not a word of the language, and none that the runtime has.
func validIdentifier(name string) bool {
	if name == "" || len(name) > 64 || reservedKey(name) {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && c != '$' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	for _, word := range reservedWords() {
		if name == word {
			return false
		}
	}
	return true
}

// reservedWords are the words no constant may have: the language's, and the names
// that code is promised to find.
func reservedWords() []string {
	return []string{
		"arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum",
		"eval", "export", "extends", "false", "finally", "for", "function", "if", "implements", "import", "in", "instanceof", "interface",
		"let", "new", "null", "package", "private", "protected", "public", "return", "static", "super", "switch", "this", "throw", "true",
		"try", "typeof", "undefined", "NaN", "Infinity", "var", "void", "while", "with", "yield", "async", "of", "get", "set",
		"callTool", "mcp", "parallel", "console", "args", "sleep", "signal",
	}
}

// wireLimits is what of the limits the broker and the runtime need.
func wireLimits(l Limits) map[string]any {
	out := map[string]any{}
	for _, f := range l.fields() {
		v := f.get()
		if f.d != nil {
			out[wireName(f.name)] = float64(v) / 1e6 // milliseconds
		} else {
			out[wireName(f.name)] = float64(v)
		}
	}
	return out
}

// wireName is a field's name with its first letter small.
func wireName(s string) string { return string(s[0]|0x20) + s[1:] }

func readLimits(v any) (l Limits, problem string) {
	m, ok := v.(map[string]any)
	if !ok {
		return l, "limits must be an object"
	}
	left := len(m)
	for _, f := range l.fields() {
		v, there := m[wireName(f.name)]
		if !there {
			return l, "limits lacks " + wireName(f.name)
		}
		left--
		n, ok := v.(float64)
		if f.d != nil {
			n *= 1e6
		}
		if !ok || n != math.Trunc(n) || n < 0 || n > 1<<53 {
			return l, wireName(f.name) + " must be a whole number"
		}
		f.set(int64(n))
	}
	if left != 0 {
		return l, "limits has an unknown key"
	}
	return l, ""
}
