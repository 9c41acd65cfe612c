package worker

import (
	"fmt"
	"time"

	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

// Limits bound one run of a program. A field that is 0 in a command's limits has the pool's value, and a
// field that is 0 in a pool's limits has the default. A command's limits only lower its pool's:
// a larger value has no effect. A negative value, or one over the maximum, is an error.
type Limits struct {
	// Time is the longest duration of the run by the host's clock, from the moment its worker
	// has the module. Default 30 s, at most 1 h, at least 1 ms.
	Time time.Duration

	// Memory is the most bytes of WebAssembly memory, rounded down to pages of 64 KiB. If the
	// module asks for a page more, memory.grow fails. Default 512 MiB, at most 4 GiB less a
	// page, at least one page.
	Memory int64

	// Table is the most elements of each of the module's tables. Default 131,072, at most
	// 10,000,000.
	Table int

	// Output is the most bytes on standard output and error together. Default 64 MiB.
	// The maximum is 1 GiB. Over it the run ends with [protocol.ErrOutputTooLarge].
	Output int64

	// Input is the most bytes of standard input held at once in a browser where the input has
	// to be complete before the start. Default 64 MiB, at most 1 GiB.
	Input int64

	// Files is the most files and folders open at once. Over it an open fails with EMFILE and
	// the program goes on. Default 256, at most 65,536.
	Files int

	// Read and Write are the most bytes read from files and written to them. Over them the run
	// ends. Default 4 GiB and 256 MiB, at most 1 PiB and 1 GiB.
	Read, Write int64

	// Snapshot is the most bytes, and Entries the most files and folders, that are copied for a
	// run. Default 256 MiB and 100,000, at most 1 GiB and 1,048,576.
	Snapshot int64
	Entries  int
}

var defaultLimits = Limits{
	Time: 30 * time.Second, Memory: 512 << 20, Table: 1 << 17, Output: 64 << 20, Input: 64 << 20,
	Files: 256, Read: 4 << 30, Write: 256 << 20, Snapshot: 256 << 20, Entries: 100_000,
}

var mostLimits = Limits{
	Time: time.Hour, Memory: 4<<30 - wasmbin.PageSize, Table: 10_000_000, Output: 1 << 30, Input: 1 << 30,
	Files: 65536, Read: 1 << 50, Write: 1 << 30, Snapshot: 1 << 30, Entries: 1 << 20,
}

// fields returns pointers to all limits, with their names, as one type.
func (l *Limits) fields() []field {
	return []field{
		{"Time", (*int64)(&l.Time), nil}, {"Memory", &l.Memory, nil}, {"Table", nil, &l.Table}, {"Output", &l.Output, nil}, {"Input", &l.Input, nil},
		{"Files", nil, &l.Files}, {"Read", &l.Read, nil}, {"Write", &l.Write, nil}, {"Snapshot", &l.Snapshot, nil}, {"Entries", nil, &l.Entries},
	}
}

type field struct {
	name string
	wide *int64
	slim *int
}

func (f field) get() int64 {
	if f.wide != nil {
		return *f.wide
	}
	return int64(*f.slim)
}

func (f field) set(v int64) {
	if f.wide != nil {
		*f.wide = v
	} else {
		*f.slim = int(v)
	}
}

// narrow returns l with the values of o that are lower and not 0.
func (l Limits) narrow(o Limits) Limits {
	have, want := l.fields(), o.fields()
	for i, f := range have {
		if v := want[i].get(); v > 0 && v < f.get() {
			f.set(v)
		}
	}
	return l
}

// or returns l with d's value for each field that is 0 in l.
func (l Limits) or(d Limits) Limits {
	def := d.fields()
	for i, f := range l.fields() {
		if f.get() == 0 {
			f.set(def[i].get())
		}
	}
	return l
}

func (l Limits) check() error {
	most := mostLimits.fields()
	for i, f := range l.fields() {
		if v := f.get(); v < 0 || v > most[i].get() {
			return fmt.Errorf("worker: Limits.%s is %d; it must be 0 to %d", f.name, v, most[i].get())
		}
	}
	if l.Memory > 0 && l.Memory < wasmbin.PageSize {
		return fmt.Errorf("worker: Limits.Memory is %d bytes, less than one page of %d", l.Memory, wasmbin.PageSize)
	}
	if l.Time > 0 && l.Time < time.Millisecond {
		return fmt.Errorf("worker: Limits.Time is %v; it must be at least 1ms", l.Time)
	}
	return nil
}

func (l Limits) caps() wasmbin.Caps {
	return wasmbin.Caps{Pages: uint64(l.Memory / wasmbin.PageSize), Elements: uint64(l.Table)}
}
