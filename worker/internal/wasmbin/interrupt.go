package wasmbin

import (
	"fmt"
	"slices"
)

// What Interruptible adds to a module's exports.
const (
	TickTable   = "bailey:tick"  // a table with room for one function, which is called now and then
	StartExport = "bailey:start" // the start function, which is to be called when the table is filled
)

// Interruptible returns the module with a call of the function in its TickTable at every
// 16,384th turn of a loop or call of a function. An engine whose terminate() does not stop
// WebAssembly stops it there, for that function is JavaScript. What it adds is added behind
// everything else, so that no index changes: a type, a table, a global, an export or two;
// the start function becomes an export, since it would run before the table is filled.
func (m *Module) Interruptible() ([]byte, error) {
	if !m.known {
		return nil, fmt.Errorf("%w: it has types of a proposal that is not known here, so it could not be stopped in this browser", ErrModule)
	}
	e := edit{m: m, tick: m.tick()}
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
		add(id) // of a module without code
	}
	return out, nil
}

func appendSection(out []byte, id byte, body []byte) []byte {
	return append(appendU32(append(out, id), uint32(len(body))), body...)
}

type edit struct {
	m    *Module
	tick []byte
}

// added is a section with what Interruptible adds, as its whole body.
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

// tick is what stands at the head of every loop and function: the global counts down, and
// at zero the function in the table is called.
func (m *Module) tick() []byte {
	g := m.globals()
	get, set := appendU32([]byte{0x23}, g), appendU32([]byte{0x24}, g)
	call := appendU32(appendU32([]byte{0x41, 0, 0x11}, uint32(len(m.types))), uint32(len(m.allOf(Table))))
	every := []byte{0x41, 0x80, 0x80, 0x01} // i32.const 16384, the turns between two ticks
	return slices.Concat(get, []byte{0x45, 0x04, 0x40}, every, set, call, []byte{0x0b}, get, []byte{0x41, 1, 0x6b}, set)
}

// globals counts imported globals and the module's own.
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

// code is the code section with the ticks.
func (e *edit) code(s section) ([]byte, error) {
	r := &reader{b: s.body, off: s.at, what: sectionNames[secCode]}
	n := r.count("functions")
	out := appendU32(make([]byte, 0, len(s.body)+len(s.body)/4), uint32(n))
	for range n {
		size := r.count("bytes of code")
		start := r.at
		body := &reader{b: r.take(size), off: s.at + start, what: r.what}
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
