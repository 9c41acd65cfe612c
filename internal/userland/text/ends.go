package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// part is the part of a file that head or tail prints.
type part struct {
	bytes bool
	sign  byte // '+' or '-' if the number had one
	n     int64
}

func parsePart(e *tool.Env, o *tool.Opts) (part, error) {
	p := part{n: 10}
	value := ""
	switch k := o.Last("nc#"); k {
	case 0:
		return p, nil
	default:
		p.bytes = k == 'c'
		value = o.Value(k)
	}
	if value != "" && (value[0] == '+' || value[0] == '-') {
		p.sign, value = value[0], value[1:]
	}
	n, err := tool.Size(value)
	if err != nil || n < 0 {
		kind := "lines"
		if p.bytes {
			kind = "bytes"
		}
		return p, tool.Errorf("invalid number of %s: '%s'", kind, value)
	}
	p.n = n
	return p, nil
}

// titled calls do for each file, and prints the name first if there are several.
func titled(e *tool.Env, o *tool.Opts, do func(r io.Reader) error) error {
	first := true
	names := (len(o.Args) > 1 || o.Has('v')) && !o.Has('q')
	return e.Each(o.Args, func(name string, r io.Reader) error {
		if names {
			if name == "-" {
				name = "standard input"
			}
			if !first {
				e.Stdout.WriteByte('\n')
			}
			fmt.Fprintf(e.Stdout, "==> %s <==\n", name)
		}
		first = false
		return do(r)
	})
}

// whichPart returns the options of head and tail, and the part of the files that they name.
func whichPart(e *tool.Env) (o *tool.Opts, p part, err error) {
	if o, err = e.Options("n:c:qvfFz#", "zero-terminated=z lines=n bytes=c quiet=q silent=q verbose=v follow=f"); err == nil {
		p, err = parsePart(e, o)
	}
	return o, p, err
}

// endOf returns the end of a line: a NUL with -z.
func endOf(o *tool.Opts) byte {
	if o.Has('z') {
		return 0
	}
	return '\n'
}

