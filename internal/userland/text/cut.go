package text

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

type span struct{ from, to int }

// ranges parses a list such as 1,3-5,7-.
func ranges(list string) ([]span, error) {
	if strings.Count(list, ",") > 1000 {
		return nil, tool.Errorf("a list of fields has more than 1,000 parts")
	}
	var spans []span
	for part := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		a, b, dash := strings.Cut(part, "-")
		s := span{1, math.MaxInt}
		var err error
		if a != "" {
			if s.from, err = strconv.Atoi(a); err != nil || s.from == 0 {
				return nil, tool.Errorf("invalid range: '%s'", part)
			}
		}
		switch {
		case !dash:
			s.to = s.from
		case b != "":
			if s.to, err = strconv.Atoi(b); err != nil {
				return nil, tool.Errorf("invalid range: '%s'", part)
			}
		case a == "":
			return nil, tool.Errorf("invalid range with no endpoint: -")
		}
		if s.to < s.from {
			return nil, tool.Errorf("invalid decreasing range")
		}
		spans = append(spans, s)
	}
	if len(spans) == 0 {
		return nil, tool.Errorf("the list is empty")
	}
	return spans, nil
}

func cut(e *tool.Env) error {
	o, err := e.Options("b:c:f:d:snz1:2", "zero-terminated=z bytes=b characters=c fields=f delimiter=d only-delimited=s output-delimiter=1 complement=2")
	if err != nil {
		return err
	}
	mode := o.Last("bcf")
	list := o.Value(mode)
	if mode == 0 {
		return e.Usagef("you must specify a list of bytes, characters, or fields")
	}
	if mode != 'f' {
		mode = 'b' // as in GNU's cut, which takes bytes for characters
	}
	spans, err := ranges(list)
	if err != nil {
		return err
	}
	in := func(n int) bool {
		for _, s := range spans {
			if n >= s.from && n <= s.to {
				return !o.Has('2')
			}
		}
		return o.Has('2')
	}
	sep := []byte("\t")
	if o.Has('d') {
		sep = []byte(o.Value('d'))
		if utf8.RuneCount(sep) != 1 {
			return e.Usagef("the delimiter must be a single character")
		}
	}
	end := byte('\n')
	if o.Has('z') {
		end = 0
	}
	between := sep
	if o.Has('1') {
		between = []byte(o.Value('1'))
	}
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, end, func(line []byte) error {
			line = bytes.TrimSuffix(line, []byte{end})
			e.World.Spend(8 * len(line))
			switch mode {
			case 'b':
				any, was := false, false
				for i := range line {
					is := in(i + 1)
					if is && !was && any && o.Has('1') {
						e.Stdout.Write(between)
					}
					if is {
						any = true
						e.Stdout.WriteByte(line[i])
					}
					was = is
				}
			default:
				if !bytes.Contains(line, sep) {
					if o.Has('s') {
						return nil
					}
					e.Stdout.Write(line)
					break
				}
				any := false
				for n := 1; ; n++ {
					cell, rest, more := bytes.Cut(line, sep)
					if in(n) {
						if any {
							e.Stdout.Write(between)
						}
						any = true
						e.Stdout.Write(cell)
					}
					if line = rest; !more {
						break
					}
				}
			}
			return e.Stdout.WriteByte(end)
		})
	})
}

const maxSet = 65_536 // characters in a set of tr

