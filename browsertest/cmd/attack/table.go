package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/internal/attack"
)

// test is an attack test, as its file declares it.
type test struct {
	pkg, name string
	suites    []string // to which it belongs
	starts    []string // for which it reports counts
}

// testsOf returns the attack tests of a test file's text. It returns an error if the file starts a suite outside of
// an attack test, where make attack would not find it, or if an attack test belongs to no suite.
func testsOf(name, text string) (found []test, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		t := test{name: f.Name.Name}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 2 {
				if fun, ok := call.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "Start" {
					if pkg, ok := fun.X.(*ast.Ident); ok && pkg.Name == "attack" {
						suite := "" // not a literal
						if lit, ok := call.Args[1].(*ast.BasicLit); ok {
							suite, _ = strconv.Unquote(lit.Value)
						}
						t.starts = append(t.starts, suite)
					}
				}
			}
			return true
		})
		suite, is := attack.SuiteOf(t.name)
		switch {
		case f.Recv != nil || !is:
			if len(t.starts) > 0 {
				return nil, fmt.Errorf("%s: %s calls attack.Start, and make attack does not run it; only the test itself may start a suite", name, t.name)
			}
			continue
		case slices.Contains(t.starts, ""):
			return nil, fmt.Errorf("%s: %s calls attack.Start without a literal, so make attack can't tell its suite", name, t.name)
		case len(t.starts) == 0 && suite == "":
			return nil, fmt.Errorf("%s: %s starts no suite; call attack.Start, or choose a name that does not begin with TestAttack", name, t.name)
		}
		t.suites = t.starts
		if suite != "" && !slices.Contains(t.suites, suite) {
			t.suites = append(slices.Clone(t.suites), suite)
		}
		found = append(found, t)
	}
	return found, nil
}

// table is the sum of the counts.
type table struct {
	rows   map[string]attack.Count
	none   []attack.Count      // of tests without a control of their own
	faults map[string][]string // by suite
	failed []string            // programs and packages
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
	t.rows[c.Suite] = sum
	if c.Off == 0 {
		t.none = append(t.none, c)
	}
}

// wrong records a reason why the row of a suite is not valid.
func (t *table) wrong(suite, why string) {
	if t.faults == nil {
		t.faults = map[string][]string{}
	}
	t.faults[suite] = append(t.faults[suite], why)
}

// fail records a failure that belongs to no suite.
func (t *table) fail(what string) { t.failed = append(t.failed, what) }

// settle adds the counts of tests, and records each test that did not run to its end.
func (t *table) settle(tests []test, ended map[string]ending) {
	for _, want := range tests {
		end := ended[want.pkg+" "+want.name]
		fault := ""
		switch end.action {
		case "pass":
			if len(end.parts) > 0 {
				fault = want.name + " skipped " + strings.Join(end.parts, ", ")
			}
		case "skip":
			fault = want.name + " was skipped (" + end.why + ")"
		case "fail":
			fault = want.name + " failed"
		default:
			fault = want.name + " did not run, or not to its end"
		}
		for _, suite := range want.suites {
			starts := times(want.starts, func(s string) bool { return s == suite })
			counts := times(end.counts, func(c attack.Count) bool { return c.Suite == suite })
			if fault != "" {
				t.wrong(suite, fault)
			} else if counts != starts {
				t.wrong(suite, fmt.Sprintf("%s starts the suite %d times and reported %d counts", want.name, starts, counts))
			}
		}
		for _, c := range end.counts {
			t.add(c)
		}
	}
}

// times returns the number of elements of a list for which such returns true.
func times[T any](list []T, such func(T) bool) (n int) {
	for _, x := range list {
		if such(x) {
			n++
		}
	}
	return n
}

