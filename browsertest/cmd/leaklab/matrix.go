package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"

	"github.com/bailey-go/bailey/internal/leaklab"
)

//go:embed matrix.html
var matrixHTML string

// write writes the matrix as HTML, with a line for each vector and a column for each layout of an
// engine, and the rows as JSON.
func (l *lab) write() error {
	type cell struct{ Class, Text, Title string }
	type line struct {
		leaklab.Vector
		Cells []cell
	}
	type column struct{ Engine, Layout, Sum string }
	var page struct {
		Names   bool
		Columns []column
		Lines   []line
	}
	page.Names = l.dns != nil
	for _, t := range l.tables {
		page.Columns = append(page.Columns, column{t.engine, t.layout, fmt.Sprintf("%d of %d leaked", len(t.leaked), t.ran)})
	}
	var all []leaklab.Vector
	seen := map[string]bool{}
	for _, t := range l.tables {
		for _, v := range t.vectors() {
			if !seen[v.ID] {
				seen[v.ID] = true
				all = append(all, v)
			}
		}
	}
	for _, v := range all {
		row := line{Vector: v}
		for _, t := range l.tables {
			r, ok := t.rows[v.ID]
			if !ok {
				row.Cells = append(row.Cells, cell{"none", "", "not of this layout"})
				continue
			}
			c := cell{"held", "✓", "nothing arrived; it does without a defence"}
			switch {
			case r.leaked():
				c = cell{"leak", r.sinks(), "arrived"}
			case slices.Contains(t.noControl, v.ID):
				c = cell{"none", "–", "nothing arrived, but neither did it without a defence in this engine: this shows nothing"}
			case !r.Ran && !r.Stopped:
				c = cell{"idle", "?", "did not run"}
			}
			if r.Note != "" {
				c.Title += ". " + clip(r.Note, 200)
			}
			row.Cells = append(row.Cells, c)
		}
		page.Lines = append(page.Lines, row)
	}
	t, err := template.New("matrix").Parse(matrixHTML)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(l.out, "index.html"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.Execute(f, page); err != nil {
		return err
	}
	rows := map[string]any{}
	for _, t := range l.tables {
		rows[t.engine+" "+t.layout] = t.rows
	}
	data, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.out, "results.json"), data, 0o644)
}
