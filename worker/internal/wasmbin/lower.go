package wasmbin

import (
	"errors"
	"fmt"
)

// ErrLimit is wrapped by the error for a module that asks for more than its limit.
var ErrLimit = errors.New("the module asks for more than its limit")

// Caps are the limits of a module.
type Caps struct {
	Pages    uint64 // pages of memory
	Elements uint64 // elements of each table
}

// maxTables bounds the number of tables, and with Caps.Elements the memory that all of them can
// take.
const maxTables = 16

// Check returns an error that wraps [ErrLimit] if m has a memory or a table that can't be
// limited (a second memory, 64-bit, shared), or if its initial size is over c.
func (m *Module) Check(c Caps) error {
	memories, tables := m.allOf(Memory), m.allOf(Table)
	if len(memories) > 1 {
		return fmt.Errorf("%w: it has %d memories; one can be limited", ErrLimit, len(memories))
	}
	if len(tables) > maxTables {
		return fmt.Errorf("%w: it has %d tables; the limit is %d", ErrLimit, len(tables), maxTables)
	}
	for _, l := range memories {
		switch {
		case l.Is64:
			return fmt.Errorf("%w: its memory has 64-bit addresses; build it for wasm32", ErrLimit)
		case l.Shared:
			return fmt.Errorf("%w: its memory is shared between threads; build it without threads", ErrLimit)
		case l.Min > c.Pages:
			return fmt.Errorf("%w: it begins with %d pages of memory (%d MiB); the limit is %d pages", ErrLimit, l.Min, l.Min*PageSize>>20, c.Pages)
		}
	}
	for _, l := range tables {
		if l.Is64 || l.Shared {
			return fmt.Errorf("%w: a table with 64-bit indexes, or shared", ErrLimit)
		}
		if l.Min > c.Elements {
			return fmt.Errorf("%w: a table begins with %d elements; the limit is %d", ErrLimit, l.Min, c.Elements)
		}
	}
	return nil
}

func (m *Module) allOf(k Kind) (list []Limits) {
	for _, i := range m.Imports {
		if i.Kind == k {
			list = append(list, i.Limits)
		}
	}
	if k == Memory {
		return append(list, m.Memories...)
	}
	return append(list, m.Tables...)
}

// lower returns l with a maximum of at most limit.
func (l Limits) lower(limit uint64) Limits {
	if !l.HasMax || l.Max > limit {
		l.HasMax, l.Max = true, limit
	}
	return l
}

func (l Limits) append(b []byte) []byte {
	b = append(b, 1) // a maximum, 32 bits, not shared, as ensured by Check
	return appendU32(appendU32(b, uint32(l.Min)), uint32(l.Max))
}

// Lower returns the module with the maximum of its memory and tables lowered to c. It returns
// the error of Check. Imported returns the limits of an imported memory and table, which the
// host makes.
func (m *Module) Lower(c Caps) ([]byte, error) {
	if err := m.Check(c); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(m.bytes)+32), m.bytes[:8]...)
	for _, s := range m.sections {
		var body []byte
		switch s.id {
		case secImport:
			body = appendU32(nil, uint32(len(m.Imports)))
			for _, i := range m.Imports {
				body = append(appendName(appendName(body, i.Module), i.Name), byte(i.Kind))
				switch i.Kind {
				case Memory:
					body = i.Limits.lower(c.Pages).append(body)
				case Table:
					body = i.Limits.lower(c.Elements).append(append(body, i.head...))
				default:
					body = append(body, i.tail...)
				}
			}
		case secMemory:
			body = appendU32(nil, uint32(len(m.Memories)))
			for _, l := range m.Memories {
				body = l.lower(c.Pages).append(body)
			}
		case secTable:
			body = appendU32(nil, uint32(len(m.Tables)))
			for i, l := range m.Tables {
				body = l.lower(c.Elements).append(append(body, m.tables[i].head...))
				body = append(body, m.tables[i].tail...)
			}
		default:
			out = append(out, m.bytes[s.off:s.at+len(s.body)]...)
			continue
		}
		out = append(appendU32(append(out, s.id), uint32(len(body))), body...)
	}
	return out, nil
}

// Imported returns the lowered limits of the imported memory and of the first imported table,
// or nil.
func (m *Module) Imported(c Caps) (memory, table *Limits) {
	for _, i := range m.Imports {
		switch i.Kind {
		case Memory:
			l := i.Limits.lower(c.Pages)
			memory = &l
		case Table:
			if table == nil {
				l := i.Limits.lower(c.Elements)
				table = &l
			}
		}
	}
	return memory, table
}

// WASI is the module name from which programs import the functions of preview1.
const WASI = "wasi_snapshot_preview1"

// IsWASI reports whether the module imports functions of WASI preview1 or exports _start.
func (m *Module) IsWASI() bool {
	for _, i := range m.Imports {
		if i.Module == WASI {
			return true
		}
	}
	_, start := m.Export("_start")
	return start
}

// Export returns the exported function of a name, and reports whether there is one.
func (m *Module) Export(name string) (Export, bool) {
	for _, e := range m.Exports {
		if e.Name == name && e.Kind == Func {
			return e, true
		}
	}
	return Export{}, false
}
