//go:build js && wasm

package page

import (
	"errors"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// jsonLimits are the limits of values from the page itself.
var jsonLimits = protocol.JSONLimits{Bytes: maxText, Depth: 64, Nodes: 2_000_000}

// Stringify returns JSON.stringify(v), and an error if that is undefined.
func Stringify(v jsx.Value) (string, error) {
	s, err := jsx.Call(Must(jsx.Get(jsx.Global(), "JSON")), "stringify", v)
	if err != nil {
		return "", err
	}
	if jsx.TypeOf(s) != "string" {
		return "", errors.New("must be a value that JSON can write, or a Uint8Array")
	}
	return jsx.String(s, maxText)
}

// FromPage converts a value that the page passes to the code: a JSON value or a Uint8Array.
func FromPage(v jsx.Value) (any, error) {
	switch {
	case v.IsUndefined():
		return protocol.Undefined{}, nil
	case jsx.InstanceOf(v, "Uint8Array"):
		return jsx.Bytes(v, maxText)
	}
	s, err := Stringify(v)
	if err != nil {
		return nil, err
	}
	return protocol.ParseJSON(s, jsonLimits)
}

// ToPage converts a value from the code to JavaScript. The decoder has bounded its depth.
func ToPage(x any) (jsx.Value, error) {
	switch x := x.(type) {
	case protocol.Undefined:
		return jsx.Undefined(), nil
	case protocol.InvalidDate:
		return jsx.NewGlobal("Date", "invalid")
	case time.Time:
		return jsx.NewGlobal("Date", float64(x.UnixMicro())/1000)
	case protocol.BigInt:
		return jsx.Invoke(Must(jsx.Get(jsx.Global(), "BigInt")), string(x))
	case []any:
		return array(x)
	case protocol.Set:
		list, err := array(x)
		if err != nil {
			return jsx.Value{}, err
		}
		return jsx.NewGlobal("Set", list)
	case *protocol.Map:
		pairs := make([]any, len(x.Entries))
		for i, e := range x.Entries {
			pairs[i] = []any{e.Key, e.Value}
		}
		list, err := array(pairs)
		if err != nil {
			return jsx.Value{}, err
		}
		return jsx.NewGlobal("Map", list)
	case map[string]any:
		members := make(map[string]any, len(x))
		for k, m := range x {
			v, err := ToPage(m)
			if err != nil {
				return jsx.Value{}, err
			}
			members[k] = v
		}
		return jsx.ToJS(members)
	case *protocol.TypedArray:
		bytes, err := jsx.ToJS(x.Data)
		if err != nil {
			return jsx.Value{}, err
		}
		buffer, err := jsx.Get(bytes, "buffer")
		if err != nil || x.Kind == "ArrayBuffer" {
			return buffer, err
		}
		return jsx.NewGlobal(string(x.Kind), buffer)
	case *protocol.ErrorValue:
		e, err := jsx.NewGlobal("Error", x.Message)
		if err != nil {
			return jsx.Value{}, err
		}
		for name, text := range map[string]string{"name": x.Name, "code": string(x.Code), "stack": x.Stack} {
			if text != "" {
				if err := jsx.Set(e, name, text); err != nil {
					return jsx.Value{}, err
				}
			}
		}
		return e, nil
	}
	return jsx.ToJS(x)
}

func array(list []any) (jsx.Value, error) {
	values := make([]any, len(list))
	for i, x := range list {
		v, err := ToPage(x)
		if err != nil {
			return jsx.Value{}, err
		}
		values[i] = v
	}
	return jsx.ToJS(values)
}
