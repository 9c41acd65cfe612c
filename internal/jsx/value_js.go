package jsx

import (
	"fmt"
	"math"
	"strings"
	"syscall/js"

	"github.com/hack-pad/safejs"
)

// Value is a JavaScript value. Its own methods Get, Set, Index and Length are fast, but an
// exception in a getter under them ends the program. Use them only for objects that are known to be
// plain, and the functions of this package for all others.
type Value = safejs.Value

// Raw is the value of syscall/js, for js-only constructors of packages that must not import it.
type Raw = js.Value

// FromRaw returns v as a [Value], at no cost.
func FromRaw(v Raw) Value { return safejs.Safe(v) }

// ToRaw returns v as a [Raw], at no cost.
func ToRaw(v Value) Raw { return safejs.Unsafe(v) }

// Global returns the globalThis of the page or the worker.
func Global() Value { return safejs.Global() }

// Undefined returns JavaScript's undefined, which is the zero Value.
func Undefined() Value { return safejs.Undefined() }

// Null returns JavaScript's null.
func Null() Value { return safejs.Null() }

// typeBigInt is the type of a bigint, which syscall/js does not have: its Type panics on a bigint,
// and any port can deliver one.
const typeBigInt js.Type = -1

func typeOf(v js.Value) (t js.Type) {
	defer func() {
		if recover() != nil {
			t = typeBigInt
		}
	}()
	return v.Type()
}

// TypeOf returns JavaScript's typeof, but "null" for null. Use it for values from elsewhere,
// because Value's own Type panics on a bigint.
func TypeOf(v Value) string {
	if t := typeOf(raw(v)); t != typeBigInt {
		return t.String()
	}
	return "bigint"
}

// Nullish reports whether v is undefined or null.
func Nullish(v Value) bool { return v.IsUndefined() || v.IsNull() }

// Get returns a property. An exception of a getter or a Proxy is returned as an *[Error].
func Get(v Value, name string) (Value, error) {
	p := prim()
	r, err := invoke(p.reflectGet, raw(v), p.key(name))
	if err != nil {
		if Nullish(v) { // engines word this differently, and few of them clearly
			err = &Error{Name: string(ErrType), Message: TypeOf(v) + " has no properties"}
		}
		return Value{}, withOp(err, "get "+name)
	}
	return value(r), nil
}

// Lookup returns the property of v at a dotted path, such as "navigator.storage".
func Lookup(v Value, path string) (Value, error) {
	for name := range strings.SplitSeq(path, ".") {
		if Nullish(v) {
			return Value{}, &Error{Name: string(ErrType), Op: "get " + path, Message: "there is nothing to read " + name + " of"}
		}
		var err error
		if v, err = Get(v, name); err != nil {
			return Value{}, err
		}
	}
	return v, nil
}

// Supported reports whether the browser has the object at the dotted path, such as
// "navigator.storage.getDirectory" or "RTCPeerConnection".
func Supported(path string) bool {
	v, err := Lookup(Global(), path)
	return err == nil && !Nullish(v)
}

// Has reports whether v has the property, own or inherited, like "in".
func Has(v Value, name string) bool {
	p := prim()
	r, err := invoke(p.reflectHas, raw(v), p.key(name))
	return err == nil && r.Truthy()
}

// Set writes a property. x may be anything that [ToJS] accepts. A read-only property gives
// [ErrType].
func Set(v Value, name string, x any) error {
	p := prim()
	x, err := arg(x)
	if err != nil {
		return withOp(err, "set "+name)
	}
	r, err := invoke(p.reflectSet, raw(v), p.key(name), x)
	if err != nil {
		return withOp(err, "set "+name)
	}
	if !r.Truthy() {
		return &Error{Name: string(ErrType), Op: "set " + name, Message: "the property is read-only"}
	}
	return nil
}

