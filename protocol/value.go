package protocol

// These types are values of JavaScript that have no form in JSON. Code in an enclave receives and
// returns them.

// Undefined is JavaScript's undefined inside another value.
type Undefined struct{}

// InvalidDate is a JavaScript Date without a time.
type InvalidDate struct{}

// BigInt is a JavaScript BigInt: 1 to 4,096 decimal digits, with - before them if it is negative.
type BigInt string

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
