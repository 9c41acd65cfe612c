package jsx

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// packedVector is the data that both twins write: see also TestPackedTwin.
const packedVector = "07" + "ffffffff" + "000000000000f83f" + "03000000" + "0001ff" + "07000000" + "c3a9f09f99820a" + "00000000"

func packVector() []byte {
	var p Packer
	p.U8(7)
	p.U32(math.MaxUint32)
	p.F64(1.5)
	p.Bytes([]byte{0, 1, 255})
	p.String("é🙂\n")
	p.String("")
	return p.Packed()
}

func checkVector(t *testing.T, b []byte) {
	t.Helper()
	u := Unpack(b)
	if x := u.U8(); x != 7 {
		t.Error(x)
	}
	if x := u.U32(); x != math.MaxUint32 {
		t.Error(x)
	}
	if x := u.F64(); x != 1.5 {
		t.Error(x)
	}
	if x := u.Bytes(); !bytes.Equal(x, []byte{0, 1, 255}) || cap(x) != 3 {
		t.Error(x)
	}
	if x := u.String(); x != "é🙂\n" {
		t.Error(x)
	}
	if x := u.String(); x != "" {
		t.Error(x)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}

func TestPacked(t *testing.T) {
	b := packVector()
	if got := hex.EncodeToString(b); got != packedVector {
		t.Errorf("packed %s, want %s", got, packedVector)
	}
	checkVector(t, b)
	for n := range b {
		u := Unpack(b[:n])
		u.U8()
		u.U32()
		u.F64()
		u.Bytes()
		_, _ = u.String(), u.String()
		if u.Err() == nil {
			t.Errorf("cut to %d bytes it is still right", n)
		}
	}
	if err := Unpack([]byte{1}).Close(); err == nil || !strings.Contains(err.Error(), "1 bytes after its end") {
		t.Error(err)
	}
}

func TestPackedNumbers(t *testing.T) {
	for _, tt := range []struct {
		f          float64
		number, in bool
	}{
		{0, true, true}, {-1, true, true}, {0.5, true, false},
		{maxSafeInteger, true, true}, {-maxSafeInteger, true, true}, {maxSafeInteger + 1, true, false},
		{math.NaN(), false, false}, {math.Inf(-1), false, false},
	} {
		var p Packer
		p.F64(tt.f)
		u := Unpack(p.Packed())
		if u.F64(); (u.Err() == nil) != tt.number {
			t.Errorf("F64 of %v: %v", tt.f, u.Err())
		}
		u = Unpack(p.Packed())
		if u.Int(); (u.Err() == nil) != tt.in {
			t.Errorf("Int of %v: %v", tt.f, u.Err())
		}
	}
}

func TestPackedCount(t *testing.T) {
	for n, want := range map[uint32]int{0: 0, 1: 1, 2: 2, 3: 0, math.MaxUint32: 0} {
		var p Packer
		p.U32(n)
		p.F64(1)
		p.F64(2)
		u := Unpack(p.Packed())
		if got := u.Count(8); got != want || (u.Err() == nil) != (n <= 2) {
			t.Errorf("Count of %d = %d, %v; want %d", n, got, u.Err(), want)
		}
	}
	if u := Unpack([]byte{1, 0, 0, 0}); u.Count(0) != 0 || u.Err() == nil {
		t.Error("a record of no bytes was believed")
	}
}

func TestPackedStringsAreUTF8(t *testing.T) {
	var p Packer
	p.Bytes([]byte{0xff})
	u := Unpack(p.Packed())
	if s := u.String(); s != "" || u.Err() == nil {
		t.Errorf("%q, %v", s, u.Err())
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(packVector(), []byte{0, 1, 2, 4, 5, 5})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, []byte{4})
	f.Fuzz(func(t *testing.T, b, ops []byte) {
		u := Unpack(b)
		for _, op := range ops {
			failed := u.Err() != nil
			n := 0
			switch op % 7 {
			case 0:
				n = int(u.U8())
			case 1:
				n = int(u.U32())
			case 2:
				n = int(u.F64())
			case 3:
				n = int(u.Int())
			case 4:
				n = len(u.Bytes())
			case 5:
				n = len(u.String())
			case 6:
				if n = u.Count(4); n*4 > len(b) {
					t.Fatal("a count that cannot be")
				}
			}
			if failed && n != 0 {
				t.Fatal("something was read after an error")
			}
		}
		u.Close()
	})
}
