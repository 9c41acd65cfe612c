package main

import "encoding/binary"

// Positions in the header of Go's table of functions, and in the description of a function, as of
// pcHeader and _func in package runtime.
const (
	headerSize = 8 + 8*8
	funcSize   = 44
	maxTables  = 64 // of one function; Go 1.26 has at most 5 and 8
)

// dropLines removes the lines of source code from Go's table of functions, in an image of the memory
// that begins at an address. Only stack traces read them: names of functions stay, and a place is "?:0".
// They are a tenth of a page. Only bytes of the table change. dropLines also removes the tables for the preemption
// by signals and for the arguments in traces, which a browser has not. It reports whether it changed the image. It
// changes nothing if the table is not as expected in all parts, as with another version of Go.
func dropLines(image []byte, base int64) bool {
	t, ok := findTable(image, base)
	if !ok {
		return false
	}
	keep := make([]bool, t.funcs-t.pc) // the bytes of tables that are needed
	keep[0] = true                     // offset 0 is no table
	for _, f := range t.list {
		for i := range 3 + int(t.u32(f+28)) {
			if t.drops(i) {
				continue
			}
			from := int(t.u32(t.table(f, i)))
			n := 0
			if from > 0 {
				if n, ok = tableSize(image[t.pc+from : t.funcs]); !ok {
					return false
				}
			}
			for b := range n {
				keep[from+b] = true
			}
		}
	}
	for _, f := range t.list {
		for i := range 3 + int(t.u32(f+28)) {
			if t.drops(i) {
				clear(image[t.table(f, i):][:4])
			}
		}
		clear(image[f+32:][:8]) // the unit that the file's number is of, and the first line
		for i := range int(image[f+43]) {
			if i >= 5 && i <= 7 { // the names of arguments, those alive, and what a wrapper wraps, for traces
				binary.LittleEndian.PutUint32(image[f+funcSize+4*(int(t.u32(f+28))+i):], 0xffffffff) // none
			}
		}
	}
	clear(image[t.units:t.pc]) // the units, and the names of files
	for i, k := range keep {
		if !k {
			image[t.pc+i] = 0
		}
	}
	return true
}

// funcTable is Go's table of functions. The fields are positions in the image.
type funcTable struct {
	image            []byte
	units, pc, funcs int   // the units and files, the tables by position, and the functions
	list             []int // the descriptions of the functions
}

func (t *funcTable) u32(at int) uint32 { return binary.LittleEndian.Uint32(t.image[at:]) }

// table returns the position of the offset of a function's table: of the stack's size (0), files (1) and
// lines (2), and then of the tables that the compiler numbers.
func (t *funcTable) table(f, i int) int {
	if i < 3 {
		return f + 16 + 4*i
	}
	return f + funcSize + 4*(i-3)
}

// drops reports whether the table with an index is removed.
func (t *funcTable) drops(i int) bool {
	switch i {
	case 1, 2, // files and lines
		3 + 0, // where a signal may preempt
		3 + 3: // arguments that are alive, for traces
		return true
	}
	return false
}

// findTable finds the table of functions, and checks all positions in it.
func findTable(image []byte, base int64) (*funcTable, bool) {
	const magic = "\xf1\xff\xff\xff\x00\x00\x01\x08" // no padding, instructions of one byte, pointers of eight
	at := -1
	for i := int(-base & 7); i >= 0 && i+headerSize <= len(image); i += 8 {
		if string(image[i:i+8]) == magic {
			if at >= 0 {
				return nil, false // one of them is other data
			}
			at = i
		}
	}
	if at < 0 {
		return nil, false
	}
	word := func(i int) (int, bool) {
		v := binary.LittleEndian.Uint64(image[at+8+8*i:])
		return int(v), v < uint64(len(image))
	}
	var w [8]int
	for i := range w {
		var ok bool
		if w[i], ok = word(i); !ok {
			return nil, false
		}
	}
	count, names, units, files, pc, funcs := w[0], w[3], w[4], w[5], w[6], w[7]
	if count == 0 || w[2] != 0 || names != headerSize || names > units || units > files || files > pc || pc >= funcs || at+funcs+8*count+4 > len(image) {
		return nil, false
	}
	t := &funcTable{image: image, units: at + units, pc: at + pc, funcs: at + funcs}
	last := -1
	for i := range count {
		entry, offset := int(t.u32(t.funcs+8*i)), int(t.u32(t.funcs+8*i+4))
		f := t.funcs + offset
		if entry <= last || offset < 8*count || f+funcSize > len(image) || int(t.u32(f)) != entry || int(t.u32(f+4)) >= units-names {
			return nil, false
		}
		last = entry
		tables := t.u32(f + 28)
		if tables > maxTables || image[f+43] > maxTables || f+funcSize+4*(int(tables)+int(image[f+43])) > len(image) {
			return nil, false
		}
		for k := range 3 + int(tables) {
			if int(t.u32(t.table(f, k))) >= funcs-pc {
				return nil, false
			}
		}
		t.list = append(t.list, f)
	}
	return t, true
}

// tableSize returns the size of the table that the data begins with: pairs of variable-length numbers, of
// which only the first one may begin with zero, and a zero. See step in package runtime.
func tableSize(data []byte) (int, bool) {
	for at := 0; ; {
		value, n := binary.Uvarint(data[at:])
		if n <= 0 {
			return 0, false
		}
		if value == 0 && at > 0 {
			return at + n, true
		}
		at += n
		if _, n = binary.Uvarint(data[at:]); n <= 0 {
			return 0, false
		}
		at += n
	}
}
