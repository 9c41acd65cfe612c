//go:build !js

package bailey_test

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The table of README.md says what bench/results.json does, but for what a machine is busy with.
func TestFiguresOfTheREADME(t *testing.T) {
	var results []struct {
		ID    string
		Ratio float64
	}
	data, err := os.ReadFile("bench/results.json")
	if err == nil {
		err = json.Unmarshal(data, &results)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z0-9_.]+)` \\| ([0-9.,]+) ms \\| ([0-9.,]+) ms \\|").FindAllStringSubmatch(string(text), -1)
	if len(rows) < 8 {
		t.Fatalf("the table has %d rows that can be read", len(rows))
	}
	for _, row := range rows {
		said := number(t, row[2]) / number(t, row[3])
		var measured []float64
		for _, r := range results {
			if r.ID == row[1] {
				measured = append(measured, r.Ratio)
			}
		}
		if !slices.ContainsFunc(measured, func(m float64) bool { return math.Abs(math.Log(said/m)) < math.Log(1.3) }) {
			t.Errorf("README.md says %s of %s; bench/results.json has the ratios %v", row[2]+" to "+row[3], row[1], measured)
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
