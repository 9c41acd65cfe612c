package wasmbin

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrModule is wrapped by every error about the bytes of a module.
var ErrModule = errors.New("not a WebAssembly module that can be run")

// reader reads the fields of a binary. The first error stays in err. After it every read
// returns zero.
type reader struct {
	b    []byte
	off  int // position of b in the module, for messages
	at   int
	what string
	err  error
	pace *pace
}

// pace calls rest after each restEvery bytes that were read one by one.
type pace struct {
	rest func(n int) error
	n    int
	err  error // of rest
}

const restEvery = 4 << 10

// newPace returns nil if rest is nil.
func newPace(rest func(n int) error) *pace {
	if rest == nil {
		return nil
	}
	return &pace{rest: rest}
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s, at byte %d of the module, in the %s", ErrModule, fmt.Sprintf(format, args...), r.off+r.at, r.what)
	}
}

func (r *reader) left() int { return len(r.b) - r.at }

func (r *reader) byte() byte {
	if r.err != nil || r.left() < 1 {
		r.fail("it ends early")
		return 0
	}
	r.at++
	if r.pace != nil {
		if r.pace.n++; r.pace.n == restEvery {
			r.pace.n = 0
			if r.pace.err = r.pace.rest(restEvery); r.pace.err != nil {
				r.err = r.pace.err
				return 0
			}
		}
	}
	return r.b[r.at-1]
}

// u32 reads an unsigned LEB128 of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		if r.err != nil {
			return 0
		}
		if shift == 28 && c > 0x0f {
			break
		}
		v |= uint32(c&0x7f) << shift
		if c&0x80 == 0 {
			return v
		}
	}
	r.fail("a number is longer than 32 bits")
	return 0
}

// u64 reads an unsigned LEB128 of at most 64 bits.
func (r *reader) u64() uint64 {
	var v uint64
	for shift := 0; shift < 70; shift += 7 {
		c := r.byte()
		if r.err != nil {
			return 0
		}
		if shift == 63 && c > 1 {
			break
		}
		v |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			return v
		}
	}
	r.fail("a number is longer than 64 bits")
	return 0
}

// count reads a number of items, each of at least one byte.
func (r *reader) count(of string) int {
	n := r.u32()
	if r.err == nil && int64(n) > int64(r.left()) {
		r.fail("it says %d %s and has %d bytes left", n, of, r.left())
		return 0
	}
	return int(n)
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > r.left() {
		r.fail("it ends early: %d bytes are missing", n-r.left())
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) name() string {
	b := r.take(r.count("bytes of a name"))
	if !utf8.Valid(b) {
		r.fail("a name is not UTF-8")
		return ""
	}
	return string(b)
}

// appendU32 appends an unsigned LEB128.
func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendName(b []byte, s string) []byte { return append(appendU32(b, uint32(len(s))), s...) }
