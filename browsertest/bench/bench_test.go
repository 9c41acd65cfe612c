package main

import (
	"bytes"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, tt := range []struct {
		samples []float64
		q, want float64
	}{
		{[]float64{7}, 0.5, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{1, 2, 3, 4, 5}, 0, 1},
		{[]float64{1, 2, 3, 4, 5}, 1, 5},
		{[]float64{0, 10}, 0.95, 9.5},
	} {
		if got := quantile(tt.samples, tt.q); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("quantile(%v, %v) = %v, want %v", tt.samples, tt.q, got, tt.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("the median of nothing is a number")
	}
}

func TestRound(t *testing.T) {
	for in, want := range map[float64]float64{0: 0, 1: 1, 1234.56: 1235, 0.0123456: 0.01235, 12.3456: 12.35, math.Inf(1): 0} {
		if got := round(in); math.Abs(got-want) > 1e-12 {
			t.Errorf("round(%v) = %v, want %v", in, got, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		ours, goal float64
		higher     bool
		want       string
	}{
		{1.2, 1.2, false, "ok"}, {1.21, 1.2, false, "MISSED"}, {0.5, 1.2, false, "ok"}, {99, 0, false, "–"},
		{2, 2, true, "ok"}, {1.9, 2, true, "MISSED"},
	} {
		r := newRow("x", tt.ours, 1, "p", "ms", tt.goal)
		r.HigherIsBetter = tt.higher
		if got := r.verdict(); got != tt.want {
			t.Errorf("ratio %v, goal %v, higher %t: %s, want %s", r.Ratio, tt.goal, tt.higher, got, tt.want)
		}
	}
}

// A run of one prefix replaces its rows, all of the same id at once, and keeps
// the others.
func TestMergeKeepsOthers(t *testing.T) {
	kept := []Row{newRow("a.x", 1, 1, "p", "ms", 1), newRow("a.x", 1, 2, "q", "ms", 1), newRow("b.y", 3, 3, "p", "ms", 1)}
	path := filepath.Join(t.TempDir(), "deep", "results.json")
	if rows, err := readRows(path); err != nil || rows != nil {
		t.Fatalf("no file: %v, %v", rows, err)
	}
	if err := writeRows(path, kept); err != nil {
		t.Fatal(err)
	}
	read, err := readRows(path)
	if err != nil || !reflect.DeepEqual(read, kept) {
		t.Fatalf("read back %v, %v", read, err)
	}
	got := merge(read, []Row{newRow("c.z", 5, 5, "p", "ms", 0), newRow("a.x", 9, 1, "p", "ms", 1)})
	var ids []string
	for _, r := range got {
		ids = append(ids, r.ID+"/"+r.Peer)
	}
	if s := strings.Join(ids, " "); s != "a.x/p b.y/p c.z/p" {
		t.Errorf("merged: %s", s)
	}
}

func TestWants(t *testing.T) {
	for _, tt := range []struct {
		prefix, suite string
		want          bool
	}{
		{"", "markdown.", true}, {"markdown", "markdown.", true}, {"markdown.stream", "markdown.", true},
		{"document", "markdown.", false}, {"mark", "markdown.", true},
	} {
		e := &Env{Prefix: tt.prefix}
		if got := e.Wants(tt.suite); got != tt.want {
			t.Errorf("-run %q wants %q: %t", tt.prefix, tt.suite, got)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	printTable(&b, []Row{newRow("a.x", 3, 2, "peer", "ms", 1.2), newRow("a.x", 3, 2, "floor", "ms", 0)})
	if s := b.String(); !strings.Contains(s, "MISSED") || strings.Count(s, "\n") != 3 {
		t.Errorf("table:\n%s", s)
	}
}

// The long text is the short one ten times, each with labels of its own.
func TestLong(t *testing.T) {
	text := strings.Repeat("word [a][x] and b[^n] and [words].\n\n", 50) + "[x]: https://a.example/\n[^n]: note\n"
	long := long(text, 10)
	if len(long) < 10*len(text) || len(long) > 12*len(text) {
		t.Errorf("%d bytes out of %d", len(long), len(text))
	}
	for _, want := range []string{"[a][x-3]", "\n[x-3]: ", "b[^n-9]", "\n[^n-9]: ", "[words]"} {
		if !strings.Contains(long, want) {
			t.Errorf("%q is not in it", want)
		}
	}
}
