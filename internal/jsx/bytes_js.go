package jsx

import (
	"fmt"
	"math"
	"syscall/js"
)

// FromBytes returns a new Uint8Array with a copy of b, made in one bulk copy.
func FromBytes(b []byte) (Value, error) {
	v, err := bytesToJS(b)
	return value(v), err
}

func bytesToJS(b []byte) (js.Value, error) {
	v, err := construct(prim().uint8Array, len(b))
	if err != nil {
		return js.Value{}, withOp(err, fmt.Sprintf("allocate %d bytes", len(b)))
	}
	js.CopyBytesToJS(v, b)
	return v, nil
}

// Bytes returns a copy of an ArrayBuffer, a SharedArrayBuffer or a view of one, of any realm. If it
// has more than limit bytes, nothing is copied and the error is a *[SizeError].
func Bytes(v Value, limit int) ([]byte, error) {
	view, n, err := bytesOf(raw(v), 0, math.MaxInt)
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, &SizeError{What: "binary data", Size: int64(n), Limit: int64(limit), Unit: "bytes"}
	}
	b := make([]byte, n)
	js.CopyBytesToGo(b, view)
	return b, nil
}

// ByteLength returns the size of an ArrayBuffer, SharedArrayBuffer or view, in bytes.
func ByteLength(v Value) (int, error) {
	_, n, err := bytesOf(raw(v), 0, math.MaxInt)
	return n, err
}

// CopyToGo copies from v, starting at off, to dst. It returns the number of bytes, which is less
// than len(dst) at the end of v.
func CopyToGo(dst []byte, v Value, off int) (int, error) {
	view, n, err := bytesOf(raw(v), off, len(dst))
	if err != nil {
		return 0, err
	}
	return js.CopyBytesToGo(dst[:n], view), nil
}

// CopyToJS copies src to v, starting at off. If it does not fit, nothing is copied and the error is
// a *[SizeError].
func CopyToJS(v Value, off int, src []byte) error {
	view, n, err := bytesOf(raw(v), off, len(src))
	if err != nil {
		return err
	}
	if n < len(src) {
		return &SizeError{What: fmt.Sprintf("a copy to offset %d", off), Size: int64(len(src)), Limit: int64(n), Unit: "bytes"}
	}
	js.CopyBytesToJS(view, src)
	return nil
}

// View returns a Uint8Array of this realm over n bytes of v from off, which shares its memory. If
// they are not within v, the error is a *[SizeError] or [ErrRange].
func View(v Value, off, n int) (Value, error) {
	if n < 0 {
		return Value{}, &Error{Name: string(ErrRange), Op: "view", Message: fmt.Sprintf("the length %d is negative", n)}
	}
	view, got, err := bytesOf(raw(v), off, n)
	if err != nil {
		return Value{}, err
	}
	if got < n {
		return Value{}, &SizeError{What: fmt.Sprintf("a view from offset %d", off), Size: int64(n), Limit: int64(got), Unit: "bytes"}
	}
	return value(view), nil
}

// bytesOf returns a Uint8Array of this realm over at most n bytes of v from off, and its length.
// The browser's own getters identify v, so a subclass or an object of another realm is handled
// correctly. The view is always new: copying calls its subarray where no exception is caught, and a
// method of v may throw.
func bytesOf(v js.Value, off, n int) (js.Value, int, error) {
	p := prim()
	buffer, start, size, err := extent(p, v)
	if err != nil {
		return js.Value{}, 0, err
	}
	if off < 0 || off > size {
		return js.Value{}, 0, &Error{Name: string(ErrRange), Op: "read bytes", Message: fmt.Sprintf("offset %d is outside of %d bytes", off, size)}
	}
	n = min(n, size-off)
	view, err := construct(p.uint8Array, buffer, start+off, n)
	return view, n, withOp(err, "read bytes")
}

func extent(p *primordials, v js.Value) (buffer js.Value, start, size int, err error) {
	if typeOf(v) == js.TypeObject {
		if n, err := attempt(p.viewLen, v); err == nil {
			return extentBy(p.viewBuffer, p.viewOff, v, n)
		}
		if n, err := attempt(p.bufferLen, v); err == nil {
			return v, 0, n.Int(), nil
		}
		if n, err := attempt(p.dataLen, v); err == nil {
			return extentBy(p.dataBuffer, p.dataOff, v, n)
		}
		if !p.sharedLen.IsUndefined() {
			if n, err := attempt(p.sharedLen, v); err == nil {
				return v, 0, n.Int(), nil
			}
		}
	}
	return js.Value{}, 0, 0, wrongType("an ArrayBuffer or a view of one", value(v))
}

func extentBy(bufferGet, offGet, v, n js.Value) (js.Value, int, int, error) {
	buffer, err := invoke(bufferGet, v)
	if err != nil {
		return js.Value{}, 0, 0, err
	}
	off, err := invoke(offGet, v)
	if err != nil {
		return js.Value{}, 0, 0, err
	}
	return buffer, off.Int(), n.Int(), nil
}
