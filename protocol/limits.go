package protocol

import "time"

// Limits is all that a run may use. A field that is zero takes the value of the
// level it is used with ([Limits.Or]), and the zero level is [Strict]; so the zero
// Limits is STRICT, and nothing can be left open by forgetting it.
type Limits struct {
	Time     time.Duration // a run, on the host's clock; 10 ms to 300 s
	ToolTime time.Duration // one tool call, on the host's clock; not more than 300 s

	ToolCalls    int // of one run
	ConsoleCalls int // of one run
	ConsoleBytes int // of one run, as encoded
	Output       int // bytes of the result, as encoded

	Rate       int           // tool calls in any second
	Repeats    int           // calls of one tool in RepeatsIn that count as enumeration
	RepeatsIn  time.Duration // the window for Repeats
	Parallel   int           // operations given to one parallel()
	Concurrent int           // of them at once; not more than 20

	Code         int // bytes of the code
	MessageBytes int // of one crossing, checked before parsing
	MessageDepth int // of what crosses; not more than 256
	MessageNodes int // values in one crossing

	WasmMemory int // bytes of WebAssembly memory, enforced by the module's declared maximum
	HeapMemory int // bytes of JavaScript heap that known large operations may ask for: an estimate

	// Iterations is the number of loop turns some systems count. 0 counts none:
	// Time and termination are what ends a loop. If set, it ends a run no later
	// than Time does and is checked where the code is ours to check.
	Iterations int
}

// Level is how much code is trusted. The zero Level is the strictest.
type Level uint8

const (
	Strict Level = iota
	Secure
	Standard
	Permissive
)

// levelNames and levelLimits are the four levels as data; nothing branches on
// which one it is.
func levelNames() [4]string { return [4]string{"STRICT", "SECURE", "STANDARD", "PERMISSIVE"} }

const (
	kib = 1 << 10
	mib = 1 << 20
)

func levelLimits() [4]Limits {
	base := Limits{
		ToolTime: 10 * time.Second, Output: mib, Rate: 100, Repeats: 30, RepeatsIn: 5 * time.Second, Parallel: 100, Concurrent: 10,
		Code: mib, MessageBytes: 4 * mib, MessageDepth: 64, MessageNodes: 200_000, WasmMemory: 512 * mib, HeapMemory: 256 * mib,
	}
	of := func(t time.Duration, tools, console, consoleBytes int) Limits {
		l := base
		l.Time, l.ToolCalls, l.ConsoleCalls, l.ConsoleBytes = t, tools, console, consoleBytes
		return l
	}
	return [4]Limits{
		of(5*time.Second, 10, 100, 64*kib),
		of(15*time.Second, 50, 500, 256*kib),
		of(30*time.Second, 100, 1_000, mib),
		of(60*time.Second, 1_000, 10_000, 10*mib),
	}
}

// Iterations returns the loop counts that other systems give the level, for those
// who want to set [Limits.Iterations] to them.
func (l Level) Iterations() int { return [4]int{1_000, 5_000, 10_000, 100_000}[l.index()] }

func (l Level) index() int {
	if l > Permissive {
		return int(Strict) // what is not known is not trusted
	}
	return int(l)
}

// Limits returns the level's limits.
func (l Level) Limits() Limits { return levelLimits()[l.index()] }

// String is the level's name.
func (l Level) String() string { return levelNames()[l.index()] }

// ParseLevel reads a level's name, in upper case.
func ParseLevel(s string) (Level, error) {
	for i, name := range levelNames() {
		if s == name {
			return Level(i), nil
		}
	}
	return Strict, Errorf(ErrInvalidParams, "level", quote(s), "must be STRICT, SECURE, STANDARD or PERMISSIVE")
}

// MarshalText writes the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the level's name.
func (l *Level) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLevel(string(text))
	return err
}

type limit struct {
	name   string
	n      *int
	d      *time.Duration
	lo, hi int64
	zeroOK bool
}

func (f limit) get() int64 {
	if f.d != nil {
		return int64(*f.d)
	}
	return int64(*f.n)
}

func (f limit) set(v int64) {
	if f.d != nil {
		*f.d = time.Duration(v)
	} else {
		*f.n = int(v)
	}
}

// fields lists the limits with the least and the most that they may be.
func (l *Limits) fields() []limit {
	const most = 1 << 30
	return []limit{
		{"Time", nil, &l.Time, int64(10 * time.Millisecond), int64(300 * time.Second), false},
		{"ToolTime", nil, &l.ToolTime, int64(time.Millisecond), int64(300 * time.Second), false},
		{"ToolCalls", &l.ToolCalls, nil, 1, 1_000_000, false},
		{"ConsoleCalls", &l.ConsoleCalls, nil, 1, 1_000_000, false},
		{"ConsoleBytes", &l.ConsoleBytes, nil, 1, 64 * mib, false},
		{"Output", &l.Output, nil, 1, 256 * mib, false},
		{"Rate", &l.Rate, nil, 1, 100_000, false},
		{"Repeats", &l.Repeats, nil, 1, 100_000, false},
		{"RepeatsIn", nil, &l.RepeatsIn, int64(10 * time.Millisecond), int64(300 * time.Second), false},
		{"Parallel", &l.Parallel, nil, 1, 10_000, false},
		{"Concurrent", &l.Concurrent, nil, 1, 20, false},
		{"Code", &l.Code, nil, 1, 16 * mib, false},
		{"MessageBytes", &l.MessageBytes, nil, 1 * kib, 256 * mib, false},
		{"MessageDepth", &l.MessageDepth, nil, 4, maxJSONDepth, false},
		{"MessageNodes", &l.MessageNodes, nil, 16, 10_000_000, false},
		{"WasmMemory", &l.WasmMemory, nil, 64 * kib, most, false},
		{"HeapMemory", &l.HeapMemory, nil, 1 * kib, most, false},
		{"Iterations", &l.Iterations, nil, 1, most, true},
	}
}

// Or returns l with what base says wherever l says nothing.
func (l Limits) Or(base Limits) Limits {
	b := base.fields()
	for i, f := range l.fields() {
		if f.get() == 0 {
			f.set(b[i].get())
		}
	}
	return l
}

// Narrow returns the smaller of each limit: what a parent, a manifest and a caller
// each allow. A limit that is zero does not narrow.
func (l Limits) Narrow(other Limits) Limits {
	o := other.fields()
	for i, f := range l.fields() {
		if v := o[i].get(); v != 0 && (f.get() == 0 || v < f.get()) {
			f.set(v)
		}
	}
	return l
}

// Validate says which limit is out of its range, or nil. A limit that is zero is
// in range: it takes its default.
func (l Limits) Validate() error {
	for _, f := range l.fields() {
		v := f.get()
		if v == 0 || f.lo <= v && v <= f.hi {
			continue
		}
		show := func(n int64) any {
			if f.d != nil {
				return time.Duration(n)
			}
			return n
		}
		return Errorf(ErrInvalidParams, "limit", f.name, "is %v; it must be %v to %v", show(v), show(f.lo), show(f.hi))
	}
	return nil
}

// JSON returns the bounds of one crossing.
func (l Limits) JSON() JSONLimits {
	return JSONLimits{Bytes: l.MessageBytes, Depth: l.MessageDepth, Nodes: l.MessageNodes}
}
