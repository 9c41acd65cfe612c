// Package patching holds diff and patch.
package patching

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/internal/textdiff"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

// Commands returns the commands of this package.
func Commands() tool.Set {
	const c = "text"
	return append(Small(), tool.Set{
		{Name: "cmp", Usage: "[-sl] [-n N] FILE1 [FILE2]", Summary: "compare two files byte by byte", Category: c, Files: "read", Trouble: 2, Run: cmp},
		{Name: "patch", Usage: "[-p N] [-R] [-i FILE] [-o FILE] [-d FOLDER] [--dry-run] [FILE [PATCH]]", Summary: "apply a unified difference", Category: c, Files: "readwrite", Trouble: 2, Run: patch,
			Help: "  -p N  leave out N folders of the names (default: a/ and b/)    -R  take it back    --dry-run  only try\n  A hunk may have moved, and up to two lines around it may differ. If one does not fit no file is changed."},
	}...)
}

// Small returns the commands that are needed before any tool is loaded.
func Small() tool.Set {
	const c = "text"
	return tool.Set{
		{Name: "diff", Usage: "[-ucyeqriwbBsN] [-U N] FROM TO", Summary: "show how two files or folders differ", Category: c, Files: "read", Trouble: 2, Run: diff,
			Help: "  -u  unified    -U N  with N lines around    -q  only whether    -r  folders    -N  a missing file is empty    -s  say what is equal\n  -i  ignore case    -w  ignore blanks    -b  ignore how many    -B  ignore empty lines    --label=NAME"},
	}
}

type differ struct {
	e       *tool.Env
	o       *tool.Opts
	around  int
	unified bool
	differ  bool
}

func diff(e *tool.Env) error {
	o, err := e.Options("uU:qriwbBsNaL:c1::C:ydeW:x:tTEpPf23::4", "strip-trailing-cr=4 minimal=d exclude=x suppress-common-lines=2 side-by-side=y context=1 ed=e width=W ignore-tab-expansion=E expand-tabs=t unified=3 brief=q recursive=r ignore-case=i ignore-all-space=w ignore-space-change=b ignore-blank-lines=B report-identical-files=s new-file=N text=a label=L")
	if err != nil {
		return err
	}
	if len(o.Args) != 2 {
		return e.Usagef("want two files or folders")
	}
	d := &differ{e: e, o: o, unified: o.Last("uU3") != 0, around: 3}
	for _, c := range "U31C" {
		if o.Value(c) != "" {
			if d.around, err = e.Int(o, c, 3); err != nil {
				return err
			}
		}
	}
	a, b := o.Args[0], o.Args[1]
	if e.IsDir(a) && !e.IsDir(b) && b != "-" {
		a = path.Join(a, path.Base(b))
	} else if e.IsDir(b) && !e.IsDir(a) && a != "-" {
		b = path.Join(b, path.Base(a))
	}
	if e.IsDir(a) && e.IsDir(b) {
		err = d.folders(a, b)
	} else {
		err = d.files(a, b, "")
	}
	if err == nil && !e.Failed() && d.differ {
		return tool.Code(1)
	}
	return err
}

