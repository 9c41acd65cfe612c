package patching

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// label is the name of a file with its time, as in the head of a difference.
func (d *differ) label(name string) string {
	info, err := d.e.World.Stat(name)
	if err != nil || name == "-" {
		return name + "\t1970-01-01 00:00:00.000000000 +0000"
	}
	return name + "\t" + info.ModTime().UTC().Format("2006-01-02 15:04:05.000000000 -0700")
}

// groups parts changes that are further apart than around lines on both sides.
func groups(list []change, around int, do func([]change)) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].from-list[n-1].to <= 2*around {
			n++
		}
		do(list[:n])
		list = list[n:]
	}
}

// context writes the form of diff -c.
func context(w io.Writer, a, b []string, list []change, around int) {
	span := func(from, to int) string {
		if to-from <= 1 {
			return fmt.Sprint(to)
		}
		return fmt.Sprintf("%d,%d", from+1, to)
	}
	groups(list, around, func(g []change) {
		first, last := g[0], g[len(g)-1]
		before, after := min(around, first.from), min(around, len(a)-last.to)
		fmt.Fprintf(w, "***************\n*** %s ****\n", span(first.from-before, last.to+after))
		side := func(rows []string, mark string, at, end int, part func(c change) (int, int)) {
			any := false
			for _, c := range g {
				from, to := part(c)
				any = any || to > from
			}
			if !any {
				return
			}
			for _, c := range g {
				from, to := part(c)
				put(w, "  ", rows[at:from])
				m := mark
				if c.from < c.to && c.newFrom < c.newTo {
					m = "! "
				}
				put(w, m, rows[from:to])
				at = to
			}
			put(w, "  ", rows[at:end])
		}
		side(a, "- ", first.from-before, last.to+after, func(c change) (int, int) { return c.from, c.to })
		fmt.Fprintf(w, "--- %s ----\n", span(first.newFrom-before, last.newTo+after))
		side(b, "+ ", first.newFrom-before, last.newTo+after, func(c change) (int, int) { return c.newFrom, c.newTo })
	})
}

// script writes the form of diff -e, the last change first.
func script(w io.Writer, b []string, list []change) {
	for i := len(list) - 1; i >= 0; i-- {
		c := list[i]
		span := fmt.Sprint(c.to)
		if c.to-c.from > 1 {
			span = fmt.Sprintf("%d,%d", c.from+1, c.to)
		}
		switch {
		case c.from == c.to:
			fmt.Fprintf(w, "%da\n", c.from)
		case c.newFrom == c.newTo:
			fmt.Fprintf(w, "%sd\n", span)
			continue
		default:
			fmt.Fprintf(w, "%sc\n", span)
		}
		put(w, "", b[c.newFrom:c.newTo])
		io.WriteString(w, ".\n")
	}
}

// sides writes the form of diff -y.
func (d *differ) sides(a, b []string, list []change) error {
	total, err := d.e.Int(d.o, 'W', 130)
	if err != nil || total < 10 || total > 1000 {
		return tool.Errorf("the width is from 10 to 1000")
	}
	// As GNU's: the columns begin at multiples of a tab.
	off := (total + 8 + 3) / (2 * 8) * 8
	width := max(min(off-3, total-off), 1)
	out := d.e.Stdout
	row := func(left, mark, right string, hasRight bool) {
		at := d.cell(left, width)
		to := func(column int) {
			for at/8*8+8 <= column {
				out.WriteByte('\t')
				at = at/8*8 + 8
			}
			for ; at < column; at++ {
				out.WriteByte(' ')
			}
		}
		if mark != " " {
			to(width + (off-width-1)/2)
			out.WriteString(mark)
			at += len(mark)
		}
		if hasRight && right != "" {
			to(off)
			d.cell(right, width)
		} else if hasRight && mark == " " && left == "" {
			to(0)
		}
		out.WriteByte('\n')
		d.e.World.Spend(total)
	}
	i, j := 0, 0
	same := func(until int) {
		for ; i < until; i, j = i+1, j+1 {
			if !d.o.Has('2') {
				row(strings.TrimSuffix(a[i], "\n"), " ", strings.TrimSuffix(b[j], "\n"), true)
			}
		}
	}
	for _, c := range list {
		same(c.from)
		for i < c.to || j < c.newTo {
			switch {
			case i < c.to && j < c.newTo:
				row(strings.TrimSuffix(a[i], "\n"), "|", strings.TrimSuffix(b[j], "\n"), true)
				i, j = i+1, j+1
			case i < c.to:
				row(strings.TrimSuffix(a[i], "\n"), "<", "", false)
				i++
			default:
				row("", ">", strings.TrimSuffix(b[j], "\n"), true)
				j++
			}
		}
	}
	same(len(a))
	return nil
}

// cell writes at most width columns of a text and returns their number.
func (d *differ) cell(text string, width int) int {
	at := 0
	for _, c := range text {
		n := 1
		if c == '\t' {
			n = 8 - at%8
		}
		if at+n > width {
			break
		}
		d.e.Stdout.WriteRune(c)
		at += n
	}
	return at
}

func cmp(e *tool.Env) error {
	o, err := e.Options("sln:bi:", "quiet=s silent=s verbose=l bytes=n print-bytes=b ignore-initial=i")
	if err != nil {
		return err
	}
	if len(o.Args) == 1 {
		o.Args = append(o.Args, "-")
	}
	if len(o.Args) != 2 {
		return e.Usagef("want two files")
	}
	most := int64(1) << 62
	if o.Has('n') {
		if most, err = tool.Size(o.Value('n')); err != nil {
			return err
		}
	}
	var in [2]*bufio.Reader
	for i, name := range o.Args {
		r, err := e.Open(name)
		if err != nil {
			if o.Has('s') {
				return tool.Code(2)
			}
			return err
		}
		defer r.Close()
		in[i] = bufio.NewReaderSize(r, 32<<10)
	}
	line, differ := 1, false
	for at := int64(1); at <= most; at++ {
		if at&4095 == 0 {
			e.World.Spend(16 << 10)
		}
		x, err1 := in[0].ReadByte()
		y, err2 := in[1].ReadByte()
		switch {
		case err1 != nil && err2 != nil:
			if differ {
				return tool.Code(1)
			}
			return nil
		case err1 != nil || err2 != nil:
			if !o.Has('s') {
				short := o.Args[0]
				if err1 == nil {
					short = o.Args[1]
				}
				e.Stdout.Flush()
				fmt.Fprintf(e.Stderr, "cmp: EOF on %s after byte %d\n", short, at-1)
			}
			return tool.Code(1)
		case x != y && o.Has('s'):
			return tool.Code(1)
		case x != y && o.Has('l'):
			differ = true
			fmt.Fprintf(e.Stdout, "%2d %3o %3o\n", at, x, y)
		case x != y:
			fmt.Fprintf(e.Stdout, "%s %s differ: byte %d, line %d\n", o.Args[0], o.Args[1], at, line)
			return tool.Code(1)
		}
		if x == '\n' {
			line++
		}
	}
	if differ {
		return tool.Code(1)
	}
	return nil
}
