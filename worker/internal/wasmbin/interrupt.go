package wasmbin

import (
	"fmt"
	"slices"
)

// The exports that Interruptible adds to a module.
const (
	TickTable   = "bailey:tick"  // a table of one element, for the function that is called regularly
	StartExport = "bailey:start" // the module's start function, to be called after the table is filled
)

// Interruptible returns the module with ticks: at every 16,384th turn of a loop or call of a
// function, the module calls the function in its TickTable. That function is JavaScript. An
// engine whose terminate() does not stop WebAssembly can stop a program there.
//
// The additions stand behind everything else, so that no index changes: a type, a table, a
// global, and one or two exports. The start function becomes the export StartExport, because it
// would otherwise run before the table is filled.
//
// The error wraps [ErrModule] if the module has types or instructions that this package can't
// read. rest is as for [Parse].
func (m *Module) Interruptible(rest func(n int) error) ([]byte, error) {
	if !m.known {
		return nil, fmt.Errorf("%w: it has types of a proposal that is not known here, so it could not be stopped in this browser", ErrModule)
	}
	e := edit{m: m, tick: m.tick(), pace: newPace(rest)}
	out := append(make([]byte, 0, len(m.bytes)+len(m.bytes)/4), m.bytes[:8]...)
	done := map[byte]bool{}
	add := func(id byte) {
		if !done[id] {
			done[id] = true
			out = appendSection(out, id, e.added(id))
		}
	}
	for _, s := range m.sections {
		if s.id != 0 {
			for _, id := range []byte{secType, secTable, secGlobal, secExport} {
				if order[id] < order[s.id] {
					add(id)
				}
			}
		}
		switch s.id {
		case secType, secTable, secGlobal, secExport:
			add(s.id)
		case secStart:
		case secCode:
			body, err := e.code(s)
			if err != nil {
				return nil, err
			}
			out = appendSection(out, secCode, body)
		default:
			out = append(out, m.bytes[s.off:s.at+len(s.body)]...)
		}
	}
	for _, id := range []byte{secType, secTable, secGlobal, secExport} {
		add(id) // the sections that a module without code still needs
	}
	return out, nil
}

func appendSection(out []byte, id byte, body []byte) []byte {
	return append(appendU32(append(out, id), uint32(len(body))), body...)
}

type edit struct {
	m    *Module
	tick []byte
	pace *pace
}

// added returns the body of a section, with the entries that Interruptible adds.
func (e *edit) added(id byte) []byte {
	var old section
	if i := slices.IndexFunc(e.m.sections, func(s section) bool { return s.id == id }); i >= 0 {
		old = e.m.sections[i]
	}
	r := &reader{b: old.body, what: sectionNames[id]}
	n := uint32(0)
	if len(old.body) > 0 {
		n = r.u32()
	}
	rest := old.body[min(r.at, len(old.body)):]
	var more []byte
	count := uint32(1)
	switch id {
	case secType:
		more = []byte{0x60, 0, 0}
	case secTable:
		more = []byte{0x70, 1, 1, 1}
	case secGlobal:
		more = []byte{byte(I32), 1, 0x41, 0, 0x0b}
	case secExport:
		more = appendU32(append(appendName(nil, TickTable), byte(Table)), uint32(len(e.m.allOf(Table))))
		if e.m.Start {
			more = appendU32(append(appendName(more, StartExport), byte(Func)), e.m.start)
			count = 2
		}
	}
	return slices.Concat(appendU32(nil, n+count), rest, more)
}

// tick returns the code at the head of every loop and function. It decrements the global. At
// zero it resets the global and calls the function in the table.
func (m *Module) tick() []byte {
	g := m.globals()
	get, set := appendU32([]byte{0x23}, g), appendU32([]byte{0x24}, g)
	call := appendU32(appendU32([]byte{0x41, 0, 0x11}, uint32(len(m.types))), uint32(len(m.allOf(Table))))
	every := []byte{0x41, 0x80, 0x80, 0x01} // i32.const 16384, the turns between two ticks
	return slices.Concat(get, []byte{0x45, 0x04, 0x40}, every, set, call, []byte{0x0b}, get, []byte{0x41, 1, 0x6b}, set)
}

// globals returns the number of globals, imported ones included.
func (m *Module) globals() (n uint32) {
	for _, i := range m.Imports {
		if i.Kind == Global {
			n++
		}
	}
	for _, s := range m.sections {
		if s.id == secGlobal {
			n += (&reader{b: s.body}).u32()
		}
	}
	return n
}

// code returns the body of the code section with the ticks.
func (e *edit) code(s section) ([]byte, error) {
	r := &reader{b: s.body, off: s.at, what: sectionNames[secCode], pace: e.pace}
	n := r.count("functions")
	out := appendU32(make([]byte, 0, len(s.body)+len(s.body)/4), uint32(n))
	for range n {
		size := r.count("bytes of code")
		start := r.at
		body := &reader{b: r.take(size), off: s.at + start, what: r.what, pace: e.pace}
		if r.err != nil {
			return nil, r.err
		}
		fn, err := e.function(body)
		if err != nil {
			return nil, err
		}
		out = append(appendU32(out, uint32(len(fn))), fn...)
	}
	return out, r.err
}

func (e *edit) function(r *reader) ([]byte, error) {
	for range r.count("groups of locals") {
		r.u32()
		r.valType()
	}
	out := append(slices.Clone(r.b[:r.at]), e.tick...)
	for r.left() > 0 && r.err == nil {
		from := r.at
		op := r.skip()
		out = append(out, r.b[from:r.at]...)
		if op == 0x03 {
			out = append(out, e.tick...)
		}
	}
	return out, r.err
}