func (d *differ) folders(a, b string) error {
	names := map[string]int{}
	for i, dir := range []string{a, b} {
		entries, err := d.e.World.ReadDir(dir)
		if err != nil && !(d.o.Has('N') && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
		for _, info := range entries {
			names[info.Name()] |= 1 << i
		}
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		x, y := path.Join(a, name), path.Join(b, name)
		if slices.ContainsFunc(d.o.All('x'), func(glob string) bool { ok, _ := path.Match(glob, name); return ok }) {
			continue
		}
		if in := names[name]; in != 3 && !d.o.Has('N') {
			fmt.Fprintf(d.e.Stdout, "Only in %s: %s\n", map[int]string{1: a, 2: b}[in], name)
			d.differ = true
			continue
		}
		var err error
		switch p, q := d.e.IsDir(x), d.e.IsDir(y); {
		case (p && q || p != q && names[name] != 3) && d.o.Has('r'):
			err = d.folders(x, y)
		case p && q:
			fmt.Fprintf(d.e.Stdout, "Common subdirectories: %s and %s\n", x, y)
		case p != q && names[name] == 3:
			kind := map[bool]string{true: "directory", false: "regular file"}
			fmt.Fprintf(d.e.Stdout, "File %s is a %s while file %s is a %s\n", x, kind[p], y, kind[q])
			d.differ = true
		default:
			err = d.files(x, y, "diff"+d.flags()+" "+x+" "+y+"\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *differ) flags() (s string) {
	for _, c := range "ruN" {
		if d.o.Has(c) {
			s += string(c)
		}
	}
	if s != "" {
		s = " -" + s
	}
	return s
}

func (d *differ) read(name string) ([]byte, error) {
	data, err := d.e.ReadAll(name)
	if d.o.Has('4') {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	if d.o.Has('N') && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

func (d *differ) files(a, b, title string) error {
	x, err := d.read(a)
	if err != nil {
		return err
	}
	y, err := d.read(b)
	if err != nil {
		return err
	}
	same := bytes.Equal(x, y)
	binary := !d.o.Has('a') && (bytes.IndexByte(x, 0) >= 0 || bytes.IndexByte(y, 0) >= 0)
	var hunks []change
	if !same && !binary {
		if hunks, err = d.changes(string(x), string(y)); err != nil {
			return err
		}
		same = len(hunks) == 0
	}
	out := d.e.Stdout
	switch {
	case same && d.o.Has('s'):
		fmt.Fprintf(out, "Files %s and %s are identical\n", a, b)
	case same:
	case binary && !d.o.Has('q'):
		d.differ = true
		fmt.Fprintf(out, "Binary files %s and %s differ\n", a, b)
	case d.o.Has('q'):
		d.differ = true
		fmt.Fprintf(out, "Files %s and %s differ\n", a, b)
	default:
		d.differ = true
		out.WriteString(title)
		labels := append(d.o.All('L'), a, b)
		if n := len(d.o.All('L')); n == 1 {
			labels = []string{labels[0], b}
		}
		if len(d.o.All('L')) == 0 {
			labels = []string{d.label(a), d.label(b)}
		}
		switch {
		case d.o.Has('y'):
			return d.sides(lines(string(x)), lines(string(y)), hunks)
		case d.o.Has('e'):
			script(out, lines(string(y)), hunks)
		case d.o.Last("c1C") != 0:
			fmt.Fprintf(out, "*** %s\n--- %s\n", labels[0], labels[1])
			context(out, lines(string(x)), lines(string(y)), hunks, d.around)
		case d.unified:
			fmt.Fprintf(out, "--- %s\n+++ %s\n", labels[0], labels[1])
			unified(out, lines(string(x)), lines(string(y)), hunks, d.around)
		default:
			normal(out, lines(string(x)), lines(string(y)), hunks)
		}
	}
	return nil
}

// change replaces lines from..to of the old text by lines newFrom..newTo of the new text.
type change struct{ from, to, newFrom, newTo int }

func lines(s string) []string {
	if s == "" {
		return nil
	}
	rows := strings.SplitAfter(s, "\n")
	if rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// changes returns the changes from x to y, without those that the options ignore.
func (d *differ) changes(x, y string) (list []change, err error) {
	a, b := lines(x), lines(y)
	d.e.World.Hold(16 * (len(a) + len(b)))
	edits, err := textdiff.Edits(d.e.Ctx(), d.normalise(a), d.normalise(b))
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		c := change{e.A0, e.A1, e.B0, e.B1}
		if n := len(list); n > 0 && list[n-1].to == c.from && list[n-1].newTo == c.newFrom {
			list[n-1].to, list[n-1].newTo = c.to, c.newTo
			continue
		}
		if c.from < c.to || c.newFrom < c.newTo {
			list = append(list, c)
		}
	}
	if d.o.Has('B') {
		list = slices.DeleteFunc(list, func(c change) bool {
			return strings.TrimSpace(strings.Join(append(slices.Clone(a[c.from:c.to]), b[c.newFrom:c.newTo]...), "")) == ""
		})
	}
	return list, nil
}

// normalise returns the lines in the form in which they are compared, each with its own end.
func (d *differ) normalise(rows []string) []string {
	if !d.o.Has('i') && !d.o.Has('w') && !d.o.Has('b') {
		return rows
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		r = strings.TrimSuffix(r, "\n")
		if d.o.Has('i') {
			r = strings.ToLower(r)
		}
		switch {
		case d.o.Has('w'):
			r = strings.Join(strings.Fields(r), "")
		case d.o.Has('b'):
			lead := ""
			if t := strings.TrimLeft(r, " \t"); t != r {
				lead = " "
			}
			r = lead + strings.Join(strings.Fields(r), " ")
		}
		out[i] = r + "\n"
	}
	return out
}

func put(w io.Writer, mark string, rows []string) {
	for _, r := range rows {
		io.WriteString(w, mark+r)
		if !strings.HasSuffix(r, "\n") {
			io.WriteString(w, "\n\\ No newline at end of file\n")
		}
	}
}

func normal(w io.Writer, a, b []string, list []change) {
	span := func(from, to int) string {
		if to-from <= 1 {
			return fmt.Sprint(to)
		}
		return fmt.Sprintf("%d,%d", from+1, to)
	}
	for _, c := range list {
		op := "c"
		if c.from == c.to {
			op = "a"
		} else if c.newFrom == c.newTo {
			op = "d"
		}
		fmt.Fprintf(w, "%s%s%s\n", span(c.from, c.to), op, span(c.newFrom, c.newTo))
		put(w, "< ", a[c.from:c.to])
		if op == "c" {
			io.WriteString(w, "---\n")
		}
		put(w, "> ", b[c.newFrom:c.newTo])
	}
}

func unified(w io.Writer, a, b []string, list []change, around int) {
	span := func(from, n int) string {
		if n == 1 {
			return fmt.Sprint(from + 1)
		}
		if n > 0 {
			from++
		}
		return fmt.Sprintf("%d,%d", from, n)
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].from-list[n-1].to <= 2*around {
			n++
		}
		group := list[:n]
		list = list[n:]
		first, last := group[0], group[n-1]
		before := min(around, first.from)
		after := min(around, len(a)-last.to)
		fmt.Fprintf(w, "@@ -%s +%s @@\n", span(first.from-before, last.to+after-first.from+before), span(first.newFrom-before, last.newTo+after-first.newFrom+before))
		at := first.from - before
		for _, c := range group {
			put(w, " ", a[at:c.from])
			put(w, "-", a[c.from:c.to])
			put(w, "+", b[c.newFrom:c.newTo])
			at = c.to
		}
		put(w, " ", a[at:last.to+after])
	}
}
