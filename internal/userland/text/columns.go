package text

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// More returns the commands that a page can do without until a tool is loaded.
func More() tool.Set {
	const c = "text"
	return tool.Set{
		{Name: "fold", Usage: "[-sb] [-w N] [FILE]...", Summary: "break long lines", Category: c, Files: "read", Run: fold, Help: "  -w N  the width (default 80)    -s  at blanks    -b  count bytes"},
		{Name: "fmt", Usage: "[-w N] [FILE]...", Summary: "fill paragraphs", Category: c, Files: "read", Run: format, Help: "  -w N  the width (default 75)"},
		{Name: "expand", Usage: "[-i] [-t N] [FILE]...", Summary: "make blanks of tabs", Category: c, Files: "read", Run: expand},
		{Name: "unexpand", Usage: "[-a] [-t N] [FILE]...", Summary: "make tabs of blanks", Category: c, Files: "read", Run: unexpand},
		{Name: "join", Usage: "[-a N] [-v N] [-1 N] [-2 N] [-t C] [-o LIST] [-e TEXT] [-i] FILE1 FILE2", Summary: "join lines of two sorted files by a field", Category: c, Files: "read", Run: join},
		{Name: "comm", Usage: "[-123] FILE1 FILE2", Summary: "compare two sorted files line by line", Category: c, Files: "read", Run: comm, Help: "  -1 -2 -3  without that column    --output-delimiter=TEXT"},
		{Name: "column", Usage: "[-t] [-s CHARS] [-o TEXT] [-N NAMES] [FILE]...", Summary: "align fields in columns", Category: c, Files: "read", Run: column, Help: "  -t  a table    -s CHARS  the fields' separators    -o TEXT  between columns (default two blanks)    -N NAMES  of the columns, with commas"},
		{Name: "split", Usage: "[-l N | -b SIZE | -n N] [-d] [-a N] [FILE [PREFIX]]", Summary: "cut a file into pieces", Category: c, Files: "readwrite", Run: split2, Help: "  -l N  lines each (default 1000)    -b SIZE  bytes each    -n N  that many pieces    -d  numbers as names    -a N  letters of a name    --additional-suffix=TEXT"},
		{Name: "csplit", Usage: "[-sk] [-f PREFIX] [-n N] FILE PATTERN...", Summary: "cut a file at lines or patterns", Category: c, Files: "readwrite", Run: csplit},
		{Name: "shuf", Usage: "[-r] [-n N] [-e TEXT... | -i LO-HI | FILE]", Summary: "lines in a random order", Category: c, Files: "read", Run: shuf},
		{Name: "strings", Usage: "[-n N] [FILE]...", Summary: "print the texts in a file of bytes", Category: c, Files: "read", Run: stringsOf},
	}
}

// width returns the value of an option as a width of at least 1.
func width(e *tool.Env, o *tool.Opts, c rune, standard int) (int, error) {
	n, err := e.Int(o, c, standard)
	if o.Has('#') && !o.Has(c) {
		n, err = e.Int(o, '#', standard)
	}
	if err == nil && (n < 1 || n > 1<<20) {
		err = tool.Errorf("invalid number of columns: '%s'", o.Value(c))
	}
	return n, err
}

func fold(e *tool.Env) error {
	o, err := e.Options("sbcw:#", "width=w spaces=s bytes=b characters=c")
	if err != nil {
		return err
	}
	most, err := width(e, o, 'w', 80)
	if err != nil {
		return err
	}
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, '\n', func(line []byte) error {
			text := bare(line)
			for len(text) > 0 {
				at, column, blank := 0, 0, -1
				for at < len(text) {
					c := text[at] // GNU's fold counts bytes
					next := column + 1
					if c == '\t' && !o.Has('b') {
						next = column + 8 - column%8
					}
					if next > most && at > 0 {
						break
					}
					column = next
					at++
					if c == ' ' || c == '\t' {
						blank = at
					}
				}
				if at < len(text) && o.Has('s') && blank > 0 {
					at = blank
				}
				e.Stdout.Write(text[:at])
				if text = text[at:]; len(text) > 0 {
					e.Stdout.WriteByte('\n')
				}
				e.World.Spend(at + 16)
			}
			_, err := e.Stdout.Write(line[len(bare(line)):])
			return err
		})
	})
}

