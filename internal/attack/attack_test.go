package attack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// recorder is a test that is looked at by another one.
type recorder struct {
	testing.TB
	name     string
	errors   []string
	logs     []string
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Name() string     { return r.name }
func (r *recorder) Skipped() bool    { return false }
func (r *recorder) Failed() bool     { return len(r.errors) > 0 }
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any) {
	r.errors = append(r.errors, fmt.Sprint(args...))
}
func (r *recorder) Errorf(f string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(f, args...))
}
func (r *recorder) Fatalf(f string, args ...any) {
	r.Errorf(f, args...)
	panic(r)
}
func (r *recorder) Log(args ...any) {
	r.logs = append(r.logs, "    x_test.go:1: "+fmt.Sprintln(args...))
}

func record(name, suite string, body func(a *Table)) (r *recorder) {
	r = &recorder{name: name}
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
	}()
	body(Start(r, suite))
	for _, f := range r.cleanups {
		f()
	}
	return r
}

func TestCounts(t *testing.T) {
	const name = "TestAttackX"
	for _, c := range []struct {
		what, name, suite string
		body              func(a *Table)
		err               string
		want              Count
	}{
		{"a defence that holds", name, "01", func(a *Table) { a.Try("x", false); a.Try("y", false); a.Off("x", true); a.Off("y", false) },
			"", Count{Suite: "01", Test: name, Tried: 2, Controls: 2, Off: 1}},
		{"a defence that does not", name, "01", func(a *Table) { a.Try("x", true); a.Off("x", true) },
			"SUCCEEDED", Count{Suite: "01", Test: name, Tried: 1, Controls: 1, Off: 1, Succeeded: 1}},
		{"a control that shows nothing", name, "B4", func(a *Table) { a.Try("x", false); a.Off("x", false) },
			"shows nothing", Count{Suite: "B4", Test: name, Tried: 1, Controls: 1}},
		{"no control", name, "B4", func(a *Table) { a.Try("x", false) },
			"shows nothing", Count{Suite: "B4", Test: name, Tried: 1}},
		{"a reason for no control", name, "B4", func(a *Table) { a.Try("x", false); a.NoSwitch("nothing to switch") },
			"", Count{Suite: "B4", Test: name, Tried: 1, NoSwitch: "nothing to switch"}},
		{"controls alone", name + "/sub", "xss", func(a *Table) { a.Off("x", true) },
			"", Count{Suite: "xss", Test: name, Controls: 1, Off: 1}},
		{"nothing tried", name, "xss", func(a *Table) { a.NoSwitch("nothing") },
			"nothing was tried", Count{Suite: "xss", Test: name, NoSwitch: "nothing"}},
		{"no such suite", name, "25", nil, "no such suite", Count{}},
		{"a name that make attack does not run", "TestX", "01", nil, "begin with TestAttack", Count{}},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := record(c.name, c.suite, c.body)
			if got := strings.Join(r.errors, "\n"); (c.err == "") != (got == "") || !strings.Contains(got, c.err) {
				t.Errorf("errors %q, want %q", got, c.err)
			}
			if c.want.Suite == "" {
				return
			}
			if len(r.logs) != 1 {
				t.Fatalf("%q", r.logs)
			}
			if got, ok := Parse(r.logs[0]); !ok || got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestParseTakesNothingElse(t *testing.T) {
	for _, line := range []string{"", "attack", "attack: {", `attack: {"suite":"no such"}`, "x_test.go:1: attack 01: x: SUCCEEDED"} {
		if c, ok := Parse(line); ok {
			t.Errorf("%q: %+v", line, c)
		}
	}
}

func TestSuitesAreNamedOnce(t *testing.T) {
	var names []string
	for _, s := range Suites() {
		if slices.Contains(names, s.Name) || s.Title == "" {
			t.Errorf("%+v", s)
		}
		names = append(names, s.Name)
	}
}
