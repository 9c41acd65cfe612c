package wasmbin

// skip reads one instruction with its immediates, and returns its opcode. Source: WebAssembly
// Core Specification 3.0, chapter 5.4. An instruction that this list does not contain is an
// error with its number.
func (r *reader) skip() (op byte) {
	op = r.byte()
	switch {
	case op == 0x02 || op == 0x03 || op == 0x04 || op == 0x06: // block, loop, if, try
		r.leb()
	case op == 0x0e: // br_table
		for range r.count("labels") {
			r.leb()
		}
		r.leb()
	case op == 0x11 || op == 0x13: // call_indirect, return_call_indirect
		r.leb()
		r.leb()
	case op == 0x1c: // select with types
		for range r.count("types") {
			r.valType()
		}
	case op == 0x1f: // try_table
		r.leb()
		for range r.count("catches") {
			if kind := r.byte(); kind < 2 {
				r.leb()
			}
			r.leb()
		}
	case op >= 0x07 && op <= 0x09, op == 0x0c, op == 0x0d, op == 0x10, op == 0x12, op == 0x14, op == 0x15, op == 0x18,
		op >= 0x20 && op <= 0x26, op == 0x3f, op == 0x40, op == 0x41, op == 0x42, op == 0xd0, op == 0xd2, op == 0xd5, op == 0xd6:
		r.leb()
	case op >= 0x28 && op <= 0x3e:
		r.memarg()
	case op == 0x43:
		r.take(4)
	case op == 0x44:
		r.take(8)
	case op <= 0x01, op == 0x05, op == 0x0a, op == 0x0b, op == 0x0f, op >= 0x19 && op <= 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1, op == 0xd3, op == 0xd4:
	case op == 0xfc:
		r.skipFC()
	case op == 0xfd:
		r.skipSIMD()
	case op == 0xfe:
		if sub := r.u32(); sub == 3 { // atomic.fence
			r.byte()
		} else {
			r.memarg()
		}
	default:
		r.fail("an instruction %#x, which is not known here", op)
	}
	return op
}

func (r *reader) skipFC() {
	sub := r.u32()
	if sub > 17 {
		r.fail("an instruction 0xfc %d, which is not known here", sub)
		return
	}
	// The number of immediates of each instruction, from i32.trunc_sat_f32_s to table.fill.
	for range [...]int{0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1}[sub] {
		r.leb()
	}
}

func (r *reader) skipSIMD() {
	switch sub := r.u32(); {
	case sub <= 11, sub == 92, sub == 93:
		r.memarg()
	case sub == 12, sub == 13:
		r.take(16)
	case sub >= 21 && sub <= 34:
		r.byte()
	case sub >= 84 && sub <= 91:
		r.memarg()
		r.byte()
	case sub > 0x1ff:
		r.fail("an instruction 0xfd %d, which is not known here", sub)
	}
}

func (r *reader) memarg() {
	if align := r.u32(); align&0x40 != 0 {
		r.leb() // a memory's index
	}
	r.leb()
}

// leb skips a signed or unsigned LEB128 of at most 64 bits.
func (r *reader) leb() {
	for range 10 {
		if c := r.byte(); r.err != nil || c&0x80 == 0 {
			return
		}
	}
	r.fail("a number is longer than 64 bits")
}
