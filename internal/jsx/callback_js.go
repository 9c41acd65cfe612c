package jsx

import (
	"sync"
	"syscall/js"

	"github.com/hack-pad/safejs"
)

// dispatcher is the program's only js.Func and the table of callbacks. A callback is that function
// bound to a number.
type dispatcher struct {
	fn js.Func

	mu   sync.Mutex // never held during a call into JavaScript, which may call back
	next float64
	fns  map[float64]callback
}

type callback func(args []js.Value) any

var dispatch = sync.OnceValue(func() *dispatcher {
	d := &dispatcher{fns: map[float64]callback{}}
	d.fn = js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) == 0 || args[0].Type() != js.TypeNumber {
			return js.Undefined()
		}
		d.mu.Lock()
		fn := d.fns[args[0].Float()]
		d.mu.Unlock()
		if fn == nil {
			return js.Undefined() // called after its release
		}
		return fn(args[1:])
	})
	return d
})

// register returns a JavaScript function that calls fn until id is released.
func (d *dispatcher) register(fn callback, bound ...any) (v js.Value, id float64, err error) {
	d.mu.Lock()
	d.next++
	id = d.next
	d.fns[id] = fn
	d.mu.Unlock()
	v, err = d.bind(id, bound...)
	if err != nil {
		d.release(id)
	}
	return v, id, err
}

// bind returns another JavaScript function for id. It puts the bound arguments before those of a
// call.
func (d *dispatcher) bind(id float64, bound ...any) (js.Value, error) {
	return invoke(prim().bind, append([]any{d.fn, nil, id}, bound...)...)
}

func (d *dispatcher) release(id float64) {
	d.mu.Lock()
	delete(d.fns, id)
	d.mu.Unlock()
}

// Func returns a JavaScript function that calls fn, until release or the scope's Close. A later
// call does nothing. fn must not block. A panic of fn is passed to OnError.
func (s *Scope) Func(fn func(args []Value)) (f Value, release func(), err error) {
	return s.Function(func(args []Value) any { fn(args); return nil })
}

// Function is Func for an fn with a result, which may be anything that [ToJS] accepts. For another
// result, the JavaScript caller gets undefined and OnError the error.
func (s *Scope) Function(fn func(args []Value) any) (f Value, release func(), err error) {
	return s.function(Callbacks, fn)
}

func (s *Scope) function(kind Kind, fn func(args []Value) any) (f Value, release func(), err error) {
	d := dispatch()
	v, id, err := d.register(func(args []js.Value) (result any) {
		defer func() {
			if r := recover(); r != nil {
				s.panicked(r)
				result = js.Undefined()
			}
		}()
		in := make([]Value, len(args))
		for i, a := range args {
			in[i] = safejs.Safe(a)
		}
		x := fn(in)
		if x == nil {
			return js.Undefined()
		}
		out, err := toJS(x, 0)
		if err != nil {
			s.onError(withOp(err, "the result of a callback"))
			return js.Undefined()
		}
		return out
	})
	if err != nil {
		return Value{}, func() {}, err
	}
	count := hold(kind)
	release, err = s.Add(func() { d.release(id); drop(kind, count) })
	return value(v), release, err
}

// ListenOptions are the options of addEventListener.
type ListenOptions struct {
	Capture, Passive, Once bool
}

// Listen calls fn for each event of target, until remove or the scope's Close. fn must not block.
func (s *Scope) Listen(target Value, event string, fn func(event Value), opts ...ListenOptions) (remove func(), err error) {
	var o ListenOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	inner := NewScope(ScopeOptions{OnError: s.onError})
	var detach func()
	f, _, err := inner.function(Listeners, func(args []Value) any {
		if o.Once {
			defer detach()
		}
		if len(args) > 0 {
			fn(args[0])
		}
		return nil
	})
	if err != nil {
		return func() {}, err
	}
	options := map[string]any{"capture": o.Capture, "passive": o.Passive, "once": o.Once}
	detach, err = s.Add(func() {
		_ = inner.Close()
		// From a target that no longer exists, such as the window of a closed frame, there is
		// nothing to remove.
		_, _ = Call(target, "removeEventListener", event, f, o.Capture)
	})
	if err != nil {
		return detach, err
	}
	if _, err = Call(target, "addEventListener", event, f, options); err != nil {
		detach()
		return func() {}, withOp(err, "listen to "+event)
	}
	return detach, nil
}
