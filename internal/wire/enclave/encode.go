package enclave

import (
	"iter"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// EncodeBatch returns the text of a batch in direction d, which [DecodeBatch] accepts with the same
// limits. A message that is not valid or not for that direction gives [protocol.ErrInvalidParams], and a
// batch over the limits [protocol.ErrResourceLimit]. A key such as __proto__ gives [protocol.ErrSecurityViolation].
func EncodeBatch(b Batch, d Direction, limits protocol.JSONLimits) (string, error) {
	if b.Gen < 1 || b.Gen > maxID {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "encode", "batch", "the generation must be 1 to %d", maxID)
	}
	if len(b.Messages) > maxBatch {
		return "", protocol.Errorf(protocol.ErrResourceLimit, "encode", "batch", "there are more than %d messages", maxBatch)
	}
	l := strictjson.Limits(limits).Filled()
	w := &writer{strictjson.NewWriter(l, tagged)}
	w.Raw(batchStart)
	w.Int(b.Gen)
	w.Raw(`,"msgs":[`)
	w.Count(7)
	for i, m := range b.Messages {
		if i > 0 {
			w.Raw(",")
		}
		if !d.carries(m.Type()) {
			return "", protocol.Errorf(protocol.ErrInvalidParams, "encode", m.Type(), "this message does not go in that direction")
		}
		w.Raw(`{"type":"`, m.Type(), `"`)
		w.Count(3)
		if err := m.write(w, l.Depth-3); err != nil {
			return "", err.Within(strictjson.Element(i))
		}
		w.Raw("}")
	}
	w.Raw("]}")
	if w.Len() > l.Bytes {
		return "", w.Over("the batch is over the limit of " + strconv.Itoa(l.Bytes) + " bytes")
	}
	return w.String(), nil
}

// batchStart is the text before the generation of a batch.
const batchStart = `{"v":1,"gen":`

// Rebase returns a batch of [EncodeBatch] for another generation. A batch that waits for a worker is
// encoded before its generation is known.
func Rebase(batch string, gen int) string {
	rest := strings.TrimLeft(strings.TrimPrefix(batch, batchStart), "0123456789")
	return batchStart + strconv.Itoa(gen) + rest
}

// Join returns one batch with the messages of batches of [EncodeBatch], which must have one
// generation. The messages are not encoded again.
func Join(batches []string) string {
	if len(batches) == 1 {
		return batches[0]
	}
	size := 0
	for _, text := range batches {
		size += len(text)
	}
	var b strings.Builder
	b.Grow(size)
	for i, text := range batches {
		head := strings.Index(text, "[") + 1
		if i == 0 {
			b.WriteString(text[:head])
		} else {
			b.WriteByte(',')
		}
		b.WriteString(text[head : len(text)-len("]}")])
	}
	b.WriteString("]}")
	return b.String()
}

// writer writes the members of a message.
type writer struct{ *strictjson.Writer }

// put writes a member.
func (w *writer) put(name string, v any, depth int) *strictjson.Error {
	w.Raw(`,"`, name, `":`)
	w.Count(1)
	if err := w.Value(v, depth); err != nil {
		return err.Within(strictjson.Member(name))
	}
	return nil
}

// putAny writes a member, but nothing for nil or [protocol.Undefined].
func (w *writer) putAny(name string, v any, depth int) *strictjson.Error {
	if _, undefined := v.(protocol.Undefined); v == nil || undefined {
		return nil
	}
	return w.put(name, v, depth)
}

func firstErr(errs ...*strictjson.Error) *strictjson.Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (*MsgReady) write(*writer, int) *strictjson.Error { return nil }

