package runner

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTestFlag(t *testing.T) {
	for _, row := range []struct {
		args, name, want string
		ok               bool
	}{
		{"-test.timeout=3s", "timeout", "3s", true},
		{"--test.timeout 3s", "timeout", "3s", true},
		{"-test.v -test.timeout=3s", "timeout", "3s", true},
		{"-test.v", "v", "true", true},
		{"-test.v=test2json", "v", "test2json", true},
		{"-test.run=X -test.run=Y", "run", "Y", true},
		{"-test.gocoverdir=/a -word x -test.gocoverdir=/b", "gocoverdir", "/b", true},
		{"x -test.v", "v", "", false},
		{"-- -test.v", "v", "", false},
		{"-word -test.v", "v", "", false},
		{"", "v", "", false},
		{"-test.vv", "v", "", false},
	} {
		got, ok := testFlag(strings.Fields(row.args), row.name)
		if got != row.want || ok != row.ok {
			t.Errorf("%s in %q: %q, %v; want %q, %v", row.name, row.args, got, ok, row.want, row.ok)
		}
	}
}

func TestTimeout(t *testing.T) {
	for args, want := range map[string]time.Duration{"-test.timeout=10m0s": 10 * time.Minute, "-test.timeout=0": 0, "": 0, "-test.timeout=x": 0} {
		if got := timeout(strings.Fields(args)); got != want {
			t.Errorf("%q: %v, want %v", args, got, want)
		}
	}
}

func TestWritable(t *testing.T) {
	got := writable(strings.Fields("-test.coverprofile=c.out -test.gocoverdir=/g -test.outputdir=/o -test.v"), []string{"GOCOVERDIR=cov", "X=/y"}, "/p")
	for _, want := range []string{"/p/c.out", "/o/c.out", "/g", "/o", "/p/cov"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %v", want, got)
		}
	}
	if slices.Contains(got, "/p") || slices.Contains(got, "/y") {
		t.Error(got)
	}
}

func TestMayWrite(t *testing.T) {
	dir := t.TempDir()
	f := newFiles([]string{dir + "/a", dir + "/one.txt"})
	for path, want := range map[string]bool{
		dir + "/a": true, dir + "/a/b": true, dir + "/a/b/c": true, dir + "/one.txt": true,
		dir + "/ab": false, dir + "/one.txt.x": false, dir: false, "/": false, dir + "/b": false,
	} {
		if got := f.mayWrite(path) == nil; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func TestOwnPageArgs(t *testing.T) {
	got := ownPageArgs(strings.Fields("-test.v=test2json -test.run=A -test.coverprofile=c.out -test.count 3 -test.gocoverdir=/g -test.short -word x rest -test.run=B"), "TestA/sub+1", 3*time.Second, true)
	if s := strings.Join(got, " "); s != `-test.count 3 -test.gocoverdir=/g -test.short -test.run=^TestA$/^sub\+1$ -test.timeout=3s -test.v=true -word x rest -test.run=B` {
		t.Error(s)
	}
}

// Chunks overtake one another on their way.
func TestOutputOrder(t *testing.T) {
	var out, errs strings.Builder
	o := newOutput(&out, &errs)
	o.add(2, chunk{{1, []byte("c")}})
	o.add(0, chunk{{1, []byte("a")}})
	if ok, _ := o.reached(2); ok || out.String() != "a" {
		t.Errorf("%q", out.String())
	}
	o.add(1, chunk{{2, []byte("b")}})
	o.add(1, chunk{{2, []byte("again")}})
	if ok, _ := o.reached(3); !ok || out.String() != "ac" || errs.String() != "b" {
		t.Errorf("%q %q", out.String(), errs.String())
	}
	o.add(5, chunk{{1, []byte("f")}})
	if out.String() != "ac" {
		t.Errorf("%q", out.String())
	}
	o.drain()
	if out.String() != "acf" {
		t.Errorf("%q", out.String())
	}
}

func TestParseChunk(t *testing.T) {
	body := []byte("\x01\x02\x00\x00\x00ab\x02\x00\x00\x00\x00\x02\x01\x00\x00\x00c")
	if c := parseChunk(body); len(c) != 3 || string(c[0].data) != "ab" || c[1].fd != 2 || len(c[1].data) != 0 || string(c[2].data) != "c" {
		t.Errorf("%v", c)
	}
	for i := range body {
		parseChunk(body[:i]) // cut off anywhere: no panic, nothing invented
	}
	if c := parseChunk(body[:len(body)-1]); len(c) != 2 {
		t.Errorf("%v", c)
	}
	if c := parseChunk([]byte("\x01\xff\xff\xff\xffab")); len(c) != 0 {
		t.Errorf("%v", c)
	}
}