// Delete removes an own property. One that cannot be deleted gives [ErrType].
func Delete(v Value, name string) error {
	p := prim()
	r, err := invoke(p.reflectDelete, raw(v), p.key(name))
	if err != nil {
		return withOp(err, "delete "+name)
	}
	if !r.Truthy() {
		return &Error{Name: string(ErrType), Op: "delete " + name, Message: "the property cannot be deleted"}
	}
	return nil
}

// Index returns element i.
func Index(v Value, i int) (Value, error) {
	r, err := invoke(prim().reflectGet, raw(v), i)
	if err != nil {
		return Value{}, withOp(err, fmt.Sprintf("get element %d", i))
	}
	return value(r), nil
}

// Length returns the property length, a whole number from 0 to 2⁵³-1. Another value is an error.
func Length(v Value) (int, error) {
	n, err := GetInt(v, "length")
	if err == nil && n < 0 {
		err = &Error{Name: string(ErrRange), Op: "get length", Message: fmt.Sprintf("%d is negative", n)}
	}
	return n, err
}

// Call calls a method, in two crossings, and returns its result. Use a [Method] for a method that
// is called often.
func Call(v Value, method string, args ...any) (Value, error) {
	m, err := Get(v, method)
	if err != nil {
		return Value{}, withOp(err, "call "+method)
	}
	if typeOf(raw(m)) != js.TypeFunction {
		return Value{}, &Error{Name: string(ErrType), Op: "call " + method,
			Message: "not a function but " + TypeOf(m)}
	}
	in, err := argsOf(append(make([]any, 0, 8), raw(m), raw(v)), args)
	if err != nil {
		return Value{}, withOp(err, "call "+method)
	}
	r, err := invoke(prim().call, in...)
	return value(r), withOp(err, "call "+method)
}

// Invoke calls fn with this undefined, and returns its result.
func Invoke(fn Value, args ...any) (Value, error) {
	in, err := argsOf(make([]any, 0, 8), args)
	if err != nil {
		return Value{}, err
	}
	r, err := invoke(raw(fn), in...)
	return value(r), err
}

// New returns new constructor(args). [Constructor] returns global constructors.
func New(constructor Value, args ...any) (Value, error) {
	in, err := argsOf(make([]any, 0, 8), args)
	if err != nil {
		return Value{}, err
	}
	r, err := construct(raw(constructor), in...)
	return value(r), err
}

// NewGlobal returns a new object of a global class.
func NewGlobal(class string, args ...any) (Value, error) {
	c, err := Constructor(class)
	if err != nil {
		return Value{}, err
	}
	v, err := New(c, args...)
	return v, withOp(err, "new "+class)
}

// Constructor returns a global class. If the browser has none of this name, the error is
// [ErrNotSupported], which is errors.ErrUnsupported.
func Constructor(class string) (Value, error) {
	v, err := Get(Global(), class)
	if err != nil {
		return Value{}, err
	}
	if typeOf(raw(v)) != js.TypeFunction {
		return Value{}, &Error{Name: string(ErrNotSupported), Op: "new " + class, Message: "this browser has no " + class}
	}
	return v, nil
}

// A Method is a function of a prototype that is looked up once. A call takes one crossing and works
// for a receiver of any realm.
type Method struct {
	path string
	fn   js.Value
}

// NewMethod returns the method at a path, such as "Element.prototype.append", or [ErrNotSupported].
func NewMethod(path string) (Method, error) {
	v, err := Lookup(Global(), path)
	if err != nil {
		return Method{}, err
	}
	if typeOf(raw(v)) != js.TypeFunction {
		return Method{}, &Error{Name: string(ErrNotSupported), Op: "find " + path, Message: "this browser has no " + path}
	}
	fn, err := invoke(prim().uncurry, raw(v))
	return Method{path, fn}, err
}

// Call calls the method on v and returns its result.
func (m Method) Call(v Value, args ...any) (Value, error) {
	in, err := argsOf(append(make([]any, 0, 8), raw(v)), args)
	if err != nil {
		return Value{}, err
	}
	r, err := invoke(m.fn, in...)
	return value(r), withOp(err, m.path)
}

