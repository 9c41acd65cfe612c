package jsx

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// A Kind is a kind of resource that must be released.
type Kind string

// Kinds that this package counts, and those that other packages count with [Track].
const (
	Callbacks Kind = "callbacks"
	Listeners Kind = "listeners"
	Ports     Kind = "ports"
	Timers    Kind = "timers"
	Signals   Kind = "signals"
	Awaits    Kind = "awaits"
	Frames    Kind = "frames"
	Documents Kind = "documents"
	Workers   Kind = "workers"
	URLs      Kind = "object URLs"
)

// Counts is the number of live resources of each kind. Kinds with none are absent.
type Counts map[Kind]int

// Total returns the sum over all kinds.
func (c Counts) Total() int {
	n := 0
	for _, v := range c {
		n += v
	}
	return n
}

// Over returns the counts of c minus those of base, for the kinds of which c has more.
func (c Counts) Over(base Counts) Counts {
	over := Counts{}
	for k, v := range c {
		if d := v - base[k]; d > 0 {
			over[k] = d
		}
	}
	return over
}

// String returns the kinds in order: "callbacks 2, ports 1".
func (c Counts) String() string {
	if len(c) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, k := range slices.Sorted(maps.Keys(c)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", k, c[k])
	}
	return b.String()
}

// live is the only table of live resources. It is package state because it is about the whole
// program.
var live struct {
	mu     sync.Mutex
	counts Counts
	next   uint64
	stacks map[uint64]heldAt // nil unless TraceLive
}

type heldAt struct {
	kind  Kind
	stack string
}

// Live returns the number of live resources in the whole program.
func Live() Counts {
	live.mu.Lock()
	defer live.mu.Unlock()
	return maps.Clone(live.counts)
}

// Track counts one more resource of kind until done is called. A second call of done does nothing.
func Track(kind Kind) (done func()) {
	id := hold(kind)
	var once sync.Once
	return func() { once.Do(func() { drop(kind, id) }) }
}

// TraceLive(true) makes every later Track store its stack, for [LiveStacks]. It costs about 20 µs
// for each resource, so it is for tests.
func TraceLive(on bool) {
	live.mu.Lock()
	defer live.mu.Unlock()
	live.stacks = nil
	if on {
		live.stacks = map[uint64]heldAt{}
	}
}

// LiveStacks returns the kind and the stack of each live resource that was tracked since TraceLive.
func LiveStacks() []string {
	live.mu.Lock()
	defer live.mu.Unlock()
	var out []string
	for _, id := range slices.Sorted(maps.Keys(live.stacks)) {
		h := live.stacks[id]
		out = append(out, string(h.kind)+" made at\n"+h.stack)
	}
	return out
}

// hold and drop are Track without the closure.
func hold(kind Kind) uint64 {
	live.mu.Lock()
	defer live.mu.Unlock()
	if live.counts == nil {
		live.counts = Counts{}
	}
	live.counts[kind]++
	live.next++
	if live.stacks != nil {
		live.stacks[live.next] = heldAt{kind, string(debug.Stack())}
	}
	return live.next
}

func drop(kind Kind, id uint64) {
	live.mu.Lock()
	defer live.mu.Unlock()
	if live.counts[kind]--; live.counts[kind] == 0 {
		delete(live.counts, kind)
	}
	delete(live.stacks, id)
}
