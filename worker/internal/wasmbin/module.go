package wasmbin

import (
	"bytes"
	"fmt"
)

// PageSize is the size of a page of WebAssembly memory, in bytes.
const PageSize = 64 << 10

// Kind is the kind of an import or export.
type Kind byte

// The kinds, with the numbers of the binary format.
const (
	Func Kind = iota
	Table
	Memory
	Global
	Tag
)

func (k Kind) String() string {
	if k > Tag {
		return fmt.Sprintf("kind %d", byte(k))
	}
	return [...]string{"function", "table", "memory", "global", "tag"}[k]
}

// ValType is the type of a value, with the number of the binary format.
type ValType byte

// The types that can pass between a module and its host.
const (
	I32 ValType = 0x7f
	I64 ValType = 0x7e
	F32 ValType = 0x7d
	F64 ValType = 0x7c
)

// FuncType is the type of a function. Known is false if it uses types that this package can't
// read.
type FuncType struct {
	Params, Results []ValType
	Known           bool
}

// Limits are the size of a memory, in pages, or of a table, in elements.
type Limits struct {
	Min, Max uint64
	HasMax   bool
	Shared   bool
	Is64     bool
}

// Import is one import of a module.
type Import struct {
	Module, Name string
	Kind         Kind
	Type         FuncType // of a function
	Limits       Limits   // of a memory or a table

	head, tail []byte // the bytes around the limits, for Lower
}

// Export is one export of a module.
type Export struct {
	Name string
	Kind Kind
	Type FuncType // of a function
}

// Module is a parsed binary. Make one with [Parse].
type Module struct {
	Imports  []Import
	Exports  []Export
	Memories []Limits // without imported ones
	Tables   []Limits
	Start    bool // the module has a start function

	bytes    []byte
	sections []section
	types    []FuncType
	funcs    []uint32 // type indexes of all functions, imported ones first
	known    bool     // types holds all types of the module
	start    uint32   // index of the start function
	tables   []tableRaw
}

type section struct {
	id   byte
	off  int // the position of the id in the module
	body []byte
	at   int // the position of body in the module
}

// tableRaw holds a table's bytes around its limits.
type tableRaw struct{ head, tail []byte }

var sectionNames = [...]string{"custom section", "type section", "import section", "function section", "table section", "memory section",
	"global section", "export section", "start section", "element section", "code section", "data section", "data count section", "tag section"}

// order is the place of each known section by id. Source: chapter 5.5.2 and 5.5.16.
var order = [...]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 11, 6}

const (
	secType = iota + 1
	secImport
	secFunc
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
)