func head(e *tool.Env) error {
	o, p, err := whichPart(e)
	if err != nil {
		return err
	}
	end := endOf(o)
	return titled(e, o, func(r io.Reader) error {
		if p.bytes && p.sign != '-' {
			return e.Copy(io.LimitReader(r, p.n))
		}
		if p.sign == '-' {
			all, err := e.Slurp(r)
			if err != nil {
				return err
			}
			_, err = e.Stdout.Write(all[:tailStart(all, p, endOf(o))])
			return err
		}
		n := p.n
		if n == 0 {
			return nil
		}
		err := e.Lines(r, end, func(line []byte) error {
			if _, err := e.Stdout.Write(line); err != nil {
				return err
			}
			if n--; n == 0 {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
		return err
	})
}

var errEnough = errors.New("enough")

// tailStart returns the offset at which the last lines or bytes begin.
func tailStart(all []byte, p part, end byte) int {
	if p.bytes {
		return int(max(int64(len(all))-p.n, 0))
	}
	if p.n == 0 {
		return len(all)
	}
	i := len(bytes.TrimSuffix(all, []byte{end}))
	for n := p.n; ; n-- {
		j := bytes.LastIndexByte(all[:i], end)
		if j < 0 {
			return 0
		}
		if n == 1 {
			return j + 1
		}
		i = j
	}
}

func tail(e *tool.Env) error {
	o, p, err := whichPart(e)
	if err != nil {
		return err
	}
	return titled(e, o, func(r io.Reader) error {
		if p.sign == '+' {
			br := bufio.NewReaderSize(r, 64<<10)
			for i := int64(1); i < p.n; i++ {
				e.World.Spend(64)
				if p.bytes {
					_, err = br.Discard(1)
				} else {
					for _, err = br.ReadSlice(endOf(o)); errors.Is(err, bufio.ErrBufferFull); _, err = br.ReadSlice(endOf(o)) {
					}
				}
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
			}
			return e.Copy(br)
		}
		all, err := e.Slurp(r)
		if err != nil {
			return err
		}
		_, err = e.Stdout.Write(all[tailStart(all, p, endOf(o)):])
		return err
	})
}

type counts struct{ lines, words, chars, bytes, longest int64 }

func wc(e *tool.Env) error {
	o, err := e.Options("lwcmL1:2:", "files0-from=1 total=2 lines=l words=w bytes=c chars=m max-line-length=L")
	if err != nil {
		return err
	}
	if o.Has('1') {
		data, err := e.ReadAll(o.Value('1'))
		if err != nil {
			return err
		}
		o.Args = strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	}
	var rows []counts
	var names []string
	var total counts
	err = e.Each(o.Args, func(name string, r io.Reader) error {
		c, err := count(e, r, o.Has('w') || o.Has('m') || o.Has('L') || o.Last("lwcmL") == 0, o.Has('m') || o.Has('L'))
		if len(o.Args) == 0 {
			name = ""
		}
		rows, names = append(rows, c), append(names, name)
		total = counts{total.lines + c.lines, total.words + c.words, total.chars + c.chars, total.bytes + c.bytes, max(total.longest, c.longest)}
		return err
	})
	switch when := o.Value('2'); {
	case when == "only":
		rows, names = []counts{total}, []string{""}
	case when == "always", when != "never" && len(o.Args) > 1:
		rows, names = append(rows, total), append(names, "total")
	}
	show := func(c counts) (n []int64) {
		all := o.Last("lwcmL") == 0
		for _, col := range []struct {
			key   rune
			value int64
			usual bool
		}{{'l', c.lines, true}, {'w', c.words, true}, {'m', c.chars, false}, {'c', c.bytes, true}, {'L', c.longest, false}} {
			if o.Has(col.key) || all && col.usual {
				n = append(n, col.value)
			}
		}
		return n
	}
	width := len(fmt.Sprint(total.bytes))
	if len(o.Args) == 1 && len(show(total)) == 1 {
		width = 1
	} else if len(o.Args) == 0 || contains(o.Args, "-") {
		width = max(width, 7)
	}
	if o.Value('2') == "only" || len(rows) > 0 && len(show(total)) == 1 && len(o.Args) <= 1 {
		width = 1
	}
	for i, c := range rows {
		var cells []string
		for _, n := range show(c) {
			cells = append(cells, fmt.Sprintf("%*d", width, n))
		}
		if names[i] != "" {
			cells = append(cells, names[i])
		}
		fmt.Fprintln(e.Stdout, strings.Join(cells, " "))
	}
	return err
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// blank has the characters of ASCII that separate words.
var blank = [utf8.RuneSelf]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}

// count counts until the end of r. slow counts words as well, and wide also characters and the longest line.
func count(e *tool.Env, r io.Reader, slow, wide bool) (c counts, err error) {
	buf := make([]byte, 8<<10)
	inWord, column := false, int64(0)
	var rest []byte // the bytes of an incomplete character
	for {
		n, err := r.Read(buf[len(rest):])
		e.World.Spend(4 * n)
		chunk := buf[:len(rest)+n]
		c.bytes += int64(n)
		c.lines += int64(bytes.Count(chunk[len(rest):], []byte("\n")))
		for slow && len(chunk) > 0 {
			if !wide {
				i, in, words := 0, inWord, int64(0)
				for ; i < len(chunk) && chunk[i] < utf8.RuneSelf; i++ {
					if blank[chunk[i]] {
						in = false
					} else if !in {
						in = true
						words++
					}
				}
				if inWord, c.words, chunk = in, c.words+words, chunk[i:]; len(chunk) == 0 {
					break
				}
			}
			if ch := chunk[0]; ch > ' ' && ch < 0x7f { // most of a text is a word in ASCII
				n := 1
				for n < len(chunk) && chunk[n] > ' ' && chunk[n] < 0x7f {
					n++
				}
				if !inWord {
					c.words++
				}
				inWord, chunk = true, chunk[n:]
				c.chars += int64(n)
				column += int64(n)
				continue
			}
			ch, size := rune(chunk[0]), 1
			if ch >= utf8.RuneSelf {
				if !utf8.FullRune(chunk) && err == nil {
					break
				}
				ch, size = utf8.DecodeRune(chunk)
			}
			chunk = chunk[size:]
			if ch != utf8.RuneError || size > 1 {
				c.chars++
			}
			switch {
			case ch == '\n' || ch == '\r' || ch == '\f':
				c.longest, column, inWord = max(c.longest, column), 0, false
			case ch == '\t':
				column, inWord = column+8-column%8, false
			case unicode.IsSpace(ch):
				column, inWord = column+1, false
			default:
				if unicode.IsPrint(ch) {
					column++
				}
				if !inWord {
					c.words++
				}
				inWord = true
			}
		}
		if slow {
			rest = append([]byte(nil), chunk...)
			copy(buf, rest)
		}
		if err != nil {
			c.longest = max(c.longest, column)
			if err == io.EOF {
				err = nil
			}
			return c, err
		}
	}
}
