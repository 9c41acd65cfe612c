package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/internal/attack"
)

// test is an attack test as it stands in a file.
type test struct {
	name   string
	suites []string // those that its text names; empty if it names none
}

var (
	testFunc = regexp.MustCompile(`^func (Test\w+)\(\w+ \*testing\.T\)`)
	starts   = regexp.MustCompile(`attack\.Start\(\w+, "([^"]+)"\)`)
)

// testsOf returns the attack tests of a test file's text: those that make attack runs, in a file that counts attacks or
// that leaves the counting to a helper in another file of the package.
func testsOf(text string) []test {
	var found []test
	in := false
	for line := range strings.Lines(text) {
		if m := testFunc.FindStringSubmatch(line); m != nil {
			if in = attack.IsTest(m[1]); in {
				found = append(found, test{name: m[1]})
			}
		} else if strings.HasPrefix(line, "}") {
			in = false
		}
		if in {
			for _, m := range starts.FindAllStringSubmatch(line, -1) {
				found[len(found)-1].suites = append(found[len(found)-1].suites, m[1])
			}
		}
	}
	return found
}

// table is what was counted.
type table struct {
	rows   map[string]attack.Count
	failed []string // tests and programs
}

func (t *table) add(c attack.Count) {
	if t.rows == nil {
		t.rows = map[string]attack.Count{}
	}
	sum := t.rows[c.Suite]
	sum.Tried += c.Tried
	sum.Controls += c.Controls
	sum.Off += c.Off
	sum.Succeeded += c.Succeeded
	if sum.NoSwitch == "" {
		sum.NoSwitch = c.NoSwitch
	}
	t.rows[c.Suite] = sum
}

// print writes a line for each suite and the total, and reports whether all is well.
func (t *table) print(w io.Writer, picked []string) bool {
	ok := len(t.failed) == 0
	fmt.Fprintf(w, "\n%-7s %-50s %8s %14s %10s\n", "suite", "attack", "tried", "defence off", "succeeded")
	var total attack.Count
	for _, s := range attack.Suites() {
		if len(picked) > 0 && !slices.Contains(picked, s.Name) {
			continue
		}
		c := t.rows[s.Name]
		off := strconv.Itoa(c.Off) + " of " + strconv.Itoa(c.Controls)
		if c.Controls == 0 {
			off = "no switch"
		}
		wrong := ""
		switch {
		case c.Tried == 0:
			wrong, off = "  <- nothing was tried", ""
		case c.Succeeded > 0:
			wrong = "  <- not stopped"
		case c.Off == 0 && (c.Controls > 0 || c.NoSwitch == ""):
			wrong = "  <- the control shows nothing"
		}
		ok = ok && wrong == ""
		fmt.Fprintf(w, "%-7s %-50s %8d %14s %10d%s\n", s.Name, s.Title, c.Tried, off, c.Succeeded, wrong)
		total.Tried += c.Tried
		total.Controls += c.Controls
		total.Off += c.Off
		total.Succeeded += c.Succeeded
	}
	fmt.Fprintf(w, "%-7s %-50s %8d %14s %10d\n", "total", "", total.Tried, strconv.Itoa(total.Off)+" of "+strconv.Itoa(total.Controls), total.Succeeded)
	for _, f := range t.failed {
		fmt.Fprintf(w, "failed: %s  <-\n", f)
	}
	return ok
}
