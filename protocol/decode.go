package protocol

import "math"

// DecodeBatch returns the batch of an untrusted text in direction d. It checks size, depth,
// version, direction, types, unknown and refused keys, ids and names before it creates a message.
// The first problem fails the whole batch: [ErrResourceLimit] for a limit, [ErrSecurityViolation]
// for a wrong direction or a key that does not belong there, else [ErrInvalidParams].
func DecodeBatch(text string, d Direction, limits JSONLimits) (Batch, error) {
	l := limits.filled()
	if len(text) > l.Bytes {
		return Batch{}, Errorf(ErrResourceLimit, "decode", "batch", "it has %d bytes; the limit is %d", len(text), l.Bytes)
	}
	p := parser{s: text, nodes: l.Nodes, tagged: true}
	b, err := p.batch(d, l.Depth)
	if err != nil {
		return Batch{}, err
	}
	return b, nil
}

// batch reads the only form of a batch: the members v, gen and msgs, in this order.
func (p *parser) batch(d Direction, depth int) (b Batch, err *jsonError) {
	header := func(prefix string) (float64, *jsonError) {
		if len(p.s)-p.i < len(prefix) || p.s[p.i:p.i+len(prefix)] != prefix {
			return 0, p.bad("a batch must begin with " + prefix)
		}
		p.i += len(prefix)
		if p.i >= len(p.s) || p.s[p.i] < '0' || p.s[p.i] > '9' {
			return 0, p.bad("a whole number should be here")
		}
		v, err := p.number()
		if err != nil {
			return 0, err
		}
		return v.(float64), nil
	}
	v, err := header(`{"v":`)
	if err != nil {
		return b, err
	}
	if v != Version {
		return b, p.bad("this is another version of the messages; host and frame must come from one build")
	}
	gen, err := header(`,"gen":`)
	if err != nil {
		return b, err
	}
	if gen != math.Trunc(gen) || gen < 1 || gen > maxID {
		return b, p.bad("the generation must be a whole number from 1")
	}
	b.Gen = int(gen)
	const open = `,"msgs":[`
	if len(p.s)-p.i < len(open) || p.s[p.i:p.i+len(open)] != open {
		return b, p.bad("a batch must go on with " + open)
	}
	p.i += len(open)
	p.nodes -= 7
	for p.i < len(p.s) && p.s[p.i] != ']' || len(b.Messages) > 0 && p.s[p.i-1] == ',' {
		if len(b.Messages) == MaxBatch {
			return b, p.over("there are more messages than a batch may have")
		}
		start := p.i
		v, err := p.value(depth - 2)
		if err != nil {
			return b, err.within(element(len(b.Messages)))
		}
		size := p.i - start
		m, problem := message(v, d)
		if problem.text != "" {
			return b, (&jsonError{code: problem.code, at: start, text: problem.text}).within(element(len(b.Messages)))
		}
		b.Messages, b.Sizes = append(b.Messages, m), append(b.Sizes, size)
		if p.i < len(p.s) && p.s[p.i] == ',' {
			p.i++
			continue
		}
		break
	}
	if p.s[p.i:] != "]}" {
		return b, p.bad("a batch must end with ]}")
	}
	return b, nil
}

type problem struct {
	code Code
	text string
}

func invalid(text string) problem { return problem{ErrInvalidParams, text} }

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

const (
	maxMessageText = 64 * kib // bytes of an error's message, and of its stack
	maxScript      = 32 * mib // bytes of a script for a worker
)

// message returns the message with these members, or the first problem.
func message(v any, d Direction) (Message, problem) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, invalid("a message must be an object")
	}
	f := &fields{m: m}
	t := MessageType(f.text("type", 32))
	if f.bad == "" && !d.carries(t) {
		return nil, problem{ErrSecurityViolation, "the type " + quote(string(t)) + " is unknown, or does not come from there"}
	}
	out, check := f.read(t)
	switch {
	case f.bad != "":
		return nil, invalid(f.bad)
	case check != "":
		return nil, invalid(check)
	case len(f.m) > 0:
		return nil, problem{ErrSecurityViolation, "the key " + quote(sortedKeys(f.m)[0]) + " does not belong to the message " + string(t)}
	}
	return out, problem{}
}

func (f *fields) read(t MessageType) (Message, string) {
	if f.bad != "" {
		return nil, ""
	}
	switch t {
	case TypeReady:
		return &MsgReady{}, ""
	case TypeSpawned:
		return &MsgSpawned{}, ""
	case TypeKill:
		return &MsgKill{}, ""
	case TypeKilled:
		return &MsgKilled{}, ""
	case TypeStart:
		return f.start()
	case TypeToolCall:
		m := &MsgToolCall{CallID: f.whole("callId", 1), Tool: f.text("toolName", MaxToolName), Args: f.any("args")}
		return m, m.check()
	case TypeToolResponse:
		m := &MsgToolResponse{CallID: f.whole("callId", 1)}
		if _, failed := f.m["error"]; failed {
			if _, both := f.m["result"]; both {
				f.fail("an answer has a result or an error, not both")
			}
			e := &fields{m: f.object("error")}
			m.Error = &PublicError{Code: Code(e.text("code", 64)), Message: e.text("message", maxMessageText)}
			if _, ok := e.m["reason"]; ok {
				m.Error.Reason = Reason(e.text("reason", 64))
			}
			f.inner("error", e)
		} else {
			m.Result = f.any("result")
		}
		return m, m.check()
	case TypeConsole:
		m := &MsgConsole{Level: ConsoleLevel(f.text("level", 16)), Args: f.list("args")}
		if !m.Level.Valid() {
			return nil, "unknown level of console"
		}
		return m, ""
	case TypeResult:
		return f.result()
	case TypeAbort:
		return &MsgAbort{Reason: f.text("reason", maxNote)}, ""
	case TypeViolation:
		m := &MsgViolation{Layer: f.text("layer", 64), Code: Code(f.text("code", 64)), Detail: f.text("detail", maxNote)}
		return m, m.check()
	case TypePing:
		return &MsgPing{N: f.whole("n", 0)}, ""
	case TypePong:
		return &MsgPong{N: f.whole("n", 0)}, ""
	case TypeSpawn:
		return &MsgSpawn{Broker: f.text("broker", maxScript), Code: f.text("code", maxScript)}, ""
	case TypeLost:
		return &MsgLost{Detail: f.text("detail", maxNote)}, ""
	}
	return nil, "unknown type"
}

// inner adds the problem of an object inside a message.
func (f *fields) inner(key string, e *fields) {
	if e.bad != "" {
		f.fail(key + ": " + e.bad)
	} else if len(e.m) > 0 {
		f.fail(key + " has the unknown key " + quote(sortedKeys(e.m)[0]))
	}
}

func (f *fields) start() (Message, string) {
	m := &MsgStart{Run: f.text("run", 64), Args: f.any("args"), Context: f.object("context"), Tools: f.texts("tools")}
	servers := &fields{m: f.object("servers")}
	if len(servers.m) > 0 {
		m.Servers = map[string][]string{}
	}
	for _, name := range sortedKeys(servers.m) {
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
		m.Error = &RunError{Code: Code(e.text("code", 64)), Name: e.text("name", 256), Message: e.text("message", maxMessageText)}
		if _, ok := e.m["stack"]; ok {
			m.Error.Stack = e.text("stack", maxMessageText)
		}
		f.inner("error", e)
	}
	m.Iterations, m.Heap = f.maybeWhole("iterations"), f.maybeWhole("heap")
	if _, undefined := m.Value.(Undefined); undefined {
		m.Value = nil
	}
	return m, m.check()
}
