package enclave

import (
	"encoding/base64"
	"math"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// Values are the data that code and tools exchange. Most values are JSON. A value without a form in
// JSON is an object with the one key "$" and an array that begins with a tag:
//
//	{"$":["undefined"]}  {"$":["NaN"]}  {"$":["Infinity"]}  {"$":["-Infinity"]}  {"$":["-0"]}
//	{"$":["bigint","12"]}  {"$":["date",0]}  {"$":["date",null]}
//	{"$":["map",k,v,k,v]}  {"$":["set",v,v]}  {"$":["bytes","Uint8Array","AAEC"]}
//	{"$":["error",name,message,stack,code]}, and a sixth element for the cause
//	{"$":["object","$",v,k,v]}, for an object that has the key "$"
//
// tags.js and encode.js in this folder are the twins of this encoding.

const maxBigInt = 4096 // digits

func validBigInt(b protocol.BigInt) bool {
	digits := strings.TrimPrefix(string(b), "-")
	return digits != "" && len(digits) <= maxBigInt && strings.Trim(digits, "0123456789") == "" &&
		(digits[0] != '0' || b == "0")
}

// DecodeValue returns the value of a text, as [EncodeValue] writes it. Values without a form in
// JSON become [protocol.Undefined], [protocol.InvalidDate], [protocol.BigInt], [time.Time], *[protocol.Map], [protocol.Set], []byte,
// *[protocol.TypedArray] or *[protocol.ErrorValue]. Everything else is as in [protocol.ParseJSON].
func DecodeValue(text string, limits protocol.JSONLimits) (any, error) {
	return strictjson.Parse(text, strictjson.Limits(limits), tagged)
}

// EncodeValue returns the text of a value. v may be any result of [DecodeValue] and any Go value
// that [protocol.EncodeJSON] accepts.
func EncodeValue(v any, limits protocol.JSONLimits) (string, error) {
	return strictjson.Encode(v, strictjson.Limits(limits), tagged)
}

// tagged is the dialect of values.
var tagged = &strictjson.Dialect{
	Invalid: protocol.ErrInvalidParams, Limit: protocol.ErrResourceLimit, Refused: protocol.ErrSecurityViolation,
	Tag: tag, Untag: untag,
}

// tag returns the tagged form of a value without a form in JSON. The strictjson package itself tags
// bytes, and numbers such as NaN.
func tag(v any) (t strictjson.Tagged, ok bool) {
	switch v := v.(type) {
	case protocol.Undefined:
		return strictjson.Tagged{Name: "undefined"}, true
	case protocol.InvalidDate:
		return strictjson.Tagged{Name: "date", Parts: []any{nil}}, true
	case protocol.BigInt:
		if !validBigInt(v) {
			t.Problem = "a BigInt must have 1 to 4096 decimal digits"
		}
		t.Name, t.Parts = "bigint", []any{string(v)}
		return t, true
	case time.Time:
		ms := v.UnixMilli()
		if ms > maxDate || ms < -maxDate {
			t.Problem = "the time is outside of what a Date can hold"
		}
		t.Name, t.Parts = "date", []any{int(ms)}
		return t, true
	case *protocol.TypedArray:
		if v == nil {
			return t, false
		}
		if size := v.Kind.Size(); size == 0 || len(v.Data)%size != 0 {
			t.Problem = "bytes must have a known kind and a whole number of elements"
		}
		t.Array, t.Bytes = string(v.Kind), v.Data
		return t, true
	case protocol.Set:
		return strictjson.Tagged{Name: "set", Parts: v}, true
	case *protocol.Map:
		if v == nil {
			return t, false
		}
		t.Name, t.Parts = "map", make([]any, 0, 2*len(v.Entries))
		for _, e := range v.Entries {
			t.Parts = append(t.Parts, e.Key, e.Value)
		}
		return t, true
	case *protocol.ErrorValue:
		if v == nil {
			return t, false
		}
		t.Name, t.Parts = "error", []any{v.Name, v.Message, v.Stack, string(v.Code)}
		if v.Cause != nil {
			t.Parts = append(t.Parts, v.Cause)
		}
		return t, true
	}
	return t, false
}

// untag returns the value of an object with the key "$", or the problem with it.
func untag(m map[string]any) (any, string) {
	list, _ := m[strictjson.TagKey].([]any)
	if len(m) != 1 || len(list) == 0 {
		return nil, `an object with the key "$" must be a tagged value`
	}
	tag, _ := list[0].(string)
	list = list[1:]
	switch {
	case tag == "map" && len(list)%2 == 0:
		out := &protocol.Map{}
		for i := 0; i < len(list); i += 2 {
			out.Entries = append(out.Entries, protocol.MapEntry{Key: list[i], Value: list[i+1]})
		}
		return out, ""
	case tag == "set":
		return protocol.Set(list), ""
	case tag == "object" && len(list)%2 == 0:
		return untagObject(list)
	case tag == "error" && (len(list) == 4 || len(list) == 5):
		return untagError(list)
	case len(list) == 0:
		switch tag {
		case "undefined":
			return protocol.Undefined{}, ""
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
		if s, _ := list[0].(string); validBigInt(protocol.BigInt(s)) {
			return protocol.BigInt(s), ""
		}
		return nil, "a BigInt must have 1 to 4096 decimal digits"
	case tag == "date" && len(list) == 1:
		if list[0] == nil {
			return protocol.InvalidDate{}, ""
		}
		if ms, ok := list[0].(float64); ok && ms == math.Trunc(ms) && math.Abs(ms) <= maxDate {
			return time.UnixMilli(int64(ms)).UTC(), ""
		}
		return nil, "a Date must have whole milliseconds within 100,000,000 days of 1970"
	case tag == "bytes" && len(list) == 2:
		kind, _ := list[0].(string)
		text, ok := list[1].(string)
		size := protocol.ArrayKind(kind).Size()
		data, err := base64.StdEncoding.Strict().DecodeString(text)
		if !ok || size == 0 || err != nil || strings.ContainsAny(text, "\r\n") || len(data)%size != 0 {
			return nil, "bytes must have a known kind, base64 and a whole number of elements"
		}
		if kind == "Uint8Array" {
			return data, ""
		}
		return &protocol.TypedArray{Kind: protocol.ArrayKind(kind), Data: data}, ""
	}
	return nil, "unknown tag " + strictjson.Quote(tag) + ", or the wrong number of elements"
}

const maxDate = 8.64e15 // milliseconds, from ECMAScript's time values

func untagObject(list []any) (any, string) {
	out := make(map[string]any, len(list)/2)
	for i := 0; i < len(list); i += 2 {
		k, ok := list[i].(string)
		if _, twice := out[k]; !ok || twice || strictjson.Reserved(k) {
			return nil, "the keys of a tagged object must be strings, each once and none of the refused ones"
		}
		out[k] = list[i+1]
	}
	if _, ok := out[strictjson.TagKey]; !ok {
		return nil, `only an object with the key "$" is tagged`
	}
	return out, ""
}

func untagError(list []any) (any, string) {
	e := &protocol.ErrorValue{}
	code := ""
	for i, to := range []*string{&e.Name, &e.Message, &e.Stack, &code} {
		s, ok := list[i].(string)
		if !ok {
			return nil, "an Error must have a name, a message, a stack and a code"
		}
		*to = s
	}
	if e.Code = protocol.Code(code); code != "" && !e.Code.Valid() {
		return nil, "an Error has an unknown code"
	}
	if len(list) == 5 {
		e.Cause = list[4]
	}
	return e, ""
}
