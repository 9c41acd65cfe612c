package enclave

import (
	"maps"
	"math"
	"slices"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// DecodeBatch returns the batch of an untrusted text in direction d. It checks size, depth,
// version, direction, types, unknown and refused keys, ids and names before it creates a message.
// The first problem fails the whole batch: [protocol.ErrResourceLimit] for a limit, [protocol.ErrSecurityViolation]
// for a wrong direction or a key that does not belong there, else [protocol.ErrInvalidParams].
func DecodeBatch(text string, d Direction, limits protocol.JSONLimits) (Batch, error) {
	l := strictjson.Limits(limits).Filled()
	if len(text) > l.Bytes {
		return Batch{}, protocol.Errorf(protocol.ErrResourceLimit, "decode", "batch", "it has %d bytes; the limit is %d", len(text), l.Bytes)
	}
	b, err := readBatch(strictjson.NewReader(text, l, tagged), d, l.Depth)
	if err != nil {
		return Batch{}, err
	}
	return b, nil
}

// readBatch reads the only form of a batch: the members v, gen and msgs, in this order.
func readBatch(p *strictjson.Reader, d Direction, depth int) (b Batch, err *strictjson.Error) {
	header := func(prefix string) (float64, *strictjson.Error) {
		if !p.Skip(prefix) {
			return 0, p.Bad("a batch must begin with " + prefix)
		}
		if left := p.Left(); left == "" || left[0] < '0' || left[0] > '9' {
			return 0, p.Bad("a whole number should be here")
		}
		v, err := p.Number()
		if err != nil {
			return 0, err
		}
		return v.(float64), nil
	}
	v, err := header(`{"v":`)
	if err != nil {
		return b, err
	}
	if v != version {
		return b, p.Bad("this is another version of the messages; host and frame must come from one build")
	}
	gen, err := header(`,"gen":`)
	if err != nil {
		return b, err
	}
	if gen != math.Trunc(gen) || gen < 1 || gen > maxID {
		return b, p.Bad("the generation must be a whole number from 1")
	}
	b.Gen = int(gen)
	const open, end = `,"msgs":[`, "]}"
	if !p.Skip(open) {
		return b, p.Bad("a batch must go on with " + open)
	}
	p.Count(7)
	for more := p.Left() != "" && p.Left()[0] != ']'; more; more = p.Skip(",") {
		if len(b.Messages) == maxBatch {
			return b, p.Over("there are more messages than a batch may have")
		}
		start := p.At()
		v, err := p.Value(depth - 2)
		if err != nil {
			return b, err.Within(strictjson.Element(len(b.Messages)))
		}
		m, problem := message(v, d)
		if problem.text != "" {
			return b, (&strictjson.Error{Code: problem.code, At: start, Text: problem.text}).Within(strictjson.Element(len(b.Messages)))
		}
		b.Messages, b.Sizes = append(b.Messages, m), append(b.Sizes, p.At()-start)
	}
	if p.Left() != end {
		return b, p.Bad("a batch must end with " + end)
	}
	return b, nil
}

type problem struct {
	code protocol.Code
	text string
}

func invalid(text string) problem { return problem{protocol.ErrInvalidParams, text} }

// fields takes the members of a message one by one. The members that remain are unknown.
type fields struct {
	m   map[string]any
	bad string
}

func (f *fields) fail(text string) {
	if f.bad == "" {
		f.bad = text
	}
}

func (f *fields) any(key string) any {
	v := f.m[key]
	delete(f.m, key)
	return v
}

func (f *fields) must(key string) any {
	if _, ok := f.m[key]; !ok {
		f.fail(key + " is missing")
	}
	return f.any(key)
}

func (f *fields) text(key string, most int) string {
	s, ok := f.must(key).(string)
	if !ok || len(s) > most {
		f.fail(key + " must be a string that is not too long")
	}
	return s
}

func (f *fields) whole(key string, least int) int {
	n, ok := f.must(key).(float64)
	if !ok || n != math.Trunc(n) || n < float64(least) || n > maxID {
		f.fail(key + " must be a whole number")
		return 0
	}
	return int(n)
}

func (f *fields) maybeWhole(key string) int {
	if _, ok := f.m[key]; !ok {
		return 0
	}
	return f.whole(key, 0)
}

func (f *fields) flag(key string) bool {
	b, ok := f.must(key).(bool)
	if !ok {
		f.fail(key + " must be true or false")
	}
	return b
}

func (f *fields) list(key string) []any {
	l, ok := f.must(key).([]any)
	if !ok {
		f.fail(key + " must be an array")
	}
	return l
}

func (f *fields) texts(key string) []string {
	var out []string
	for _, v := range f.list(key) {
		s, ok := v.(string)
		if !ok {
			f.fail(key + " must hold strings")
		}
		out = append(out, s)
	}
	return out
}

func (f *fields) object(key string) map[string]any {
	m, ok := f.must(key).(map[string]any)
	if !ok {
		f.fail(key + " must be an object")
	}
	return m
}

const maxMessageText = 64 << 10 // bytes of an error's message, and of its stack

// message returns the message with these members, or the first problem.
func message(v any, d Direction) (Message, problem) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, invalid("a message must be an object")
	}
	f := &fields{m: m}
	t := f.text("type", 32)
	if f.bad == "" && !d.carries(t) {
		return nil, problem{protocol.ErrSecurityViolation, "the type " + strictjson.Quote(t) + " is unknown, or does not come from there"}
	}
	out, check := f.read(t)
	switch {
	case f.bad != "":
		return nil, invalid(f.bad)
	case check != "":
		return nil, invalid(check)
	case len(f.m) > 0:
		return nil, problem{protocol.ErrSecurityViolation, "the key " + strictjson.Quote(slices.Sorted(maps.Keys(f.m))[0]) + " does not belong to the message " + t}
	}
	return out, problem{}
}

