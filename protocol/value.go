package protocol

import (
	"encoding/base64"
	"math"
	"strings"
	"time"
)

// A value is data that code and tools exchange. Most values are JSON. A value without a form in
// JSON is an object with the one key "$" and an array that begins with a tag:
//
//	{"$":["undefined"]}  {"$":["NaN"]}  {"$":["Infinity"]}  {"$":["-Infinity"]}  {"$":["-0"]}
//	{"$":["bigint","12"]}  {"$":["date",0]}  {"$":["date",null]}
//	{"$":["map",k,v,k,v]}  {"$":["set",v,v]}  {"$":["bytes","Uint8Array","AAEC"]}
//	{"$":["error",name,message,stack,code]}, and a sixth element for the cause
//	{"$":["object","$",v,k,v]}, for an object that has the key "$"
//
// tags.js and encode.js in this folder are the twins of this encoding.
const tagKey = "$"

// Undefined is JavaScript's undefined inside another value.
type Undefined struct{}

// InvalidDate is a JavaScript Date without a time.
type InvalidDate struct{}

// BigInt is a JavaScript BigInt: 1 to 4,096 decimal digits, with - before them if it is negative.
type BigInt string

const maxBigInt = 4096 // digits

func (b BigInt) valid() bool {
	digits := strings.TrimPrefix(string(b), "-")
	return digits != "" && len(digits) <= maxBigInt && strings.Trim(digits, "0123456789") == "" &&
		(digits[0] != '0' || b == "0")
}

// Map is a JavaScript Map, in its order. Its keys may be any values.
type Map struct {
	Entries []MapEntry
}

// MapEntry is a key of a [Map] with its value.
type MapEntry struct {
	Key, Value any
}

// Set is a JavaScript Set, in its order.
type Set []any

// ArrayKind is the name of a JavaScript class that holds bytes, such as "Float32Array".
type ArrayKind string

// Size returns the number of bytes of one element, or 0 for an unknown kind.
func (k ArrayKind) Size() int {
	switch k {
	case "ArrayBuffer", "DataView", "Uint8Array", "Uint8ClampedArray", "Int8Array":
		return 1
	case "Int16Array", "Uint16Array", "Float16Array":
		return 2
	case "Int32Array", "Uint32Array", "Float32Array":
		return 4
	case "Float64Array", "BigInt64Array", "BigUint64Array":
		return 8
	}
	return 0
}

// TypedArray is a JavaScript typed array, ArrayBuffer or DataView. The bytes are in little-endian
// order. A Uint8Array is a []byte instead.
type TypedArray struct {
	Kind ArrayKind
	Data []byte
}

// ErrorValue is a JavaScript Error. It contains only data that the code could see, and none of the
// host.
type ErrorValue struct {
	Name    string
	Message string
	Stack   string
	Code    Code // of an error from a tool or the sandbox, else empty
	Cause   any  // may be nil
}

// Error returns the name and the message, such as "TypeError: x is null".
func (e *ErrorValue) Error() string {
	if e.Name == "" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

// Is reports whether target is e.Code or a standard error that it means.
func (e *ErrorValue) Is(target error) bool { return target == e.Code || e.Code.Is(target) }

// DecodeValue returns the value of a text, as [EncodeValue] writes it. Values without a form in
// JSON become [Undefined], [InvalidDate], [BigInt], [time.Time], *[Map], [Set], []byte,
// *[TypedArray] or *[ErrorValue]. Everything else is as in [ParseJSON].
func DecodeValue(text string, limits JSONLimits) (any, error) { return parseJSON(text, limits, true) }

// untag returns the value of an object with the key "$", or the problem with it.
func untag(m map[string]any) (any, string) {
	list, _ := m[tagKey].([]any)
	if len(m) != 1 || len(list) == 0 {
		return nil, `an object with the key "$" must be a tagged value`
	}
	tag, _ := list[0].(string)
	list = list[1:]
	switch {
	case tag == "map" && len(list)%2 == 0:
		out := &Map{}
		for i := 0; i < len(list); i += 2 {
			out.Entries = append(out.Entries, MapEntry{list[i], list[i+1]})
		}
		return out, ""
	case tag == "set":
		return Set(list), ""
	case tag == "object" && len(list)%2 == 0:
		return untagObject(list)
	case tag == "error" && (len(list) == 4 || len(list) == 5):
		return untagError(list)
	case len(list) == 0:
		switch tag {
		case "undefined":
			return Undefined{}, ""
		case "NaN":
			return math.NaN(), ""
		case "Infinity":
			return math.Inf(1), ""
		case "-Infinity":
			return math.Inf(-1), ""
		case "-0":
			return math.Copysign(0, -1), ""
		}
	case tag == "bigint" && len(list) == 1:
		if s, _ := list[0].(string); BigInt(s).valid() {
			return BigInt(s), ""
		}
		return nil, "a BigInt must have 1 to 4096 decimal digits"
	case tag == "date" && len(list) == 1:
		if list[0] == nil {
			return InvalidDate{}, ""
		}
		if ms, ok := list[0].(float64); ok && ms == math.Trunc(ms) && math.Abs(ms) <= maxDate {
			return time.UnixMilli(int64(ms)).UTC(), ""
		}
		return nil, "a Date must have whole milliseconds within 100,000,000 days of 1970"
	case tag == "bytes" && len(list) == 2:
		kind, _ := list[0].(string)
		text, ok := list[1].(string)
		size := ArrayKind(kind).Size()
		data, err := base64.StdEncoding.Strict().DecodeString(text)
		if !ok || size == 0 || err != nil || strings.ContainsAny(text, "\r\n") || len(data)%size != 0 {
			return nil, "bytes must have a known kind, base64 and a whole number of elements"
		}
		if kind == "Uint8Array" {
			return data, ""
		}
		return &TypedArray{Kind: ArrayKind(kind), Data: data}, ""
	}
	return nil, "unknown tag " + quote(tag) + ", or the wrong number of elements"
}

const maxDate = 8.64e15 // milliseconds, from ECMAScript's time values

func untagObject(list []any) (any, string) {
	out := make(map[string]any, len(list)/2)
	for i := 0; i < len(list); i += 2 {
		k, ok := list[i].(string)
		if _, twice := out[k]; !ok || twice || reservedKey(k) {
			return nil, "the keys of a tagged object must be strings, each once and none of the refused ones"
		}
		out[k] = list[i+1]
	}
	if _, ok := out[tagKey]; !ok {
		return nil, `only an object with the key "$" is tagged`
	}
	return out, ""
}

func untagError(list []any) (any, string) {
	e := &ErrorValue{}
	code := ""
	for i, to := range []*string{&e.Name, &e.Message, &e.Stack, &code} {
		s, ok := list[i].(string)
		if !ok {
			return nil, "an Error must have a name, a message, a stack and a code"
		}
		*to = s
	}
	if e.Code = Code(code); code != "" && !e.Code.Valid() {
		return nil, "an Error has an unknown code"
	}
	if len(list) == 5 {
		e.Cause = list[4]
	}
	return e, ""
}
