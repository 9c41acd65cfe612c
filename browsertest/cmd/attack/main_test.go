package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/repo"
	"github.com/bailey-go/bailey/internal/attack"
)

func TestTestsOf(t *testing.T) {
	got, err := testsOf("x_test.go", `package x

func TestAttackLinks(t *testing.T) {
	a, b := attack.Start(t, "01"), attack.Start(t, "02")
	_ = "\nfunc TestAttackText(t *testing.T) {}\n"
}

func helper(t *testing.T) {}

func TestOther(t *testing.T) {}

func TestXSSRaw(t *testing.T) { rows(t) }

func TestInjectionDrill(t *testing.T) { attack.Start(t, "drill") }
`)
	want := []test{{name: "TestAttackLinks", suites: []string{"01", "02"}, starts: []string{"01", "02"}},
		{name: "TestXSSRaw", suites: []string{"xss"}}, {name: "TestInjectionDrill", suites: []string{"drill"}, starts: []string{"drill"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v, %v", got, want, err)
	}
	for body, says := range map[string]string{
		`func helper(t *testing.T) { attack.Start(t, "03") }`:               "only the test itself",
		`func TestOther(t *testing.T) { attack.Start(t, "04") }`:            "only the test itself",
		`func (s s) TestAttackX(t *testing.T) { attack.Start(t, "04") }`:    "only the test itself",
		`func TestAttackX(t *testing.T) { attack.Start(t, name) }`:          "without a literal",
		`func TestAttackX(t *testing.T) { start(t) }`:                       "starts no suite",
		`func TestAttackX(t *testing.T) {`:                                  "expected '}'",
		`func TestAttackX(t *testing.T) { for { attack.Start(t, "0"+"1")}}`: "without a literal",
	} {
		if _, err := testsOf("x_test.go", "package x\n"+body); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestTable(t *testing.T) {
	held := attack.Count{Suite: "01", Tried: 3, Controls: 3, Off: 2}
	for _, c := range []struct {
		name   string
		counts []attack.Count
		failed []string
		picked string
		ok     bool
		say    string
	}{
		{"all held", []attack.Count{held, held}, nil, "01", true, "6           4 of 6          0\n"},
		{"one succeeded", []attack.Count{held, {Suite: "01", Tried: 1, Succeeded: 1}}, nil, "01", false, "<- not stopped"},
		{"a control shows nothing", []attack.Count{{Suite: "01", Tried: 3, Controls: 3}}, nil, "01", false, "no control          0  <- the control shows nothing"},
		{"no control", []attack.Count{{Suite: "01", Test: "TestAttackX", Tried: 3, NoSwitch: "it is the absence of code"}}, nil, "01", true, "no control          0\n"},
		{"its reason", []attack.Count{{Suite: "01", Test: "TestAttackX", Tried: 3, NoSwitch: "it is the absence of code"}}, nil, "01", true, "TestAttackX, 3 tried: it is the absence of code (NO CONTROL in the suite)\n"},
		{"its number", []attack.Count{{Suite: "01", Tried: 3, NoSwitch: "none"}}, nil, "01", true, "3 attacks are of suites without a control"},
		{"a test without a control", []attack.Count{held, {Suite: "01", Test: "TestAttackX", Tried: 3, NoSwitch: "none"}}, nil, "01", true, "  01     TestAttackX, 3 tried: none\n"},
		{"nothing tried", nil, nil, "01", false, "<- nothing was tried"},
		{"controls alone", []attack.Count{{Suite: "01", Controls: 3, Off: 2}}, nil, "01", false, "<- nothing was tried"},
		{"a suite that was not picked", []attack.Count{held}, nil, "01", true, "total"},
		{"a suite that was picked and not run", []attack.Count{held}, nil, "01,02", false, "<- nothing was tried"},
		{"a package failed", []attack.Count{held}, []string{"package p"}, "01", false, "failed: package p"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := table{failed: c.failed}
			for _, n := range c.counts {
				table.add(n)
			}
			var out bytes.Buffer
			if ok := table.print(&out, strings.Split(c.picked, ",")); ok != c.ok || !strings.Contains(out.String(), c.say) {
				t.Errorf("%v\n%s", ok, &out)
			}
		})
	}
}

// A test that failed, was skipped, crashed or never ran is a fault in its suite's row, even if it had reported counts
// before.
func TestRowsSayWhichTestDidNotRun(t *testing.T) {
	line := attack.Count{Suite: "01", Test: "TestAttackX", Tried: 3, Controls: 3, Off: 3}.Line()
	say := func(action, test string, output ...string) (lines string) {
		for _, o := range output {
			b, _ := json.Marshal(event{Action: "output", Package: "p", Test: test, Output: "    x_test.go:1: " + o + "\n"})
			lines += string(b) + "\n"
		}
		b, _ := json.Marshal(event{Action: action, Package: "p", Test: test})
		return lines + string(b) + "\n"
	}
	for _, c := range []struct{ name, output, fault string }{
		{"it ran", say("pass", "TestAttackX", line), ""},
		{"it failed", say("fail", "TestAttackX", line), "TestAttackX failed"},
		{"it was skipped", say("skip", "TestAttackX", "there is no Firefox"), "TestAttackX was skipped (x_test.go:1: there is no Firefox)"},
		{"a part was skipped", say("skip", "TestAttackX/webkit", "no WebKit") + say("pass", "TestAttackX", line), "TestAttackX skipped webkit (x_test.go:1: no WebKit)"},
		{"it counted and crashed", say("run", "TestAttackX", line) + say("fail", ""), "TestAttackX did not run, or not to its end"},
		{"its package did not build", say("fail", "", "undefined: x"), "did not run"},
		{"nothing was run", "", "did not run"},
		{"another test ran", say("pass", "TestAttackY", line), "TestAttackX did not run"},
		{"it reported nothing", say("pass", "TestAttackX"), "starts the suite 1 times and reported 0 counts"},
		{"it reported twice", say("pass", "TestAttackX", line, line), "starts the suite 1 times and reported 2 counts"},
		{"its report was cut", say("pass", "TestAttackX", line[:len(line)-9]), "reported 0 counts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runner{out: new(bytes.Buffer)}
			ended := map[string]ending{}
			r.read(strings.NewReader(c.output), ended)
			r.table.settle([]test{{pkg: "p", name: "TestAttackX", suites: []string{"01"}, starts: []string{"01"}}}, ended)
			r.table.add(attack.Count{Suite: "01", Tried: 1, Controls: 1, Off: 1})
			var out bytes.Buffer
			ok := r.table.print(&out, []string{"01"})
			if ok != (c.fault == "") || !strings.Contains(out.String(), c.fault) || strings.Contains(out.String(), "<-") == ok {
				t.Errorf("%t, want %q:\n%s", ok, c.fault, &out)
			}
		})
	}
}

// Each suite of the list has a test that starts it, or make attack would always end with "nothing was tried".
func TestEverySuiteIsStarted(t *testing.T) {
	root, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	started := []string{"leaks"} // by the lab's program
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			if err == nil && d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata" || path == filepath.Join(root, "internal", "attack")) {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("attack.Start(")) || strings.HasPrefix(path, filepath.Join(root, "browsertest", "cmd")) {
			return err
		}
		found, err := testsOf(path, string(text))
		for _, f := range found {
			started = append(started, f.starts...)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range attack.Suites() {
		if !slices.Contains(started, s.Name) {
			t.Errorf("no test starts the suite %s", s.Name)
		}
	}
}

// SECURITY.md shows the table of the last run: the rows are the suites, and the total is the sum of those that ran.
func TestSecurityShowsTheTable(t *testing.T) {
	root, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| ([\w]+) \| ([^|]*) \| ([\d,]+) \| (?:([\d,]+) of ([\d,]+)|no control) \| ([\d,]+) \| (?:\d{4}-\d\d-\d\d)? \|$|^\| ([\w]+) \| ([^|]+) \| (not run) \| +\| +\| +\|$`)
	number := func(s string) int {
		n, _ := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
		return n
	}
	var names []string
	var sum, total attack.Count
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		if m[9] != "" {
			names = append(names, m[7]+": "+m[8])
			continue
		}
		c := attack.Count{Tried: number(m[3]), Off: number(m[4]), Controls: number(m[5]), Succeeded: number(m[6])}
		if m[1] == "total" {
			total = c
			continue
		}
		names = append(names, m[1]+": "+m[2])
		sum.Tried += c.Tried
		sum.Off += c.Off
		sum.Controls += c.Controls
		sum.Succeeded += c.Succeeded
	}
	var want []string
	for _, s := range attack.Suites() {
		want = append(want, s.Name+": "+s.Title)
	}
	if !slices.Equal(names, want) {
		t.Errorf("the rows of SECURITY.md are\n%s\nand the suites are\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
	if sum != total || sum.Succeeded != 0 {
		t.Errorf("the total of SECURITY.md is %s, its rows are together %s", fmt.Sprint(total), fmt.Sprint(sum))
	}
}

func TestUpdate(t *testing.T) {
	paper := "before\n\n| suite | attack | tried | with the defence off | succeeded | last run |\n|---|---|---|---|---|---|\n" +
		"| 01 | links | 1,458 | 71 of 139 | 0 | 2026-01-01 |\n| 02 | files | 244 | 244 of 244 | 0 | 2026-01-01 |\n| total |  | 9 | 9 of 9 | 0 |  |\n\nafter | total |\n"
	table := &table{}
	table.add(attack.Count{Suite: "01", Tried: 12345, Controls: 3, Off: 2})
	table.add(attack.Count{Suite: "02", Tried: 5, Controls: 3, Off: 2, Succeeded: 1})
	table.wrong("02", "TestAttackX failed")
	table.add(attack.Count{Suite: "03", Tried: 7, NoSwitch: "none"})
	table.add(attack.Count{Suite: "04", Tried: 9, Controls: 9, Off: 9})
	got, err := table.update(paper, []string{"01", "02", "03"}, "2026-02-02")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n\n| suite |", "\n| 01 | links in a folder lead past the lists | 12,345 | 2 of 3 | 0 | 2026-02-02 |\n",
		"\n| 02 | files | 244 | 244 of 244 | 0 | 2026-01-01 |\n", // it failed, so its row is of the run before
		"\n| 03 | programs see and write ungranted files | 7 | no control | 0 | 2026-02-02 |\n",
		"\n| 04 | questions that say less than is done | not run |  |  |  |\n", // not picked, and without a row
		"\n| total |  | 12,596 | 246 of 247 | 0 |  |\n\nafter | total |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	again, err := table.update(got, []string{"01", "02", "03"}, "2026-02-02")
	if err != nil || again != got {
		t.Errorf("a second time, %v:\n%s", err, again)
	}
	for _, bad := range []string{"", "no table", strings.Replace(paper, " | 0 | 2026-01-01 |", " | 0 |", 1)} {
		if _, err := table.update(bad, nil, ""); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
