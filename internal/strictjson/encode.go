package strictjson

import (
	"encoding"
	"encoding/base64"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// Encode returns the text of a value. v may be any value that d.Tag has a form for and any Go value
// made of structs with json tags, maps with string keys, slices, pointers, [encoding.TextMarshaler],
// [time.Time] and the basic types. In plain JSON, a []byte is written as base64 and a time.Time in
// RFC 3339, as in encoding/json. An error is an *[Error]. A cycle is over every depth.
func Encode(v any, limits Limits, d *Dialect) (string, error) {
	w := NewWriter(limits, d)
	if err := w.Value(v, limits.Filled().Depth); err != nil {
		return "", err
	}
	return string(w.b), nil
}

// Writer writes a text part by part. [Encode] is all that most callers need.
type Writer struct {
	b      []byte
	limit  int
	nodes  int
	d      *Dialect
	tagged bool // d has tagged values
}

// NewWriter returns a writer without text.
func NewWriter(limits Limits, d *Dialect) *Writer {
	l := limits.Filled()
	return &Writer{b: make([]byte, 0, 256), limit: l.Bytes, nodes: l.Nodes, d: d, tagged: d.Tag != nil}
}

// Raw writes the parts of a text as they are.
func (w *Writer) Raw(parts ...string) {
	for _, text := range parts {
		w.b = append(w.b, text...)
	}
}

// Int writes a number as it is.
func (w *Writer) Int(n int) { w.b = strconv.AppendInt(w.b, int64(n), 10) }

// Count counts n values, members or elements that the caller wrote itself.
func (w *Writer) Count(n int) { w.nodes -= n }

// Len returns the length of the text, in bytes.
func (w *Writer) Len() int { return len(w.b) }

// String returns the text.
func (w *Writer) String() string { return string(w.b) }

// Over returns the error Limit at the end of the text.
func (w *Writer) Over(text string) *Error {
	return &Error{Code: w.d.Limit, At: len(w.b), Text: text}
}

// Bad returns the error Invalid at the end of the text.
func (w *Writer) Bad(text string) *Error {
	return &Error{Code: w.d.Invalid, At: len(w.b), Text: text}
}

// Value writes a value that is nested at most depth deep.
func (w *Writer) Value(v any, depth int) *Error {
	if w.nodes--; w.nodes < 0 {
		return w.Over("there are more values than the limit allows")
	}
	err := w.any(v, depth)
	if err == nil && len(w.b) > w.limit {
		err = w.Over("the text is over the limit of " + strconv.Itoa(w.limit) + " bytes")
	}
	return err
}

func (w *Writer) any(v any, depth int) *Error {
	switch v := v.(type) {
	case nil:
		w.b = append(w.b, "null"...)
		return nil
	case bool:
		w.b = strconv.AppendBool(w.b, v)
		return nil
	case string:
		return w.str(v)
	case float64:
		return w.float(v, depth)
	case int:
		return w.integer(int64(v))
	case []any:
		return w.list("[", v, depth)
	case map[string]any:
		return w.object(v, depth)
	}
	if w.tagged {
		if t, ok := w.d.Tag(v); ok {
			return w.special(t, depth)
		}
	}
	return w.reflect(reflect.ValueOf(v), depth)
}

// special writes a tagged value.
func (w *Writer) special(t Tagged, depth int) *Error {
	switch {
	case t.Problem != "":
		return w.Bad(t.Problem)
	case t.Array != "":
		return w.bytes(depth, t.Array, t.Bytes)
	}
	return w.deep(depth, func(depth int) *Error { return w.closed(w.list(`{"$":["`+t.Name+`",`, t.Parts, depth)) })
}

// deep counts the object, key, array and tag of a tagged value against the limits, so that the text
// can be decoded under the same limits.
func (w *Writer) deep(depth int, do func(int) *Error) *Error {
	if depth < 2 {
		return w.Over("it is nested deeper than the limit allows")
	}
	if w.nodes -= 3; w.nodes < 0 {
		return w.Over("there are more values than the limit allows")
	}
	return do(depth - 1)
}

func (w *Writer) closed(err *Error) *Error {
	w.b = append(w.b, '}')
	return err
}

func (w *Writer) bytes(depth int, array string, data []byte) *Error {
	if base64.StdEncoding.EncodedLen(len(data)) > w.limit-len(w.b) {
		return w.Over("the text is over the limit of " + strconv.Itoa(w.limit) + " bytes")
	}
	return w.deep(depth, func(int) *Error {
		w.nodes -= 2
		w.b = append(append(append(w.b, `{"$":["bytes","`...), array...), `","`...)
		w.b = base64.StdEncoding.AppendEncode(w.b, data)
		w.b = append(w.b, `"]}`...)
		return nil
	})
}

// list writes open and the elements of v. open ends in [ or a comma.
func (w *Writer) list(open string, v []any, depth int) *Error {
	if depth == 0 {
		return w.Over("it is nested deeper than the limit allows")
	}
	w.b = append(w.b, open...)
	for i, e := range v {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if err := w.Value(e, depth-1); err != nil {
			return err.Within(Element(i))
		}
	}
	if n := len(w.b); len(v) == 0 && w.b[n-1] == ',' {
		w.b = w.b[:n-1]
	}
	w.b = append(w.b, ']')
	return nil
}

func (w *Writer) object(m map[string]any, depth int) *Error {
	if depth == 0 {
		return w.Over("it is nested deeper than the limit allows")
	}
	keys := make([]string, 0, len(m)) // slices.Sorted grows from nothing: three allocations more
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if _, ok := m[TagKey]; ok && w.tagged {
		flat := make([]any, 0, 2*len(m))
		for _, k := range keys {
			if Reserved(k) {
				return w.refused(k)
			}
			flat = append(flat, k, m[k])
		}
		return w.deep(depth, func(depth int) *Error { return w.closed(w.list(`{"$":["object",`, flat, depth)) })
	}
	w.b = append(w.b, '{')
	for i, k := range keys {
		if err := w.member(i == 0, k, m[k], depth); err != nil {
			return err
		}
	}
	w.b = append(w.b, '}')
	return nil
}

func (w *Writer) refused(key string) *Error {
	return &Error{Code: w.d.Refused, At: len(w.b), Text: "the key " + key + " is refused; use a Map for keys that somebody else chooses"}
}

func (w *Writer) member(first bool, key string, v any, depth int) *Error {
	if Reserved(key) {
		return w.refused(key)
	}
	if w.nodes--; w.nodes < 0 {
		return w.Over("there are more values than the limit allows")
	}
	if !first {
		w.b = append(w.b, ',')
	}
	if err := w.str(key); err != nil {
		return err
	}
	w.b = append(w.b, ':')
	if err := w.Value(v, depth-1); err != nil {
		return err.Within(Member(key))
	}
	return nil
}

func (w *Writer) integer(n int64) *Error {
	if n > 1<<53 || n < -(1<<53) {
		return w.Bad("a number beyond 2^53 would change on its way; use a BigInt or a string")
	}
	w.b = strconv.AppendInt(w.b, n, 10)
	return nil
}

func (w *Writer) float(f float64, depth int) *Error {
	switch {
	case f == 0 && math.Signbit(f):
		if w.tagged {
			return w.special(Tagged{Name: "-0"}, depth)
		}
		w.b = append(w.b, '0')
		return nil
	case f != f || math.IsInf(f, 0):
		if !w.tagged {
			return w.Bad("JSON has no form for " + strconv.FormatFloat(f, 'g', -1, 64))
		}
		switch {
		case f != f:
			return w.special(Tagged{Name: "NaN"}, depth)
		case f > 0:
			return w.special(Tagged{Name: "Infinity"}, depth)
		}
		return w.special(Tagged{Name: "-Infinity"}, depth)
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	w.b = strconv.AppendFloat(w.b, f, format, -1, 64)
	if n := len(w.b); format == 'e' && w.b[n-4] == 'e' && w.b[n-3] == '-' && w.b[n-2] == '0' { // e-07 is e-7 in JavaScript
		w.b = append(w.b[:n-2], w.b[n-1])
	}
	return nil
}

func (w *Writer) str(s string) *Error {
	if len(s) > w.limit-len(w.b) {
		return w.Over("the text is over the limit of " + strconv.Itoa(w.limit) + " bytes")
	}
	w.b = AppendScriptString(w.b, s)
	return nil
}

// reflect writes a Go value of a type that any does not handle.
func (w *Writer) reflect(v reflect.Value, depth int) *Error {
	if depth == 0 && v.Kind() != reflect.String && !v.CanInt() && !v.CanUint() && !v.CanFloat() {
		return w.Over("it is nested deeper than the limit allows")
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		text, err := m.MarshalText()
		if err != nil {
			return w.Bad(err.Error())
		}
		return w.str(string(text))
	}
	switch v.Kind() {
	case reflect.Bool:
		return w.any(v.Bool(), depth)
	case reflect.String:
		return w.str(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return w.integer(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if v.Uint() > 1<<53 {
			return w.integer(math.MaxInt64)
		}
		return w.integer(int64(v.Uint()))
	case reflect.Float32, reflect.Float64:
		return w.float(v.Float(), depth)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return w.any(nil, depth)
		}
		return w.any(v.Elem().Interface(), depth-1) // ends a cycle of pointers
	case reflect.Slice, reflect.Array:
		return w.slice(v, depth)
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return w.Bad("a map's keys must be strings; use a *Map for others")
		}
		if v.IsNil() {
			return w.any(nil, depth)
		}
		m := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			m[it.Key().String()] = it.Value().Interface()
		}
		return w.object(m, depth)
	case reflect.Struct:
		first := true
		w.b = append(w.b, '{')
		err := eachField(v.Type(), func(f field) *Error {
			fv := v.FieldByIndex(f.index)
			if f.omitEmpty && empty(fv) || f.omitZero && zero(fv) {
				return nil
			}
			err := w.member(first, f.name, fv.Interface(), depth)
			first = false
			return err
		})
		w.b = append(w.b, '}')
		return err
	}
	return w.Bad("a " + v.Type().String() + " has no form on the wire")
}

func (w *Writer) slice(v reflect.Value, depth int) *Error {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		if w.tagged {
			return w.bytes(depth, "Uint8Array", v.Bytes())
		}
		return w.str(base64.StdEncoding.EncodeToString(v.Bytes()))
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		return w.any(nil, depth)
	}
	if v.Len() > w.nodes {
		return w.Over("there are more values than the limit allows")
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = v.Index(i).Interface()
	}
	return w.list("[", list, depth)
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func zero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	return v.IsZero()
}
