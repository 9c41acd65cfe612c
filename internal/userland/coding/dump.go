package coding

import (
	"bytes"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

func base32Cmd(e *tool.Env) error {
	o, err := e.Options("diw:", "decode=d ignore-garbage=i wrap=w")
	if err != nil {
		return err
	}
	width, err := e.Int(o, 'w', 76)
	if err != nil {
		return err
	}
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		data, err := e.Slurp(r)
		if err != nil {
			return err
		}
		e.World.Hold(2 * len(data))
		if o.Has('d') {
			data = bytes.Map(func(c rune) rune {
				if c == '\n' || c == '\r' {
					return -1
				}
				return c
			}, data)
			out := make([]byte, base32.StdEncoding.DecodedLen(len(data)))
			n, err := base32.StdEncoding.Decode(out, data)
			e.Stdout.Write(out[:n])
			if err != nil {
				return tool.Errorf("invalid input")
			}
			return nil
		}
		w := &wrapper{w: e.Stdout, width: width}
		enc := base32.NewEncoder(base32.StdEncoding, w)
		_, _ = enc.Write(data)
		enc.Close()
		if w.column > 0 && width > 0 {
			e.Stdout.WriteByte('\n')
		}
		return nil
	})
}

// column is one form in which od shows the bytes.
type column struct {
	kind byte // x o d u c a
	size int
	text bool // z: the characters at the end
}

func (c column) width() int {
	switch c.kind {
	case 'c', 'a':
		return 4
	case 'x':
		return 2*c.size + 1
	case 'o':
		return map[int]int{1: 4, 2: 7, 4: 12, 8: 23}[c.size]
	case 'u':
		return map[int]int{1: 4, 2: 6, 4: 11, 8: 21}[c.size]
	}
	return map[int]int{1: 5, 2: 7, 4: 12, 8: 21}[c.size]
}

