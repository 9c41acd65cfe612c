package main

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// judged returns the table for the page's output in a layout, compared with the rows of the
// control.
func judged(t *testing.T, l *lab, layout, out string, controls map[string]row) *table {
	t.Helper()
	rows, err := l.parse(layout, out)
	if err != nil {
		t.Fatal(err)
	}
	tab := &table{engine: "chromium", layout: layout, rows: rows}
	if controls == nil {
		controls = rows
	}
	tab.judge(controls)
	return tab
}

const plainOut = `=== RUN TestLeakLab
LEAKLAB {"ID":"request-1","Ran":true,"Requests":1,"Conns":1}
LEAKLAB {"ID":"socket-7","Ran":true,"Packets":2}
    x.go:1: LEAKLAB {"ID":"worker-3","Ran":true}
--- PASS
`

func TestLeaksAreTold(t *testing.T) {
	plain := judged(t, &lab{}, "plain", plainOut, nil)
	if d := plain.defect(); d != "" {
		t.Error(d)
	}
	if !slices.Equal(plain.noControl, []string{"worker-3"}) {
		t.Errorf("without a control: %q", plain.noControl)
	}
	for _, c := range []struct {
		name, layout, out, defect string
		ran                       int
		leaked                    string
	}{
		{"holds", "compute", `LEAKLAB {"ID":"request-1","Ran":true}` + "\n" + `LEAKLAB {"ID":"socket-7","Stopped":true}`, "", 2, ""},
		{"a packet", "compute", `LEAKLAB {"ID":"request-1","Ran":true}` + "\n" + `LEAKLAB {"ID":"socket-7","Ran":true,"Packets":1}`, "leaked by socket-7", 2, "socket-7"},
		{"a connection", "document", `LEAKLAB {"ID":"request-1","Ran":true,"Conns":1}`, "leaked by request-1", 1, "request-1"},
		{"a request by one without a control", "compute-strict", `LEAKLAB {"ID":"worker-3","Ran":true,"Requests":1}`, "leaked by worker-3", 1, "worker-3"},
		{"where it is foreseen", "dom", `LEAKLAB {"ID":"socket-7","Ran":true,"Packets":1}`, "", 1, "socket-7"},
		{"did not run", "compute", `LEAKLAB {"ID":"request-1","Ran":true}` + "\n" + `LEAKLAB {"ID":"socket-7"}`, "1 of 2 vectors did not run", 1, ""},
		{"did not run where leaks are foreseen", "dom", `LEAKLAB {"ID":"socket-7"}`, "1 of 1 vectors did not run", 0, ""},
		{"a deaf sink", "plain", `LEAKLAB {"ID":"request-1","Ran":true,"Requests":1,"Conns":1}`, "a sink is deaf", 1, "request-1"},
	} {
		tab := judged(t, &lab{}, c.layout, c.out, plain.rows)
		if got := tab.defect(); c.defect == "" && got != "" || !strings.Contains(got, c.defect) {
			t.Errorf("%s: defect %q, want %q", c.name, got, c.defect)
		}
		if got := strings.Join(tab.leaked, " "); got != c.leaked || tab.ran != c.ran {
			t.Errorf("%s: leaked %q, ran %d; want %q and %d", c.name, got, tab.ran, c.leaked, c.ran)
		}
	}
	deaf := row{ID: "request-1", Ran: true, Requests: 1, Conns: 1}
	for engine, defect := range map[string]bool{"chromium": true, "firefox": true, "webkit": false} {
		tab := &table{engine: engine, layout: "plain", rows: map[string]row{deaf.ID: deaf}}
		if got := tab.defect(); (got != "") != defect {
			t.Errorf("%s without a packet: defect %q", engine, got)
		}
	}
	if _, err := (&lab{}).parse("compute", "LEAKLAB {broken\n"); err == nil {
		t.Error("a broken line was passed over")
	}
}

// A second try never takes a leak of the first away.
func TestSecondTry(t *testing.T) {
	late, ran := row{ID: "request-1"}, row{ID: "request-1", Ran: true}
	if r := late.and(ran); !r.Ran || r.leaked() {
		t.Errorf("%+v", r)
	}
	if r := late.and(late); r.Ran || r.Stopped {
		t.Errorf("%+v", r)
	}
	for _, r := range []row{{Requests: 1}, {Conns: 1}, {Packets: 1}, {Lookups: 1}} {
		if !r.and(ran).leaked() || !ran.and(r).leaked() {
			t.Errorf("%+v is lost", r)
		}
	}
}

// A lookup belongs to the vector and the layout in its name, in upper or lower case.
func TestLookupsAreAttributed(t *testing.T) {
	l := &lab{dns: &names{}}
	for _, name := range []string{"Link-1.compute.ip-127-0-0-9.LEAK.test.", "link-1.dom.ip-127-0-0-9.leak.test.", "link-11.compute.leak.test."} {
		q, err := (&dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{
			{Name: dnsmessage.MustNewName(name), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}).Pack()
		if err != nil {
			t.Fatal(err)
		}
		out, err := l.dns.answer(q)
		if err != nil {
			t.Fatal(err)
		}
		var m dnsmessage.Message
		if err := m.Unpack(out); err != nil || m.ID != 7 || len(m.Answers) != 1 {
			t.Fatalf("%s: %v %+v", name, err, m)
		}
		want := [4]byte{127, 0, 0, 1}
		if strings.Contains(name, "ip-") {
			want = [4]byte{127, 0, 0, 9}
		}
		if got := m.Answers[0].Body.(*dnsmessage.AResource).A; got != want {
			t.Errorf("%s is %v, want %v", name, net.IP(got[:]), want)
		}
	}
	if _, err := l.dns.answer([]byte("no query")); err == nil {
		t.Error("an answer to what is no query")
	}
	tab := judged(t, l, "compute", `LEAKLAB {"ID":"link-1","Ran":true}`+"\n"+`LEAKLAB {"ID":"link-2","Ran":true}`, nil)
	if !slices.Equal(tab.leaked, []string{"link-1"}) || tab.rows["link-1"].Lookups != 1 || tab.rows["link-1"].sinks() != "DNS" {
		t.Errorf("leaked %q, rows %+v", tab.leaked, tab.rows)
	}
	l.dns.forget()
	if n := l.dns.count(""); n != 0 {
		t.Errorf("%d lookups are remembered", n)
	}
}

// Outside of a namespace the lab reports that lookups are not recorded, and does not claim that
// there were none.
func TestNamespaceWithoutRoot(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if done, err := enterNamespace(context.Background()); done || err == nil {
		t.Error(done, err)
	}
}
