package jsx

import (
	"fmt"
	"syscall/js"
)

// ToJS returns a new JavaScript value for nil, bool, any number, string, []byte (a new Uint8Array),
// []string, []any, map[string]any, map[string]string, a Value or a Raw. Objects are plain. Every
// key, "__proto__" too, becomes an own property. An integer that a JavaScript number cannot hold
// exactly gives [ErrRange], and another type [ErrDataClone].
func ToJS(x any) (Value, error) {
	v, err := toJS(x, 0)
	return value(v), err
}

// arg is ToJS for an argument. It returns values that js.ValueOf accepts unchanged.
func arg(x any) (any, error) {
	switch x := x.(type) {
	case Value:
		return raw(x), nil
	case nil, bool, string, float64, js.Value:
		return x, nil
	case int:
		if x < -maxSafeInteger || x > maxSafeInteger {
			return nil, unsafeNumber(x)
		}
		return x, nil
	}
	return toJS(x, 0)
}

func toJS(x any, depth int) (js.Value, error) {
	if depth > maxDepth {
		return js.Value{}, tooDeep()
	}
	switch x := x.(type) {
	case Value:
		return raw(x), nil
	case js.Value:
		return x, nil
	case nil, bool, string, float64, float32:
		return js.ValueOf(x), nil
	case []byte:
		return bytesToJS(x)
	case []string, map[string]string:
		return parseJSON(x)
	case []any:
		if v, err := parseJSON(x); err == nil {
			return v, nil
		}
		items := make([]any, len(x))
		for i, it := range x {
			v, err := toJS(it, depth+1)
			if err != nil {
				return js.Value{}, err
			}
			items[i] = v
		}
		return invoke(prim().arrayOf, items...)
	case map[string]any:
		if v, err := parseJSON(x); err == nil {
			return v, nil
		}
		p := prim()
		entries := make([]any, 0, len(x))
		for k, it := range x {
			v, err := toJS(it, depth+1)
			if err != nil {
				return js.Value{}, err
			}
			entry, err := invoke(p.arrayOf, k, v)
			if err != nil {
				return js.Value{}, err
			}
			entries = append(entries, entry)
		}
		list, err := invoke(p.arrayOf, entries...)
		if err != nil {
			return js.Value{}, err
		}
		return invoke(p.fromEntries, list)
	}
	n, ok := wholeNumber(x)
	if !ok {
		if _, big := x.(uint64); big {
			return js.Value{}, unsafeNumber(x)
		}
		return js.Value{}, unknownType(x)
	}
	if n < -maxSafeInteger || n > maxSafeInteger {
		return js.Value{}, unsafeNumber(x)
	}
	return js.ValueOf(n), nil
}

func parseJSON(x any) (js.Value, error) {
	b, ok := appendJSON(make([]byte, 0, 256), x, 0)
	if !ok {
		return js.Value{}, unknownType(x)
	}
	return invoke(prim().parse, string(b))
}

// unsafeNumber returns the error for an integer that is not exact in JavaScript.
func unsafeNumber(x any) error {
	return &Error{Name: string(ErrRange), Message: fmt.Sprintf("%v is outside of what a JavaScript number holds exactly (±2⁵³-1); pass a string or a float64", x)}
}

func tooDeep() error {
	return &Error{Name: string(ErrRange), Message: fmt.Sprintf("a value nested over %d levels, or holding itself", maxDepth)}
}

func unknownType(x any) error {
	return &Error{Name: string(ErrDataClone), Message: fmt.Sprintf("a %T has no JavaScript form here; pass nil, bool, a number, string, []byte, []string, []any, map[string]any, map[string]string or a Value", x)}
}
