package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// maxGap is the longest run of zeros that is written out to join two data segments. Go's linker
// leaves zeros out between segments. Its table from program counter to function has buckets of
// 20 bytes, of which two are not zero, and 16 buckets a function. So a page has 80,000 segments
// of 2 bytes, all with different addresses. With the zeros written out, the data repeats, and
// brotli compresses it: examples/markdown is 90 KB smaller with 7 segments. Gaps of 24, 64 and
// 1,024 gave 84, 87 and 90 KB.
const maxGap = 1024

// maxImage is the maximum size of the initial memory in which the lines of stack traces are removed.
const maxImage = 1 << 30

const (
	sectionData      = 11
	sectionDataCount = 12
)

var errNotWasm = errors.New("the compiler's output is not a WebAssembly module that can be read")

// joinSegments returns the same module with neighbouring data segments joined. Memory is the
// same after the start, because it starts as zeros. A module that refers to segments by number
// is returned unchanged.
func joinSegments(module []byte) ([]byte, error) { return shrink(module, true) }

// shrink is joinSegments, and without lines it also removes the lines of stack traces.
func shrink(module []byte, lines bool) ([]byte, error) {
	if len(module) < 8 || string(module[:4]) != "\x00asm" {
		return nil, errNotWasm
	}
	out := append(make([]byte, 0, len(module)+len(module)/4), module[:8]...)
	for rest := module[8:]; len(rest) > 0; {
		id := rest[0]
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, errNotWasm
		}
		body := rest[1+n:][:size]
		switch id {
		case sectionDataCount:
			return module, nil
		case sectionData:
			joined, err := joinData(body, lines)
			if err != nil {
				return nil, err
			}
			if joined == nil {
				return module, nil
			}
			out = binary.AppendUvarint(append(out, id), uint64(len(joined)))
			out = append(out, joined...)
		default:
			out = append(out, rest[:1+n+int(size)]...)
		}
		rest = rest[1+n+int(size):]
	}
	return out, nil
}

// joinData returns the new body of a data section, or nil if the section must stay as it is.
func joinData(body []byte, lines bool) ([]byte, error) {
	count, n := binary.Uvarint(body)
	if n <= 0 || count > uint64(len(body)) {
		return nil, errNotWasm
	}
	type segment struct {
		at   int64
		data []byte
	}
	all := make([]segment, 0, count)
	body = body[n:]
	for i := range count {
		// The segment must be active, in memory 0, at a constant. Go's linker writes no other
		// kind.
		if len(body) < 2 || body[0] != 0 || body[1] != 0x41 {
			return nil, nil
		}
		at, n := varint32(body[2:])
		if n <= 0 || len(body) < 3+n || body[2+n] != 0x0b {
			return nil, nil
		}
		body = body[3+n:]
		size, n := binary.Uvarint(body)
		if n <= 0 || size > uint64(len(body)-n) {
			return nil, fmt.Errorf("data segment %d: %w", i, errNotWasm)
		}
		all = append(all, segment{at, body[n:][:size:size]})
		body = body[n+int(size):]
	}
	if len(body) > 0 {
		return nil, errNotWasm
	}
	slices.SortStableFunc(all, func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	var joined []segment
	for _, s := range all {
		if len(joined) > 0 {
			last := &joined[len(joined)-1]
			gap := s.at - last.at - int64(len(last.data))
			if gap < 0 { // overlapping segments, whose order matters
				return nil, nil
			}
			if gap <= maxGap {
				last.data = append(append(last.data, make([]byte, gap)...), s.data...)
				continue
			}
		}
		joined = append(joined, s)
	}
	if !lines && len(joined) > 0 {
		// The table may lie in several segments, with zeros between them.
		base := joined[0].at
		last := joined[len(joined)-1]
		if size := last.at + int64(len(last.data)) - base; size <= maxImage {
			image := make([]byte, size)
			for _, s := range joined {
				copy(image[s.at-base:], s.data)
			}
			if dropLines(image, base) { // which changes no byte between segments
				for _, s := range joined {
					copy(s.data, image[s.at-base:])
				}
			}
		}
	}
	out := binary.AppendUvarint(nil, uint64(len(joined)))
	for _, s := range joined {
		out = appendVarint32(append(out, 0, 0x41), s.at)
		out = binary.AppendUvarint(append(out, 0x0b), uint64(len(s.data)))
		out = append(out, s.data...)
	}
	return out, nil
}

// varint32 decodes a signed LEB128 and returns its value and length. The length is 0 if it is
// invalid. An address above 2 GiB is encoded as a negative constant, and is returned as the
// address.
func varint32(b []byte) (int64, int) {
	var v int64
	for i := range min(len(b), 5) {
		v |= int64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			if shift := 7 * (i + 1); shift < 32 && b[i]&0x40 != 0 {
				v |= -1 << shift
			}
			return int64(uint32(v)), i + 1
		}
	}
	return 0, 0
}

func appendVarint32(b []byte, at int64) []byte {
	v := int32(uint32(at))
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}
