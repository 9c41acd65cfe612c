package data

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

const tableHelp = `  -d C  the separator (default: a comma, or what stands most often in the first line)
  -s COLUMNS  only those, by name or number: name,3
  -w COLUMN=VALUE  only rows where it is; also != > < ~ (contains); more than once means all
  -o COLUMN  sorted by it, numbers as numbers; -r  reversed
  -n N  the first N rows    -H  there is no line of names    -l  only the names
  -t FORM  csv (default), tsv, json, markdown`

type grid struct {
	names []string
	rows  [][]string
}

func table(e *tool.Env) error {
	o, err := e.Options("d:s:w:o:rn:Hlt:", "delimiter=d select=s where=w sort=o reverse=r head=n no-header=H headers=l to=t")
	if err != nil {
		return err
	}
	if len(o.Args) > 1 {
		return e.Usagef("one file at a time")
	}
	most, err := e.Int(o, 'n', math.MaxInt)
	if err != nil {
		return err
	}
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		g, err := readGrid(r, o)
		if err != nil {
			return err
		}
		if o.Has('l') {
			for _, name := range g.names {
				fmt.Fprintln(e.Stdout, name)
			}
			return nil
		}
		for _, w := range o.All('w') {
			if err := g.where(w); err != nil {
				return err
			}
		}
		if o.Has('o') {
			if err := g.sort(o.Value('o'), o.Has('r')); err != nil {
				return err
			}
		}
		g.rows = g.rows[:min(most, len(g.rows))]
		if o.Has('s') {
			if err := g.choose(o.Value('s')); err != nil {
				return err
			}
		}
		return g.write(e, o)
	})
}

func readGrid(r io.Reader, o *tool.Opts) (*grid, error) {
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	text := strings.TrimPrefix(string(all), "\ufeff")
	sep := ','
	if d := o.Value('d'); d != "" {
		if d == `\t` || d == "tab" {
			d = "\t"
		}
		c, size := utf8.DecodeRuneInString(d)
		if size != len(d) {
			return nil, tool.Errorf("the separator must be one character")
		}
		sep = c
	} else {
		first, _, _ := strings.Cut(text, "\n")
		for _, c := range ";\t|" {
			if strings.Count(first, string(c)) > strings.Count(first, string(sep)) {
				sep = c
			}
		}
	}
	cr := csv.NewReader(strings.NewReader(text))
	cr.Comma, cr.FieldsPerRecord = sep, -1
	rows, err := cr.ReadAll()
	if err != nil {
		return nil, err
	}
	g := &grid{rows: rows}
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	if o.Has('H') {
		for i := range width {
			g.names = append(g.names, fmt.Sprintf("c%d", i+1))
		}
		return g, nil
	}
	if len(rows) > 0 {
		g.names, g.rows = rows[0], rows[1:]
	}
	for i := len(g.names); i < width; i++ {
		g.names = append(g.names, fmt.Sprintf("c%d", i+1))
	}
	return g, nil
}

func (g *grid) column(name string) (int, error) {
	if i := slices.Index(g.names, name); i >= 0 {
		return i, nil
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(g.names) {
		return n - 1, nil
	}
	return 0, tool.Errorf("there is no column '%s'; there are %s", name, strings.Join(g.names, ", "))
}

func cell(row []string, i int) string {
	if i < len(row) {
		return row[i]
	}
	return ""
}

func compareCells(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

func (g *grid) where(text string) error {
	i := strings.IndexAny(text, "=!<>~")
	if i <= 0 {
		return tool.Errorf("'%s': want COLUMN=VALUE, or != < > ~", text)
	}
	name, op, value := text[:i], text[i:i+1], text[i+1:]
	if op == "!" {
		if !strings.HasPrefix(value, "=") {
			return tool.Errorf("'%s': want COLUMN!=VALUE", text)
		}
		value = value[1:]
	}
	at, err := g.column(name)
	if err != nil {
		return err
	}
	g.rows = slices.DeleteFunc(g.rows, func(row []string) bool {
		c := cell(row, at)
		switch op {
		case "=":
			return c != value
		case "!":
			return c == value
		case "<":
			return compareCells(c, value) >= 0
		case ">":
			return compareCells(c, value) <= 0
		}
		return !strings.Contains(strings.ToLower(c), strings.ToLower(value))
	})
	return nil
}

func (g *grid) sort(name string, reverse bool) error {
	at, err := g.column(name)
	if err != nil {
		return err
	}
	slices.SortStableFunc(g.rows, func(a, b []string) int {
		c := compareCells(cell(a, at), cell(b, at))
		if reverse {
			c = -c
		}
		return c
	})
	return nil
}

func (g *grid) choose(list string) error {
	var at []int
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		i, err := g.column(strings.TrimSpace(name))
		if err != nil {
			return err
		}
		at, names = append(at, i), append(names, g.names[i])
	}
	g.names = names
	for r, row := range g.rows {
		chosen := make([]string, len(at))
		for i, a := range at {
			chosen[i] = cell(row, a)
		}
		g.rows[r] = chosen
	}
	return nil
}

func (g *grid) write(e *tool.Env, o *tool.Opts) error {
	w := csv.NewWriter(e.Stdout)
	switch form := o.Value('t'); form {
	case "", "csv", "tsv":
		if form == "tsv" {
			w.Comma = '\t'
		}
		if !o.Has('H') {
			if err := w.Write(g.names); err != nil {
				return err
			}
		}
		return w.WriteAll(g.rows)
	case "json":
		return g.json(e)
	case "markdown", "md":
		line := func(row []string) {
			e.Stdout.WriteByte('|')
			for i := range g.names {
				e.Stdout.WriteString(" " + strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell(row, i)) + " |")
			}
			e.Stdout.WriteByte('\n')
		}
		line(g.names)
		e.Stdout.WriteString("|" + strings.Repeat(" --- |", len(g.names)) + "\n")
		for _, row := range g.rows {
			line(row)
		}
		return nil
	default:
		return tool.Errorf("the form '%s' is not known: csv, tsv, json or markdown", form)
	}
}

// json writes the rows as objects with their keys in the order of the columns. Every cell stays
// text: "007" does not become 7.
func (g *grid) json(e *tool.Env) error {
	text := func(s string) string {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(s)
		return strings.TrimSuffix(b.String(), "\n")
	}
	e.Stdout.WriteByte('[')
	for r, row := range g.rows {
		if r > 0 {
			e.Stdout.WriteByte(',')
		}
		e.Stdout.WriteString("\n  {")
		for i, name := range g.names {
			if i > 0 {
				e.Stdout.WriteString(", ")
			}
			e.Stdout.WriteString(text(name) + ": " + text(cell(row, i)))
		}
		e.Stdout.WriteByte('}')
	}
	_, err := e.Stdout.WriteString("\n]\n")
	return err
}
