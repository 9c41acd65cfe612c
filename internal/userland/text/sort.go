package text

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

const sortHelp = `  -n  by number  -g  by number with exponent  -h  by size (2K, 1G)  -V  by version  -r  reversed  -f  ignore case
  -d  letters, digits and blanks only  -b  ignore blanks in front  -u  equal lines once  -s  stable  -c  only check
  -k FROM[.C][nrfbdhgV][,TO[.C]]  a key  -t SEP  the fields' separator  -o FILE  write there  -z  lines end in NUL
  -R  in the order of a hash`

// sortKey is a part of the line and the way in which it is compared.
type sortKey struct {
	from, fromChar, to, toChar int // counted from 1; to 0 is the line's end
	flags                      string
}

func (k sortKey) has(c byte) bool { return strings.IndexByte(k.flags, c) >= 0 }

// incompatible returns the flags of a key if two of them are different orders.
func (k sortKey) incompatible() string {
	orders, flags := 0, ""
	for _, c := range "dfghiMnRV" {
		if !k.has(byte(c)) {
			continue
		}
		flags += string(c)
		if strings.ContainsRune("ghMn", c) {
			orders++
		}
	}
	if k.has('V') || k.has('R') || k.has('d') || k.has('i') {
		orders++
	}
	if orders < 2 {
		return ""
	}
	return flags
}

const maxLines = 2_000_000 // that are sorted

type sorter struct {
	keys      []sortKey
	sep       []byte
	plain     bool // neither keys nor flags: the bytes of the line are compared
	reverse   bool
	stable    bool
	unique    bool
	delimiter byte
}

