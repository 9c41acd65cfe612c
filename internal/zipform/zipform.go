// Package zipform checks that a ZIP archive has a form in which every reader finds the same
// files.
//
// A ZIP contains the names and sizes of its files twice: in its directory, at the end, and
// in a header before each file's data. Some readers use the directory and some use the
// headers. If the two differ, these readers find different files.
package zipform

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

const (
	endSize    = 22 // bytes of the end record without its comment
	entrySize  = 46 // bytes of an entry of the directory without its name, extra field and comment
	headerSize = 30 // bytes of a local header without its name and extra field

	extraZIP64 = 0x0001
	extraPath  = 0x7075 // a second name, in UTF-8

	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3 // checksum and sizes follow the data
	flagUTF8       = 1 << 11
	full           = 0xffffffff // a field whose value is in the ZIP64 extra field
)

var (
	errDirectory = errors.New("its directory is damaged")
	errGap       = errors.New("there are bytes between its files that its directory doesn't know")
)

// Check returns an error if two readers could read an archive differently, else nil. It
// finds these faults: a local header whose name, method, encryption, checksum or sizes
// differ from the directory, bytes between two files or after the last, overlapping files,
// a name that occurs twice, a Unicode path (extra field 0x7075) with another name, and two
// end records. It returns the first one. It does not check the bytes before the first file,
// nor the contents of the files.
//
// rest, if set, is called with the number of steps of work done, so that a page can run in
// between. If it returns an error, Check returns that error.
func Check(data []byte, rest func(steps int) error) error {
	if rest == nil {
		rest = func(int) error { return nil }
	}
	dir, base, count, err := directory(data)
	if err != nil {
		return err
	}
	start := len(data) - len(dir)
	var all []file
	names := map[string]bool{}
	for range count {
		if err := rest(100); err != nil { // names are at most 64 KiB, and compared at a gigabyte a second
			return err
		}
		var f file
		if f, dir, err = next(dir); err != nil {
			return err
		}
		if names[f.name] {
			return fmt.Errorf("%q is there twice", f.name)
		}
		names[f.name] = true
		if f.at += base; f.at > uint64(start) {
			return errDirectory
		}
		if err := f.local(data[f.at:start]); err != nil {
			return fmt.Errorf("%q: %w", f.name, err)
		}
		all = append(all, f)
	}
	if !bytes.HasPrefix(dir, []byte("PK\x05\x06")) && !bytes.HasPrefix(dir, []byte("PK\x06\x06")) {
		return errDirectory // it has more entries than the end record declares
	}
	var ended error
	slices.SortFunc(all, func(a, b file) int {
		if ended == nil {
			ended = rest(1)
		}
		return cmp.Compare(a.at, b.at)
	})
	if ended != nil {
		return ended
	}
	for i, f := range all {
		to := uint64(start)
		if i+1 < len(all) {
			to = all[i+1].at
		}
		if f.end > to || !f.described(data[f.end:to]) {
			return fmt.Errorf("behind %q: %w", f.name, errGap)
		}
	}
	return nil
}

// directory returns the data from the start of the directory, the number of bytes in front
// of the archive (add it to all offsets), and the number of entries.
func directory(data []byte) (dir []byte, base uint64, count int, err error) {
	le := binary.LittleEndian
	end := -1
	for i := len(data) - endSize; i >= 0 && i >= len(data)-endSize-0xffff; i-- {
		if !bytes.HasPrefix(data[i:], []byte("PK\x05\x06")) {
			continue
		}
		to := i + endSize + int(le.Uint16(data[i+20:]))
		if end < 0 && to <= len(data) {
			end = i
		} else if end >= 0 && to == len(data) {
			return nil, 0, 0, errors.New("it has two ends")
		}
	}
	if end < 0 {
		return nil, 0, 0, errors.New("it has no end")
	}
	n := uint64(le.Uint16(data[end+10:]))
	size, at := uint64(le.Uint32(data[end+12:])), uint64(le.Uint32(data[end+16:]))
	if le.Uint32(data[end+4:]) != 0 || uint64(le.Uint16(data[end+8:])) != n {
		return nil, 0, 0, errors.New("it is one of several parts")
	}
	if n == 0xffff || size == full || at == full {
		const record, locator = 56, 20
		i := end - locator - record
		if i < 0 || !bytes.HasPrefix(data[end-locator:], []byte("PK\x06\x07")) || !bytes.HasPrefix(data[i:], []byte("PK\x06\x06")) || le.Uint64(data[i+4:]) != record-12 {
			return nil, 0, 0, errDirectory
		}
		n, size, at = le.Uint64(data[i+32:]), le.Uint64(data[i+40:]), le.Uint64(data[i+48:])
		end = i
	}
	if size > uint64(end) || at > uint64(end)-size || n > size/entrySize {
		return nil, 0, 0, errDirectory
	}
	start := uint64(end) - size
	return data[start:], start - at, int(n), nil
}