// trSet returns the characters of a set of tr, such as a-z or [:digit:], as code points.
func trSet(text string) ([]rune, error) {
	var set []rune
	for text != "" {
		if len(set) > maxSet {
			return nil, tool.Errorf("a set has more than 65,536 characters")
		}
		if c, n, rest, ok := trRepeat(text); ok { // [c*n]
			if n > maxSet-len(set) {
				return nil, tool.Errorf("a set has more than 65,536 characters")
			}
			for range n {
				set = append(set, c)
			}
			text = rest
			continue
		}
		if strings.HasPrefix(text, "[=") && len(text) > 4 && text[3:5] == "=]" {
			set, text = append(set, rune(text[2])), text[5:]
			continue
		}
		if strings.HasPrefix(text, "[:") {
			if end := strings.Index(text, ":]"); end > 0 {
				class, ok := trClasses[text[2:end]]
				if !ok {
					return nil, tool.Errorf("invalid character class '%s'", text[2:end])
				}
				for c := rune(0); c < 128; c++ {
					if class(c) {
						set = append(set, c)
					}
				}
				text = text[end+2:]
				continue
			}
		}
		c, rest := trChar(text)
		text = rest
		if len(text) > 1 && text[0] == '-' {
			last, rest := trChar(text[1:])
			if last < c {
				return nil, tool.Errorf("range-endpoints of '%c-%c' are in reverse collating sequence order", c, last)
			}
			if int(last-c)+len(set) > maxSet {
				return nil, tool.Errorf("a set has more than 65,536 characters")
			}
			for ; c <= last; c++ {
				set = append(set, c)
			}
			text = rest
			continue
		}
		set = append(set, c)
	}
	return set, nil
}

// trRepeat parses [c*n]. Without a number it counts as one, because the last character is used for the rest anyway.
func trRepeat(text string) (c rune, n int, rest string, ok bool) {
	if text[0] != '[' || len(text) < 4 {
		return 0, 0, "", false
	}
	c, rest = trChar(text[1:])
	if !strings.HasPrefix(rest, "*") {
		return 0, 0, "", false
	}
	number, rest, ok := strings.Cut(rest[1:], "]")
	if !ok || strings.Trim(number, "0123456789") != "" {
		return 0, 0, "", false
	}
	n = 1
	if number != "" {
		base := 10
		if number[0] == '0' {
			base = 8
		}
		v, err := strconv.ParseInt(number, base, 32)
		if err != nil {
			v = maxSet + 1
		}
		n = int(v)
	}
	return c, n, rest, true
}

func trChar(text string) (rune, string) {
	if text[0] == '\\' && len(text) > 1 {
		n := 2
		for n < 4 && n < len(text) && text[1] >= '0' && text[1] <= '7' && text[n] >= '0' && text[n] <= '7' {
			n++
		}
		if s := unescape(text[:n]); len(s) == 1 {
			return rune(s[0]), text[n:]
		}
		text = text[1:]
	}
	c, size := utf8.DecodeRuneInString(text)
	return c, text[size:]
}

var trClasses = map[string]func(rune) bool{
	"alpha":  func(c rune) bool { return c|32 >= 'a' && c|32 <= 'z' },
	"digit":  func(c rune) bool { return c >= '0' && c <= '9' },
	"alnum":  func(c rune) bool { return c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'z' },
	"upper":  func(c rune) bool { return c >= 'A' && c <= 'Z' },
	"lower":  func(c rune) bool { return c >= 'a' && c <= 'z' },
	"space":  func(c rune) bool { return c == ' ' || c >= 9 && c <= 13 },
	"blank":  func(c rune) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c rune) bool { return c < 32 || c == 127 },
	"print":  func(c rune) bool { return c >= 32 && c < 127 },
	"graph":  func(c rune) bool { return c > 32 && c < 127 },
	"punct":  func(c rune) bool { return c > 32 && c < 127 && !(c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'z') },
	"xdigit": func(c rune) bool { return c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'f' },
}

func ascii(set []rune) bool {
	return !slices.ContainsFunc(set, func(c rune) bool { return c >= utf8.RuneSelf })
}