func sorted(e *tool.Env) error {
	o, err := e.Options("nrufhVgbdiscMk:t:o:zRmS:T:C1:2:3:4:5::", "month-sort=M random-sort=R ignore-nonprinting=i version-sort=V numeric-sort=n reverse=r unique=u ignore-case=f human-numeric-sort=h version-sort=V general-numeric-sort=g ignore-leading-blanks=b "+
		"dictionary-order=d stable=s check=5 key=k field-separator=t output=o zero-terminated=z merge=m buffer-size=S temporary-directory=T parallel=1 batch-size=2 random-source=3 files0-from=4")
	if err != nil {
		return err
	}
	if o.Has('4') {
		data, err := e.ReadAll(o.Value('4'))
		if err != nil {
			return err
		}
		o.Args = append(o.Args, strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")...)
	}
	quiet := o.Has('C') || o.Value('5') == "quiet" || o.Value('5') == "silent"
	s := &sorter{unique: o.Has('u'), stable: o.Has('s') || o.Has('u'), reverse: o.Has('r'), delimiter: '\n'}
	if o.Has('z') {
		s.delimiter = 0
	}
	global := ""
	for _, c := range "nfhVgbdRiM" {
		if o.Has(c) {
			global += string(c)
		}
	}
	if o.Has('t') {
		s.sep = []byte(o.Value('t'))
		if o.Value('t') == `\0` {
			s.sep = []byte{0}
		}
		if len(s.sep) != 1 {
			return tool.Errorf("multi-character tab '%s'", o.Value('t'))
		}
	}
	for _, text := range o.All('k') {
		k, err := parseKey(text)
		if err != nil {
			return err
		}
		if k.flags == "" {
			k.flags = global
			if s.reverse {
				k.flags += "r"
			}
		}
		s.keys = append(s.keys, k)
	}
	if len(s.keys) == 0 && global != "" {
		flags := global
		if s.reverse {
			flags += "r"
		}
		s.keys = []sortKey{{from: 1, flags: flags}}
	}
	for _, k := range s.keys {
		if opts := k.incompatible(); opts != "" {
			return &tool.Exit{Code: 2, Text: "options '-" + opts + "' are incompatible"}
		}
	}
	s.plain = len(s.keys) == 0
	var rows [][]byte
	var files [][][]byte
	err = e.Each(o.Args, func(_ string, r io.Reader) error {
		all, err := e.Slurp(r)
		list := split(all, s.delimiter)
		e.World.Hold(24 * len(list))
		rows, files = append(rows, list...), append(files, list)
		return err
	})
	if err != nil || e.Failed() {
		return err
	}
	if o.Has('c') || o.Has('C') || o.Has('5') {
		return s.check(e, o, rows, quiet)
	}
	if o.Has('m') {
		rows = s.merge(e, files)
	} else {
		rows = s.sort(e, rows)
	}
	if !o.Has('o') {
		return s.write(e.Stdout, rows)
	}
	var b bytes.Buffer
	_ = s.write(&b, rows)
	return e.Replace(o.Value('o'), b.Bytes())
}

func split(all []byte, delimiter byte) [][]byte {
	if len(all) == 0 {
		return nil
	}
	rows := make([][]byte, 0, bytes.Count(all, []byte{delimiter})+1)
	for len(all) > 0 {
		i := bytes.IndexByte(all, delimiter)
		if i < 0 {
			return append(rows, all)
		}
		rows, all = append(rows, all[:i:i]), all[i+1:]
	}
	return rows
}

func (s *sorter) write(w io.Writer, rows [][]byte) error {
	end := []byte{s.delimiter}
	for _, row := range rows {
		if _, err := w.Write(row); err != nil {
			return err
		}
		if _, err := w.Write(end); err != nil {
			return err
		}
	}
	return nil
}

func (s *sorter) check(e *tool.Env, o *tool.Opts, rows [][]byte, quiet bool) error {
	for i := 1; i < len(rows); i++ {
		if c := s.compare(rows[i-1], rows[i]); c > 0 || c == 0 && s.unique {
			name := "-"
			if len(o.Args) > 0 {
				name = o.Args[0]
			}
			if quiet {
				return tool.Code(1)
			}
			return &tool.Exit{Code: 1, Text: fmt.Sprintf("%s:%d: disorder: %s", name, i+1, rows[i])}
		}
	}
	return nil
}

func (s *sorter) sort(e *tool.Env, rows [][]byte) [][]byte {
	if len(rows) > maxLines {
		panic(tool.TooMuch("the input is longer than 2,000,000 lines"))
	}
	if s.plain {
		sortBytes(e, rows)
		if s.unique {
			rows = slices.CompactFunc(rows, bytes.Equal)
		}
		if s.reverse {
			slices.Reverse(rows)
		}
		return rows
	}
	// With its place, no row is equal to another. So the sort need not be stable, which takes several times as long.
	type placed struct {
		row []byte
		at  int32
	}
	e.World.Hold(32 * len(rows))
	list := make([]placed, len(rows))
	for i, row := range rows {
		list[i] = placed{row, int32(i)}
	}
	slices.SortFunc(list, func(a, b placed) int {
		e.World.Spend(min(len(a.row), len(b.row)) + 64)
		if c := s.compare(a.row, b.row); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	})
	for i, p := range list {
		rows[i] = p.row
	}
	if s.unique {
		rows = slices.CompactFunc(rows, func(a, b []byte) bool { return s.compare(a, b) == 0 })
	}
	return rows
}

// prefixed is the place of a row, with the eight bytes after the beginning that all rows share.
type prefixed struct {
	key uint64
	at  uint32
}

// sortBytes sorts rows by their bytes. It sorts by eight bytes of each, byte by byte from the last one, and then the rows that have the same ones.
func sortBytes(e *tool.Env, rows [][]byte) {
	if len(rows) < 2 {
		return
	}
	e.World.Hold(32 * len(rows))
	shared := len(rows[0])
	for i, row := range rows {
		n := 0
		for n < shared && n < len(row) && row[n] == rows[0][n] {
			n++
		}
		shared = n
		if i%1024 == 0 {
			e.World.Spend(16 << 10)
		}
	}
	var counts [8][256]uint32
	list, other := make([]prefixed, len(rows)), make([]prefixed, len(rows))
	for i, row := range rows {
		var key uint64
		if row = row[shared:]; len(row) >= 8 {
			key = binary.BigEndian.Uint64(row)
		} else {
			for n, c := range row {
				key |= uint64(c) << (56 - 8*n)
			}
		}
		list[i] = prefixed{key, uint32(i)}
		for b := range counts {
			counts[b][byte(key>>(8*b))]++
		}
		if i%1024 == 0 {
			e.World.Spend(16 << 10)
		}
	}
	for b := range counts {
		if counts[b][byte(list[0].key>>(8*b))] == uint32(len(list)) {
			continue // it is the same in all rows
		}
		var next [256]uint32
		sum := uint32(0)
		for c, n := range counts[b] {
			next[c] = sum
			sum += n
		}
		for i, p := range list {
			c := byte(p.key >> (8 * b))
			other[next[c]] = p
			next[c]++
			if i%1024 == 0 {
				e.World.Spend(16 << 10)
			}
		}
		list, other = other, list
	}
	for i := range list { // the rows change places in circles
		first := rows[i]
		for at := i; ; {
			from := int(list[at].at)
			list[at].at = uint32(at)
			if from == i {
				rows[at] = first
				break
			}
			rows[at] = rows[from]
			at = from
		}
		if i%1024 == 0 {
			e.World.Spend(16 << 10)
		}
	}
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].key == list[from].key {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(rows[from:to], func(a, b []byte) int {
				e.World.Spend(min(len(a), len(b)) + 64)
				return bytes.Compare(a[shared:], b[shared:])
			})
		}
		from = to
	}
}