// maxToolName is the limit of [protocol.ValidToolName].
const maxToolName = 256

func (f *fields) read(t string) (Message, string) {
	if f.bad != "" {
		return nil, ""
	}
	switch t {
	case "ready":
		return &MsgReady{}, ""
	case "start":
		return f.start()
	case "tool-call":
		m := &MsgToolCall{CallID: f.whole("callId", 1), Tool: f.text("toolName", maxToolName), Args: f.any("args")}
		return m, m.check()
	case "tool-response":
		m := &MsgToolResponse{CallID: f.whole("callId", 1)}
		if _, failed := f.m["error"]; failed {
			if _, both := f.m["result"]; both {
				f.fail("an answer has a result or an error, not both")
			}
			e := &fields{m: f.object("error")}
			m.Error = &protocol.PublicError{Code: protocol.Code(e.text("code", 64)), Message: e.text("message", maxMessageText)}
			if _, ok := e.m["reason"]; ok {
				m.Error.Reason = protocol.Reason(e.text("reason", 64))
			}
			f.inner("error", e)
		} else {
			m.Result = f.any("result")
		}
		return m, m.check()
	case "console":
		m := &MsgConsole{Level: protocol.ConsoleLevel(f.text("level", 16)), Args: f.list("args")}
		if !m.Level.Valid() {
			return nil, "unknown level of console"
		}
		return m, ""
	case "result":
		return f.result()
	case "abort":
		return &MsgAbort{Reason: f.text("reason", maxNote)}, ""
	case "hold":
		return &MsgHold{On: f.flag("on")}, ""
	case "violation":
		m := &MsgViolation{Layer: f.text("layer", 64), Code: protocol.Code(f.text("code", 64)), Detail: f.text("detail", maxNote)}
		return m, m.check()
	case "ping":
		return &MsgPing{N: f.whole("n", 0)}, ""
	case "pong":
		return &MsgPong{N: f.whole("n", 0)}, ""
	}
	return nil, "unknown type"
}

// inner adds the problem of an object inside a message.
func (f *fields) inner(key string, e *fields) {
	if e.bad != "" {
		f.fail(key + ": " + e.bad)
	} else if len(e.m) > 0 {
		f.fail(key + " has the unknown key " + strictjson.Quote(slices.Sorted(maps.Keys(e.m))[0]))
	}
}

func (f *fields) start() (Message, string) {
	m := &MsgStart{Run: f.text("run", 64), Args: f.any("args"), Context: f.object("context"), Tools: f.texts("tools")}
	servers := &fields{m: f.object("servers")}
	if len(servers.m) > 0 {
		m.Servers = map[string][]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(servers.m)) {
		m.Servers[name] = servers.texts(name)
	}
	f.inner("servers", servers)
	var problem string
	if m.Limits, problem = readLimits(f.must("limits")); problem != "" {
		f.fail(problem)
	}
	return m, m.check()
}

func (f *fields) result() (Message, string) {
	m := &MsgResult{Success: f.flag("success")}
	_, failed := f.m["error"]
	if _, value := f.m["value"]; failed == m.Success || failed && value {
		f.fail("a result has a value or an error, as success says")
	}
	if m.Success {
		m.Value = f.any("value")
	} else {
		e := &fields{m: f.object("error")}
		m.Error = &protocol.RunError{Code: protocol.Code(e.text("code", 64)), Name: e.text("name", 256), Message: e.text("message", maxMessageText)}
		if _, ok := e.m["stack"]; ok {
			m.Error.Stack = e.text("stack", maxMessageText)
		}
		f.inner("error", e)
	}
	m.Heap = f.maybeWhole("heap")
	if _, undefined := m.Value.(protocol.Undefined); undefined {
		m.Value = nil
	}
	return m, m.check()
}
