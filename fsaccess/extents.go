package fsaccess

// extents holds written bytes in memory, sorted by offset and without overlaps.
type extents struct {
	list  []extent
	bytes int
}

type extent struct {
	off  int64
	data []byte
}

func (e extent) end() int64 { return e.off + int64(len(e.data)) }

func (x *extents) end() int64 {
	if len(x.list) == 0 {
		return 0
	}
	return x.list[len(x.list)-1].end()
}

func (x *extents) isPrefix(size int64) bool {
	return len(x.list) == 1 && x.list[0].off == 0 && x.list[0].end() == size
}

func (x *extents) put(off int64, p []byte) {
	// The common case: continue where the last write ended.
	if n := len(x.list); n > 0 && x.list[n-1].end() == off {
		x.list[n-1].data = append(x.list[n-1].data, p...)
		x.bytes += len(p)
		return
	}
	end := off + int64(len(p))
	lo := 0
	for lo < len(x.list) && x.list[lo].end() < off {
		lo++
	}
	hi := lo
	for hi < len(x.list) && x.list[hi].off <= end {
		hi++
	}
	if lo == hi {
		x.list = append(x.list[:lo], append([]extent{{off, append([]byte(nil), p...)}}, x.list[lo:]...)...)
		x.bytes += len(p)
		return
	}
	start, stop := min(off, x.list[lo].off), max(end, x.list[hi-1].end())
	data := make([]byte, stop-start)
	for _, e := range x.list[lo:hi] {
		copy(data[e.off-start:], e.data)
		x.bytes -= len(e.data)
	}
	copy(data[off-start:], p)
	x.bytes += len(data)
	x.list = append(x.list[:lo], append([]extent{{start, data}}, x.list[hi:]...)...)
}

func (x *extents) cut(size int64) {
	for n := len(x.list); n > 0; n = len(x.list) {
		e := &x.list[n-1]
		if e.end() <= size {
			return
		}
		if e.off < size {
			x.bytes -= int(e.end() - size)
			e.data = e.data[:size-e.off]
			return
		}
		x.bytes -= len(e.data)
		x.list = x.list[:n-1]
	}
}

func (x *extents) readInto(p []byte, off int64) {
	end := off + int64(len(p))
	for _, e := range x.list {
		if e.off >= end || e.end() <= off {
			continue
		}
		from := max(off, e.off)
		copy(p[from-off:], e.data[from-e.off:])
	}
}