func format(e *tool.Env) error {
	o, err := e.Options("w:sug:cp:t#", "width=w split-only=s uniform-spacing=u goal=g")
	if err != nil {
		return err
	}
	most, err := width(e, o, 'w', 75)
	if err != nil {
		return err
	}
	column := 0
	indent := ""
	flush := func() {
		if column > 0 {
			e.Stdout.WriteByte('\n')
		}
		column = 0
	}
	err = e.Each(o.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, '\n', func(line []byte) error {
			text := string(bare(line))
			words := strings.Fields(text)
			if len(words) == 0 {
				flush()
				return e.Stdout.WriteByte('\n')
			}
			if in := text[:len(text)-len(strings.TrimLeft(text, " \t"))]; in != indent {
				flush()
				indent = in
			}
			for _, w := range words {
				if column > 0 && column+1+len(w) > most*93/100 {
					flush()
				}
				if column == 0 {
					e.Stdout.WriteString(indent)
					column = len(indent)
				} else {
					e.Stdout.WriteByte(' ')
					column++
				}
				e.Stdout.WriteString(w)
				column += len(w)
			}
			return nil
		})
	})
	flush()
	return err
}

func expand(e *tool.Env) error {
	o, err := e.Options("it:#", "initial=i tabs=t")
	if err != nil {
		return err
	}
	tab, stops, err := tabStops(e, o)
	if err != nil {
		return err
	}
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, '\n', func(line []byte) error {
			column, begin := 0, true
			for _, c := range line {
				if c == '\t' && (begin || !o.Has('i')) {
					for {
						e.Stdout.WriteByte(' ')
						column++
						if len(stops) == 0 && column%tab == 0 || len(stops) > 0 && (column >= stops[len(stops)-1] || slices.Contains(stops, column)) {
							break
						}
					}
					continue
				}
				begin = begin && (c == ' ' || c == '\t')
				if c&0xc0 != 0x80 {
					column++
				}
				if err := e.Stdout.WriteByte(c); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// tabStops returns the distance of tabs, or the list of them.
func tabStops(e *tool.Env, o *tool.Opts) (tab int, stops []int, err error) {
	if !strings.ContainsAny(o.Value('t'), ", ") {
		tab, err = width(e, o, 't', 8)
		return tab, nil, err
	}
	for w := range strings.FieldsFuncSeq(o.Value('t'), func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || len(stops) > 1000 || len(stops) > 0 && n <= stops[len(stops)-1] {
			return 0, nil, tool.Errorf("tab sizes must be ascending numbers: '%s'", o.Value('t'))
		}
		stops = append(stops, n)
	}
	return 8, stops, nil
}

func unexpand(e *tool.Env) error {
	o, err := e.Options("at:1", "all=a tabs=t first-only=1")
	if err != nil {
		return err
	}
	tab, err := width(e, o, 't', 8)
	if err != nil {
		return err
	}
	all := (o.Has('a') || o.Has('t')) && !o.Has('1')
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, '\n', func(line []byte) error {
			column, blanks, begin := 0, 0, true
			for _, c := range line {
				switch {
				case c == ' ' && (begin || all):
					blanks++
					if column++; column%tab == 0 {
						if blanks > 1 || begin {
							e.Stdout.WriteByte('\t')
						} else {
							e.Stdout.WriteByte(' ')
						}
						blanks = 0
					}
					continue
				case c == '\t':
					blanks = 0
					column += tab - column%tab
				default:
					begin = false
					column++
				}
				for ; blanks > 0; blanks-- {
					e.Stdout.WriteByte(' ')
				}
				e.Stdout.WriteByte(c)
			}
			for ; blanks > 0; blanks-- {
				e.Stdout.WriteByte(' ')
			}
			return nil
		})
	})
}

// rowsOf returns the lines of a file without their ends.
func rowsOf(e *tool.Env, name string) ([]string, error) {
	data, err := e.ReadAll(name)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	n := bytes.Count(data, []byte("\n"))
	if n > maxLines {
		panic(tool.TooMuch("the input is longer than 2,000,000 lines"))
	}
	e.World.Hold(len(data) + 16*n)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), nil
}

