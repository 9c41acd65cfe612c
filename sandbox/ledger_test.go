package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A line counts once, except one that is too short to be the text of a file rather than a code for it.
func TestLedgerCountsLines(t *testing.T) {
	l := newLedger(nil)
	charge := func(text string) float64 {
		before := l.sent["a"]
		if over := l.charge(map[string][]string{"a": {text}}, func(string, bool) (float64, int64) { return 1e6, 1e6 }); over != nil {
			t.Fatalf("over: %v", over)
		}
		return l.sent["a"] - before
	}
	for _, c := range []struct {
		text string
		want float64
	}{
		{"twelve bytes", 12}, {"twelve bytes", 0}, {"twelve bytes\n", 0}, {"twelve bytes\r\nand another line\n", 17}, {"", 0}, {"\n\n", 2},
		{"+twelve bytes\n-and another line\n twelve bytes\n", 0}, {"#twelve bytes\n", 14},
		{"7 bytes", 7}, {"7 bytes", 7}, {"8 bytes!", 8}, {"8 bytes!", 0}, // below, at and above the shortest line that is recognised
		{"a new line, twice\na new line, twice\n", 18},
	} {
		if got := charge(c.text); got != c.want {
			t.Errorf("%q counts as %v bytes, want %v", c.text, got, c.want)
		}
	}
	// What is above a limit is not counted, and comes again as new.
	over := l.charge(map[string][]string{"b": {"a text of b"}, "c": {"a text of c"}}, func(p string, _ bool) (float64, int64) { return map[string]float64{"b": 10, "c": 11}[p], 100 })
	if len(over) != 1 || over[0].path != "b" || over[0].fresh != 11 || l.sent["c"] != 0 {
		t.Errorf("over: %+v, sent: %v", over, l.sent)
	}
	l.agree(over)
	if over := l.charge(map[string][]string{"b": {"a text of b"}}, func(string, bool) (float64, int64) { return 0, 0 }); over != nil || l.sent["b"] != 11 {
		t.Errorf("the user agreed, and it is over: %v", over)
	}
}

// A file is of the files that it was made of, however it was moved, and no list of them grows without end.
func TestLedgerKnowsOrigins(t *testing.T) {
	l := newLedger(nil)
	of := func(path string) string { return strings.Join(l.origins([]string{path}), " ") }
	l.wrote("copy", []string{"a", "b", "a"})
	l.wrote("d/part", []string{"copy"})
	l.wrote("e", []string{"d"}) // a moved folder
	l.wrote("self", []string{"self"})
	for path, want := range map[string]string{"a": "a", "copy": "a b copy", "d/part": "a b copy d/part", "e/part": "a b copy d/part e/part", "e/other": "d/other e/other", "self": "self", "": ""} {
		if got := of(path); got != want {
			t.Errorf("%q is of %q, want %q", path, got, want)
		}
	}
	l.wrote("copy", nil) // a call that may be refused
	if of("copy") != "a b copy" {
		t.Errorf("after another write it is of %q", of("copy"))
	}
	// Moves in circles, and into what was moved.
	l.wrote("x", []string{"y"})
	l.wrote("y", []string{"x"})
	l.wrote("m", []string{"m/n"})
	l.wrote("m/n", []string{"m"})
	if of("x") != "x y" {
		t.Errorf("x is of %q", of("x"))
	}
	if got := l.origins([]string{"m/n"}); len(got) > sentOrigin*sentOrigin+1 || !slices.Contains(got, sentRest) && len(got) > 100 {
		t.Errorf("m/n is of %d files", len(got))
	}
	for _, n := range []int{sentOrigin - 1, sentOrigin, sentOrigin + 1} {
		var from []string
		for i := range n {
			from = append(from, fmt.Sprint("f", i))
		}
		path := fmt.Sprint("of", n)
		l.wrote(path, from)
		if got := l.origins([]string{path}); (len(got) == n+1) != (n <= sentOrigin) || slices.Contains(got, sentRest) != (n > sentOrigin) {
			t.Errorf("a file of %d files is of %d", n, len(got))
		}
	}
	for i := len(l.made); i < sentSources+1; i++ {
		if len(l.made) < sentSources && slices.Contains(l.origins([]string{"z"}), sentRest) {
			t.Fatalf("with %d files made, another one is of the folder", i)
		}
		l.wrote(fmt.Sprint("made", i), []string{"a"})
	}
	if len(l.made) != sentSources || !slices.Contains(l.origins([]string{"z"}), sentRest) {
		t.Errorf("%d files are listed", len(l.made))
	}
	// Above the number of files, all others are counted together.
	for i := range sentSources + 5 {
		l.charge(map[string][]string{fmt.Sprint("file", i): {fmt.Sprintf("text %04d of it", i)}}, func(string, bool) (float64, int64) { return 1e9, 1e9 })
	}
	if len(l.sent) > sentSources+1 || l.sent[sentRest] == 0 {
		t.Errorf("%d files are counted, the rest with %v bytes", len(l.sent), l.sent[sentRest])
	}
}

// What was long stays long after a reload, and an import knows nothing of it.
func TestLedgerKnowsLongFiles(t *testing.T) {
	l := newLedger(nil)
	l.long["a"], l.dirty = true, true
	var rec SessionRecord
	l.store(&rec)
	again := newLedger(&rec)
	if !again.isLong("a") || again.isLong("b") {
		t.Errorf("after a reload %v are long", again.long)
	}
	for i := range sentSources - 2 {
		l.long[fmt.Sprint("f", i)] = true
	}
	for _, n := range []int{sentSources - 1, sentSources, sentSources + 1} { // below, at and above the number of files
		if got := l.isLong("unknown"); got != (n >= sentSources) || len(l.long) != n {
			t.Errorf("with %d long files another one is long: %t", len(l.long), got)
		}
		l.long[fmt.Sprint("more", n)] = true
	}
}

// A number is text where code chooses it, and not where it is a count of the tool's own.
func TestNumbersCountAsText(t *testing.T) {
	for _, c := range []struct {
		data any
		want string
	}{
		{map[string]any{"value": 12345.0}, "12345"}, {map[string]any{"value": true}, "true"}, {map[string]any{"value": []any{1.0, nil}}, "[ 1 <nil>"},
		{map[string]any{"exitCode": 3.0, "version": "v"}, ""}, {7.0, "7"},
	} {
		by := (&excerpt{}).bySource(&Call{from: []string{"a"}}, c.data, "")
		if got := strings.TrimSpace(strings.Join(by["a"], " ")); got != c.want {
			t.Errorf("%v counts as %q, want %q", c.data, got, c.want)
		}
	}
}
