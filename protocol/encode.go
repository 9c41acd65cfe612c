package protocol

import (
	"encoding/base64"
	"math"
	"reflect"
	"strconv"
	"time"
)

// EncodeValue returns the text of a value. v may be any result of [DecodeValue] and any Go value
// made of structs with json tags, maps with string keys, slices, pointers,
// [encoding.TextMarshaler], [time.Time] and the basic types. Functions and channels give
// [ErrInvalidParams], keys such as __proto__ give [ErrSecurityViolation], and text over the limits
// gives [ErrResourceLimit]. A cycle gives it too, because it is over every depth.
func EncodeValue(v any, limits JSONLimits) (string, error) { return encode(v, limits, true) }

// EncodeJSON is EncodeValue for plain JSON. Values without a form in JSON, such as NaN, give
// [ErrInvalidParams]. A []byte is written as base64 and a time.Time in RFC 3339, as in
// encoding/json.
func EncodeJSON(v any, limits JSONLimits) (string, error) { return encode(v, limits, false) }

func encode(v any, limits JSONLimits, tagged bool) (string, error) {
	l := limits.filled()
	w := writer{limit: l.Bytes, nodes: l.Nodes, tagged: tagged}
	if err := w.value(v, l.Depth); err != nil {
		return "", err
	}
	return string(w.b), nil
}

type writer struct {
	b      []byte
	limit  int
	nodes  int
	tagged bool
}

func (w *writer) over(text string) *jsonError {
	return &jsonError{code: ErrResourceLimit, at: len(w.b), text: text}
}

func (w *writer) bad(text string) *jsonError {
	return &jsonError{code: ErrInvalidParams, at: len(w.b), text: text}
}

func (w *writer) value(v any, depth int) *jsonError {
	if w.nodes--; w.nodes < 0 {
		return w.over("there are more values than the limit allows")
	}
	err := w.any(v, depth)
	if err == nil && len(w.b) > w.limit {
		err = w.over("the text is over the limit of " + strconv.Itoa(w.limit) + " bytes")
	}
	return err
}

func (w *writer) any(v any, depth int) *jsonError {
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
		if done, err := w.special(v, depth); done {
			return err
		}
	}
	return w.reflect(reflect.ValueOf(v), depth)
}

// special writes a value without a form in JSON. done is false for all other values.
func (w *writer) special(v any, depth int) (bool, *jsonError) {
	switch v := v.(type) {
	case Undefined:
		return true, w.tag(depth, "undefined")
	case InvalidDate:
		return true, w.tag(depth, "date", nil)
	case BigInt:
		if !v.valid() {
			return true, w.bad("a BigInt must have 1 to 4096 decimal digits")
		}
		return true, w.tag(depth, "bigint", string(v))
	case time.Time:
		ms := v.UnixMilli()
		if ms > maxDate || ms < -maxDate {
			return true, w.bad("the time is outside of what a Date can hold")
		}
		return true, w.tag(depth, "date", ms)
	case []byte:
		return true, w.bytes(depth, "Uint8Array", v)
	case *TypedArray:
		if v == nil {
			return false, nil
		}
		if size := v.Kind.Size(); size == 0 || len(v.Data)%size != 0 {
			return true, w.bad("bytes must have a known kind and a whole number of elements")
		}
		return true, w.bytes(depth, v.Kind, v.Data)
	case Set:
		return true, w.deep(depth, func(depth int) *jsonError { return w.closed(w.list(`{"$":["set",`, v, depth)) })
	case *Map:
		if v == nil {
			return false, nil
		}
		return true, w.deep(depth, func(depth int) *jsonError {
			flat := make([]any, 0, 2*len(v.Entries))
			for _, e := range v.Entries {
				flat = append(flat, e.Key, e.Value)
			}
			return w.closed(w.list(`{"$":["map",`, flat, depth))
		})
	case *ErrorValue:
		if v == nil {
			return false, nil
		}
		flat := []any{v.Name, v.Message, v.Stack, string(v.Code)}
		if v.Cause != nil {
			flat = append(flat, v.Cause)
		}
		return true, w.deep(depth, func(depth int) *jsonError { return w.closed(w.list(`{"$":["error",`, flat, depth)) })
	}
	return false, nil
}

