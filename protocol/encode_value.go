package protocol

import (
	"encoding"
	"encoding/base64"
	"math"
	"reflect"
	"unicode/utf8"
)

// reflect writes a Go value of a type that any does not handle.
func (w *writer) reflect(v reflect.Value, depth int) *jsonError {
	if depth == 0 && v.Kind() != reflect.String && !v.CanInt() && !v.CanUint() && !v.CanFloat() {
		return w.over("it is nested deeper than the limit allows")
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		text, err := m.MarshalText()
		if err != nil {
			return w.bad(err.Error())
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
			return w.bad("a map's keys must be strings; use a *Map for others")
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
		err := eachField(v.Type(), func(f field) *jsonError {
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
	return w.bad("a " + v.Type().String() + " has no form on the wire")
}

func (w *writer) slice(v reflect.Value, depth int) *jsonError {
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
		return w.over("there are more values than the limit allows")
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

// appendString appends s as a JSON string that is also a JavaScript string and contains no < that
// HTML would interpret. Bytes that are not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' && c != '<' && c != '\x7f' {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\t':
				b = append(b, '\\', 't')
			case '\r':
				b = append(b, '\\', 'r')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r == '\u2028' || r == '\u2029' {
			b = append(b, s[start:i]...)
			if n == 1 {
				b = append(b, "\ufffd"...)
			} else {
				b = append(b, '\\', 'u', '2', '0', '2', hex[r&15])
			}
			start = i + n
		}
		i += n
	}
	return append(append(b, s[start:]...), '"')
}
