package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
)

func TestTestsOf(t *testing.T) {
	got := testsOf(`package x

func TestAttackLinks(t *testing.T) {
	a := attack.Start(t, "01")
	b := attack.Start(t, "02")
}

func helper(t *testing.T) { attack.Start(t, "03") }

func TestOther(t *testing.T) {
	a := attack.Start(t, "04")
}

func TestXSSRaw(t *testing.T) { rows(t) }
`)
	want := []test{{"TestAttackLinks", []string{"01", "02"}}, {"TestXSSRaw", nil}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
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
		{"all held", []attack.Count{held, held}, nil, "01", true, "6         4 of 6          0\n"},
		{"one succeeded", []attack.Count{held, {Suite: "01", Tried: 1, Succeeded: 1}}, nil, "01", false, "<- not stopped"},
		{"a control shows nothing", []attack.Count{{Suite: "01", Tried: 3, Controls: 3}}, nil, "01", false, "<- the control shows nothing"},
		{"no control", []attack.Count{{Suite: "01", Tried: 3, NoSwitch: "it is the absence of code"}}, nil, "01", true, "no switch"},
		{"nothing tried", nil, nil, "01", false, "<- nothing was tried"},
		{"a suite that was not picked", []attack.Count{held}, nil, "01", true, "total"},
		{"a suite that was picked and not run", []attack.Count{held}, nil, "01,02", false, "<- nothing was tried"},
		{"a test failed", []attack.Count{held}, []string{"p TestAttackX"}, "01", false, "failed: p TestAttackX"},
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