func (m *MsgStart) write(w *writer, depth int) *strictjson.Error {
	err := m.check()
	if err == "" {
		return firstErr(w.put("run", m.Run, depth), w.putAny("args", m.Args, depth), w.put("context", orEmpty(m.Context), depth),
			w.put("tools", orNone(m.Tools), depth), w.put("servers", serverTools(m.Servers), depth), w.put("limits", wireLimits(m.Limits), depth))
	}
	return w.Bad(err)
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

func (m *MsgToolCall) write(w *writer, depth int) *strictjson.Error {
	if err := m.check(); err != "" {
		return w.Bad(err)
	}
	return firstErr(w.put("callId", m.CallID, depth), w.put("toolName", m.Tool, depth), w.putAny("args", m.Args, depth))
}

func (m *MsgToolResponse) write(w *writer, depth int) *strictjson.Error {
	if err := m.check(); err != "" {
		return w.Bad(err)
	}
	if m.Error != nil {
		return firstErr(w.put("callId", m.CallID, depth), w.put("error", m.Error, depth))
	}
	return firstErr(w.put("callId", m.CallID, depth), w.putAny("result", m.Result, depth))
}

func (m *MsgConsole) write(w *writer, depth int) *strictjson.Error {
	if !m.Level.Valid() {
		return w.Bad("unknown level of console")
	}
	args := m.Args
	if args == nil {
		args = []any{}
	}
	return firstErr(w.put("level", string(m.Level), depth), w.put("args", args, depth))
}

func (m *MsgResult) write(w *writer, depth int) *strictjson.Error {
	if err := m.check(); err != "" {
		return w.Bad(err)
	}
	err := w.put("success", m.Success, depth)
	if m.Success {
		err = firstErr(err, w.putAny("value", m.Value, depth))
	} else {
		err = firstErr(err, w.put("error", m.Error, depth))
	}
	if m.Heap != 0 {
		err = firstErr(err, w.put("heap", m.Heap, depth))
	}
	return err
}

func (m *MsgHold) write(w *writer, depth int) *strictjson.Error { return w.put("on", m.On, depth) }

func (m *MsgAbort) write(w *writer, depth int) *strictjson.Error {
	return w.put("reason", clip(m.Reason), depth)
}

func (m *MsgViolation) write(w *writer, depth int) *strictjson.Error {
	if err := m.check(); err != "" {
		return w.Bad(err)
	}
	return firstErr(w.put("layer", m.Layer, depth), w.put("code", string(m.Code), depth), w.put("detail", clip(m.Detail), depth))
}

func (m *MsgPing) write(w *writer, depth int) *strictjson.Error { return w.put("n", m.N, depth) }
func (m *MsgPong) write(w *writer, depth int) *strictjson.Error { return w.put("n", m.N, depth) }

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
func wireLimits(l protocol.Limits) map[string]any {
	out := map[string]any{}
	for name, field := range limitFields(&l) {
		v := float64(field.Int())
		if isTime(field) {
			v /= 1e6
		}
		out[name] = v
	}
	return out
}

func readLimits(v any) (l protocol.Limits, problem string) {
	m, ok := v.(map[string]any)
	if !ok {
		return l, "limits must be an object"
	}
	left := len(m)
	for name, field := range limitFields(&l) {
		v, there := m[name]
		if !there {
			return l, "limits lacks " + name
		}
		left--
		n, ok := v.(float64)
		if isTime(field) {
			n = math.Round(n * 1e6) // 3.7 % of all times are no whole nanoseconds as a product
		}
		if !ok || n != math.Trunc(n) || n < 0 || n > 1<<53 {
			return l, name + " must be a whole number"
		}
		field.SetInt(int64(n))
	}
	if left != 0 {
		return l, "limits has an unknown key"
	}
	return l, ""
}

// limitFields returns the fields of l with their names on the wire, such as toolCalls.
func limitFields(l *protocol.Limits) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		v := reflect.ValueOf(l).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if !yield(string(name[0]|0x20)+name[1:], v.Field(i)) {
				return
			}
		}
	}
}

func isTime(field reflect.Value) bool { return field.Type() == reflect.TypeFor[time.Duration]() }