// Parse reads a module. It keeps b, which must not be changed while the Module is used. rest, if
// set, is called with the number of bytes read since the last call, each 4 KiB. Parse ends with
// its error. Every other error wraps [ErrModule].
func Parse(b []byte, rest func(n int) error) (*Module, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("%w: it has %d bytes, and the header alone has 8", ErrModule, len(b))
	}
	if !bytes.Equal(b[:4], []byte("\x00asm")) {
		return nil, fmt.Errorf("%w: it does not begin with \\0asm", ErrModule)
	}
	switch [4]byte(b[4:8]) {
	case [4]byte{1, 0, 0, 0}:
	case [4]byte{0x0d, 0, 1, 0}:
		return nil, fmt.Errorf("%w: it is a component; build a core module (WASI preview1)", ErrModule)
	default:
		return nil, fmt.Errorf("%w: its version is %x, and only version 1 is known", ErrModule, b[4:8])
	}
	m := &Module{bytes: b}
	speed := newPace(rest)
	if err := m.split(speed); err != nil {
		return nil, err
	}
	codes := 0
	for _, s := range m.sections {
		r := &reader{b: s.body, off: s.at, what: sectionNames[s.id], pace: speed}
		switch s.id {
		case secType:
			m.readTypes(r)
			if speed != nil && speed.err != nil {
				return nil, speed.err
			}
			continue // a type that cannot be read is no error
		case secImport:
			m.readImports(r)
		case secFunc:
			for range r.count("functions") {
				m.funcs = append(m.funcs, r.u32())
			}
		case secTable:
			m.readTables(r)
		case secMemory:
			for range r.count("memories") {
				m.Memories = append(m.Memories, r.limits())
			}
		case secExport:
			m.readExports(r)
		case secStart:
			m.Start, m.start = true, r.u32()
		case secCode:
			codes = r.count("functions")
			for range codes {
				r.take(r.count("bytes of code"))
			}
		default:
			continue
		}
		if r.err == nil && r.left() > 0 {
			r.fail("%d bytes are left over", r.left())
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	if m.Start && int64(m.start) >= int64(len(m.funcs)) {
		return nil, fmt.Errorf("%w: the start function is number %d of %d", ErrModule, m.start, len(m.funcs))
	}
	if own := len(m.funcs) - m.importedFuncs(); own != codes {
		return nil, fmt.Errorf("%w: %d functions are declared and %d have code", ErrModule, own, codes)
	}
	return m, nil
}

func (m *Module) importedFuncs() (n int) {
	for _, i := range m.Imports {
		if i.Kind == Func {
			n++
		}
	}
	return n
}

// split reads the headers of the sections.
func (m *Module) split(speed *pace) error {
	r := &reader{b: m.bytes, at: 8, what: "list of sections", pace: speed}
	last := 0
	for r.left() > 0 {
		s := section{off: r.at}
		s.id = r.byte()
		if int(s.id) >= len(sectionNames) {
			r.fail("there is a section of the unknown kind %d", s.id)
			return r.err
		}
		n := r.u32()
		r.what = sectionNames[s.id]
		s.at = r.at
		if r.err == nil && int64(n) > int64(r.left()) {
			r.fail("it should have %d bytes and has %d: the module was cut off", n, r.left())
		}
		s.body = r.take(int(n))
		if r.err != nil {
			return r.err
		}
		if s.id != 0 {
			if order[s.id] <= last {
				r.fail("it stands twice or in the wrong place")
				return r.err
			}
			last = order[s.id]
		}
		m.sections = append(m.sections, s)
		r.what = "list of sections"
	}
	return r.err
}

// readTypes reads types of functions, up to the first that this package can't read.
func (m *Module) readTypes(r *reader) {
	for range r.count("types") {
		if r.byte() != 0x60 {
			return // a type of a later proposal, whose length is not known
		}
		t := FuncType{Known: true}
		for _, list := range []*[]ValType{&t.Params, &t.Results} {
			for range r.count("types of values") {
				v := ValType(r.byte())
				if v < 0x6f { // a reference to a type, followed by an index
					if v == 0x63 || v == 0x64 {
						r.u64()
					}
					t.Known = false
				} else if v < 0x7b || v > 0x7f {
					t.Known = false
				}
				*list = append(*list, v)
			}
		}
		if r.err != nil {
			return
		}
		m.types = append(m.types, t)
	}
	m.known = r.left() == 0
}

func (m *Module) funcType(i uint32) FuncType {
	if int64(i) < int64(len(m.types)) {
		return m.types[i]
	}
	return FuncType{}
}

func (m *Module) readImports(r *reader) {
	for range r.count("imports") {
		i := Import{Module: r.name(), Name: r.name(), Kind: Kind(r.byte())}
		start := r.at
		switch i.Kind {
		case Func:
			t := r.u32()
			i.Type = m.funcType(t)
			m.funcs = append(m.funcs, t)
		case Table:
			r.refType()
			i.head = r.b[start:r.at]
			i.Limits = r.limits()
		case Memory:
			i.Limits = r.limits()
		case Global:
			r.valType()
			r.byte()
		case Tag:
			r.byte()
			r.u32()
		default:
			r.fail("there is an import of the unknown %v", i.Kind)
		}
		if r.err != nil {
			return
		}
		if i.Kind != Table && i.Kind != Memory {
			i.tail = r.b[start:r.at]
		}
		m.Imports = append(m.Imports, i)
	}
}

func (m *Module) readExports(r *reader) {
	for range r.count("exports") {
		e := Export{Name: r.name(), Kind: Kind(r.byte())}
		i := r.u32()
		if e.Kind == Func && r.err == nil {
			if int64(i) >= int64(len(m.funcs)) {
				r.fail("the export %q is function %d of %d", e.Name, i, len(m.funcs))
				return
			}
			e.Type = m.funcType(m.funcs[i])
		}
		if r.err != nil {
			return
		}
		m.Exports = append(m.Exports, e)
	}
}

func (r *reader) valType() {
	if v := r.byte(); v == 0x63 || v == 0x64 {
		r.u64()
	}
}

func (r *reader) refType() { r.valType() }

// limits reads the size of a memory or a table.
func (r *reader) limits() Limits {
	flags := r.byte()
	if flags > 7 {
		r.fail("limits with the unknown flags %#x", flags)
		return Limits{}
	}
	l := Limits{HasMax: flags&1 != 0, Shared: flags&2 != 0, Is64: flags&4 != 0}
	read := func() uint64 { return uint64(r.u32()) }
	if l.Is64 {
		read = r.u64
	}
	l.Min = read()
	if l.HasMax {
		if l.Max = read(); l.Max < l.Min && r.err == nil {
			r.fail("the maximum %d is below the minimum %d", l.Max, l.Min)
		}
	}
	return l
}

// readTables reads the tables. A table may have an expression for its first elements. The
// expression's length is not known, so only the last table may have one.
func (m *Module) readTables(r *reader) {
	n := r.count("tables")
	for i := range n {
		start, expr := r.at, false
		if r.left() > 0 && r.b[r.at] == 0x40 {
			r.byte()
			r.byte()
			expr = true
		}
		r.refType()
		raw := tableRaw{head: r.b[start:r.at]}
		m.Tables = append(m.Tables, r.limits())
		if expr {
			if i != n-1 {
				r.fail("several tables with first elements are not read here")
				return
			}
			raw.tail = r.take(r.left())
		}
		m.tables = append(m.tables, raw)
	}
}
