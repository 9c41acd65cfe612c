package jsx

import (
	"math"
	"strconv"

	"github.com/bailey-go/bailey/internal/strictjson"
)

const (
	maxSafeInteger = 1<<53 - 1
	maxDepth       = 64 // of a value for ToJS, so that a map that contains itself is an error
)

// appendJSON appends x as JSON and reports whether it could. x may contain only nil, booleans,
// whole numbers that JavaScript holds exactly, finite floats, strings, and maps and slices of them.
// One string and JSON.parse create any such value in two crossings, and "__proto__" is an ordinary
// key.
func appendJSON(b []byte, x any, depth int) ([]byte, bool) {
	if depth > maxDepth {
		return b, false
	}
	switch x := x.(type) {
	case nil:
		return append(b, "null"...), true
	case bool:
		return strconv.AppendBool(b, x), true
	case string:
		return strictjson.AppendString(b, x), true
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) || (x == 0 && math.Signbit(x)) {
			return b, false
		}
		return strconv.AppendFloat(b, x, 'g', -1, 64), true
	case []string:
		return appendList(b, len(x), func(b []byte, i int) ([]byte, bool) { return strictjson.AppendString(b, x[i]), true })
	case []any:
		return appendList(b, len(x), func(b []byte, i int) ([]byte, bool) { return appendJSON(b, x[i], depth+1) })
	case map[string]any:
		b, first := append(b, '{'), true
		for k, v := range x {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(strictjson.AppendString(b, k), ':')
			var ok bool
			if b, ok = appendJSON(b, v, depth+1); !ok {
				return b, false
			}
		}
		return append(b, '}'), true
	case map[string]string:
		b, first := append(b, '{'), true
		for k, v := range x {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = strictjson.AppendString(append(strictjson.AppendString(b, k), ':'), v)
		}
		return append(b, '}'), true
	}
	if n, ok := wholeNumber(x); ok && n >= -maxSafeInteger && n <= maxSafeInteger {
		return strconv.AppendInt(b, n, 10), true
	}
	return b, false
}

func appendList(b []byte, n int, item func([]byte, int) ([]byte, bool)) ([]byte, bool) {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = item(b, i); !ok {
			return b, false
		}
	}
	return append(b, ']'), true
}

// wholeNumber returns any Go integer as an int64. ok is false for a uint64 that does not fit.
func wholeNumber(x any) (int64, bool) {
	switch x := x.(type) {
	case int:
		return int64(x), true
	case int8:
		return int64(x), true
	case int16:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case uint:
		return int64(x), uint64(x) <= math.MaxInt64
	case uint8:
		return int64(x), true
	case uint16:
		return int64(x), true
	case uint32:
		return int64(x), true
	case uint64:
		return int64(x), x <= math.MaxInt64
	}
	return 0, false
}
