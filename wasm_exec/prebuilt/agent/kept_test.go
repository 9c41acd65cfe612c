package main

import (
	"errors"
	"testing"
)

type fake struct{ closed int }

func (f *fake) Close() error { f.closed++; return nil }

// Programs are compiled once for the same bytes and limit. The ones that were not used for the longest time are closed, when no run uses them.
func TestKeptPrograms(t *testing.T) {
	var k kept[*fake]
	compiled := 0
	use := func(wasm string, memory int64) *program[*fake] {
		t.Helper()
		p, err := k.use([]byte(wasm), memory, func() (*fake, error) { compiled++; return &fake{}, nil })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := use("a", 0)
	if again := use("a", 0); again != first || compiled != 1 {
		t.Errorf("the same bytes were compiled %d times", compiled)
	}
	if use("a", 1) == first || use("b", 0) == first || compiled != 3 {
		t.Errorf("other bytes, or another limit, gave the same program (%d compiled)", compiled)
	}
	k.done(first)
	for i := range maxKept {
		k.done(use(string(rune('c'+i)), 0))
	}
	if first.module.closed != 0 {
		t.Error("a program was closed while a run used it")
	}
	k.done(first)
	if first.module.closed != 1 || len(k.list) != maxKept {
		t.Errorf("the oldest program was closed %d times, and %d are kept", first.module.closed, len(k.list))
	}
	if use("a", 0) == first {
		t.Error("a closed program was used")
	}
	if _, err := k.use([]byte("no"), 0, func() (*fake, error) { return nil, errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a program that can't be compiled: %v", err)
	}
}

// A program that is larger than all that is kept is closed after its run, and two runs that compile the same bytes at once leave one.
func TestKeptProgramsLimits(t *testing.T) {
	var k kept[*fake]
	small, err := k.use([]byte("a"), 0, func() (*fake, error) { return &fake{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	large, err := k.use(make([]byte, maxKeptBytes+1), 0, func() (*fake, error) { return &fake{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if large.module.closed != 0 || len(k.list) != 0 {
		t.Errorf("before its end: closed %d times, %d kept", large.module.closed, len(k.list))
	}
	k.done(large)
	k.done(small)
	if large.module.closed != 1 || small.module.closed != 1 {
		t.Errorf("after the end: closed %d and %d times", large.module.closed, small.module.closed)
	}
	mine := &fake{}
	var other *program[*fake]
	p, err := k.use([]byte("x"), 0, func() (*fake, error) {
		other, _ = k.use([]byte("x"), 0, func() (*fake, error) { return &fake{}, nil })
		return mine, nil
	})
	if err != nil || p != other || mine.closed != 1 || p.runs != 2 {
		t.Errorf("two at once: %v, closed %d times, %d runs", err, mine.closed, p.runs)
	}
}
