package protocol

import (
	"reflect"
	"time"

	"github.com/bailey-go/bailey/internal/strictjson"
)

// JSONLimits are the limits of [ParseJSON] and [EncodeJSON]. A field that is zero or less has its
// default. No limit can be switched off.
type JSONLimits struct {
	Bytes int // of the whole text, by default 1 MiB
	Depth int // nesting of arrays and objects, by default 64 and at most 256
	Nodes int // values, members and elements together, by default 200,000

	// Rest, if set, is called after each 256 values, members and elements, and after each 64 KiB of
	// a string or of white space. It can yield to the page. If it returns an error, [ParseJSON]
	// stops and returns that error.
	Rest func() error
}

// ParseJSON returns the value of one JSON text, made of nil, bool, float64, string, []any and
// map[string]any. It is stricter than most parsers, so that no two parsers can disagree about a
// text. These are errors: a key that occurs twice in an object, a lone surrogate, text that is not
// UTF-8, a number too large for a float64, the keys __proto__, constructor and prototype, and text
// after the value. They are [ErrInvalidParams], or [ErrSecurityViolation] for the keys. Text over
// the limits is [ErrResourceLimit]. The text of an error contains the path.
func ParseJSON(text string, limits JSONLimits) (any, error) {
	return strictjson.Parse(text, strictjson.Limits(limits), plainJSON())
}

// EncodeJSON returns the JSON text of a value. v may be any Go value made of structs with json tags,
// maps with string keys, slices, pointers, [encoding.TextMarshaler], [time.Time] and the basic
// types. A []byte is written as base64 and a time.Time in RFC 3339, as in encoding/json. Functions,
// channels and values without a form in JSON, such as NaN, give [ErrInvalidParams]. Keys such as
// __proto__ give [ErrSecurityViolation]. Text over the limits gives [ErrResourceLimit], and a cycle
// gives it too, because it is over every depth.
func EncodeJSON(v any, limits JSONLimits) (string, error) {
	return strictjson.Encode(v, strictjson.Limits(limits), plainJSON())
}

// Unmarshal stores a tree from [ParseJSON], or the arguments of a [Tool], in the value that dst
// points to. It uses the struct tags of encoding/json, but it is stricter: names must match exactly,
// and an unknown key or a number that does not fit is [ErrInvalidParams]. null sets a pointer or an
// interface to nil and leaves other values unchanged. The text of an error contains the path.
func Unmarshal(tree, dst any) error { return strictjson.Unmarshal(tree, dst, plainJSON()) }

func plainJSON() *strictjson.Dialect {
	return &strictjson.Dialect{Invalid: ErrInvalidParams, Limit: ErrResourceLimit, Refused: ErrSecurityViolation, Kind: kindOfValue}
}

// kindOfValue returns the type of a value without a form in JSON, in the words of JavaScript.
func kindOfValue(v any) string {
	switch v := v.(type) {
	case Undefined:
		return "undefined"
	case BigInt:
		return "a BigInt"
	case time.Time, InvalidDate:
		return "a Date"
	case *Map:
		return "a Map"
	case Set:
		return "a Set"
	case []byte:
		return "a Uint8Array"
	case *TypedArray:
		return "a " + string(v.Kind)
	case *ErrorValue:
		return "an Error"
	}
	return reflect.TypeOf(v).String()
}

func kindName(v any) string { return plainJSON().KindName(v) }

func quote(s string) string { return strictjson.Quote(s) }

func reservedKey(key string) bool { return strictjson.Reserved(key) }