// trBytes translates or deletes characters of ASCII. Those of other characters have no byte of ASCII in them.
func trBytes(e *tool.Env, deletes func(c byte) bool, to *[256]byte) error {
	var gone [256]bool
	any := false
	for c := range gone {
		gone[c] = deletes(byte(c))
		any = any || gone[c]
	}
	buf := make([]byte, 16<<10)
	for {
		n, err := e.Stdin.Read(buf)
		e.World.Spend(n + 64)
		out := buf[:n]
		if any {
			out = out[:0]
			for _, c := range buf[:n] {
				if !gone[c] {
					out = append(out, c)
				}
			}
		} else {
			for i, c := range out {
				out[i] = to[c]
			}
		}
		if _, werr := e.Stdout.Write(out); werr != nil {
			return werr
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func tr(e *tool.Env) error {
	o, err := e.Options("+cCdst", "complement=c delete=d squeeze-repeats=s truncate-set1=t")
	if err != nil {
		return err
	}
	want := 2
	if o.Has('d') != o.Has('s') {
		want = 1
	}
	if len(o.Args) < want || len(o.Args) > 2 || len(o.Args) > want && o.Has('d') {
		return e.Usagef("wrong number of sets")
	}
	one, err := trSet(o.Args[0])
	if err != nil {
		return err
	}
	var two []rune
	if len(o.Args) == 2 {
		if two, err = trSet(o.Args[1]); err != nil {
			return err
		}
	}
	index := map[rune]int{}
	for i, c := range one {
		index[c] = i
	}
	complement := o.Has('c') || o.Has('C')
	in := func(c rune) bool { _, ok := index[c]; return ok != complement }
	translate := len(two) > 0 && !o.Has('d')
	squeeze := map[rune]bool{}
	if len(two) > 0 {
		for _, c := range two {
			squeeze[c] = true
		}
	}
	squeezes := func(c rune) bool {
		if len(two) > 0 {
			return squeeze[c]
		}
		return in(c)
	}
	if len(o.Args) == 2 && len(two) == 0 && !o.Has('d') {
		return tool.Errorf("when not truncating set1, string2 must be non-empty")
	}
	if o.Has('t') && len(one) > len(two) {
		for _, c := range one[len(two):] {
			delete(index, c)
		}
	}
	becomes := func(c rune) (rune, bool) { // what a character becomes, and whether it is another one
		switch {
		case !translate || !in(c):
			return c, false
		case complement:
			return two[len(two)-1], true
		}
		return two[min(index[c], len(two)-1)], true
	}
	if ascii(one) && ascii(two) && !complement && !o.Has('s') && (translate || o.Has('d')) {
		var to [256]byte
		for c := range to {
			to[c] = byte(c)
			if r, is := becomes(rune(c)); is && c < utf8.RuneSelf {
				to[c] = byte(r)
			}
		}
		return trBytes(e, func(c byte) bool { return c < utf8.RuneSelf && o.Has('d') && in(rune(c)) }, &to)
	}
	// Most text is ASCII, for which a table is ten times as fast as the maps.
	var table [utf8.RuneSelf]struct {
		to      rune
		in      bool
		squeeze bool
	}
	for c := range table {
		to, _ := becomes(rune(c))
		table[c].to, table[c].in, table[c].squeeze = to, in(rune(c)), o.Has('s') && squeezes(to)
	}
	deletes, last := o.Has('d'), rune(-1)
	var out []byte
	return e.Lines(e.Stdin, '\n', func(line []byte) error {
		e.World.Spend(2 * len(line))
		out = out[:0]
		for len(line) > 0 {
			if c := line[0]; c < utf8.RuneSelf {
				line = line[1:]
				t := &table[c]
				if t.in && deletes || t.squeeze && t.to == last {
					continue
				}
				last = t.to
				out = utf8.AppendRune(out, t.to)
				continue
			}
			e.World.Spend(14)
			c, size := utf8.DecodeRune(line)
			raw := line[:size]
			if c == utf8.RuneError && size == 1 {
				c = rune(line[0]) // an invalid byte counts as itself
			}
			line = line[size:]
			if deletes && in(c) {
				continue
			}
			to, other := becomes(c)
			if o.Has('s') && to == last && squeezes(to) {
				continue
			}
			last = to
			if other {
				out = utf8.AppendRune(out, to)
			} else {
				out = append(out, raw...)
			}
		}
		_, err := e.Stdout.Write(out)
		return err
	})
}
