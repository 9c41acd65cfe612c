package protocol

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// EncodeBatch returns the text of a batch in direction d, which [DecodeBatch] accepts with the same
// limits. A message that is not valid or not for that direction gives [ErrInvalidParams], and a
// batch over the limits [ErrResourceLimit]. A key such as __proto__ gives [ErrSecurityViolation].
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

// key writes the key of a member.
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

// putAny writes a member, but nothing for nil or [Undefined].
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
			w.put("tools", orNone(m.Tools), depth), w.put("servers", serverTools(m.Servers), depth), w.put("limits", wireLimits(m.Limits), depth))
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

func serverTools(servers map[string][]string) map[string]any {
	out := make(map[string]any, len(servers))
	for server, tools := range servers {
		out[server] = orNone(tools)
	}
	return out
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

// maxNote is the maximum length of a reason or a detail, in bytes. They are for users.
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

// wireLimits returns the limits as the members of a message. Times are milliseconds.
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

// wireName returns the name of a field with its first letter in lower case.
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