// deep counts the object, key, array and tag of a tagged value against the limits, so that the text
// can be decoded under the same limits.
func (w *writer) deep(depth int, do func(int) *jsonError) *jsonError {
	if depth < 2 {
		return w.over("it is nested deeper than the limit allows")
	}
	if w.nodes -= 3; w.nodes < 0 {
		return w.over("there are more values than the limit allows")
	}
	return do(depth - 1)
}

func (w *writer) closed(err *jsonError) *jsonError {
	w.b = append(w.b, '}')
	return err
}

// tag writes a tagged value whose parts are not nested.
func (w *writer) tag(depth int, name string, parts ...any) *jsonError {
	return w.deep(depth, func(int) *jsonError {
		w.nodes -= len(parts)
		w.b = append(append(append(w.b, `{"$":["`...), name...), '"')
		for _, p := range parts {
			w.b = append(w.b, ',')
			switch p := p.(type) {
			case nil:
				w.b = append(w.b, "null"...)
			case string:
				w.b = append(append(append(w.b, '"'), p...), '"')
			case int64:
				w.b = strconv.AppendInt(w.b, p, 10)
			}
		}
		w.b = append(w.b, "]}"...)
		return nil
	})
}

func (w *writer) bytes(depth int, kind ArrayKind, data []byte) *jsonError {
	if base64.StdEncoding.EncodedLen(len(data)) > w.limit-len(w.b) {
		return w.over("the text is over the limit of " + strconv.Itoa(w.limit) + " bytes")
	}
	return w.tag(depth, "bytes", string(kind), base64.StdEncoding.EncodeToString(data))
}

// list writes open and the elements of v. open ends in [ or a comma.
func (w *writer) list(open string, v []any, depth int) *jsonError {
	if depth == 0 {
		return w.over("it is nested deeper than the limit allows")
	}
	w.b = append(w.b, open...)
	for i, e := range v {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if err := w.value(e, depth-1); err != nil {
			return err.within(element(i))
		}
	}
	if n := len(w.b); len(v) == 0 && w.b[n-1] == ',' {
		w.b = w.b[:n-1]
	}
	w.b = append(w.b, ']')
	return nil
}

func (w *writer) object(m map[string]any, depth int) *jsonError {
	if depth == 0 {
		return w.over("it is nested deeper than the limit allows")
	}
	keys := sortedKeys(m)
	if _, ok := m[tagKey]; ok && w.tagged {
		flat := make([]any, 0, 2*len(m))
		for _, k := range keys {
			if reservedKey(k) {
				return w.refused(k)
			}
			flat = append(flat, k, m[k])
		}
		return w.deep(depth, func(depth int) *jsonError { return w.closed(w.list(`{"$":["object",`, flat, depth)) })
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

func (w *writer) refused(key string) *jsonError {
	return &jsonError{code: ErrSecurityViolation, at: len(w.b), text: "the key " + key + " is refused; use a Map for keys that somebody else chooses"}
}

func (w *writer) member(first bool, key string, v any, depth int) *jsonError {
	if reservedKey(key) {
		return w.refused(key)
	}
	if w.nodes--; w.nodes < 0 {
		return w.over("there are more values than the limit allows")
	}
	if !first {
		w.b = append(w.b, ',')
	}
	if err := w.str(key); err != nil {
		return err
	}
	w.b = append(w.b, ':')
	if err := w.value(v, depth-1); err != nil {
		return err.within(member(key))
	}
	return nil
}

func (w *writer) integer(n int64) *jsonError {
	if n > 1<<53 || n < -(1<<53) {
		return w.bad("a number beyond 2^53 would change on its way; use a BigInt or a string")
	}
	w.b = strconv.AppendInt(w.b, n, 10)
	return nil
}

func (w *writer) float(f float64, depth int) *jsonError {
	switch {
	case f == 0 && math.Signbit(f):
		if w.tagged {
			return w.tag(depth, "-0")
		}
		w.b = append(w.b, '0')
		return nil
	case f != f || math.IsInf(f, 0):
		if !w.tagged {
			return w.bad("JSON has no form for " + strconv.FormatFloat(f, 'g', -1, 64))
		}
		switch {
		case f != f:
			return w.tag(depth, "NaN")
		case f > 0:
			return w.tag(depth, "Infinity")
		}
		return w.tag(depth, "-Infinity")
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

func (w *writer) str(s string) *jsonError {
	if len(s) > w.limit-len(w.b) {
		return w.over("the text is over the limit of " + strconv.Itoa(w.limit) + " bytes")
	}
	w.b = appendString(w.b, s)
	return nil
}