// merge merges files that are sorted.
func (s *sorter) merge(e *tool.Env, files [][][]byte) (rows [][]byte) {
	for {
		first := -1
		for i, f := range files {
			e.World.Spend(64)
			if len(f) > 0 && (first < 0 || s.compare(f[0], files[first][0]) < 0) {
				first = i
			}
		}
		if first < 0 {
			return rows
		}
		row := files[first][0]
		files[first] = files[first][1:]
		if s.unique && len(rows) > 0 && s.compare(rows[len(rows)-1], row) == 0 {
			continue
		}
		rows = append(rows, row)
	}
}

func (s *sorter) compare(a, b []byte) int {
	for _, k := range s.keys {
		if c := s.compareKey(k, s.key(k, a), s.key(k, b)); c != 0 {
			return c
		}
	}
	if s.stable && !s.plain {
		return 0
	}
	c := bytes.Compare(a, b)
	if s.reverse {
		c = -c
	}
	return c
}

func (s *sorter) compareKey(k sortKey, a, b []byte) (c int) {
	switch {
	case k.has('n'):
		c = compareNumber(a, b)
	case k.has('h'):
		c = cmp.Or(cmp.Compare(suffix(a), suffix(b)), compareNumber(a, b))
	case k.has('g'):
		c = cmp.Compare(float(a), float(b))
	case k.has('V'):
		c = compareVersion(string(a), string(b))
	case k.has('M'):
		c = cmp.Compare(month(a), month(b))
	case k.has('R'):
		c = cmp.Compare(hash(a), hash(b))
	default:
		if k.has('d') {
			a, b = bytes.Map(dictionary, a), bytes.Map(dictionary, b)
		}
		if k.has('f') {
			a, b = bytes.ToUpper(a), bytes.ToUpper(b)
		}
		c = bytes.Compare(a, b)
	}
	if k.has('r') {
		c = -c
	}
	return c
}

// month returns the number of the month that a key begins with, or 0.
func month(s []byte) int {
	s = bytes.TrimLeft(s, " \t")
	if len(s) < 3 {
		return 0
	}
	return max(strings.Index("...JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", string(bytes.ToUpper(s[:3]))), 0) / 3
}

func dictionary(r rune) rune {
	if r == ' ' || r == '\t' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return -1
}

func hash(b []byte) (h uint64) {
	h = 14695981039346656037
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// number returns the sign and the digits of the number at the beginning of a key.
func number(s []byte) (negative bool, whole, frac []byte) {
	s = bytes.TrimLeft(s, " \t")
	if len(s) > 0 && s[0] == '-' {
		negative, s = true, s[1:]
	}
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	whole, s = bytes.TrimLeft(s[:i], "0"), s[i:]
	if len(s) > 0 && s[0] == '.' {
		for i = 1; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		}
		frac = bytes.TrimRight(s[1:i], "0")
	}
	return negative && len(whole)+len(frac) > 0, whole, frac
}

func compareNumber(a, b []byte) int {
	an, aw, af := number(a)
	bn, bw, bf := number(b)
	if an != bn {
		if an {
			return -1
		}
		return 1
	}
	c := cmp.Or(cmp.Compare(len(aw), len(bw)), bytes.Compare(aw, bw), bytes.Compare(af, bf))
	if an {
		c = -c
	}
	return c
}

// suffix returns the rank of the suffix in 2K or 1G.
func suffix(s []byte) int {
	negative, whole, frac := number(s)
	s = bytes.TrimLeft(s, " \t-0123456789.")
	rank := 0
	if len(s) > 0 && len(whole)+len(frac) > 0 {
		rank = strings.IndexByte("KMGTPEZY", bytes.ToUpper(s[:1])[0]) + 1
	}
	if negative {
		return -rank
	}
	return rank
}

