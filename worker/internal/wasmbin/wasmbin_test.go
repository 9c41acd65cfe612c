package wasmbin

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// module returns a module with the given sections, each as id and body.
func module(sections ...[]byte) []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		b = append(append(append(b, s[0]), appendU32(nil, uint32(len(s)-1))...), s[1:]...)
	}
	return b
}

func sec(id byte, parts ...[]byte) []byte { return append([]byte{id}, bytes.Join(parts, nil)...) }

func lebs(v ...uint32) (b []byte) {
	for _, n := range v {
		b = appendU32(b, n)
	}
	return b
}

func name(s string) []byte { return appendName(nil, s) }

var (
	types    = sec(1, lebs(2), []byte{0x60, 2, 0x7f, 0x7e, 1, 0x7d}, []byte{0x60, 0, 0})
	imports  = sec(2, lebs(1), name("env"), name("f"), []byte{0}, lebs(0))
	funcs    = sec(3, lebs(1, 1))
	tables   = sec(4, lebs(1), []byte{0x70, 0}, lebs(2))
	memories = sec(5, lebs(1), []byte{0}, lebs(2))
	exports  = sec(7, lebs(2), name("memory"), []byte{2, 0}, name("_start"), []byte{0, 1})
	start    = sec(8, lebs(1))
	code     = sec(10, lebs(1), lebs(2), []byte{0, 0x0b})
	whole    = module(sec(0, name("x"), []byte("custom")), types, imports, funcs, tables, memories, exports, start, code)
)

func TestParse(t *testing.T) {
	m, err := Parse(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Imports) != 1 || m.Imports[0].Module != "env" || m.Imports[0].Kind != Func || len(m.Imports[0].Type.Params) != 2 || m.Imports[0].Type.Params[1] != I64 {
		t.Errorf("imports %+v", m.Imports)
	}
	if e, ok := m.Export("_start"); !ok || !e.Type.Known || len(e.Type.Params) != 0 {
		t.Errorf("exports %+v", m.Exports)
	}
	if !m.Start || !m.IsWASI() || len(m.Memories) != 1 || m.Memories[0].Min != 2 || len(m.Tables) != 1 {
		t.Errorf("%+v", m)
	}
}