func argsOf(dst, args []any) ([]any, error) {
	for _, a := range args {
		x, err := arg(a)
		if err != nil {
			return nil, err
		}
		dst = append(dst, x)
	}
	return dst, nil
}

// InstanceOf reports whether v is an instance of a global class of this realm.
func InstanceOf(v Value, class string) bool {
	c, err := Constructor(class)
	if err != nil {
		return false
	}
	r, err := invoke(prim().hasInstance, raw(c), raw(v))
	return err == nil && r.Truthy()
}

// IsArray reports whether v is an Array of any realm.
func IsArray(v Value) bool {
	r, err := invoke(prim().isArray, raw(v))
	return err == nil && r.Truthy()
}

func wrongType(want string, v Value) error {
	return &Error{Name: string(ErrType), Message: "want " + want + ", got " + TypeOf(v)}
}

// String returns the string v. If it has more than limit UTF-16 units, nothing is copied and the
// error is a *[SizeError]. Limit 0 is no limit. Lone surrogates become U+FFFD.
func String(v Value, limit int) (string, error) {
	if typeOf(raw(v)) != js.TypeString {
		return "", wrongType("string", v)
	}
	if limit > 0 {
		if n := stringLength(prim(), raw(v)); n > limit {
			return "", &SizeError{What: "string", Size: int64(n), Limit: int64(limit), Unit: "UTF-16 units"}
		}
	}
	return raw(v).String(), nil
}

// stringLength returns the length of a string with lastIndexOf, the only built-in that returns it
// without reading a property.
func stringLength(p *primordials, s js.Value) int {
	n, err := invoke(p.strLastIndex, s, p.key(""))
	if err != nil {
		return 0 // s is a string, so it does not throw
	}
	return n.Int()
}

// Bool returns the boolean v.
func Bool(v Value) (bool, error) {
	if typeOf(raw(v)) != js.TypeBoolean {
		return false, wrongType("boolean", v)
	}
	return raw(v).Bool(), nil
}

// Float64 returns the number v, which may be NaN or infinite.
func Float64(v Value) (float64, error) {
	if typeOf(raw(v)) != js.TypeNumber {
		return 0, wrongType("number", v)
	}
	return raw(v).Float(), nil
}

// Finite returns the number v. NaN and infinities give [ErrRange].
func Finite(v Value) (float64, error) {
	f, err := Float64(v)
	if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return 0, &Error{Name: string(ErrRange), Message: fmt.Sprintf("want a finite number, got %v", f)}
	}
	return f, err
}

// Int returns the number v, which must be whole and within ±(2⁵³-1).
func Int(v Value) (int, error) {
	f, err := Finite(v)
	if err != nil {
		return 0, err
	}
	if f != math.Trunc(f) || math.Abs(f) > maxSafeInteger {
		return 0, &Error{Name: string(ErrRange), Message: fmt.Sprintf("want a whole number within 2⁵³, got %v", f)}
	}
	return int(f), nil
}

// GetString returns a property as [String] does.
func GetString(v Value, name string, limit int) (string, error) {
	return get(v, name, func(x Value) (string, error) { return String(x, limit) })
}

// GetInt returns a property as [Int] does.
func GetInt(v Value, name string) (int, error) { return get(v, name, Int) }

// GetFinite returns a property as [Finite] does.
func GetFinite(v Value, name string) (float64, error) { return get(v, name, Finite) }

// GetBool returns a property as [Bool] does.
func GetBool(v Value, name string) (bool, error) { return get(v, name, Bool) }

func get[T any](v Value, name string, as func(Value) (T, error)) (T, error) {
	x, err := Get(v, name)
	if err != nil {
		var zero T
		return zero, err
	}
	t, err := as(x)
	return t, withOp(err, "get "+name)
}