func float(s []byte) float64 {
	text := string(bytes.TrimSpace(s))
	for n := len(text); n > 0; n-- {
		if f, err := strconv.ParseFloat(text[:n], 64); err == nil {
			return f
		}
	}
	return math.Inf(-1)
}

func compareVersion(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(a), len(b))
	}
	for _, first := range []func(string) bool{
		func(s string) bool { return s[0] == '.' }, func(s string) bool { return s == "." }, func(s string) bool { return s == ".." },
	} {
		switch x, y := first(a), first(b); {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
	}
	return cmp.Or(compareParts(withoutEndings(a), withoutEndings(b)), compareParts(a, b))
}

// withoutEndings returns a name without its endings, such as .tar.gz, which count only between names that are the same before them.
func withoutEndings(s string) string {
	end := 0
	for i := 0; i < len(s); {
		for i+1 < len(s) && s[i] == '.' && (letter(s[i+1]) || s[i+1] == '~') {
			for i += 2; i < len(s) && (letter(s[i]) || digit(s[i]) || s[i] == '~'); i++ {
			}
		}
		if i < len(s) {
			i++
			end = i
		}
	}
	return s[:end]
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// compareParts compares texts and numbers in turn. In a text ~ comes before its end, then letters, then all others.
func compareParts(a, b string) int {
	order := func(s string) int {
		switch {
		case s == "":
			return -1
		case digit(s[0]):
			return 0
		case letter(s[0]):
			return int(s[0])
		case s[0] == '~':
			return -2
		}
		return int(s[0]) + 256
	}
	for a != "" || b != "" {
		for a != "" && !digit(a[0]) || b != "" && !digit(b[0]) {
			if c := cmp.Compare(order(a), order(b)); c != 0 {
				return c
			}
			a, b = a[1:], b[1:]
		}
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		i, j := digits(a), digits(b)
		if c := cmp.Or(cmp.Compare(i, j), strings.Compare(a[:i], b[:j])); c != 0 {
			return c
		}
		a, b = a[i:], b[j:]
	}
	return 0
}

func digits(s string) int {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

func parseKey(text string) (k sortKey, err error) {
	from, to, has := strings.Cut(text, ",")
	bad := fmt.Errorf("invalid key: '%s'", text)
	place := func(s string) (field, char int, err error) {
		i := strings.IndexAny(s, "bdfghiMnRrV")
		if i >= 0 {
			k.flags += s[i:]
			s = s[:i]
		}
		f, c, ok := strings.Cut(s, ".")
		if field, err = strconv.Atoi(f); err != nil || field < 0 {
			return 0, 0, bad
		}
		if ok {
			if char, err = strconv.Atoi(c); err != nil || char < 0 {
				return 0, 0, bad
			}
		}
		return field, char, nil
	}
	if k.from, k.fromChar, err = place(from); err != nil || k.from == 0 {
		return k, bad
	}
	if has {
		if k.to, k.toChar, err = place(to); err != nil || k.to == 0 {
			return k, bad
		}
	}
	return k, nil
}

// field returns the beginning and the end of field n (from 1) in a line.
func (s *sorter) field(line []byte, n int) (from, to int) {
	for i := 1; ; i++ {
		if s.sep != nil {
			j := bytes.IndexByte(line[from:], s.sep[0])
			if to = from + j; j < 0 {
				to = len(line)
			}
		} else {
			to = from
			for to < len(line) && (line[to] == ' ' || line[to] == '\t') {
				to++
			}
			for to < len(line) && line[to] != ' ' && line[to] != '\t' {
				to++
			}
		}
		if i == n {
			return from, to
		}
		if to >= len(line) {
			return len(line), len(line)
		}
		if from = to; s.sep != nil {
			from++
		}
	}
}

func (s *sorter) key(k sortKey, line []byte) []byte {
	if k.from == 1 && k.fromChar == 0 && k.to == 0 && !k.has('b') {
		return line
	}
	blanks := func(i int) int {
		for k.has('b') && i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		return i
	}
	from, _ := s.field(line, k.from)
	from = min(blanks(from)+max(k.fromChar-1, 0), len(line))
	to := len(line)
	if k.to > 0 {
		var begin int
		if begin, to = s.field(line, k.to); k.toChar > 0 {
			to = min(blanks(begin)+k.toChar, len(line))
		}
	}
	return line[from:max(from, to)]
}
