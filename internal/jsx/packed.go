package jsx

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// PackedJS is the JavaScript twin of [Packer]: the text of a class Packer. Put it before a trusted
// script that returns packed data.
//
//go:embed packed.js
var PackedJS string

// Packed data is one Uint8Array instead of many crossings. It has fields one after the other,
// little-endian, without padding. u8, u32 and f64 are stored as they are. Bytes and strings (UTF-8)
// are a u32 length and that many bytes.

// An Unpacker reads packed data. It stores the first error in Err, and everything read after it is
// zero, so that one check at the end is enough. Bytes and strings are never longer than the data.
type Unpacker struct {
	b   []byte
	off int
	err error
}

// Unpack returns an Unpacker of b, which must not change while it is read.
func Unpack(b []byte) *Unpacker { return &Unpacker{b: b} }

func (u *Unpacker) take(n int, what string) []byte {
	if u.err != nil {
		return nil
	}
	if n < 0 || n > len(u.b)-u.off {
		u.err = fmt.Errorf("jsx: packed answer ends at byte %d of %d, within a %s of %d bytes", u.off, len(u.b), what, n)
		return nil
	}
	b := u.b[u.off : u.off+n : u.off+n]
	u.off += n
	return b
}

// U8 reads one byte.
func (u *Unpacker) U8() uint8 {
	if b := u.take(1, "u8"); b != nil {
		return b[0]
	}
	return 0
}

// U32 reads an unsigned 32-bit number.
func (u *Unpacker) U32() uint32 {
	if b := u.take(4, "u32"); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// F64 reads a number. NaN and infinities are an error.
func (u *Unpacker) F64() float64 {
	b := u.take(8, "f64")
	if b == nil {
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		u.err = fmt.Errorf("jsx: packed answer has %v before byte %d, where a finite number was expected", f, u.off)
		return 0
	}
	return f
}

// Int reads an f64 that is a whole number within ±(2⁵³-1), such as the size of a file or a time in
// milliseconds. Any other number is an error.
func (u *Unpacker) Int() int64 {
	f := u.F64()
	if u.err == nil && (f != math.Trunc(f) || math.Abs(f) > maxSafeInteger) {
		u.err = fmt.Errorf("jsx: packed answer has %v before byte %d, where a whole number within 2⁵³ was expected", f, u.off)
		return 0
	}
	return int64(f)
}

// Bytes reads a byte field. The result shares the memory of the data.
func (u *Unpacker) Bytes() []byte { return u.take(int(u.U32()), "byte field") }

// String reads a string. One that is not UTF-8 is an error.
func (u *Unpacker) String() string {
	b := u.take(int(u.U32()), "string")
	if !utf8.Valid(b) {
		u.err = fmt.Errorf("jsx: packed answer has a string before byte %d that is not UTF-8", u.off)
		return ""
	}
	return string(b)
}

// Count reads a u32, which is the number of records that follow, each of at least minSize bytes. A
// number that does not fit in the rest of the data is an error, so it is safe to allocate for the
// result.
func (u *Unpacker) Count(minSize int) int {
	n := int(u.U32())
	if u.err == nil && n > (len(u.b)-u.off)/max(1, minSize) {
		u.err = fmt.Errorf("jsx: packed answer says %d records of at least %d bytes, and has %d bytes left", n, minSize, len(u.b)-u.off)
	}
	if u.err != nil {
		return 0
	}
	return n
}

// Left returns the number of bytes that have not been read, or 0 after an error.
func (u *Unpacker) Left() int {
	if u.err != nil {
		return 0
	}
	return len(u.b) - u.off
}

// Err returns the first error.
func (u *Unpacker) Err() error { return u.err }

// Close returns Err, or an error if some bytes have not been read.
func (u *Unpacker) Close() error {
	if u.err == nil && u.off != len(u.b) {
		u.err = fmt.Errorf("jsx: packed answer has %d bytes after its end", len(u.b)-u.off)
	}
	return u.err
}

// A Packer writes packed data. The zero value is empty.
type Packer struct{ b []byte }

// Grow makes room for n more bytes.
func (p *Packer) Grow(n int) { p.b = slices.Grow(p.b, n) }

// U8 appends one byte.
func (p *Packer) U8(v uint8) { p.b = append(p.b, v) }

// U32 appends an unsigned 32-bit number.
func (p *Packer) U32(v uint32) { p.b = binary.LittleEndian.AppendUint32(p.b, v) }

// F64 appends a number.
func (p *Packer) F64(v float64) {
	p.b = binary.LittleEndian.AppendUint64(p.b, math.Float64bits(v))
}

// Bytes appends a byte field.
func (p *Packer) Bytes(v []byte) {
	p.U32(uint32(len(v)))
	p.b = append(p.b, v...)
}

// String appends a string.
func (p *Packer) String(v string) {
	p.U32(uint32(len(v)))
	p.b = append(p.b, v...)
}

// Text appends a string without its length.
func (p *Packer) Text(v string) { p.b = append(p.b, v...) }

// Append appends the data of another Packer.
func (p *Packer) Append(packed []byte) { p.b = append(p.b, packed...) }

// Packed returns the data.
func (p *Packer) Packed() []byte { return p.b }
