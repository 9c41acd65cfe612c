package jsx

import (
	"context"
	"syscall/js"
)

// NewPromise runs fn on a goroutine of its own and returns a JavaScript promise of its result. The
// result may be anything that [ToJS] accepts, and nil becomes undefined. An error or a panic
// rejects the promise with the value of [ToError]. Closing the scope cancels fn's context.
func NewPromise(ctx context.Context, s *Scope, fn func(context.Context) (any, error)) (Value, error) {
	if s.Closed() {
		return Value{}, ErrClosed
	}
	class, err := Constructor("Promise")
	if err != nil {
		return Value{}, err
	}
	var resolve, reject js.Value
	d := dispatch()
	executor, id, err := d.register(func(args []js.Value) any {
		if len(args) == 2 {
			resolve, reject = args[0], args[1]
		}
		return nil
	})
	if err != nil {
		return Value{}, err
	}
	promise, err := construct(raw(class), executor)
	d.release(id)
	if err != nil {
		return Value{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	count := hold(Awaits)
	done, err := s.Add(func() { cancel(); drop(Awaits, count) })
	if err != nil {
		return Value{}, err
	}
	go func() {
		defer done()
		x, err := run(ctx, fn)
		var v js.Value
		if err == nil && x != nil {
			v, err = toJS(x, 0)
		}
		if err != nil {
			_, _ = invoke(reject, raw(ToError(err)))
			return
		}
		_, _ = invoke(resolve, v)
	}()
	return value(promise), nil
}

func run(ctx context.Context, fn func(context.Context) (any, error)) (x any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: r}
		}
	}()
	return fn(ctx)
}
