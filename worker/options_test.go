package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

func TestLimitsOrder(t *testing.T) {
	if err := defaultLimits.check(); err != nil {
		t.Error(err)
	}
	if err := mostLimits.check(); err != nil {
		t.Error(err)
	}
	for i, f := range mostLimits.fields() {
		for v, ok := range map[int64]bool{f.get(): true, f.get() + 1: false, -1: false} {
			l := Limits{}
			l.fields()[i].set(v)
			if err := l.check(); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), f.name) {
				t.Errorf("%s %d: %v", f.name, v, err)
			}
		}
		d := defaultLimits.fields()[i].get()
		for v, want := range map[int64]int64{d - 1: d - 1, d: d, d + 1: d, 0: d} {
			o := Limits{}
			o.fields()[i].set(v)
			n := defaultLimits.narrow(o)
			if got := n.fields()[i].get(); got != want {
				t.Errorf("%s narrowed by %d: %d, want %d", f.name, v, got, want)
			}
		}
	}
	for memory, ok := range map[int64]bool{wasmbin.PageSize - 1: false, wasmbin.PageSize: true} {
		if err := (Limits{Memory: memory}).check(); (err == nil) != ok {
			t.Errorf("%d bytes of memory: %v", memory, err)
		}
	}
	if c := (Limits{Memory: 2*wasmbin.PageSize - 1, Table: 5}).caps(); c.Pages != 1 || c.Elements != 5 {
		t.Errorf("%+v", c)
	}
}

func TestOptions(t *testing.T) {
	o, err := Options{Spare: 99, Max: 3}.withDefaults()
	if err != nil || o.Spare != 3 || o.Queue != 256 || o.ClockResolution != 20*time.Millisecond || o.Limits.Time != 30*time.Second {
		t.Errorf("%+v %v", o, err)
	}
	if o, _ := (Options{Trusted: true}).withDefaults(); o.ClockResolution != time.Millisecond || o.Max != 8 {
		t.Errorf("%+v", o)
	}
	for _, o := range []Options{{Max: -1}, {Max: 65}, {Spare: -1}, {Queue: -1}, {Heartbeat: time.Millisecond}, {ClockResolution: 1}, {ClockResolution: time.Hour},
		{ReadyTimeout: -1}, {Limits: Limits{Time: -1}}} {
		if _, err := o.withDefaults(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	if runtime.GOOS != "js" {
		if _, err := NewPool(context.Background(), Options{}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("natively: %v", err)
		}
	}
}

func TestTurn(t *testing.T) {
	for _, tt := range []struct {
		waiting, running string
		want             int
	}{{"a a b", "a", 2}, {"a b", "", 0}, {"a b", "b", 0}, {"a b", "a", 1}, {"a a", "a a", 0}, {"a b c", "a b", 2}, {"a b", "a b", 0}} {
		if got := turn(strings.Fields(tt.waiting), strings.Fields(tt.running)); got != tt.want {
			t.Errorf("waiting %s, running %s: %d, want %d", tt.waiting, tt.running, got, tt.want)
		}
	}
}

func TestPreview1(t *testing.T) {
	names := slices.Clone(preview1[:])
	slices.Sort(names)
	if len(slices.Compact(names)) != 46 {
		t.Errorf("%d functions; preview1 has 46", len(names))
	}
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		v    any
		t    wasmbin.ValType
		text string
	}{
		{int32(-5), wasmbin.I32, "-5"}, {int64(math.MinInt64), wasmbin.I64, "n-9223372036854775808"}, {float32(1.5), wasmbin.F32, "1.5"},
		{math.Inf(-1), wasmbin.F64, "-Infinity"}, {math.Copysign(0, -1), wasmbin.F64, "-0"}, {1e300, wasmbin.F64, "1e+300"},
	} {
		s, err := encodeNumber(tt.v, tt.t)
		if err != nil || s != tt.text {
			t.Errorf("%v: %q, %v", tt.v, s, err)
		}
		if v, err := decodeNumber(s, tt.t); err != nil || v != tt.v {
			t.Errorf("%q: %v, %v", s, v, err)
		}
	}
	for v, typ := range map[any]wasmbin.ValType{int32(1): wasmbin.I64, int64(1): wasmbin.I32, 1.5: wasmbin.I32, "1": wasmbin.I32, 1 << 40: wasmbin.I32} {
		if s, err := encodeNumber(v, typ); err == nil {
			t.Errorf("%T as %#x: %q", v, byte(typ), s)
		}
	}
	for _, s := range []string{"", "x", "n", "n1.5", "1e99", "4294967296"} {
		for _, typ := range []wasmbin.ValType{wasmbin.I32, wasmbin.I64} {
			if v, err := decodeNumber(s, typ); err == nil {
				t.Errorf("%q as %#x: %v", s, byte(typ), v)
			}
		}
	}
}

func TestParseModule(t *testing.T) {
	good := assemble(onePage, nil, false)
	m, err := parseModule(t.Context(), good)
	if err != nil || !m.WASI() || m.Size() != len(good) || len(m.Imports()) != 0 || !slices.Equal(m.Exports(), []string{"_start"}) {
		t.Errorf("%+v %v", m, err)
	}
	for _, wasm := range [][]byte{nil, good[:20], bytes.Replace(good, []byte("proc_exit"), []byte("proc_fork"), 1)} {
		if _, err := parseModule(t.Context(), wasm); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%v", err)
		}
	}
}

func TestCommandChecks(t *testing.T) {
	p := &Pool{}
	m, err := parseModule(t.Context(), assemble(onePage, nil, false))
	must(t, err)
	m.pool = p
	ctx := context.Background()
	for what, set := range map[string]func(c *Cmd){
		"NUL":           func(c *Cmd) { c.Args = []string{"a\x00b"} },
		"no arguments":  func(c *Cmd) { c.Args = nil },
		"environment":   func(c *Cmd) { c.Env = []string{"novalue"} },
		"folder":        func(c *Cmd) { c.Dir = "rel" },
		"too many":      func(c *Cmd) { c.Args = []string{strings.Repeat("x", maxArgs)} },
		"files":         func(c *Cmd) { c.Files = 9 },
		"limits":        func(c *Cmd) { c.Limits.Time = -1 },
		"other's":       func(c *Cmd) { *c = *p.Command(ctx, &Module{}, "x") },
		"context ended": func(c *Cmd) { ctx, cancel := context.WithCancel(ctx); cancel(); c.ctx = ctx },
	} {
		c := p.Command(ctx, m, "x")
		set(c)
		if err := c.Start(); err == nil {
			t.Errorf("%s was taken", what)
		}
	}
	c := p.Command(ctx, m, "x")
	if err := c.Wait(); err == nil {
		t.Error("Wait before Start")
	}
	c.Stdout = io.Discard
	if _, err := c.Output(); err == nil {
		t.Error("Output with Stdout set")
	}
	if _, err := c.StdoutPipe(); err == nil {
		t.Error("StdoutPipe with Stdout set")
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte{1, 3, 0, 0, 0, 'a', 'b', 'c'})
	f.Fuzz(func(t *testing.T, b []byte) {
		for u := jsx.Unpack(b); u.Left() > 0; {
			before := u.Left()
			u.U8()
			u.Bytes()
			if u.Err() == nil && u.Left() >= before {
				t.Fatal("it stands still")
			}
		}
	})
}
