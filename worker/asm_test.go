package worker

// Modules written by hand, with code that C can't express.

func leb(v int) (b []byte) {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

func vec(s string) []byte { return append(leb(len(s)), s...) }

func section(id byte, body ...byte) []byte {
	return append(append([]byte{id}, leb(len(body))...), body...)
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// assemble returns a command that imports proc_exit as function 0 and has body as _start,
// function 1. memory and table are limits in the binary format. start also makes _start the
// start function.
func assemble(memory, table []byte, start bool, body ...byte) []byte {
	code := append([]byte{0}, append(body, 0x0b)...)
	out := join([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, 2, 0x60, 1, 0x7f, 0, 0x60, 0, 0),
		section(2, join([]byte{1}, vec("wasi_snapshot_preview1"), vec("proc_exit"), []byte{0, 0})...),
		section(3, 1, 1))
	if table != nil {
		out = append(out, section(4, join([]byte{1, 0x70}, table)...)...)
	}
	out = append(out, section(5, join([]byte{1}, memory)...)...)
	out = append(out, section(7, join([]byte{2}, vec("memory"), []byte{2, 0}, vec("_start"), []byte{0, 1})...)...)
	if start {
		out = append(out, section(8, 1)...)
	}
	return append(out, section(10, join([]byte{1}, leb(len(code)), code)...)...)
}

var (
	onePage = []byte{0, 1}
	forever = []byte{0x03, 0x40, 0x0c, 0x00, 0x0b} // loop br 0 end
	// growForever and growTableForever continue after a refusal.
	growForever      = []byte{0x03, 0x40, 0x41, 0x01, 0x40, 0x00, 0x1a, 0x0c, 0x00, 0x0b}
	growTableForever = []byte{0x03, 0x40, 0xd0, 0x70, 0x41, 0x01, 0xfc, 0x0f, 0x00, 0x1a, 0x0c, 0x00, 0x0b}
	// growTable grows the table until it is refused, then exits with its size.
	growTable = []byte{0x03, 0x40, 0xd0, 0x70, 0x41, 0x01, 0xfc, 0x0f, 0x00, 0x41, 0x7f, 0x47, 0x0d, 0x00, 0x0b, 0xfc, 0x10, 0x00, 0x10, 0x00}
	// growMemory grows the memory by a page until it is refused, then exits with its pages.
	growMemory = []byte{0x03, 0x40, 0x41, 0x01, 0x40, 0x00, 0x41, 0x7f, 0x47, 0x0d, 0x00, 0x0b, 0x3f, 0x00, 0x10, 0x00}
)
