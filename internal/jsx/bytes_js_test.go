package jsx

import (
	"bytes"
	"errors"
	"testing"
)

func TestBytesOfAnything(t *testing.T) {
	w := foreign(t)
	if err := Set(Global(), "foreignWindow", w); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Delete(Global(), "foreignWindow") })
	for code, want := range map[string]string{
		`new Uint8Array([1, 2, 3])`:                                                                           "\x01\x02\x03",
		`new Uint8Array([1, 2, 3]).subarray(1)`:                                                               "\x02\x03",
		`new Uint8Array([1, 2, 3]).buffer`:                                                                    "\x01\x02\x03",
		`new Uint8ClampedArray([300])`:                                                                        "\xff",
		`new Uint16Array([0x0201, 0x0403]).subarray(1)`:                                                       "\x03\x04",
		`new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1)`:                                                "\x02",
		`new Uint8Array(0)`:                                                                                   "",
		`new ArrayBuffer(0)`:                                                                                  "",
		`new foreignWindow.Uint8Array([5, 6])`:                                                                "\x05\x06",
		`new foreignWindow.Uint8Array([5, 6]).buffer`:                                                         "\x05\x06",
		`new foreignWindow.DataView(new foreignWindow.ArrayBuffer(2))`:                                        "\x00\x00",
		`(() => { class U extends Uint8Array { subarray() { throw 1 } }; return new U([7]) })()`:              "\x07",
		`Object.defineProperty(new Uint8Array([7]), "subarray", {get() { throw 1 }})`:                         "\x07",
		`Object.defineProperty(new Uint8Array([7]), "byteLength", {value: 1e9})`:                              "\x07",
		`Object.defineProperty(new Uint8Array([7]), "constructor", {value: {[Symbol.species]: Uint16Array}})`: "\x07",
		`Object.defineProperty(new Uint8Array([7]), "constructor", {get() { throw 1 }})`:                      "\x07",
	} {
		b, err := Bytes(eval(t, code), 100)
		if string(b) != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", code, b, err, want)
		}
	}
	if Supported("SharedArrayBuffer") {
		if b, err := Bytes(eval(t, `new SharedArrayBuffer(3)`), 3); len(b) != 3 || err != nil {
			t.Errorf("SharedArrayBuffer: %v, %v", b, err)
		}
	}
	for _, code := range []string{`"abc"`, `null`, `undefined`, `[1, 2]`, `({byteLength: 3, buffer: new ArrayBuffer(3)})`, `new Blob(["x"])`, `5`, `10n`, `Object.create(Uint8Array.prototype)`,
		`(() => { const b = new Uint8Array([1, 2]); structuredClone(b, {transfer: [b.buffer]}); return b })()`, // detached
	} {
		if _, err := Bytes(eval(t, code), 100); !errors.Is(err, ErrType) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestBytesLimit(t *testing.T) {
	for n, want := range map[int]bool{9: true, 10: true, 11: false} {
		v := must(FromBytes(make([]byte, n)))
		b, err := Bytes(v, 10)
		if (err == nil) != want || want && len(b) != n {
			t.Errorf("%d bytes: %d, %v", n, len(b), err)
		}
		if !want && !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
		if size, err := ByteLength(v); size != n || err != nil {
			t.Error(size, err)
		}
	}
}

func TestCopiesAndViews(t *testing.T) {
	v := must(FromBytes([]byte("0123456789")))
	dst := make([]byte, 4)
	for _, tt := range []struct {
		off, n int
		want   string
		err    bool
	}{{0, 4, "0123", false}, {6, 4, "6789", false}, {8, 2, "89", false}, {10, 0, "", false}, {11, 0, "", true}, {-1, 0, "", true}} {
		n, err := CopyToGo(dst, v, tt.off)
		if n != tt.n || (err != nil) != tt.err || string(dst[:n]) != tt.want {
			t.Errorf("CopyToGo from %d: %q, %v", tt.off, dst[:n], err)
		}
	}
	for _, tt := range []struct {
		off int
		src string
		err error
	}{{0, "ab", nil}, {8, "cd", nil}, {9, "ef", ErrTooLarge}, {10, "", nil}, {11, "", ErrRange}} {
		if err := CopyToJS(v, tt.off, []byte(tt.src)); !errors.Is(err, tt.err) {
			t.Errorf("CopyToJS(%d, %q): %v, want %v", tt.off, tt.src, err, tt.err)
		}
	}
	if b, _ := Bytes(v, 10); string(b) != "ab234567cd" {
		t.Errorf("%q", b)
	}
	view := must(View(v, 2, 3))
	if err := CopyToJS(view, 0, []byte("xyz")); err != nil {
		t.Error(err)
	}
	if b, _ := Bytes(v, 10); string(b) != "abxyz567cd" {
		t.Errorf("a view does not share memory: %q", b)
	}
	for _, bad := range [][2]int{{0, -1}, {-1, 1}, {8, 3}, {11, 0}} {
		if _, err := View(v, bad[0], bad[1]); err == nil {
			t.Errorf("View(%v) succeeded", bad)
		}
	}
}

func TestBulk(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	v := must(FromBytes(big))
	back, err := Bytes(v, len(big))
	if err != nil || !bytes.Equal(big, back) {
		t.Error("4 MiB did not come back", err)
	}
	if _, err := FromBytes(nil); err != nil {
		t.Error(err)
	}
}

// TestPackedTwin runs the JavaScript writer against Go's vector.
func TestPackedTwin(t *testing.T) {
	v := eval(t, `(() => { `+PackedJS+`; const p = new Packer;
		p.u8(7); p.u32(2**32-1); p.f64(1.5); p.raw(new Uint8Array([0, 1, 255])); p.string("é🙂\n"); p.string("");
		return p.packed() })()`)
	b, err := Bytes(v, 1000)
	if err != nil || !bytes.Equal(b, packVector()) {
		t.Errorf("%x, %v; want %x", b, err, packVector())
	}
	checkVector(t, b)
	v = eval(t, `(() => { `+PackedJS+`; const p = new Packer; for (let i = 0; i < 5000; i++) { p.string("é" + i); p.f64(i) } return p.packed() })()`)
	b, err = Bytes(v, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	u := Unpack(b)
	for i := range 5000 {
		if u.String() == "" || u.Int() != int64(i) {
			t.Fatal(i, u.Err())
		}
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}
