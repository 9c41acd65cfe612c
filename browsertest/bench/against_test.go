package main

import (
	"bytes"
	"strings"
	"testing"
)

// A row is worse only if its own figure and its ratio are, above the limit.
func TestWorseThanBefore(t *testing.T) {
	row := func(id string, ours, theirs float64) Row { return newRow(id, ours, theirs, "p", "ms", 0) }
	for _, tt := range []struct {
		name        string
		before, now Row
		higher      bool
		want        bool
	}{
		{"equal", row("x", 100, 100), row("x", 100, 100), false, false},
		{"at the limit", row("x", 100, 100), row("x", 105, 100), false, false},
		{"above the limit", row("x", 100, 100), row("x", 106, 100), false, true},
		{"a slower machine", row("x", 100, 100), row("x", 200, 200), false, false},
		{"a faster peer", row("x", 100, 100), row("x", 100, 50), false, false},
		{"better", row("x", 100, 100), row("x", 50, 100), false, false},
		{"higher is better, less", row("x", 100, 100), row("x", 90, 100), true, true},
		{"higher is better, more", row("x", 100, 100), row("x", 200, 100), true, false},
	} {
		tt.before.HigherIsBetter, tt.now.HigherIsBetter = tt.higher, tt.higher
		changes := compare([]Row{tt.before}, []Row{tt.now})
		if len(changes) != 1 || changes[0].worse() != tt.want {
			t.Errorf("%s: %+v, worse: want %v", tt.name, changes, tt.want)
		}
		var b bytes.Buffer
		if err := report(&b, changes); (err != nil) != tt.want || strings.Contains(b.String(), "WORSE") != tt.want {
			t.Errorf("%s: %v\n%s", tt.name, err, b.String())
		}
	}
}

// Rows of one side alone, of another peer, or without a figure are no comparison.
func TestCompareLeavesOut(t *testing.T) {
	before := []Row{newRow("a", 1, 1, "p", "ms", 0), newRow("b", 1, 1, "p", "ms", 0), newRow("c", 0, 1, "p", "ms", 0), newRow("d", 1, 1, "p", "s", 0)}
	now := []Row{newRow("a", 1, 1, "p", "ms", 0), newRow("b", 1, 1, "q", "ms", 0), newRow("c", 1, 1, "p", "ms", 0), newRow("d", 1, 1, "p", "ms", 0), newRow("e", 1, 1, "p", "ms", 0)}
	if got := compare(before, now); len(got) != 1 || got[0].now.ID != "a" {
		t.Errorf("compared: %+v", got)
	}
	var b bytes.Buffer
	if err := report(&b, nil); err != nil || b.Len() == 0 {
		t.Errorf("nothing: %v, %q", err, b.String())
	}
}

// The figures of several rounds become medians. A row that a round lacks is left out.
func TestMediansOfRounds(t *testing.T) {
	got := medians([][]Row{
		{newRow("a", 1, 10, "p", "ms", 0), newRow("b", 1, 1, "p", "ms", 0)},
		{newRow("a", 5, 10, "p", "ms", 0)},
		{newRow("b", 1, 1, "p", "ms", 0), newRow("a", 2, 40, "p", "ms", 0)},
	})
	if len(got) != 1 || got[0].ID != "a" || got[0].Ours != 2 || got[0].Theirs != 10 || got[0].Ratio != 0.2 {
		t.Errorf("medians: %+v", got)
	}
}
