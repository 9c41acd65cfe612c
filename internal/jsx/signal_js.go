package jsx

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/hack-pad/safejs"
)

// Signal returns an AbortSignal that aborts when ctx is done. The reason is a TimeoutError or an
// AbortError. stop detaches the signal from ctx. It is idempotent and does not abort. For a ctx
// that never ends the signal is undefined, which every API accepts as no signal.
func Signal(ctx context.Context) (signal Value, stop func()) {
	if ctx.Done() == nil {
		return Undefined(), func() {}
	}
	controller, err := NewGlobal("AbortController")
	if err == nil {
		signal, err = Get(controller, "signal")
	}
	if err != nil {
		return Undefined(), func() {}
	}
	id := hold(Signals)
	var once sync.Once
	gone := func() { once.Do(func() { drop(Signals, id) }) }
	abort := func() {
		gone()
		_, _ = Call(controller, "abort", ToError(contextError(ctx)))
	}
	if ctx.Err() != nil {
		abort() // at once and not on a goroutine, because the caller is about to use it
		return signal, func() {}
	}
	unhook := context.AfterFunc(ctx, abort)
	return signal, func() { unhook(); gone() }
}

// WithSignal returns a context that is done when ctx is done or the AbortSignal aborts. Its cause
// is then the reason of the signal. An undefined signal never aborts. The scope owns the listener,
// and cancel releases it.
func WithSignal(ctx context.Context, s *Scope, signal Value) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	if Nullish(signal) {
		return ctx, func() { cancel(nil) }, nil
	}
	end := func() {
		reason, err := Get(signal, "reason")
		if err != nil {
			cancel(err)
			return
		}
		cancel(ErrorOf(reason))
	}
	remove, err := s.Listen(signal, "abort", func(Value) { end() }, ListenOptions{Once: true})
	if err != nil {
		cancel(err)
		return ctx, func() {}, err
	}
	if aborted, err := GetBool(signal, "aborted"); err == nil && aborted {
		remove()
		end()
	}
	context.AfterFunc(ctx, remove)
	return ctx, func() { cancel(nil) }, nil
}

// ToError returns a JavaScript error for err: a DOMException with the name that [Error] would have,
// a TypeError, RangeError, SyntaxError or ReferenceError, or an Error if err has no such name.
func ToError(err error) Value {
	name, message := "", "unknown error"
	if err != nil {
		message = err.Error()
	}
	var e *Error
	var code Code
	switch {
	case errors.As(err, &e):
		name, message = string(e.Code()), e.Message
	case errors.As(err, &code):
		name = string(code)
	case errors.Is(err, context.DeadlineExceeded):
		name = string(ErrTimeout)
	case errors.Is(err, context.Canceled):
		name = string(ErrAborted)
	case errors.Is(err, fs.ErrNotExist):
		name = string(ErrNotFound)
	case errors.Is(err, fs.ErrPermission):
		name = string(ErrNotAllowed)
	case errors.Is(err, fs.ErrExist):
		name = string(ErrInvalidModification)
	case errors.Is(err, fs.ErrInvalid):
		name = string(ErrTypeMismatch)
	case errors.Is(err, errors.ErrUnsupported):
		name = string(ErrNotSupported)
	}
	switch Code(name) {
	case ErrType, ErrRange, ErrSyntax, ErrReference:
		if v, err := NewGlobal(name, message); err == nil {
			return v
		}
	case "":
	default:
		if v, err := NewGlobal("DOMException", message, name); err == nil {
			return v
		}
	}
	v, newErr := NewGlobal("Error", message)
	if newErr != nil {
		s, _ := safejs.ValueOf(message)
		return s
	}
	return v
}