// file is the directory's information about one file, and its position.
type file struct {
	name          string
	flags, method uint16
	sum           uint32
	packed, size  uint64
	at            uint64 // offset of its local header
	end           uint64 // offset of the end of its data
	wide          bool   // the sizes after the data have 8 bytes
}

// next reads one entry of the directory and returns it with the data after it.
func next(dir []byte) (f file, rest []byte, err error) {
	le := binary.LittleEndian
	if len(dir) < entrySize || !bytes.HasPrefix(dir, []byte("PK\x01\x02")) {
		return f, nil, errDirectory
	}
	n, x, c := int(le.Uint16(dir[28:])), int(le.Uint16(dir[30:])), int(le.Uint16(dir[32:]))
	if len(dir) < entrySize+n+x+c {
		return f, nil, errDirectory
	}
	f = file{name: string(dir[entrySize : entrySize+n]), flags: le.Uint16(dir[8:]), method: le.Uint16(dir[10:]), sum: le.Uint32(dir[16:]),
		packed: uint64(le.Uint32(dir[20:])), size: uint64(le.Uint32(dir[24:])), at: uint64(le.Uint32(dir[42:]))}
	if err := f.extra(dir[entrySize+n:entrySize+n+x], &f.size, &f.packed, &f.at); err != nil {
		return f, nil, fmt.Errorf("%q: %w", f.name, err)
	}
	return f, dir[entrySize+n+x+c:], nil
}

// extra reads the extra fields with a second name, and with sizes over 4 GiB. The field
// contains a value for each of values that is full, in this order.
func (f *file) extra(b []byte, values ...*uint64) error {
	le := binary.LittleEndian
	wide := false
	for len(b) >= 4 {
		id, n := le.Uint16(b), int(le.Uint16(b[2:]))
		if n > len(b)-4 {
			return errors.New("its extra field is damaged")
		}
		v := b[4 : 4+n]
		b = b[4+n:]
		switch id {
		case extraPath:
			if len(v) < 5 || string(v[5:]) != f.name {
				return errors.New("it has a second name, a Unicode path")
			}
		case extraZIP64:
			if wide {
				return errors.New("its extra field has two sizes")
			}
			wide = true
			for _, p := range values {
				if *p != full {
					continue
				}
				if len(v) < 8 {
					return errors.New("its extra field is damaged")
				}
				*p, v = le.Uint64(v), v[8:]
			}
		}
	}
	f.wide = f.wide || wide
	return nil
}

// local compares a file's local header, at the beginning of data, with the directory.
func (f *file) local(data []byte) error {
	le := binary.LittleEndian
	if len(data) < headerSize || !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return errors.New("it has no local header")
	}
	n, x := int(le.Uint16(data[26:])), int(le.Uint16(data[28:]))
	if len(data) < headerSize+n+x {
		return errors.New("its local header is damaged")
	}
	if name := string(data[headerSize : headerSize+n]); name != f.name {
		return fmt.Errorf("its local header says %q", name)
	}
	flags, sum := le.Uint16(data[6:]), le.Uint32(data[14:])
	packed, size := uint64(le.Uint32(data[18:])), uint64(le.Uint32(data[22:]))
	if err := f.extra(data[headerSize+n:headerSize+n+x], &size, &packed); err != nil {
		return err
	}
	same := flagEncrypted | flagDescriptor
	if slices.ContainsFunc([]byte(f.name), func(c byte) bool { return c >= 0x80 }) {
		same |= flagUTF8
	}
	later := flags&flagDescriptor != 0 && sum == 0 && packed == 0 && size == 0
	if (flags^f.flags)&uint16(same) != 0 || le.Uint16(data[8:]) != f.method || !later && (sum != f.sum || packed != f.packed || size != f.size) {
		return errors.New("its local header says another method, sum, size or encryption than the directory")
	}
	body := uint64(headerSize + n + x)
	if f.packed > uint64(len(data))-body {
		return errors.New("its data is cut off")
	}
	f.end = f.at + body + f.packed
	return nil
}

// described reports whether the bytes after a file's data are its descriptor, or empty if
// the file has none.
func (f *file) described(rest []byte) bool {
	if f.flags&flagDescriptor == 0 {
		return len(rest) == 0
	}
	le := binary.LittleEndian
	want := le.AppendUint32(nil, f.sum)
	if len(rest) >= 20 && f.wide || len(rest) == 24 || len(rest) == 20 {
		want = le.AppendUint64(le.AppendUint64(want, f.packed), f.size)
	} else {
		want = le.AppendUint32(le.AppendUint32(want, uint32(f.packed)), uint32(f.size))
	}
	return bytes.Equal(rest, want) || bytes.Equal(rest, append([]byte("PK\x07\x08"), want...))
}