func od(e *tool.Env) error {
	o, err := e.Options("A:t:cxbdosj:N:w::v", "address-radix=A format=t skip-bytes=j read-bytes=N width=w output-duplicates=v")
	if err != nil {
		return err
	}
	var columns []column
	for _, c := range "cxbdos" {
		if o.Has(c) {
			columns = append(columns, map[rune]column{'c': {'c', 1, false}, 'x': {'x', 2, false}, 'b': {'o', 1, false}, 'd': {'u', 2, false}, 'o': {'o', 2, false}, 's': {'d', 2, false}}[c])
		}
	}
	for _, spec := range o.All('t') {
		for spec != "" {
			c := column{kind: spec[0], size: 4}
			if strings.IndexByte("xoduca", c.kind) < 0 {
				return tool.Errorf("invalid type string '%s'", spec)
			}
			if spec = spec[1:]; c.kind == 'c' || c.kind == 'a' {
				c.size = 1
			} else if spec != "" {
				if n, ok := map[byte]int{'1': 1, '2': 2, '4': 4, '8': 8, 'C': 1, 'S': 2, 'I': 4, 'L': 8}[spec[0]]; ok {
					c.size, spec = n, spec[1:]
				}
			}
			if strings.HasPrefix(spec, "z") {
				c.text, spec = true, spec[1:]
			}
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		columns = []column{{'o', 2, false}}
	}
	skip, most, width := int64(0), int64(1)<<62, int64(16)
	for c, n := range map[rune]*int64{'j': &skip, 'N': &most, 'w': &width} {
		if v := o.Value(c); v != "" {
			if *n, err = tool.Size(strings.TrimPrefix(v, "0x")); strings.HasPrefix(v, "0x") {
				*n, err = strconv.ParseInt(v[2:], 16, 64)
			}
			if err != nil || *n < 0 {
				return tool.Errorf("invalid number '%s'", v)
			}
		} else if c == 'w' && o.Has('w') {
			*n = 32
		}
	}
	if width < 1 || width > 4096 || width%8 != 0 && width%int64(columns[0].size) != 0 {
		return tool.Errorf("invalid width %d", width)
	}
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	var readers []io.Reader
	for _, name := range names {
		r, err := e.Open(name)
		if err != nil {
			e.Warn(name, err)
			continue
		}
		defer r.Close()
		readers = append(readers, r)
	}
	in := io.MultiReader(readers...)
	if err := feedN(e, in, skip); err != nil {
		return err
	}
	in = io.LimitReader(in, most)
	address := func(n int64) {
		switch radix := o.Value('A'); radix {
		case "n":
		case "d":
			fmt.Fprintf(e.Stdout, "%07d", n)
		case "x":
			fmt.Fprintf(e.Stdout, "%06x", n)
		default:
			fmt.Fprintf(e.Stdout, "%07o", n)
		}
	}
	// Columns of several forms are aligned: each value takes as much room as the widest form needs for its bytes.
	room := 0
	for _, c := range columns {
		room = max(room, (c.width()*8)/c.size)
	}
	buf, last, same := make([]byte, width), []byte(nil), false
	at := skip
	for {
		n, err := io.ReadFull(in, buf)
		e.World.Spend(16*n + 64)
		if n > 0 {
			row := buf[:n]
			if !o.Has('v') && bytes.Equal(row, last) && n == len(buf) {
				if !same {
					e.Stdout.WriteString("*\n")
				}
				same = true
			} else {
				same = false
				for i, c := range columns {
					if i == 0 {
						address(at)
					} else if o.Value('A') != "n" {
						e.Stdout.WriteString(strings.Repeat(" ", map[string]int{"x": 6}[o.Value('A')]+7*b2i(o.Value('A') != "x")))
					}
					odRow(e, row, c, room*c.size/8, int(width))
				}
				last = append(last[:0], row...)
			}
			at += int64(n)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if o.Value('A') != "n" {
		address(at)
		e.Stdout.WriteByte('\n')
	}
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func feedN(e *tool.Env, r io.Reader, n int64) error {
	return feed(e, io.Discard, io.LimitReader(r, n))
}

var names = []string{"nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si", "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us", "sp"}

func odRow(e *tool.Env, row []byte, c column, room, width int) {
	for i := 0; i < len(row); i += c.size {
		var b [8]byte
		copy(b[:c.size], row[i:])
		v := binary.LittleEndian.Uint64(b[:])
		text := ""
		switch c.kind {
		case 'c':
			ch := row[i]
			if k := strings.IndexByte("\x00\a\b\f\n\r\t\v", ch); k >= 0 {
				text = `\` + "0abfnrtv"[k:k+1]
			} else if ch < 32 || ch > 126 {
				text = fmt.Sprintf("%03o", ch)
			} else {
				text = string(rune(ch))
			}
		case 'a':
			if ch := row[i] & 0x7f; ch < 33 {
				text = names[ch]
			} else if ch == 127 {
				text = "del"
			} else {
				text = string(rune(ch))
			}
		case 'x':
			text = fmt.Sprintf("%0*x", 2*c.size, v)
		case 'o':
			text = fmt.Sprintf("%0*o", map[int]int{1: 3, 2: 6, 4: 11, 8: 22}[c.size], v)
		case 'u':
			text = fmt.Sprint(v)
		case 'd':
			shift := 64 - 8*c.size
			text = fmt.Sprint(int64(v<<shift) >> shift)
		}
		fmt.Fprintf(e.Stdout, "%*s", room, text)
	}
	if c.text {
		e.Stdout.WriteString(strings.Repeat(" ", room*(width-len(row))/c.size) + "  >" + shown(row) + "<")
	}
	e.Stdout.WriteByte('\n')
}

func shown(row []byte) string {
	out := make([]byte, len(row))
	for i, c := range row {
		if c < 32 || c > 126 {
			c = '.'
		}
		out[i] = c
	}
	return string(out)
}

func hexdump(e *tool.Env) error {
	o, err := e.Options("Cn:s:vxbcdo", "canonical=C length=n skip=s no-squeezing=v")
	if err != nil {
		return err
	}
	most, skip := int64(1)<<62, int64(0)
	for c, n := range map[rune]*int64{'n': &most, 's': &skip} {
		if o.Has(c) {
			if *n, err = tool.Size(o.Value(c)); err != nil {
				return err
			}
		}
	}
	canonical := o.Has('C') || e.Name == "hd"
	at := skip
	var last []byte
	same := false
	err = e.Each(o.Args, func(_ string, r io.Reader) error {
		if err := feedN(e, r, skip); err != nil {
			return err
		}
		r = io.LimitReader(r, most)
		buf := make([]byte, 16)
		for {
			n, err := io.ReadFull(r, buf)
			e.World.Spend(16*n + 64)
			row := buf[:n]
			switch {
			case n == 0:
			case n == 16 && bytes.Equal(row, last) && !o.Has('v'):
				if !same {
					e.Stdout.WriteString("*\n")
				}
				same = true
			case canonical:
				same = false
				fmt.Fprintf(e.Stdout, "%08x  ", at)
				for i := range 16 {
					if i < n {
						fmt.Fprintf(e.Stdout, "%02x ", row[i])
					} else {
						e.Stdout.WriteString("   ")
					}
					if i == 7 {
						e.Stdout.WriteByte(' ')
					}
				}
				fmt.Fprintf(e.Stdout, " |%s|\n", shown(row))
			default:
				same = false
				fmt.Fprintf(e.Stdout, "%07x", at)
				for i := 0; i < 16; i += 2 {
					switch {
					case i+1 < n:
						fmt.Fprintf(e.Stdout, " %02x%02x", row[i+1], row[i])
					case i < n:
						fmt.Fprintf(e.Stdout, " 00%02x", row[i])
					default:
						e.Stdout.WriteString("     ")
					}
				}
				e.Stdout.WriteByte('\n')
			}
			last = append(last[:0], row...)
			at += int64(n)
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	if at > 0 || err == nil {
		if canonical {
			fmt.Fprintf(e.Stdout, "%08x\n", at)
		} else {
			fmt.Fprintf(e.Stdout, "%07x\n", at)
		}
	}
	return err
}

// crc is the cyclic redundancy check of POSIX's cksum.
type crc struct {
	sum uint32
	n   uint64
}

func (c *crc) add(b byte) {
	c.sum ^= uint32(b) << 24
	for range 8 {
		if c.sum&(1<<31) != 0 {
			c.sum = c.sum<<1 ^ 0x04c11db7
		} else {
			c.sum <<= 1
		}
	}
}

func (c *crc) Write(p []byte) (int, error) {
	for _, b := range p {
		c.add(b)
	}
	c.n += uint64(len(p))
	return len(p), nil
}

func cksum(e *tool.Env) error {
	o, err := e.Options("", "")
	if err != nil {
		return err
	}
	return e.Each(o.Args, func(name string, r io.Reader) error {
		c := &crc{}
		if err := feed(e, c, r); err != nil {
			return err
		}
		for n := c.n; n > 0; n >>= 8 {
			c.add(byte(n))
		}
		fmt.Fprintf(e.Stdout, "%d %d", ^c.sum, c.n)
		if len(o.Args) > 0 {
			e.Stdout.WriteString(" " + name)
		}
		return e.Stdout.WriteByte('\n')
	})
}
