package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/internal/leaklab"
)

// row is the result of one vector.
type row struct {
	ID                       string
	Ran, Stopped             bool
	Requests, Conns, Packets int
	Lookups                  int
	Effect, Text             string
	Note                     string
}

// and returns r combined with the row of a second try.
func (r row) and(o row) row {
	return row{r.ID, r.Ran || o.Ran, r.Stopped || o.Stopped, r.Requests + o.Requests, r.Conns + o.Conns, r.Packets + o.Packets,
		max(r.Lookups, o.Lookups), r.Effect + o.Effect, r.Text, o.Note} // lookups are counted from the beginning of the layout
}

func (r row) leaked() bool { return r.Requests+r.Conns+r.Packets+r.Lookups > 0 || r.Effect != "" }

func (r row) sinks() string {
	var s []string
	for name, n := range map[string]int{"HTTP": r.Requests, "TCP": r.Conns, "UDP": r.Packets, "DNS": r.Lookups} {
		if n > 0 {
			s = append(s, name)
		}
	}
	if r.Effect != "" {
		s = append(s, "EFFECT")
	}
	slices.Sort(s)
	return strings.Join(s, "+")
}

// table is the result of one layout of an engine.
type table struct {
	engine, layout    string
	rows              map[string]row
	ran               int
	leaked, noControl []string
}

// judge counts the vectors that ran and that leaked. A vector that did not leak without a defence
// either goes to noControl, because it proves nothing.
func (t *table) judge(controls map[string]row) {
	for _, id := range slices.Sorted(maps.Keys(t.rows)) {
		r := t.rows[id]
		if r.Ran || r.Stopped {
			t.ran++
		}
		if r.leaked() {
			t.leaked = append(t.leaked, id)
		}
		if !controls[id].leaked() {
			t.noControl = append(t.noControl, id)
		}
	}
}

// defect returns the fault of the layout or of the lab, "" if there is none.
func (t *table) defect() string {
	switch {
	case t.layout == "plain":
		heard := row{}
		for _, r := range t.rows {
			heard.Requests += r.Requests
			heard.Conns += r.Conns
			heard.Packets += r.Packets
		}
		// WebKitGTK as built by Debian has no WebRTC and no WebTransport. So nothing there sends
		// packets, and the vectors that would send them have no control.
		if heard.Requests == 0 || heard.Conns == 0 || heard.Packets == 0 && t.engine != "webkit" {
			return fmt.Sprintf("without a defence %d requests, %d connections and %d packets arrived: a sink is deaf", heard.Requests, heard.Conns, heard.Packets)
		}
	case t.layout == realmControl:
		if len(t.leaked) < len(t.rows)/10 {
			return fmt.Sprintf("without the layers %d of %d attacks succeed: the control shows too little", len(t.leaked), len(t.rows))
		}
	case t.layout == "single": // the other control
	case t.ran < len(t.rows):
		return fmt.Sprintf("%d of %d vectors did not run", len(t.rows)-t.ran, len(t.rows))
	case slices.Contains(leaklab.MustHold(t.engine), t.layout) && len(t.leaked) > 0:
		return fmt.Sprintf("it must hold, and leaked by %s", strings.Join(t.leaked, " "))
	}
	return ""
}

func (t *table) print() {
	vectors := map[string]leaklab.Vector{}
	for _, v := range t.vectors() {
		vectors[v.ID] = v
	}
	fmt.Printf("\n%s %s: shown to be blocked %d, leaked %d, no positive control in this engine %d (not counted as blocked)\n",
		t.engine, t.layout, len(t.rows)-len(t.leaked)-len(t.noControl), len(t.leaked), len(t.noControl))
	if t.layout == realmControl {
		return
	}
	if t.layout == "plain" {
		fmt.Println("  no positive control:", strings.Join(t.noControl, " "))
		return
	}
	if t.layout == "single" && len(t.leaked) > 20 {
		fmt.Println("  a sandboxed frame alone leaks; the matrix has the list")
		return
	}
	for _, id := range t.leaked {
		v := vectors[id]
		fmt.Printf("  LEAKED %-14s %-12s %s\n", id, t.rows[id].sinks(), clip(v.HTML+v.JS, 110))
	}
	for _, id := range slices.Sorted(maps.Keys(t.rows)) {
		r := t.rows[id]
		if !r.Ran && !r.Stopped {
			fmt.Printf("  DID NOT RUN %-14s %s %s\n", id, clip(vectors[id].HTML+vectors[id].JS, 80), r.Note)
		}
	}
}

// vectors returns the vectors of the layout's rows.
func (t *table) vectors() []leaklab.Vector {
	if !onRealm(t.layout) {
		return leaklab.All()
	}
	var list []leaklab.Vector
	for _, id := range slices.Sorted(maps.Keys(t.rows)) {
		list = append(list, leaklab.Vector{ID: id, JS: t.rows[id].Text})
	}
	return list
}

func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