func TestLower(t *testing.T) {
	m, err := Parse(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Lower(Caps{Pages: 100, Elements: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(out, whole) {
		t.Fatal("nothing was changed")
	}
	again, err := Parse(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := again.Memories[0]; l.Min != 2 || !l.HasMax || l.Max != 100 {
		t.Errorf("memory %+v", l)
	}
	if l := again.Tables[0]; l.Min != 2 || !l.HasMax || l.Max != 1000 {
		t.Errorf("table %+v", l)
	}
	if len(again.Imports) != 1 || len(again.Exports) != 2 || !again.Start || len(again.sections) != len(m.sections) {
		t.Errorf("%+v", again)
	}
	twice, err := again.Lower(Caps{Pages: 100, Elements: 1000})
	if err != nil || !bytes.Equal(twice, out) {
		t.Errorf("lowering again changes it: %v", err)
	}
}

// Maxima at, below and above the limit, for imported and own memories and tables.
func TestLowerLimits(t *testing.T) {
	memory := func(body ...byte) []byte { return module(sec(5, lebs(1), body)) }
	imported := func(body ...byte) []byte { return module(sec(2, lebs(1), name("e"), name("m"), []byte{2}, body)) }
	table := func(body ...byte) []byte { return module(sec(4, lebs(1), []byte{0x70}, body)) }
	importedTable := func(body ...byte) []byte { return module(sec(2, lebs(1), name("e"), name("t"), []byte{1, 0x6f}, body)) }
	for _, tt := range []struct {
		what string
		wasm []byte
		max  uint64 // 0: refused
	}{
		{"no maximum", memory(0, 9), 10},
		{"maximum below", memory(1, 1, 9), 9},
		{"maximum at", memory(1, 1, 10), 10},
		{"maximum above", memory(1, 1, 11), 10},
		{"minimum at", memory(0, 10), 10},
		{"minimum above", memory(0, 11), 0},
		{"4 GB", memory(append([]byte{0}, lebs(65536)...)...), 0},
		{"4 GB maximum", memory(append([]byte{1, 1}, lebs(65536)...)...), 10},
		{"64 bits", memory(4, 1), 0},
		{"shared", memory(3, 1, 2), 0},
		{"two", module(sec(5, lebs(2), []byte{0, 1, 0, 1})), 0},
		{"imported, no maximum", imported(0, 1), 10},
		{"imported, above", imported(1, 1, 11), 10},
		{"imported, minimum above", imported(1, 11, 11), 0},
		{"own and imported", module(sec(2, lebs(1), name("e"), name("m"), []byte{2, 0, 1}), sec(5, lebs(1), []byte{0, 1})), 0},
		{"table", table(0, 1), 10},
		{"table below", table(1, 1, 9), 9},
		{"table above", table(1, 1, 11), 10},
		{"table minimum above", table(0, 11), 0},
		{"table, 64 bits", table(4, 1), 0},
		{"table with an expression", module(sec(4, lebs(1), []byte{0x40, 0, 0x70, 0, 1, 0xd0, 0x70, 0x0b})), 10},
		{"imported table", importedTable(0, 1), 10},
		{"imported table above", importedTable(1, 1, 11), 10},
	} {
		m, err := Parse(tt.wasm, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		out, err := m.Lower(Caps{Pages: 10, Elements: 10})
		if tt.max == 0 {
			if !errors.Is(err, ErrLimit) {
				t.Errorf("%s: %v, want ErrLimit", tt.what, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		m, err = Parse(out, nil)
		if err != nil {
			t.Errorf("%s: lowered: %v", tt.what, err)
			continue
		}
		for _, l := range append(m.allOf(Memory), m.allOf(Table)...) {
			if !l.HasMax || l.Max != tt.max {
				t.Errorf("%s: %+v, want the maximum %d", tt.what, l, tt.max)
			}
		}
		if memory, table := m.Imported(Caps{Pages: 5, Elements: 5}); memory != nil && memory.Max != 5 || table != nil && table.Max != 5 {
			t.Errorf("%s: %+v %+v", tt.what, memory, table)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		wasm []byte
		want string
	}{
		{nil, "0 bytes"},
		{[]byte("\x00asm"), "4 bytes"},
		{[]byte("<html><body>"), "does not begin"},
		{[]byte("\x00asm\x0d\x00\x01\x00"), "component"},
		{[]byte("\x00asm\x02\x00\x00\x00"), "version"},
		{module(sec(14)), "unknown kind 14"},
		{module(types, types), "twice"},
		{module(funcs, types), "wrong place"},
		{append(module(types), 3, 200, 1), "cut off"},
		{append(module(), 1, 0xff, 0xff, 0xff, 0xff, 0x1f), "32 bits"},
		{module(sec(5, lebs(1000))), "1000 memories"},
		{module(sec(5, lebs(1), []byte{8, 1})), "flags 0x8"},
		{module(sec(5, lebs(1), []byte{1, 2, 1})), "below the minimum"},
		{module(sec(5, lebs(1), []byte{0, 1, 1})), "left over"},
		{module(types, funcs), "1 functions are declared and 0"},
		{module(sec(2, lebs(1), name("\xff"), name("f"), []byte{0, 0})), "not UTF-8"},
		{module(sec(2, lebs(1), name("e"), name("f"), []byte{9, 0})), "unknown kind 9"},
		{module(types, funcs, sec(8, lebs(9)), code), "start function is number 9"},
		{module(types, sec(7, lebs(1), name("f"), []byte{0, 7})), "function 7 of 0"},
	} {
		_, err := Parse(tt.wasm, nil)
		if !errors.Is(err, ErrModule) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%x: %v, want %q", tt.wasm, err, tt.want)
		}
	}
}

// Every prefix of a module is refused, unless it ends between two sections.
func TestTruncated(t *testing.T) {
	for n := range len(whole) {
		m, err := Parse(whole[:n], nil)
		if err == nil {
			if _, err := m.Lower(Caps{Pages: 10, Elements: 10}); err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		} else if !errors.Is(err, ErrModule) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A lowered module can be parsed again, and has the requested limits.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add(module(sec(4, lebs(1), []byte{0x40, 0, 0x70, 0, 1, 0xd0, 0x70, 0x0b})))
	f.Add(module(sec(2, lebs(2), name("e"), name("m"), []byte{2, 1, 1, 2}, name("e"), name("t"), []byte{1, 0x63, 0, 0, 1})))
	f.Add(module(sec(1, lebs(2), []byte{0x60, 1, 0x63, 5, 0}, []byte{0x4e, 0})))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b, nil)
		if err != nil {
			if !errors.Is(err, ErrModule) {
				t.Fatal(err)
			}
			return
		}
		c := Caps{Pages: 7, Elements: 9}
		out, err := m.Lower(c)
		if err != nil {
			if !errors.Is(err, ErrLimit) {
				t.Fatal(err)
			}
			return
		}
		again, err := Parse(out, nil)
		if err != nil {
			t.Fatalf("lowered: %v", err)
		}
		for _, l := range again.allOf(Memory) {
			if !l.HasMax || l.Max > c.Pages {
				t.Fatalf("memory %+v", l)
			}
		}
		for _, l := range again.allOf(Table) {
			if !l.HasMax || l.Max > c.Elements {
				t.Fatalf("table %+v", l)
			}
		}
		if len(again.Imports) != len(m.Imports) || len(again.Exports) != len(m.Exports) {
			t.Fatal("imports or exports were lost")
		}
	})
}

// The result of Interruptible is a module with the same imports, exports and limits, and the
// additions.
func TestInterruptible(t *testing.T) {
	m, err := Parse(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Interruptible(nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(out, nil)
	if err != nil {
		t.Fatalf("%v\n%x", err, out)
	}
	if again.Start || len(again.types) != len(m.types)+1 || len(again.Tables) != len(m.Tables)+1 || again.globals() != m.globals()+1 || len(again.Exports) != len(m.Exports)+2 {
		t.Errorf("%+v", again)
	}
	if _, ok := again.Export(StartExport); !ok {
		t.Error("the start function is gone")
	}
	if none, err := Parse(module(), nil); err != nil {
		t.Error(err)
	} else if none.known = true; none.known {
		if out, err := none.Interruptible(nil); err != nil {
			t.Error(err)
		} else if _, err := Parse(out, nil); err != nil {
			t.Errorf("an empty module: %v", err)
		}
	}
	for _, body := range [][]byte{{0xfb, 0}, {0xff}, {0x27}, {0xfc, 99}, {0x02}} {
		bad, err := Parse(module(types, funcs1, sec(10, lebs(1), lebs(uint32(len(body)+2)), []byte{0}, body, []byte{0x0b})), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bad.Interruptible(nil); !errors.Is(err, ErrModule) && body[0] != 0x02 {
			t.Errorf("%x: %v", body, err)
		}
	}
}

var funcs1 = sec(3, lebs(1, 1))

func FuzzInterruptible(f *testing.F) {
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b, nil)
		if err != nil {
			return
		}
		out, err := m.Interruptible(nil)
		if err != nil {
			return
		}
		if _, err := Parse(out, nil); err != nil {
			t.Fatalf("%v: %x", err, out)
		}
	})
}

// A module of many small entries is read in pieces. An error of rest ends the work, in each piece.
func TestParseRests(t *testing.T) {
	const n = 100_000
	body := appendU32(nil, n)
	for range n {
		body = append(body, 0x60, 0, 0)
	}
	wasm := appendSection([]byte("\x00asm\x01\x00\x00\x00"), secType, body)
	read := 0
	m, err := Parse(wasm, func(n int) error { read += n; return nil })
	if err != nil || read < 3*n-restEvery || len(m.types) != n {
		t.Fatalf("%d bytes in pieces: %v", read, err)
	}
	ended := errors.New("ended")
	for end := 1; end <= 3*n/restEvery; end++ {
		calls := 0
		rest := func(int) error {
			if calls++; calls == end {
				return ended
			}
			return nil
		}
		if m, err := Parse(wasm, rest); m != nil || !errors.Is(err, ended) || errors.Is(err, ErrModule) || calls != end {
			t.Errorf("ended in piece %d: %v after %d calls", end, err, calls)
		}
	}

	code := appendU32(nil, n)
	funcs := appendU32(nil, n)
	for range n {
		funcs = append(funcs, 0)
		code = append(code, 2, 0, 0x0b)
	}
	wasm = appendSection([]byte("\x00asm\x01\x00\x00\x00"), secType, []byte{1, 0x60, 0, 0})
	wasm = appendSection(appendSection(wasm, secFunc, funcs), secCode, code)
	if m, err = Parse(wasm, nil); err != nil {
		t.Fatal(err)
	}
	calls := 0
	if _, err := m.Interruptible(func(int) error { calls++; return nil }); err != nil || calls < 3*n/restEvery-1 {
		t.Errorf("%d pieces: %v", calls, err)
	}
	if _, err := m.Interruptible(func(int) error { return ended }); !errors.Is(err, ended) {
		t.Error(err)
	}
}
