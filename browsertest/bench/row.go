package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

// Row is one comparison.
type Row struct {
	ID     string  `json:"id"`
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs"`
	// Peer is the other side of the comparison: another library, the bare browser, a smaller case
	// of ours, or "budget" if Theirs is a fixed limit.
	Peer  string  `json:"peer"`
	Unit  string  `json:"unit"`
	Ratio float64 `json:"ratio"` // Ours / Theirs
	// Goal is the limit of Ratio: the most, or the least if HigherIsBetter. It is null in rows that
	// only inform.
	Goal           *float64 `json:"goal"`
	HigherIsBetter bool     `json:"higher_is_better"`
}

// newRow returns a row with the figures rounded to four digits. A goal of 0 is none.
func newRow(id string, ours, theirs float64, peer, unit string, goal float64) Row {
	r := Row{ID: id, Ours: round(ours), Theirs: round(theirs), Peer: peer, Unit: unit, Ratio: round(ours / theirs)}
	if goal > 0 {
		r.Goal = &goal
	}
	return r
}

// round returns x rounded to four significant digits, and 0 for NaN and infinities.
func round(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	p := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*p) / p
}

// verdict returns "ok" or "MISSED" for rows with a goal, and "–" for others.
func (r Row) verdict() string {
	switch {
	case r.Goal == nil:
		return "–"
	case r.Ratio <= *r.Goal && !r.HigherIsBetter, r.Ratio >= *r.Goal && r.HigherIsBetter:
		return "ok"
	}
	return "MISSED"
}

func readRows(path string) ([]Row, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []Row
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w (remove it to begin anew)", path, err)
	}
	return rows, nil
}

// merge returns the rows of both lists, sorted by id. Rows of kept whose id is also in fresh are
// left out.
func merge(kept, fresh []Row) []Row {
	all := slices.DeleteFunc(slices.Clone(kept), func(k Row) bool {
		return slices.ContainsFunc(fresh, func(f Row) bool { return f.ID == k.ID })
	})
	all = append(all, fresh...)
	slices.SortStableFunc(all, func(a, b Row) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	return all
}

// writeRows writes one row per line, so that a diff is readable.
func writeRows(path string, rows []Row) error {
	b := []byte("[\n")
	for i, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		b = append(b, line...)
		if i < len(rows)-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	b = append(b, "]\n"...)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o666)
}

func printTable(w io.Writer, rows []Row) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "id\tours\ttheirs\tunit\tratio\tgoal\t\tpeer")
	for _, r := range rows {
		goal := "–"
		if r.Goal != nil {
			goal = "≤ "
			if r.HigherIsBetter {
				goal = "≥ "
			}
			goal += fmt.Sprint(*r.Goal)
		}
		fmt.Fprintf(t, "%s\t%v\t%v\t%s\t%v\t%s\t%s\t%s\n", r.ID, r.Ours, r.Theirs, r.Unit, r.Ratio, goal, r.verdict(), r.Peer)
	}
	t.Flush()
}