func comm(e *tool.Env) error {
	o, err := e.Options("1234:zi567", "output-delimiter=4 total=5 check-order=6 nocheck-order=7")
	if err != nil {
		return err
	}
	if len(o.Args) != 2 {
		return e.Usagef("want two files")
	}
	a, err := rowsOf(e, o.Args[0])
	if err != nil {
		return err
	}
	b, err := rowsOf(e, o.Args[1])
	if err != nil {
		return err
	}
	sep := "\t"
	if o.Has('4') {
		sep = o.Value('4')
	}
	var total [4]int
	put := func(column int, text string) {
		total[column]++
		key := rune('0' + column)
		if o.Has(key) {
			return
		}
		for i := 1; i < column; i++ {
			if !o.Has(rune('0' + i)) {
				e.Stdout.WriteString(sep)
			}
		}
		e.Stdout.WriteString(text)
		e.Stdout.WriteByte('\n')
	}
	sorted := [2]bool{true, true}
	heed := func(i int, list []string, at int) {
		if !o.Has('7') && sorted[i] && at > 0 && list[at] < list[at-1] {
			sorted[i] = false
			e.Errorf("file %d is not in sorted order", i+1)
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		e.World.Spend(64)
		switch {
		case j >= len(b) || i < len(a) && a[i] < b[j]:
			heed(0, a, i)
			put(1, a[i])
			i++
		case i >= len(a) || b[j] < a[i]:
			heed(1, b, j)
			put(2, b[j])
			j++
		default:
			heed(0, a, i)
			heed(1, b, j)
			put(3, a[i])
			i++
			j++
		}
		if o.Has('6') && e.Failed() {
			return tool.Code(1)
		}
	}
	if o.Has('5') {
		fmt.Fprintf(e.Stdout, "%d%s%d%s%d%stotal\n", total[1], sep, total[2], sep, total[3], sep)
	}
	return nil
}

func join(e *tool.Env) error {
	o, err := e.Options("a:v:1:2:t:o:e:ij:hz34", "check-order=3 nocheck-order=4 header=h ignore-case=i")
	if err != nil {
		return err
	}
	if len(o.Args) != 2 {
		return e.Usagef("want two files")
	}
	var on [2]int
	for i, c := range []rune{'1', '2'} {
		n, err := e.Int(o, c, 0)
		if err == nil && n == 0 {
			n, err = e.Int(o, 'j', 1)
		}
		if err != nil || n < 1 {
			return tool.Errorf("invalid field number: '%s'", o.Value(c))
		}
		on[i] = n - 1
	}
	sep := o.Value('t')
	fields := func(row string) []string {
		if o.Has('t') {
			return strings.Split(row, sep)
		}
		return strings.Fields(row)
	}
	between := " "
	if o.Has('t') {
		between = sep
	}
	var list [2][][]string
	for i, name := range o.Args {
		rows, err := rowsOf(e, name)
		if err != nil {
			return err
		}
		for _, r := range rows {
			e.World.Spend(len(r) + 64)
			e.World.Hold(64)
			list[i] = append(list[i], fields(r))
		}
	}
	at := func(f []string, n int) string {
		if n < len(f) && n >= 0 && f[n] != "" {
			return f[n]
		}
		return o.Value('e')
	}
	key := func(i int, f []string) string {
		k := ""
		if on[i] < len(f) {
			k = f[on[i]]
		}
		if o.Has('i') {
			k = strings.ToLower(k)
		}
		return k
	}
	var width [2]int // of the first line of each file, for -o auto
	for i := range list {
		if len(list[i]) > 0 {
			width[i] = len(list[i][0])
		}
	}
	put := func(pair [2][]string) {
		var cells []string
		if o.Has('o') && o.Value('o') != "auto" {
			for _, spec := range strings.FieldsFunc(o.Value('o'), func(r rune) bool { return r == ',' || r == ' ' }) {
				if spec == "0" {
					for i := range pair {
						if pair[i] != nil {
							cells = append(cells, at(pair[i], on[i]))
							break
						}
					}
					continue
				}
				file, field, _ := strings.Cut(spec, ".")
				n, _ := strconv.Atoi(field)
				i := 0
				if file == "2" {
					i = 1
				}
				cells = append(cells, at(pair[i], n-1))
			}
		} else {
			for i := range pair {
				if pair[i] != nil {
					cells = append(cells, at(pair[i], on[i]))
					break
				}
			}
			for i, f := range pair {
				most := len(f)
				if o.Value('o') == "auto" {
					most = width[i]
				}
				for n := range most {
					if n != on[i] {
						cells = append(cells, at(f, n))
					}
				}
			}
		}
		line := strings.Join(cells, between)
		e.World.Spend(len(line) + 64)
		e.Stdout.WriteString(line)
		e.Stdout.WriteByte('\n')
	}
	alone := func(n string) bool { return slices.Contains(o.All('a'), n) || slices.Contains(o.All('v'), n) }
	a, b := list[0], list[1]
	if o.Has('h') && len(a) > 0 && len(b) > 0 {
		put([2][]string{a[0], b[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && key(0, a[0]) < key(1, b[0]):
			if alone("1") {
				put([2][]string{a[0], nil})
			}
			a = a[1:]
		case len(a) == 0 || key(1, b[0]) < key(0, a[0]):
			if alone("2") {
				put([2][]string{nil, b[0]})
			}
			b = b[1:]
		default:
			k := key(0, a[0])
			n, m := 1, 1
			for n < len(a) && key(0, a[n]) == k {
				n++
			}
			for m < len(b) && key(1, b[m]) == k {
				m++
			}
			for _, x := range a[:n] {
				for _, y := range b[:m] {
					if !o.Has('v') {
						put([2][]string{x, y})
					}
				}
			}
			a, b = a[n:], b[m:]
		}
	}
	return nil
}

func column(e *tool.Env) error {
	o, err := e.Options("ts:o:N:c:xn:eR:H:l:JdEO:T:W:", "fillrows=x table-hide=H table-columns-limit=l table-name=n table-noheadings=d table separator=s output-separator=o table-columns=N output-width=c table-right=R")
	if err != nil {
		return err
	}
	limit, err := e.Int(o, 'l', 1<<30)
	if err != nil || limit < 1 {
		return tool.Errorf("invalid columns limit argument: '%s'", o.Value('l'))
	}
	room, err := e.Int(o, 'c', 80)
	if err != nil || room > 1<<20 {
		return tool.Errorf("invalid columns argument: '%s'", o.Value('c'))
	}
	var rows [][]string
	var widths []int
	var names []string
	listed := func(c rune, n int) bool { // a column is in the list of an option, by its name or its number
		for w := range strings.SplitSeq(o.Value(c), ",") {
			if w == strconv.Itoa(n+1) || n < len(names) && w != "" && w == names[n] {
				return true
			}
		}
		return false
	}
	add := func(cells []string) {
		for i, c := range cells {
			n := utf8.RuneCountInString(c)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], n)
		}
		e.World.Hold(24 + 16*len(cells))
		rows = append(rows, cells)
	}
	if o.Has('N') {
		if names = strings.Split(o.Value('N'), ","); !o.Has('d') && !o.Has('J') {
			add(names)
		}
	}
	err = e.Each(o.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, '\n', func(line []byte) error {
			e.World.Hold(len(line))
			text := string(bare(line))
			switch {
			case strings.TrimSpace(text) == "":
			case !o.Has('t'):
				add([]string{text})
			case o.Has('s'):
				add(limited(splitAny(text, o.Value('s')), limit, o.Value('s')[:1]))
			default:
				add(upTo(text, limit))
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	between := "  "
	if o.Has('o') {
		between = o.Value('o')
	}
	if !o.Has('t') {
		return columns(e, rows, widths, room, o.Has('x'))
	}
	total := 0
	for _, w := range widths {
		total += w + len(between)
	}
	if total*len(rows) > 16<<20 {
		panic(tool.TooMuch("the output is longer than 16 MiB"))
	}
	var shown []int
	for i := range widths {
		if !listed('H', i) {
			shown = append(shown, i)
		}
	}
	for _, cells := range rows {
		e.World.Spend(total)
		for at, i := range shown {
			if i >= len(cells) {
				break
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cells[i]))
			last := at == len(shown)-1
			switch {
			case listed('R', i):
				e.Stdout.WriteString(pad + cells[i])
			case last:
				e.Stdout.WriteString(cells[i])
			default:
				e.Stdout.WriteString(cells[i] + pad)
			}
			if !last && i < len(cells)-1 {
				e.Stdout.WriteString(between)
			}
		}
		e.Stdout.WriteByte('\n')
	}
	return nil
}

// upTo returns the fields of a line. The last of at most so many has the rest of the line.
func upTo(text string, limit int) (out []string) {
	for text = strings.TrimLeft(text, " \t"); text != ""; {
		i := strings.IndexAny(text, " \t")
		if i < 0 || len(out) == limit-1 {
			return append(out, text)
		}
		out, text = append(out, text[:i]), strings.TrimLeft(text[i:], " \t")
	}
	return out
}

func limited(cells []string, limit int, sep string) []string {
	if len(cells) <= limit {
		return cells
	}
	return append(cells[:limit-1:limit-1], strings.Join(cells[limit-1:], sep))
}

func splitAny(text, seps string) []string {
	var out []string
	for {
		i := strings.IndexAny(text, seps)
		if i < 0 {
			return append(out, text)
		}
		out = append(out, text[:i])
		text = text[i+1:]
	}
}

// columns prints entries in as many columns as fit in so many characters, downwards or across.
func columns(e *tool.Env, rows [][]string, widths []int, room int, across bool) error {
	if len(rows) == 0 {
		return nil
	}
	wide := (widths[0]/8 + 1) * 8
	per := max(room/wide, 1)
	high := (len(rows) + per - 1) / per
	for y := range high {
		for x := range per {
			i, next := x*high+y, (x+1)*high+y
			if across {
				i, next = y*per+x, y*per+x+1
			}
			if i >= len(rows) {
				break
			}
			e.World.Spend(wide)
			e.Stdout.WriteString(rows[i][0])
			if next < len(rows) && x < per-1 {
				for at := utf8.RuneCountInString(rows[i][0]); at < wide; at = at/8*8 + 8 {
					e.Stdout.WriteByte('\t')
				}
			}
		}
		e.Stdout.WriteByte('\n')
	}
	return nil
}

const maxPieces = 10_000 // files of split

func split2(e *tool.Env) error {
	o, err := e.Options("l:b:n:da:1:xC:2::3:#", "line-bytes=C filter=3 lines=l bytes=b number=n numeric-suffixes=2 suffix-length=a additional-suffix=1")
	if err != nil {
		return err
	}
	name, prefix := "-", "x"
	if len(o.Args) > 0 {
		name = o.Args[0]
	}
	if len(o.Args) > 1 {
		prefix = o.Args[1]
	}
	data, err := e.ReadAll(name)
	if err != nil {
		return err
	}
	letters, err := e.Int(o, 'a', 2)
	if err != nil || letters < 1 || letters > 9 {
		return tool.Errorf("invalid suffix length: '%s'", o.Value('a'))
	}
	var pieces [][]byte
	if k := o.Last("lbn#"); k == 'b' || k == 'n' {
		size, err := tool.Size(strings.TrimPrefix(strings.TrimPrefix(o.Value(k), "l/"), "r/"))
		if err != nil || size < 1 {
			return tool.Errorf("invalid number of bytes: '%s'", o.Value(k))
		}
		if k == 'n' {
			if size > maxPieces {
				return tool.Errorf("more than 10,000 pieces")
			}
			n := int(size)
			switch value := o.Value('n'); {
			case strings.HasPrefix(value, "r/"): // the lines in turn
				pieces = make([][]byte, n)
				i := 0
				for line := range bytes.Lines(data) {
					e.World.Spend(len(line) + 32)
					pieces[i%n] = append(pieces[i%n], line...)
					i++
				}
			case strings.HasPrefix(value, "l/"): // whole lines
				pieces = make([][]byte, n)
				at := 0
				for line := range bytes.Lines(data) {
					e.World.Spend(len(line) + 32)
					i := min(at*n/max(len(data), 1), n-1)
					pieces[i] = append(pieces[i], line...)
					at += len(line)
				}
			default:
				for i := range n {
					to := len(data) / n * (i + 1)
					if i == n-1 {
						to = len(data)
					}
					pieces = append(pieces, data[len(data)/n*i:to])
				}
			}
		} else if int64(len(data))/size > maxPieces {
			return tool.Errorf("more than 10,000 pieces")
		} else {
			pieces = slices.Collect(slices.Chunk(data, int(min(size, 1<<30))))
		}
	} else if o.Has('C') { // lines of at most so many bytes together
		size, err := tool.Size(o.Value('C'))
		if err != nil || size < 1 {
			return tool.Errorf("invalid number of bytes: '%s'", o.Value('C'))
		}
		var piece []byte
		for line := range bytes.Lines(data) {
			e.World.Spend(len(line) + 32)
			for len(line) > 0 {
				if len(piece) > 0 && int64(len(piece)+len(line)) > size {
					pieces, piece = append(pieces, piece), nil
				}
				n := int(min(int64(len(line)), size))
				piece, line = append(piece, line[:n]...), line[n:]
				if len(pieces) > maxPieces {
					return tool.Errorf("more than 10,000 pieces")
				}
			}
		}
		if len(piece) > 0 {
			pieces = append(pieces, piece)
		}
	} else {
		n, err := width(e, o, 'l', 1000)
		if err != nil {
			return err
		}
		for len(data) > 0 {
			at := 0
			for range n {
				i := bytes.IndexByte(data[at:], '\n')
				if i < 0 {
					at = len(data)
					break
				}
				at += i + 1
			}
			e.World.Spend(at)
			if pieces, data = append(pieces, data[:at]), data[at:]; len(pieces) > maxPieces {
				return tool.Errorf("more than 10,000 pieces")
			}
		}
	}
	for i, p := range pieces {
		suffix := ""
		if o.Has('d') || o.Has('2') {
			suffix = fmt.Sprintf("%0*d", letters, i)
		} else {
			for n, at := i, 0; at < letters; at++ {
				suffix = string(rune('a'+n%26)) + suffix
				n /= 26
			}
		}
		if o.Has('3') { // each piece is the input of a command
			sub := *e
			sub.Stdin = bytes.NewReader(p)
			e.Stdout.Flush()
			if code := e.World.Run(&sub, []string{"sh", "-c", o.Value('3')}, []string{"FILE=" + prefix + suffix + o.Value('1')}); code != 0 {
				return tool.Code(code)
			}
			continue
		}
		if err := e.Replace(prefix+suffix+o.Value('1'), p); err != nil {
			return err
		}
	}
	return nil
}

func csplit(e *tool.Env) error {
	o, err := e.Options("skf:n:zb:", "quiet=s silent=s keep-files=k prefix=f digits=n elide-empty-files=z")
	if err != nil {
		return err
	}
	if len(o.Args) < 2 {
		return e.Usagef("want a file and where to cut it")
	}
	digits, err := e.Int(o, 'n', 2)
	if err != nil || digits > 9 {
		return tool.Errorf("invalid number of digits")
	}
	prefix := "xx"
	if o.Has('f') {
		prefix = o.Value('f')
	}
	rows, err := rowsOf(e, o.Args[0])
	if err != nil {
		return err
	}
	var cuts []int
	at := 0
	for _, arg := range o.Args[1:] {
		p := &sedParser{s: arg, e: e}
		if n, err := strconv.Atoi(arg); err == nil {
			if n-1 < at || n-1 > len(rows) {
				return tool.Errorf("'%s': line number out of range", arg)
			}
			at = n - 1
			cuts = append(cuts, at)
			continue
		}
		a, err := p.address()
		if err != nil || a == nil || a.kind != '/' || a.re == nil {
			return tool.Errorf("%s: invalid pattern", arg)
		}
		times := 1
		if rest := p.s[p.i:]; rest == "{*}" {
			times = maxPieces
		} else if rest != "" {
			return tool.Errorf("%s: only /RE/, N and /RE/{*} are known", arg)
		}
		if next := slices.Index(o.Args, arg) + 1; next < len(o.Args) && o.Args[next] == "{*}" {
			times = maxPieces
		}
		for range times {
			i := at
			if len(cuts) > 0 {
				i++
			}
			for i < len(rows) && !a.re.Match([]byte(rows[i])) {
				i++
			}
			if i >= len(rows) {
				if times == 1 {
					return tool.Errorf("'%s': match not found", arg)
				}
				break
			}
			at = i
			cuts = append(cuts, i)
		}
		if times > 1 {
			break
		}
	}
	if o.Has('b') && !suffixFormat(o.Value('b')) {
		return tool.Errorf("the suffix '%s' has no %% directive of one number", o.Value('b'))
	}
	from, made := 0, 0
	for _, to := range append(cuts, len(rows)) {
		text := strings.Join(rows[from:to], "\n")
		if to > from {
			text += "\n"
		}
		if text == "" && o.Has('z') {
			from = to
			continue
		}
		suffix := fmt.Sprintf("%0*d", digits, made)
		if o.Has('b') {
			suffix = fmt.Sprintf(o.Value('b'), made)
		}
		made++
		if err := e.Replace(prefix+suffix, []byte(text)); err != nil {
			return err
		}
		if !o.Has('s') {
			fmt.Fprintln(e.Stdout, len(text))
		}
		from = to
	}
	return nil
}

// suffixFormat reports whether a format has exactly one directive, for a number of at most 9 characters.
func suffixFormat(format string) bool {
	_, rest, ok := strings.Cut(strings.ReplaceAll(format, "%%", ""), "%")
	digits := strings.TrimLeft(rest, "0123456789-+ #")
	return ok && len(rest)-len(digits) <= 2 && digits != "" && strings.IndexByte("dxXo", digits[0]) >= 0 && !strings.Contains(digits, "%")
}

func shuf(e *tool.Env) error {
	o, err := e.Options("ei:n:rzo:1:", "random-source=1 echo=e input-range=i head-count=n repeat=r output=o")
	if err != nil {
		return err
	}
	var rows []string
	switch {
	case o.Has('e'):
		rows = o.Args
	case o.Has('i'):
		a, b, _ := strings.Cut(o.Value('i'), "-")
		lo, err1 := strconv.Atoi(a)
		hi, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil || hi < lo || hi-lo >= maxSeq {
			return tool.Errorf("invalid input range: '%s'; at most 1,000,000 numbers", o.Value('i'))
		}
		e.World.Hold(24 * (hi - lo + 1))
		for i := lo; i <= hi; i++ {
			rows = append(rows, strconv.Itoa(i))
			e.World.Spend(32)
		}
	default:
		name := "-"
		if len(o.Args) > 0 {
			name = o.Args[0]
		}
		if rows, err = rowsOf(e, name); err != nil {
			return err
		}
	}
	n, err := e.Int(o, 'n', len(rows))
	if err != nil {
		return err
	}
	if o.Has('r') && (n > maxSeq || len(rows) == 0) {
		return tool.Errorf("more than 1,000,000 lines, or none to choose from")
	}
	rows = slices.Clone(rows)
	rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	out := e.Stdout
	if o.Has('o') {
		f, err := e.World.Create(o.Value('o'), false)
		if err != nil {
			return err
		}
		defer f.Close()
		out = bufio.NewWriter(f)
		defer out.Flush()
	}
	for i := range n {
		if !o.Has('r') && i >= len(rows) {
			break
		}
		row := ""
		if o.Has('r') {
			row = rows[rand.IntN(len(rows))]
		} else {
			row = rows[i]
		}
		e.World.Spend(len(row) + 16)
		out.WriteString(row)
		out.WriteByte('\n')
	}
	return nil
}

func stringsOf(e *tool.Env) error {
	o, err := e.Options("n:at:#", "bytes=n all=a radix=t")
	if err != nil {
		return err
	}
	least, err := width(e, o, 'n', 4)
	if err != nil {
		return err
	}
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		var text []byte
		flush := func() {
			if len(text) >= least {
				e.Stdout.Write(text)
				e.Stdout.WriteByte('\n')
			}
			text = text[:0]
		}
		buf := make([]byte, 8<<10)
		for {
			n, err := r.Read(buf)
			e.World.Spend(4*n + 1)
			for _, c := range buf[:n] {
				if c >= 32 && c < 127 || c == '\t' {
					if text = append(text, c); len(text) > 1<<20 {
						e.Stdout.Write(text)
						least, text = 0, text[:0]
					}
				} else {
					flush()
				}
			}
			if err == io.EOF {
				flush()
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}
