package protocol_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

func ExampleLimits_Or() {
	limits := protocol.Limits{Time: 30 * time.Second}.Or(protocol.Secure.Limits())
	fmt.Println(limits.Time, limits.ToolCalls, limits.Rate)
	fmt.Println(protocol.Limits{}.Or(protocol.Level(0).Limits()) == protocol.Strict.Limits())
	// Output:
	// 30s 50 100
	// true
}

func TestLevelsHaveTheirTables(t *testing.T) {
	for _, c := range []struct {
		level                        protocol.Level
		name                         string
		time                         time.Duration
		tools, console, bytes, turns int
	}{
		{protocol.Strict, "STRICT", 5 * time.Second, 10, 100, 64 << 10, 1_000},
		{protocol.Secure, "SECURE", 15 * time.Second, 50, 500, 256 << 10, 5_000},
		{protocol.Standard, "STANDARD", 30 * time.Second, 100, 1_000, 1 << 20, 10_000},
		{protocol.Permissive, "PERMISSIVE", 60 * time.Second, 1_000, 10_000, 10 << 20, 100_000},
	} {
		l := c.level.Limits()
		if l.Time != c.time || l.ToolCalls != c.tools || l.ConsoleCalls != c.console || l.ConsoleBytes != c.bytes {
			t.Errorf("%s: %+v", c.name, l)
		}
		if l.ToolTime != 10*time.Second || l.Output != 1<<20 || l.Rate != 100 || l.Repeats != 30 || l.RepeatsIn != 5*time.Second ||
			l.Parallel != 100 || l.Concurrent != 10 {
			t.Errorf("%s: %+v", c.name, l)
		}
		if err := l.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, err := protocol.ParseLevel(c.name); err != nil || got != c.level || c.level.String() != c.name {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
	}
	if protocol.Level(9).Limits() != protocol.Strict.Limits() || protocol.Level(9).String() != "STRICT" {
		t.Error("a level that is not known must be the strictest")
	}
	for _, s := range []string{"", "strict", "NONE"} {
		if _, err := protocol.ParseLevel(s); err == nil {
			t.Errorf("%q is a level", s)
		}
	}
}

// Every field has a range, holds at its ends and is an error beyond; a field that
// is forgotten in the table would show here.
func TestLimitsAtBelowAndAbove(t *testing.T) {
	bounds := map[string][2]int64{
		"Time": {int64(10 * time.Millisecond), int64(300 * time.Second)}, "ToolTime": {int64(time.Millisecond), int64(300 * time.Second)},
		"ToolCalls": {1, 1e6}, "ConsoleCalls": {1, 1e6}, "ConsoleBytes": {1, 64 << 20}, "Output": {1, 256 << 20}, "Rate": {1, 1e5}, "Repeats": {1, 1e5},
		"RepeatsIn": {int64(10 * time.Millisecond), int64(300 * time.Second)}, "Parallel": {1, 1e4}, "Concurrent": {1, 20}, "Code": {1, 16 << 20},
		"MessageBytes": {1 << 10, 256 << 20}, "MessageDepth": {4, 256}, "MessageNodes": {16, 1e7},
		"HeapMemory": {1 << 10, 1 << 30},
	}
	typ := reflect.TypeFor[protocol.Limits]()
	if typ.NumField() != len(bounds) {
		t.Errorf("%d fields, %d in the table", typ.NumField(), len(bounds))
	}
	for name, b := range bounds {
		for v, want := range map[int64]bool{b[0] - 1: b[0] == 1, b[0]: true, b[0] + 1: true, b[1] - 1: true, b[1]: true, b[1] + 1: false, -1: false, 0: true} {
			var l protocol.Limits
			reflect.ValueOf(&l).Elem().FieldByName(name).SetInt(v)
			err := l.Validate()
			if (err == nil) != want {
				t.Errorf("%s = %d: %v", name, v, err)
			}
			if err != nil && !errors.Is(err, protocol.ErrInvalidParams) {
				t.Errorf("%s: %v", name, err)
			}
			if v > 0 {
				if got := l.Or(protocol.Strict.Limits()); reflect.ValueOf(got).FieldByName(name).Int() != v {
					t.Errorf("Or loses %s", name)
				}
				base := protocol.Strict.Limits()
				reflect.ValueOf(&base).Elem().FieldByName(name).SetInt(v + 1)
				if got := base.Narrow(l); reflect.ValueOf(got).FieldByName(name).Int() != v {
					t.Errorf("Narrow does not narrow %s", name)
				}
				if got := l.Narrow(base); reflect.ValueOf(got).FieldByName(name).Int() != v {
					t.Errorf("Narrow widens %s", name)
				}
			}
		}
	}
}
