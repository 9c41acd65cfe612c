package strictjson

import (
	"encoding"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Unmarshal stores a tree from [Parse] in the value that dst points to. It uses the struct tags of
// encoding/json, but it is stricter: names must match exactly, and an unknown key or a number that
// does not fit is an error. null sets a pointer or an interface to nil and leaves other values
// unchanged. An error is an *[Error].
func Unmarshal(tree, dst any, d *Dialect) error {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return &Error{Code: d.Invalid, Text: "the destination must be a pointer that is not nil", whole: true}
	}
	if err := (binder{d}).bind(tree, v.Elem(), MaxDepth); err != nil {
		return err
	}
	return nil
}

type binder struct{ *Dialect }

func (b binder) mismatch(want string, got any) *Error {
	return &Error{Code: b.Invalid, Text: "must be " + want + ", not " + b.KindName(got)}
}

// KindName returns the type of v in the words of JSON, or of d.Kind.
func (d *Dialect) KindName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	if d.Kind != nil {
		return d.Kind(v)
	}
	return reflect.TypeOf(v).String()
}

func (b binder) bind(v any, d reflect.Value, depth int) *Error {
	if depth == 0 {
		return &Error{Code: b.Limit, Text: "nested too deeply"}
	}
	if v == nil {
		if d.Kind() == reflect.Interface || d.Kind() == reflect.Pointer {
			d.SetZero()
		}
		return nil
	}
	if t := reflect.TypeOf(v); t.AssignableTo(d.Type()) {
		d.Set(reflect.ValueOf(v))
		return nil
	}
	if d.Kind() == reflect.Pointer {
		if d.IsNil() {
			d.Set(reflect.New(d.Type().Elem()))
		}
		return b.bind(v, d.Elem(), depth-1)
	}
	if s, ok := v.(string); ok && d.CanAddr() {
		if u, ok := d.Addr().Interface().(encoding.TextUnmarshaler); ok {
			if err := u.UnmarshalText([]byte(s)); err != nil {
				return &Error{Code: b.Invalid, Text: err.Error()}
			}
			return nil
		}
	}
	switch d.Kind() {
	case reflect.Bool:
		yes, ok := v.(bool)
		if !ok {
			return b.mismatch("a boolean", v)
		}
		d.SetBool(yes)
	case reflect.String:
		s, ok := v.(string)
		if !ok {
			return b.mismatch("a string", v)
		}
		d.SetString(s)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f, ok := v.(float64)
		if !ok {
			return b.mismatch("a number", v)
		}
		if f != math.Trunc(f) || math.Abs(f) > 1<<53 || d.OverflowInt(int64(f)) {
			return b.mismatch("a whole number that fits "+d.Kind().String(), v)
		}
		d.SetInt(int64(f))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f, ok := v.(float64)
		if !ok {
			return b.mismatch("a number", v)
		}
		if f != math.Trunc(f) || f < 0 || f > 1<<53 || d.OverflowUint(uint64(f)) {
			return b.mismatch("a whole number that fits "+d.Kind().String(), v)
		}
		d.SetUint(uint64(f))
	case reflect.Float32, reflect.Float64:
		f, ok := v.(float64)
		if !ok {
			return b.mismatch("a number", v)
		}
		d.SetFloat(f)
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			return b.mismatch("an array", v)
		}
		out := reflect.MakeSlice(d.Type(), len(list), len(list))
		for i, e := range list {
			if err := b.bind(e, out.Index(i), depth-1); err != nil {
				return err.Within(Element(i))
			}
		}
		d.Set(out)
	case reflect.Map:
		m, ok := v.(map[string]any)
		if !ok || d.Type().Key().Kind() != reflect.String {
			return b.mismatch("an object", v)
		}
		out := reflect.MakeMapWithSize(d.Type(), len(m))
		for k, e := range m {
			item := reflect.New(d.Type().Elem()).Elem()
			if err := b.bind(e, item, depth-1); err != nil {
				return err.Within(Member(k))
			}
			out.SetMapIndex(reflect.ValueOf(k).Convert(d.Type().Key()), item)
		}
		d.Set(out)
	case reflect.Struct:
		return b.bindStruct(v, d, depth)
	default:
		return b.mismatch(d.Type().String(), v)
	}
	return nil
}

func (b binder) bindStruct(v any, d reflect.Value, depth int) *Error {
	m, ok := v.(map[string]any)
	if !ok {
		return b.mismatch("an object", v)
	}
	used := 0
	err := eachField(d.Type(), func(f field) *Error {
		e, there := m[f.name]
		if !there {
			return nil
		}
		used++
		if err := b.bind(e, d.FieldByIndex(f.index), depth-1); err != nil {
			return err.Within(Member(f.name))
		}
		return nil
	})
	if err != nil || used == len(m) {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		known := false
		_ = eachField(d.Type(), func(f field) *Error {
			known = known || f.name == k
			return nil
		})
		if !known {
			return (&Error{Code: b.Invalid, Text: "unknown key"}).Within(Member(k))
		}
	}
	return nil
}

type field struct {
	name      string
	index     []int
	omitEmpty bool
	omitZero  bool
}

// eachField calls do for each field that JSON sees. The fields of an embedded struct without a tag
// count as fields of t.
func eachField(t reflect.Type, do func(field) *Error) *Error {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "-" && opts == "" {
			continue
		}
		if f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct {
			err := eachField(f.Type, func(in field) *Error {
				in.index = append([]int{i}, in.index...)
				return do(in)
			})
			if err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		if tag == "" {
			tag = f.Name
		}
		opts = "," + opts + ","
		err := do(field{tag, []int{i}, strings.Contains(opts, ",omitempty,"), strings.Contains(opts, ",omitzero,")})
		if err != nil {
			return err
		}
	}
	return nil
}