// update returns a paper with the rows of the picked suites, all if picked is empty, and with the total of all rows. A row
// is "| suite | attack | tried | off of controls | succeeded | day |". A suite with faults keeps its row, and so its day.
// A suite that has no row yet gets one.
func (t *table) update(paper string, picked []string, day string) (string, error) {
	before, rest, found := strings.Cut(paper, "\n| 01 |")
	body, after, ended := strings.Cut(rest, "\n| total |")
	if !found || !ended {
		return "", errors.New("the paper has no table from suite 01 to the total")
	}
	_, after, _ = strings.Cut(after, "\n")
	old := map[string][]string{}
	for line := range strings.Lines("| 01 |" + body) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 6 {
			return "", fmt.Errorf("the row %q has %d cells, want 6", line, len(cells))
		}
		old[cells[0]] = cells
	}
	var b strings.Builder
	b.WriteString(before)
	var total attack.Count
	for _, s := range attack.Suites() {
		c := t.rows[s.Name]
		cells := old[s.Name]
		switch {
		case (len(picked) == 0 || slices.Contains(picked, s.Name)) && len(t.faults[s.Name]) == 0 && c.Tried > 0:
			off := grouped(c.Off) + " of " + grouped(c.Controls)
			if c.Off == 0 {
				off = "no control"
			}
			cells = []string{s.Name, s.Title, grouped(c.Tried), off, grouped(c.Succeeded), day}
		case cells == nil:
			cells = []string{s.Name, s.Title, "not run", "", "", ""}
		}
		var sum attack.Count
		for i, to := range []*int{&sum.Tried, &sum.Off, &sum.Controls, &sum.Succeeded} {
			text := append([]string{cells[2]}, append(strings.SplitN(cells[3]+" of ", " of ", 3)[:2], cells[4])...)[i]
			*to, _ = strconv.Atoi(strings.ReplaceAll(text, ",", "")) // "not run" and "no control" are 0
		}
		total.Tried += sum.Tried
		total.Off += sum.Off
		total.Controls += sum.Controls
		total.Succeeded += sum.Succeeded
		fmt.Fprintf(&b, "\n| %s |", strings.Join(cells, " | "))
	}
	fmt.Fprintf(&b, "\n| total |  | %s | %s of %s | %s |  |\n%s", grouped(total.Tried), grouped(total.Off), grouped(total.Controls), grouped(total.Succeeded), after)
	return b.String(), nil
}

// grouped returns a number with a comma before each three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// print writes a line for each suite and the total, and reports whether everything is well. A suite none of whose
// attacks succeeds with the defence off has no control: its row proves nothing about the defence. The reasons are
// below the table.
func (t *table) print(w io.Writer, picked []string) bool {
	ok := len(t.failed) == 0
	fmt.Fprintf(w, "\n%-7s %-50s %8s %16s %10s\n", "suite", "attack", "tried", "defence off", "succeeded")
	var total attack.Count
	without := 0
	for _, s := range attack.Suites() {
		if len(picked) > 0 && !slices.Contains(picked, s.Name) {
			continue
		}
		c := t.rows[s.Name]
		faults := t.faults[s.Name]
		off := strconv.Itoa(c.Off) + " of " + strconv.Itoa(c.Controls)
		if c.Off == 0 {
			off = "no control"
			without += c.Tried
		}
		switch {
		case c.Tried == 0:
			faults, off = append([]string{"nothing was tried"}, faults...), ""
		case c.Succeeded > 0:
			faults = append([]string{"not stopped"}, faults...)
		case c.Off == 0 && c.Controls > 0:
			faults = append([]string{"the control shows nothing"}, faults...)
		}
		arrow := ""
		if len(faults) > 0 {
			ok, arrow = false, "  <- "+strings.Join(faults, "; ")
		}
		fmt.Fprintf(w, "%-7s %-50s %8d %16s %10d%s\n", s.Name, s.Title, c.Tried, off, c.Succeeded, arrow)
		total.Tried += c.Tried
		total.Controls += c.Controls
		total.Off += c.Off
		total.Succeeded += c.Succeeded
	}
	fmt.Fprintf(w, "%-7s %-50s %8d %16s %10d\n", "total", "", total.Tried, strconv.Itoa(total.Off)+" of "+strconv.Itoa(total.Controls), total.Succeeded)
	if without > 0 {
		fmt.Fprintf(w, "%d attacks are of suites without a control: that they failed shows nothing.\n", without)
	}
	for i, c := range t.none {
		if i == 0 {
			fmt.Fprintln(w, "\nTests without a control of their own:")
		}
		why := c.NoSwitch
		if why == "" {
			why = "nothing succeeded with the defence off"
		}
		if t.rows[c.Suite].Off == 0 {
			why += " (NO CONTROL in the suite)"
		}
		fmt.Fprintf(w, "  %-6s %s, %d tried: %s\n", c.Suite, c.Test, c.Tried, why)
	}
	for _, f := range t.failed {
		fmt.Fprintf(w, "failed: %s  <-\n", f)
	}
	return ok
}
