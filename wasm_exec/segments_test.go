package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

type testSegment struct {
	at   uint32
	data []byte
}

func testModule(segments []testSegment, before ...byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(segments)))
	for _, s := range segments {
		body = appendVarint32(append(body, 0, 0x41), int64(s.at))
		body = binary.AppendUvarint(append(body, 0x0b), uint64(len(s.data)))
		body = append(body, s.data...)
	}
	m := append([]byte("\x00asm\x01\x00\x00\x00"), before...)
	m = binary.AppendUvarint(append(m, sectionData), uint64(len(body)))
	m = append(m, body...)
	return append(m, 0, 3, 1, 'x', 'y') // a custom section after it
}

// readSegments is an independent reader, so that the test does not depend on joinData.
func readSegments(t *testing.T, m []byte) []testSegment {
	t.Helper()
	r := bytes.NewReader(m[8:])
	must := func(v uint64, err error) uint64 {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for {
		id, err := r.ReadByte()
		if err != nil {
			t.Fatal("no data section")
		}
		size := must(binary.ReadUvarint(r))
		if id != sectionData {
			r.Seek(int64(size), 1)
			continue
		}
		var out []testSegment
		for range must(binary.ReadUvarint(r)) {
			r.Seek(2, 1)
			var at uint64
			for shift := 0; ; shift += 7 {
				b, _ := r.ReadByte()
				at |= uint64(b&0x7f) << shift
				if b < 0x80 {
					if shift+7 < 32 && b&0x40 != 0 {
						at |= ^uint64(0) << (shift + 7)
					}
					break
				}
			}
			r.Seek(1, 1)
			data := make([]byte, must(binary.ReadUvarint(r)))
			r.Read(data)
			out = append(out, testSegment{uint32(at), data})
		}
		return out
	}
}

func memoryOf(segments []testSegment) map[uint32]byte {
	m := map[uint32]byte{}
	for _, s := range segments {
		for i, b := range s.data {
			if b != 0 {
				m[s.at+uint32(i)] = b
			} else {
				delete(m, s.at+uint32(i))
			}
		}
	}
	return m
}

func TestJoinSegmentsKeepsTheMemory(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var in []testSegment
		at := uint32(rnd.IntN(1 << 20))
		if rnd.IntN(4) == 0 {
			at = 1<<31 - 3000 // at the sign change of the constant
		}
		for range rnd.IntN(30) {
			data := make([]byte, rnd.IntN(40))
			for i := range data {
				data[i] = byte(rnd.IntN(4))
			}
			if rnd.IntN(100) == 0 && at > 100 {
				at -= 50 // overlaps: the later one wins
			}
			in = append(in, testSegment{at, data})
			at += uint32(len(data) + rnd.IntN(2)*rnd.IntN(2*maxGap))
		}
		if len(in) > 3 && rnd.IntN(3) == 0 { // the linker's are not all in order
			in = append(in[2:], in[:2]...)
		}
		out, err := joinSegments(testModule(in))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasSuffix(out, []byte{0, 3, 1, 'x', 'y'}) {
			t.Fatal("the section after the data is gone")
		}
		got, want := memoryOf(readSegments(t, out)), memoryOf(in)
		if len(got) != len(want) {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
		for at, b := range want {
			if got[at] != b {
				t.Fatalf("byte %d is %d, want %d", at, got[at], b)
			}
		}
	}
}

func TestJoinSegmentsGap(t *testing.T) {
	for gap, want := range map[uint32]int{0: 1, maxGap - 1: 1, maxGap: 1, maxGap + 1: 2} {
		out, err := joinSegments(testModule([]testSegment{{4096, []byte("ab")}, {4098 + gap, []byte("cd")}}))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(readSegments(t, out)); got != want {
			t.Errorf("a gap of %d gives %d segments, want %d", gap, got, want)
		}
	}
}

// TestJoinSegmentsOfGo checks that the segments written by Go's linker can be joined.
func TestJoinSegmentsOfGo(t *testing.T) {
	p, err := findProgram(t.Context(), "./testdata/hello", "")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "hello.wasm")
	if err := p.compile(t.Context(), buildOptions{}, bin, t.Output()); err != nil {
		t.Fatal(err)
	}
	in, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	out, err := joinSegments(in)
	if err != nil {
		t.Fatal(err)
	}
	before, after := readSegments(t, in), readSegments(t, out)
	if len(before) < 1000 || len(after) > 50 {
		t.Errorf("%d segments became %d: does the linker write others now?", len(before), len(after))
	}
	if got, want := memoryOf(after), memoryOf(before); !maps.Equal(got, want) {
		t.Error("the memory is another")
	}
}

func TestJoinSegmentsLeavesOthersAlone(t *testing.T) {
	counted := testModule([]testSegment{{0, []byte("a")}, {2, []byte("b")}}, sectionDataCount, 1, 2)
	passive := append([]byte("\x00asm\x01\x00\x00\x00"), sectionData, 4, 1, 1, 1, 'a')
	overlap := testModule([]testSegment{{4096, []byte("abcd")}, {4097, []byte("e")}, {4102, []byte("f")}})
	for name, m := range map[string][]byte{"data count": counted, "passive": passive, "overlap": overlap} {
		out, err := joinSegments(m)
		if err != nil || !bytes.Equal(out, m) {
			t.Errorf("%s: changed, or %v", name, err)
		}
	}
}

func FuzzJoinSegments(f *testing.F) {
	f.Add(testModule([]testSegment{{4096, []byte("ab")}, {4200, []byte("cd")}}))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x0b\xff\xff\xff\xff\x0f"))
	f.Add([]byte("not wasm"))
	f.Fuzz(func(t *testing.T, m []byte) {
		if _, err := joinSegments(m); err != nil && !errors.Is(err, errNotWasm) {
			t.Fatal(err)
		}
	})
}
