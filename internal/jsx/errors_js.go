package jsx

import (
	"errors"
	"fmt"
	"strings"
	"syscall/js"
)

const (
	maxErrorName    = 128
	maxErrorMessage = 4 << 10
	maxErrorStack   = 8 << 10
	maxProtoDepth   = 8
)

// ErrorOf returns the error for a thrown or rejected value. It calls no getter of the value's own:
// a DOMException is read by the browser's brand-checked getters, and any other value by its data
// properties.
func ErrorOf(v Value) *Error { return describe(raw(v)) }

// AsError converts an error from safejs or syscall/js to an *[Error]. It returns other errors as
// they are.
func AsError(err error) error {
	var thrown js.Error
	if errors.As(err, &thrown) {
		return describe(thrown.Value)
	}
	return err
}

// recovered returns the error for a panic of syscall/js.
func recovered(r any) error {
	switch r := r.(type) {
	case js.Error:
		return describe(r.Value)
	case *js.ValueError:
		return &Error{Name: string(ErrType), Message: r.Error()}
	case error:
		return r
	case string:
		return &Error{Name: string(ErrType), Message: strings.TrimPrefix(r, "syscall/js: ")}
	}
	return fmt.Errorf("jsx: %v", r)
}

func describe(v js.Value) *Error {
	p := prim()
	switch t := typeOf(v); t {
	case js.TypeObject, js.TypeFunction:
	case js.TypeString:
		return &Error{Message: clip(p, v, maxErrorMessage)}
	case js.TypeSymbol:
		return &Error{Message: "a symbol was thrown"}
	case js.TypeUndefined, js.TypeNull:
		return &Error{Message: t.String() + " was thrown"}
	case typeBigInt: // it may have millions of digits
		return &Error{Message: "a bigint was thrown"}
	default: // a number or boolean, which is bounded and runs no code of its own
		s, err := attempt(p.str, v)
		if err != nil {
			return &Error{Message: t.String() + " was thrown"}
		}
		return &Error{Message: clip(p, s, maxErrorMessage) + " was thrown"}
	}
	if !p.domName.IsUndefined() {
		if name, err := attempt(p.domName, v); err == nil {
			return describeDOM(p, v, name)
		}
	}
	e := &Error{
		Name:    dataText(p, v, "name", maxErrorName),
		Message: dataText(p, v, "message", maxErrorMessage),
		Stack:   stackOf(p, v),
	}
	if e.Name == "" && e.Message == "" {
		e.Message = typeOf(v).String() + " without a name or message was thrown"
	}
	return e
}

// describeDOM leaves out the stack. A missing file is an everyday result, and the stack of a
// rejection contains no useful frame.
func describeDOM(p *primordials, v, name js.Value) *Error {
	e := &Error{Name: clip(p, name, maxErrorName)}
	if m, err := attempt(p.domMessage, v); err == nil {
		e.Message = clip(p, m, maxErrorMessage)
	}
	if e.Code() == ErrQuota && !p.quotaQuota.IsUndefined() {
		e.Quota, e.Requested = numberBy(p.quotaQuota, v), numberBy(p.quotaRequested, v)
	}
	return e
}

func numberBy(getter, v js.Value) float64 {
	if n, err := attempt(getter, v); err == nil && typeOf(n) == js.TypeNumber {
		return n.Float()
	}
	return 0
}

// stackOf reads the stack with the engine's own getter, or as a data property.
func stackOf(p *primordials, v js.Value) string {
	if !p.errorStack.IsUndefined() {
		if s, err := attempt(p.errorStack, v); err == nil && typeOf(s) == js.TypeString {
			return clip(p, s, maxErrorStack)
		}
	}
	return dataText(p, v, "stack", maxErrorStack)
}

// dataText returns a string data property of v or of its prototypes. It runs no code of v, except a
// Proxy's traps, whose exceptions are caught.
func dataText(p *primordials, v js.Value, name string, limit int) string {
	for range maxProtoDepth {
		d, err := attempt(p.ownDescriptor, v, p.key(name))
		if err != nil {
			return ""
		}
		if typeOf(d) == js.TypeObject { // made by the engine, so plain and safe to read
			if s := d.Get("value"); typeOf(s) == js.TypeString {
				return clip(p, s, limit)
			}
			return ""
		}
		if v, err = attempt(p.protoOf, v); err != nil || typeOf(v) != js.TypeObject {
			return ""
		}
	}
	return ""
}

// clip returns at most limit bytes of a string. It cuts the string in JavaScript first, so a huge
// one costs nothing.
func clip(p *primordials, s js.Value, limit int) string {
	if typeOf(s) != js.TypeString {
		return ""
	}
	if stringLength(p, s) > limit {
		var err error
		if s, err = attempt(p.strSlice, s, 0, limit); err != nil {
			return ""
		}
	}
	out := s.String()
	if len(out) > limit {
		out = strings.ToValidUTF8(out[:limit], "")
	}
	return out
}

// withOp adds the operation to an *Error.
func withOp(err error, op string) error {
	if e, ok := err.(*Error); ok {
		if e.Op != "" {
			op += ": " + e.Op
		}
		e.Op = op
	}
	return err
}

// reportError writes to the console. It is the OnError of scopes without one.
func reportError(err error) {
	text := err.Error()
	var p *PanicError
	if errors.As(err, &p) {
		text += "\n" + p.Stack
	}
	defer func() { _ = recover() }() // a page may have replaced its console
	js.Global().Get("console").Call("error", "bailey: "+text)
}
