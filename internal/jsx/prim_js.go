package jsx

import (
	"errors"
	"sync"
	"syscall/js"

	"github.com/hack-pad/safejs"
)

// primordials are the page's built-ins, captured once. They are called only by Invoke, which
// catches exceptions. In an uncurried function, the receiver is the first argument.
type primordials struct {
	uncurry js.Value // Function.prototype.call.bind: method -> uncurried
	call    js.Value // call(fn, this, ...args)

	reflectGet, reflectSet, reflectHas, reflectDelete, reflectApply js.Value
	reflectDefine, ownDescriptor, protoOf                           js.Value

	bind, hasInstance            js.Value
	noop                         js.Value // Function.prototype: callable, returns undefined
	str, strSlice, strLastIndex  js.Value
	fromEntries, arrayOf, parse  js.Value
	then, resolve                js.Value
	isView, isArray              js.Value
	bufferLen                    js.Value // getters, which check the brand in any realm
	sharedLen                    js.Value // undefined if SharedArrayBuffer is
	viewBuffer, viewOff, viewLen js.Value // of typed arrays
	dataBuffer, dataOff, dataLen js.Value // of DataView
	domName, domMessage          js.Value // of DOMException, undefined if it is
	quotaQuota, quotaRequested   js.Value // of QuotaExceededError, if it is a class
	errorStack                   js.Value // undefined if stack is a data property
	uint8Array                   js.Value
	names                        map[string]js.Value
	namesMu                      sync.Mutex
}

var prim = sync.OnceValue(capture)

func capture() *primordials {
	g := js.Global()
	fn, reflect, object := g.Get("Function").Get("prototype"), g.Get("Reflect"), g.Get("Object")
	p := &primordials{noop: fn, names: map[string]js.Value{}}
	p.uncurry = fn.Get("bind").Call("bind", fn.Get("call"))
	p.call = p.uncurry.Invoke(fn.Get("call"))
	un := func(f js.Value) js.Value { return p.uncurry.Invoke(f) }
	descriptor := object.Get("getOwnPropertyDescriptor")
	getter := func(of js.Value, name string) js.Value {
		if of.IsUndefined() {
			return js.Undefined()
		}
		d := descriptor.Invoke(of.Get("prototype"), name)
		if d.IsUndefined() || d.Get("get").IsUndefined() {
			return js.Undefined()
		}
		return un(d.Get("get"))
	}

	p.reflectGet, p.reflectSet, p.reflectHas = reflect.Get("get"), reflect.Get("set"), reflect.Get("has")
	p.reflectDelete, p.reflectApply = reflect.Get("deleteProperty"), reflect.Get("apply")
	p.reflectDefine = reflect.Get("defineProperty")
	p.ownDescriptor, p.protoOf = reflect.Get("getOwnPropertyDescriptor"), reflect.Get("getPrototypeOf")
	p.bind = un(fn.Get("bind"))
	p.hasInstance = un(p.reflectGet.Invoke(fn, g.Get("Symbol").Get("hasInstance")))

	str := g.Get("String")
	p.str, p.strSlice, p.strLastIndex = str, un(str.Get("prototype").Get("slice")), un(str.Get("prototype").Get("lastIndexOf"))
	array := g.Get("Array")
	p.fromEntries, p.parse = object.Get("fromEntries"), g.Get("JSON").Get("parse")
	p.arrayOf = p.bind.Invoke(array.Get("of"), array)
	p.isArray = array.Get("isArray")

	promise := g.Get("Promise")
	p.then = un(promise.Get("prototype").Get("then"))
	p.resolve = p.bind.Invoke(promise.Get("resolve"), promise)

	p.uint8Array = g.Get("Uint8Array")
	typed := object.Call("getPrototypeOf", p.uint8Array)
	buffer := g.Get("ArrayBuffer")
	p.isView = buffer.Get("isView")
	p.bufferLen, p.sharedLen = getter(buffer, "byteLength"), getter(g.Get("SharedArrayBuffer"), "byteLength")
	p.viewBuffer, p.viewOff, p.viewLen = getter(typed, "buffer"), getter(typed, "byteOffset"), getter(typed, "byteLength")
	data := g.Get("DataView")
	p.dataBuffer, p.dataOff, p.dataLen = getter(data, "buffer"), getter(data, "byteOffset"), getter(data, "byteLength")

	dom, quota := g.Get("DOMException"), g.Get("QuotaExceededError")
	p.domName, p.domMessage = getter(dom, "name"), getter(dom, "message")
	p.quotaQuota, p.quotaRequested = getter(quota, "quota"), getter(quota, "requested")
	errorOf := g.Get("Error")
	if d := descriptor.Invoke(errorOf.New(), "stack"); !d.IsUndefined() {
		if get := d.Get("get"); !get.IsUndefined() {
			p.errorStack = un(get) // V8: an own accessor, the same for every error
		}
	} else {
		p.errorStack = getter(errorOf, "stack") // Firefox: on the prototype
	}
	return p
}

// key returns a property name as a JavaScript string. Names are few and constant, so they are
// stored: making a string is a third of the cost of a Get.
func (p *primordials) key(name string) js.Value {
	p.namesMu.Lock()
	v, ok := p.names[name]
	p.namesMu.Unlock()
	if ok {
		return v
	}
	v = js.ValueOf(name)
	p.namesMu.Lock()
	if len(p.names) < 1024 && len(name) <= 64 {
		p.names[name] = v
	}
	p.namesMu.Unlock()
	return v
}

// invoke calls fn and returns an exception as an *Error. fn must be one of the primordials or a
// type-checked function, and args only values that js.ValueOf accepts.
func invoke(fn js.Value, args ...any) (v js.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	return fn.Invoke(args...), nil
}

// errThrew is the error of attempt for any exception.
var errThrew = errors.New("jsx: it threw")

// attempt is invoke without a description of the exception, for the functions that describe
// exceptions. A description of the exception of a brand check would check the brand again, without
// end.
func attempt(fn js.Value, args ...any) (v js.Value, err error) {
	defer func() {
		if recover() != nil {
			err = errThrew
		}
	}()
	return fn.Invoke(args...), nil
}

// construct is invoke for new.
func construct(fn js.Value, args ...any) (v js.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	return fn.New(args...), nil
}

func raw(v Value) js.Value   { return safejs.Unsafe(v) }
func value(v js.Value) Value { return safejs.Safe(v) }
