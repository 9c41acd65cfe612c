package protocol

import (
	"time"

	"github.com/bailey-go/bailey/internal/strictjson"
)

// Limits bound one run of code in an enclave. A zero field takes the value of the level that the
// limits are used with ([Limits.Or]). The zero level is [Strict], so the zero Limits has the values
// of STRICT, and a forgotten field leaves nothing open. [Limits.Validate] checks the ranges.
type Limits struct {
	// Time is the time of a run, and ToolTime that of one tool call, on the host's clock. Neither counts the time in
	// which a call of the code asks the user (package sandbox, or [Asking]), up to an hour in each run. Code that
	// works without a pause meanwhile is counted.
	Time     time.Duration // 10 ms to 300 s
	ToolTime time.Duration // 1 ms to 300 s

	ToolCalls    int // in one run
	ConsoleCalls int // in one run
	ConsoleBytes int // in one run, encoded
	Output       int // bytes of the encoded result

	Rate       int           // tool calls in any second
	Repeats    int           // calls of one tool within RepeatsIn, above which they count as enumeration
	RepeatsIn  time.Duration // the window of Repeats
	Parallel   int           // operations in one call of parallel(), and tool calls without a response
	Concurrent int           // operations of parallel() at the same time, at most 20

	Code         int // bytes of the source code
	MessageBytes int // bytes of one batch, checked before parsing
	MessageDepth int // nesting of one batch, 4 to 256
	MessageNodes int // values in one batch

	HeapMemory int // bytes of JavaScript heap that known large operations may request, by an estimate
}

// Level is a degree of trust in the code. A higher level has higher limits and removes less from
// the realm of the code, see [Level.Limits]. The zero Level is [Strict], and
// a value above [Permissive] counts as [Strict].
type Level uint8

const (
	Strict     Level = iota // 5 s, 10 tool calls, 64 KiB of console
	Secure                  // 15 s, 50 tool calls, 256 KiB of console
	Standard                // 30 s, 100 tool calls, 1 MiB of console
	Permissive              // 60 s, 1,000 tool calls, 10 MiB of console, and code may be made from strings
)

// levelNames and levelLimits are the four levels as data. No code branches on a level.
func levelNames() [4]string { return [4]string{"STRICT", "SECURE", "STANDARD", "PERMISSIVE"} }

const (
	kib = 1 << 10
	mib = 1 << 20
)

func levelLimits() [4]Limits {
	base := Limits{
		ToolTime: 10 * time.Second, Output: mib, Rate: 100, Repeats: 30, RepeatsIn: 5 * time.Second, Parallel: 100, Concurrent: 10,
		Code: mib, MessageBytes: 4 * mib, MessageDepth: 64, MessageNodes: 200_000, HeapMemory: 256 * mib,
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

func (l Level) index() int {
	if l > Permissive {
		return int(Strict) // an unknown level is not trusted
	}
	return int(l)
}

// Limits returns the limits of the level.
func (l Level) Limits() Limits { return levelLimits()[l.index()] }

// String returns the name of the level, such as "STRICT".
func (l Level) String() string { return levelNames()[l.index()] }

// ParseLevel returns the level with the name s, in upper case. For another name it returns [Strict]
// and [ErrInvalidParams].
func ParseLevel(s string) (Level, error) {
	for i, name := range levelNames() {
		if s == name {
			return Level(i), nil
		}
	}
	return Strict, Errorf(ErrInvalidParams, "level", quote(s), "must be STRICT, SECURE, STANDARD or PERMISSIVE")
}

// MarshalText returns the name of the level.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText sets l to the level with this name, see [ParseLevel].
func (l *Level) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLevel(string(text))
	return err
}

type limit struct {
	name   string
	n      *int
	d      *time.Duration
	lo, hi int64
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

// fields returns the limits with the least and the greatest value of each.
func (l *Limits) fields() []limit {
	const most = 1 << 30
	return []limit{
		{"Time", nil, &l.Time, int64(10 * time.Millisecond), int64(300 * time.Second)},
		{"ToolTime", nil, &l.ToolTime, int64(time.Millisecond), int64(300 * time.Second)},
		{"ToolCalls", &l.ToolCalls, nil, 1, 1_000_000},
		{"ConsoleCalls", &l.ConsoleCalls, nil, 1, 1_000_000},
		{"ConsoleBytes", &l.ConsoleBytes, nil, 1, 64 * mib},
		{"Output", &l.Output, nil, 1, 256 * mib},
		{"Rate", &l.Rate, nil, 1, 100_000},
		{"Repeats", &l.Repeats, nil, 1, 100_000},
		{"RepeatsIn", nil, &l.RepeatsIn, int64(10 * time.Millisecond), int64(300 * time.Second)},
		{"Parallel", &l.Parallel, nil, 1, 10_000},
		{"Concurrent", &l.Concurrent, nil, 1, 20},
		{"Code", &l.Code, nil, 1, 16 * mib},
		{"MessageBytes", &l.MessageBytes, nil, 1 * kib, 256 * mib},
		{"MessageDepth", &l.MessageDepth, nil, 4, strictjson.MaxDepth},
		{"MessageNodes", &l.MessageNodes, nil, 16, 10_000_000},
		{"HeapMemory", &l.HeapMemory, nil, 1 * kib, most},
	}
}

// Or returns l with each zero field set from base.
func (l Limits) Or(base Limits) Limits {
	b := base.fields()
	for i, f := range l.fields() {
		if f.get() == 0 {
			f.set(b[i].get())
		}
	}
	return l
}

// Narrow returns the smaller of each limit, for example of a parent's, a manifest's and a caller's
// limits. A zero limit does not narrow.
func (l Limits) Narrow(other Limits) Limits {
	o := other.fields()
	for i, f := range l.fields() {
		if v := o[i].get(); v != 0 && (f.get() == 0 || v < f.get()) {
			f.set(v)
		}
	}
	return l
}

// Validate returns [ErrInvalidParams] for the first limit that is out of its range, else nil. Zero
// is in range, because it stands for the default.
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

// JSON returns the limits for one batch: MessageBytes, MessageDepth and MessageNodes.
func (l Limits) JSON() JSONLimits {
	return JSONLimits{Bytes: l.MessageBytes, Depth: l.MessageDepth, Nodes: l.MessageNodes}
}

// Named returns the limits that are set, by the name of the field. Times are in milliseconds.
func (l Limits) Named() map[string]int64 {
	out := map[string]int64{}
	for _, f := range l.fields() {
		n := f.get()
		if f.d != nil {
			n = int64(time.Duration(n) / time.Millisecond)
		}
		if n != 0 {
			out[f.name] = n
		}
	}
	return out
}

// With returns l with the limit of this name set to n, and whether there is such a limit. The names
// are those of the fields. n is in milliseconds for a time. It is not checked, see
// [Limits.Validate].
func (l Limits) With(name string, n int64) (Limits, bool) {
	for _, f := range l.fields() {
		if f.name != name {
			continue
		}
		if f.d != nil {
			n *= int64(time.Millisecond)
		}
		f.set(n)
		return l, true
	}
	return l, false
}
